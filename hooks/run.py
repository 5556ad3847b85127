"""Runs one hook and never fails its client: `python3 -I -S run.py EVENT --client NAME`.

Only the guard does, when it is broken and a memory may be about to be written: it exits with 2, which forbids the
tool. A shim only, since Python compiles the file it is started with anew each time. The package beside it is cached in
Keepmum's home: a client may distrust a plugin whose folder changes, so no bytecode is ever written there.
"""

import sys

if sys.platform == "win32":  # not os: see keepmum_hooks.system
    import nt as calls

    ENVIRON = dict(calls.environ)
else:
    import posix as calls

    ENVIRON = {
        name.decode("utf-8", "surrogateescape"): calls.environ[name].decode("utf-8", "surrogateescape")
        for name in calls.environ
    }


def _keep_bytecode_out_of_the_plugin() -> None:
    """Name the bytecode cache, or have none without a home.

    Repeats the rule of `keepmum_hooks.places.home`, which cannot be imported before it; a test holds them in step.
    """
    user = ENVIRON.get("USERPROFILE" if sys.platform == "win32" else "HOME", "")
    home = ENVIRON.get("KEEPMUM_HOME", "") or (user and user + "/.keepmum")
    if home == "~" or home.startswith("~/"):
        home = user + home[1:]
    if home.startswith("/") or home[1:3] in (":/", ":\\"):
        try:
            calls.mkdir(home, 0o700)  # the import system would make it for everybody to read
        except FileExistsError:
            pass
        except OSError:  # the folder above lacks: the hook will make both, privately, and the next run has a cache
            sys.dont_write_bytecode = True
        sys.pycache_prefix = home + "/cache/pycache"
    else:
        sys.dont_write_bytecode = True


def _run() -> None:
    here = __file__.replace("\\", "/").rpartition("/")[0]
    sys.path.insert(0, here)
    sys.path.append(here + "/../scanner")
    from keepmum_hooks.main import main

    answer = main(sys.argv[1:], ENVIRON).encode("ascii")
    while answer:
        answer = answer[calls.write(1, answer) :]


def _give_up(error: BaseException) -> int:
    """The exit code after a failure: 2, which forbids a tool, when it was the guard's and a memory may be written."""
    code = 2 if sys.argv[1:2] == ["guard"] and _may_write_memory() else 0
    why = "could not check this write to memory, which was not made" if code else "a hook gave up"
    try:
        if code == 0 and "cursor" in sys.argv:  # it takes an empty answer for a failure
            calls.write(1, b"{}")
        calls.write(2, f"keepmum: {why} ({type(error).__name__})\n".encode())
    except OSError:
        pass
    return code


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
    return not seen or any(
        mark in text for mark in files.split() + folders.split()
    )  # read already: then it failed later on


CODE = 0
try:
    _keep_bytecode_out_of_the_plugin()
    _run()
except BaseException as error:  # noqa: BLE001 - a broken hook must not stop the user's work; even Ctrl-C ends in peace
    CODE = _give_up(error)
calls._exit(CODE)  # noqa: SLF001 - public as os._exit; skips the interpreter's tidying up, a tenth of the run; nothing is buffered
