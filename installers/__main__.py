"""`python3 installers install|uninstall`: installs from a clone, on an interpreter without packages.

It is independent of the `keepmum` command, so that it works when everything else is broken.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
import traceback

_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_USAGE = "sh installers/install.sh [options]; --help lists them"


def main() -> int:
    """The exit code: 0 done, 1 failed with a message, 2 wrong usage, 130 interrupted."""
    sys.path[:0] = [os.path.join(_ROOT, name) for name in ("installers", "plugin", "hooks")]
    from keepmum_installers import commands

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a locale may not be able to encode a folder's name
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    parser = argparse.ArgumentParser(prog="install.sh", usage=_USAGE)
    verbs = parser.add_subparsers(metavar="COMMAND", required=True)
    commands.register_installation(verbs)
    for verb in verbs.choices.values():  # `install.sh` chose the verb, so usage messages must not show it
        verb.prog, verb.usage = parser.prog, parser.usage
    arguments = parser.parse_args()
    try:
        return int(arguments.run(arguments))
    except KeyboardInterrupt:
        sys.stderr.write("\nkeepmum: interrupted; running this again continues where it stopped\n")
        return 130
    except Exception as error:  # noqa: BLE001 - last resort: the user gets a message instead of a stack trace
        frame = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{os.path.basename(frame.filename)}:{frame.lineno}"
        sys.stderr.write(f"keepmum: a bug, sorry: {type(error).__name__} at {place}\n  next: report this line.\n")
        return 1


if __name__ == "__main__":
    raise SystemExit(main())
