"""The clients that the installer supports: one module, and one line here, for each."""

from __future__ import annotations

from collections.abc import Mapping

from keepmum_installers.clients import claude, claude_desktop, codex, copilot, cursor, gemini, opencode, vscode
from keepmum_installers.clients.client import Client

__all__ = ["CLIENTS", "Client"]

CLIENTS: Mapping[str, Client] = {
    "claude-code": claude.ClaudeCode(),
    "codex": codex.Codex(),
    "cursor": cursor.Cursor(),
    "copilot-cli": copilot.CopilotCli(),
    "gemini-cli": gemini.GeminiCli(),
    "vscode": vscode.VisualStudioCode(),
    "opencode": opencode.OpenCode(),
    "claude-desktop": claude_desktop.ClaudeDesktop(),
}
