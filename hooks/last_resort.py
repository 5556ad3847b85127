"""The end of a run that failed; imports nothing of the package, which may be what is broken."""

import sys

if sys.platform == "win32":
    import nt as calls
else:
    import posix as calls

__all__ = ["give_up"]


def give_up(error: BaseException, bytecode: "str | None") -> int:
    """The exit code after a failure: 2, which blocks the tool, when the guard failed and a memory may be written.

    Args:
        error: what went wrong.
        bytecode: the folder of the bytecode cache; removed when a truncated file in it may be the cause.
    """
    code = 2 if sys.argv[1:2] == ["guard"] and _may_write_memory() else 0
    why = "could not check this write to memory, so it was blocked" if code else "the hook failed"
    try:  # noqa: SIM105 - importing contextlib may be what fails
        sys.modules["keepmum_hooks.module_cache"].discard()
    except Exception:  # noqa: BLE001, S110 - it may not be imported, or be what is broken
        pass
    if isinstance(error, EOFError) and bytecode:  # a full disk leaves truncated files
        _remove(bytecode)
    try:
        if code == 0 and "cursor" in sys.argv:  # it treats empty output as a failure
            calls.write(1, b"{}")
        calls.write(2, f"keepmum: {why} ({type(error).__name__})\n".encode())
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
    if tool.startswith((b"mcp__", b"mcp:")):
        words = b"mem graph entit relat observ note episode".split()
        return b"keepmum" not in tool and any(word in tool for word in words)
    files = b"claude.md claude.local.md agents.md agents.override.md gemini.md memory.md"
    folders = b"memories/ rules/ memory/ memory-local/"
    # With nothing left to read, the payload was read before the failure and cannot be judged.
    return not payload or any(mark in text for mark in files.split() + folders.split())
