"""Complete conversations in the dialects of other memory servers; ids, times and scores are masked."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from mcp_process import ServerProcess

pytestmark = pytest.mark.usefixtures("shared_bytecode")

Start = Callable[[str], ServerProcess]
MASKS = (
    (re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "<uuid>"),
    (re.compile(r"mem_[0-9a-f]{12}\b"), "<id>"),
    (re.compile(r"\d{4}-\d\d-\d\d/\d{6}_[0-9a-f]{4}\.md"), "<file>"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"), "<time>"),
    (re.compile(r'"timestamp": \d{10}\b'), '"timestamp": <seconds>'),
    (re.compile(r"score: \d+\.\d{3}"), "score: <score>"),
)


@pytest.fixture
def start(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Starts a server with a dialect in a project named `shop`."""
    work = tmp_path / "shop"
    work.mkdir()
    monkeypatch.chdir(work)
    with ExitStack() as stack:

        def start(dialect: str) -> ServerProcess:
            command = [sys.executable, "-I", "-S", str(root / "plugin" / "launch.py"), "mcp", "--dialect", dialect]
            return stack.enter_context(ServerProcess(command, dict(os.environ)))

        yield start


def masked(text: str) -> str:
    for pattern, mask in MASKS:
        text = pattern.sub(mask, text)
    return text


def masked_text(server: ServerProcess, tool: str, **arguments: object) -> str:
    """The masked text of a result, with the prefix `error: ` when it is an error."""
    result: Any = server.call(tool, **arguments)["result"]
    assert [content["type"] for content in result["content"]] == ["text"]
    return ("error: " if result.get("isError") else "") + masked(result["content"][0]["text"])


def ids_in(server: ServerProcess, tool: str, **arguments: object) -> list[str]:
    result: Any = server.call(tool, **arguments)["result"]
    return re.findall(MASKS[0][0], result["content"][0]["text"])


def test_conversation_with_the_shared_dialect(start: Start) -> None:
    server = start("shared")
    answer: Any = server.greet()
    assert set(answer["result"]["capabilities"]) == {"logging", "tools"}
    tools: Any = server.ask("tools/list", {}, "list")["result"]
    assert [tool["name"] for tool in tools["tools"]] == [
        "store_memory", "search_memory", "load_memories", "list_recent", "update_memory", "delete_memory", "get_config",
    ]  # fmt: skip
    assert masked_text(server, "search_memory", query="pool") == "No memories found."
    assert masked_text(server, "list_recent") == "No recent memories."
    assert masked_text(
        server, "store_memory", title="Pools", text="Blue first", tags='["deploy", "ops"]', agent="ada"
    ) == ("Memory stored with ID: <uuid>")
    name = ids_in(server, "search_memory", query="pools")[0]
    assert masked_text(server, "search_memory", query="pools") == "[1] (score: <score>) [shop] <uuid>\nPools"
    assert masked_text(server, "load_memories", ids=[name]) == (
        "[1] [ada/shop]\nID: <uuid>\nTitle: Pools\nBlue first\nTags: deploy, ops | Created: <time>"
    )
    assert masked_text(server, "load_memories", ids=json.dumps([name])).startswith("[1] [ada/shop]\n")
    assert masked_text(server, "list_recent") == "[1] [shop] <uuid> <time>\nPools"
    assert masked_text(server, "update_memory", id=name, text="Green first") == "Memory <uuid> updated."
    assert masked_text(server, "delete_memory", id=name) == "Memory <uuid> deleted."
    assert masked_text(server, "load_memories", ids=[name]) == "No memories found for the given IDs."
    assert masked_text(server, "update_memory", id=name, text="Red first").startswith("error: ")
    assert masked_text(server, "delete_memory", id=name).startswith("error: ")
    assert masked_text(server, "get_config") == (
        "Memory API: this machine\nCollection: memory.db\nDefault Agent: tester\nDefault Project: shop\n"
        "Model Ready: true"
    )


def test_conversation_with_the_koi_dialect(start: Start, tmp_path: Path) -> None:
    server = start("koi")
    answer: Any = server.greet()
    assert set(answer["result"]["capabilities"]) == {"logging", "tools"}
    tools: Any = server.ask("tools/list", {}, "list")["result"]
    offered = {tool["name"]: sorted(tool["inputSchema"]["properties"]) for tool in tools["tools"]}
    assert offered == {"remember": ["content", "tags"], "recall": ["limit", "query", "scope", "since", "tags"]}
    assert masked_text(server, "recall") == "[]"
    assert masked_text(server, "remember", content="Blue pool first", tags=["Deploy Notes"]) == (
        '{"id": "<id>", "path": ".memories/<file>"}'
    )
    note = (
        '{"id": "<id>", "timestamp": <seconds>, "tags": ["deploy-notes"], "content": "Blue pool first", '
        '"git": {"branch": "unknown", "commit": "unknown", "dirty": false, "files_changed": []}'
    )
    assert masked_text(server, "recall", query="pool") == f"[{note}}}]"
    assert (
        masked_text(server, "recall", scope="global", since="1d", tags=["deploy-notes"])
        == f'[{note}, "project": "shop"}}]'
    )
    assert masked_text(server, "recall", since="whenever").startswith("error: ")
    files = list((tmp_path / "shop" / ".memories").glob("*/*.md"))
    assert [masked(path.relative_to(tmp_path / "shop").as_posix()) for path in files] == [".memories/<file>"]
    head = masked(files[0].read_text(encoding="utf-8")).split("---\n")
    assert [line.partition(":")[0] for line in head[1].splitlines() if line[:1] not in " -"][:3] == [
        "id", "uid", "timestamp",
    ]  # fmt: skip
    assert head[2] == "\nBlue pool first\n"
