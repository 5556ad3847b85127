"""Gemini CLI, run as `gemini -p` with a key that nothing checks, and the Gemini API of its model.

Source: https://ai.google.dev/api/generate-content, read 2026-11-21.
"""

from __future__ import annotations

import json
import os

from keepmum_installers import files
from keepmum_installers.clients.gemini import manifests
from keepmum_installers.live.model import Call, Json, Reply, Say
from keepmum_installers.live.sandbox import Sandbox

__all__ = ["GeminiApi", "GeminiCli"]

_MODEL = "gemini-2.5-flash"  # for "auto" the client would ask a model which one to use
_SETTINGS = {
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
}


class GeminiApi:
    """Requests to `…:streamGenerateContent`; one without tools is auxiliary, such as choosing a model."""

    def is_turn(self, path: str, body: Json) -> bool:
        """Whether the request is a turn of the conversation."""
        return path.endswith(":streamGenerateContent") and bool(self.tools(body))

    def tools(self, body: Json) -> list[str]:
        """The names of the tools offered."""
        groups = body.get("tools") or []
        return [str(tool.get("name")) for group in groups for tool in group.get("functionDeclarations") or []]

    def answer(self, body: Json, reply: Reply, number: int) -> tuple[str, bytes]:  # noqa: ARG002 - as every API
        """The answer, as the only event of a stream."""
        return "text/event-stream", f"data: {json.dumps(_answer(reply))}\n\n".encode()

    def auxiliary(self, path: str) -> bytes:
        """A response that the client accepts."""
        if path.endswith(":streamGenerateContent"):
            return f"data: {json.dumps(_answer(Say('ok')))}\n\n".encode()
        if path.endswith(":countTokens"):
            return b'{"totalTokens": 100}'
        return json.dumps(_answer(Say("ok"))).encode()


class GeminiCli:
    """The client on the command line."""

    api = GeminiApi()

    def install(self, program: str, box: Sandbox) -> None:
        """Link the extension."""
        folder = os.path.join(box.home, ".gemini")
        files.private_folder(folder)
        files.write(os.path.join(folder, "settings.json"), json.dumps(_SETTINGS).encode())
        extension = os.path.join(box.root, manifests.FOLDER)
        box.run((program, "extensions", "link", extension, "--consent"), "linking the extension", _ENVIRON)

    def run(self, program: str, box: Sandbox, model: str, prompt: str) -> str:
        """One `gemini -p`, in which every tool is allowed, so a refusal comes from the guard."""
        environ = {**_ENVIRON, "GOOGLE_GEMINI_BASE_URL": model}
        return box.run((program, "-m", _MODEL, "--yolo", "-p", prompt), "the session", environ)

    def write(self, path: str, text: str) -> Call:
        """The tool that writes a file."""
        return Call("write_file", {"file_path": path, "content": text})


_ENVIRON = {"GEMINI_API_KEY": "no-key-the-model-is-on-loopback", "GEMINI_CLI_TRUST_WORKSPACE": "true"}


def _answer(reply: Reply) -> Json:
    if isinstance(reply, Say):
        part: Json = {"text": reply.text}
    else:
        part = {"functionCall": {"name": reply.tool, "args": reply.input}}
    return {
        "candidates": [{"index": 0, "content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110},
    }
