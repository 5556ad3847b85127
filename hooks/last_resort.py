"""What becomes of a run that failed, when nothing of the package beside this file can be relied upon."""

import sys

if sys.platform == "win32":
    import nt as calls
else:
    import posix as calls

__all__ = ["give_up"]


def give_up(error: BaseException, bytecode: "str | None") -> int:
    """The exit code after a failure: 2, which forbids a tool, when it was the guard's and a memory may be written.

    Args:
        error: what went wrong.
        bytecode: the folder of its cache, which the next run makes anew when half a file in it may be the cause.
    """
    code = 2 if sys.argv[1:2] == ["guard"] and _may_write_memory() else 0
    why = "could not check this write to memory, which was not made" if code else "a hook gave up"
    try:  # noqa: SIM105 - contextlib would have to be imported, and may be what is missing
        sys.modules["keepmum_hooks.module_cache"].discard()
    except Exception:  # noqa: BLE001, S110 - there may be none, or it may be what is broken
        pass
    if isinstance(error, EOFError) and bytecode:  # what a disk that was full leaves behind
        _remove(bytecode)
    try:
        if code == 0 and "cursor" in sys.argv:  # it takes an empty answer for a failure
            calls.write(1, b"{}")
        calls.write(2, f"keepmum: {why} ({type(error).__name__})\n".encode())
    except OSError:
        pass
    return code


def _remove(path: str) -> None:
    """Remove a file, a link or a folder, as far as it can be; `shutil` may be what is broken."""
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
    """Whether the payload names a memory; the guard's own rules may be what is broken, so these are rougher."""
    seen = b""
    while chunk := calls.read(0, 1 << 16):
        seen += chunk
    text = seen.lower().replace(b"\\\\", b"/")
    tool = text.partition(b'"tool_name"')[2].partition(b'"')[2].partition(b'"')[0]
    if b'"mcp_server_name"' in text:  # Cursor names server and tool apart
        tool = b"mcp__" + tool + text.rpartition(b'"mcp_server_name"')[2].partition(b'"')[2].partition(b'"')[0]
    if tool.startswith((b"mcp__", b"mcp:")):
        words = b"mem graph entit relat observ note episode".split()
        return b"keepmum" not in tool and any(word in tool for word in words)
    files = b"claude.md claude.local.md agents.md agents.override.md gemini.md memory.md"
    folders = b"memories/ rules/ memory/ memory-local/"
    # Where nothing is left to read, it was read already, and what failed came later.
    return not seen or any(mark in text for mark in files.split() + folders.split())
