"""The end of a run that failed; imports nothing of the package, which may be what is broken."""

import sys

if sys.platform == "win32":
    import nt as calls
else:
    import posix as calls

__all__ = ["give_up"]

# The table in keepmum_hooks.guard_table, in fewer words: a test keeps each of its rows covered.
_WORDS = (
    b"mem recollect learn persist scratchpad hippocamp kg adddocuments storedocument indexdocument trilium siyuan "
    b"anytype remnote roam bear contextadd contextset contextupdate setcontext projectcontext sessioncontext "
    b"sessionsummary savesession saveconversation logconversation vector upsertpoints faiss txtai remember recall "
    b"retain hindsight engram mnemo mnestra brain knowledge entit relation observ episod triplet fact graphiti "
    b"zep cogn codify saveinteraction byterover brv cipher rag ingest note obsidian logseq joplin notion "
    b"appendcontent patchcontent journal zettel diary savecontext storecontext addcontext updatecontext "
    b"contextsave contextstore activecontext productcontext conport customdata decision insight learning lesson "
    b"thought preference qdrant chroma pinecone weaviate milvus lancedb pgvector vectorstore embedding archival "
    b"passage letta"
).split()
_FILES = (
    b"claude.md claude.local.md agents.md agents.override.md agents.local.md agent.md gemini.md memory.md qwen.md "
    b"qwen.local.md crush.md crush.local.md warp.md jules.md replit.md reasonix.md conventions.md airules.md "
    b"bugbot.md codex.md copilot.md cursor.md grok.md kimi.md opencode.md windsurf.md instructions.md .mdc "
    b"system.md skill.md soul.md identity.md user.md tools.md heartbeat.md append_system.md "
    b"copilot-instructions.md .hermes.md .rules rules- .cursorrules .windsurfrules .clinerules .roorules "
    b".continuerules .kilocoderules .voidrules .goosehints .augment-guidelines guidelines.md firebender.json "
    b"memory.json .instructions.md .prompt.md .chatmode.md agents/ chatmodes/ commands/ droids/ guidelines/ "
    b"instructions/ memories/ memory/ memory-local/ memory-bank/ microagents/ output-styles/ prompts/ recipes/ rules/ "
    b"skills/ steering/ workflows/ .brv/ .engram/ .opencode/ .remember/ documents/cline/"
).split()
_ARGUMENTS = 4  # run.py EVENT --client NAME


def give_up(error: BaseException, bytecode: "str | None") -> int:
    """The exit code after a failure: 2, which blocks the tool, when the guard failed and a memory may be written.

    Args:
        error: what went wrong.
        bytecode: the folder of the bytecode cache; removed when a truncated file in it may be the cause.
    """
    code = 2 if sys.argv[1:2] == ["guard"] and _may_write_memory() else 0
    why = "could not check this write to memory, so it was blocked" if code else "the hook failed"
    what = type(error).__name__
    if not code and len(sys.argv) != _ARGUMENTS:
        why, what = "EVENT or --client NAME is missing", "usage: keepmum hook stop|session-start|guard --client NAME"
    try:  # noqa: SIM105 - importing contextlib may be what fails
        sys.modules["keepmum_hooks.module_cache"].discard()
    except Exception:  # noqa: BLE001, S110 - it may not be imported, or be what is broken
        pass
    if isinstance(error, EOFError) and bytecode:  # a full disk leaves truncated files
        _remove(bytecode)
    try:
        if code == 0 and "cursor" in sys.argv:  # it treats empty output as a failure
            calls.write(1, b"{}")
        calls.write(2, f"keepmum: {why} ({what})\n".encode())
    except OSError:
        pass
    return code


def _remove(path: str) -> None:
    """Remove a file, a link or a folder, as far as possible; importing `shutil` may be what fails."""
    try:
        calls.unlink(path)
    except OSError:  # a folder, or nothing
        try:
            for name in calls.listdir(path):
                _remove(path + "/" + name)
            calls.rmdir(path)
        except OSError:
            pass


def _may_write_memory() -> bool:
    """Whether the payload names a memory, by simpler rules than the guard's, which may be what is broken."""
    payload = b""
    while chunk := calls.read(0, 1 << 16):
        payload += chunk
    text = payload.lower().replace(b"\\\\", b"/")
    tool = text.partition(b'"tool_name"')[2].partition(b'"')[2].partition(b'"')[0]
    if b'"mcp_server_name"' in text:  # Cursor sends server and tool in separate fields
        tool = b"mcp__" + tool + text.rpartition(b'"mcp_server_name"')[2].partition(b'"')[2].partition(b'"')[0]
    letters = tool.replace(b"_member", b"").replace(b"-member", b"").translate(None, b"_-")
    if tool.startswith((b"mcp__", b"mcp:")):
        return b"keepmum" not in tool and any(word in letters for word in _WORDS)
    # With nothing left to read, the payload was read before the failure and cannot be judged.
    return not payload or any(mark in text for mark in _FILES)
