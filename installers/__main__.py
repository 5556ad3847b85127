"""`python3 installers install|uninstall`: installs from a clone, on an interpreter without any package.

It stands apart from the `keepmum` command so that it works when everything else is broken.
"""

from __future__ import annotations

import argparse
import os
import sys

_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def main() -> int:
    """The exit code: 0 done, 1 something failed and was said, 2 wrong usage, 130 interrupted."""
    sys.path[:0] = [os.path.join(_ROOT, name) for name in ("installers", "plugin", "hooks")]
    from keepmum_installers import commands

    parser = argparse.ArgumentParser(prog="install.sh")
    commands.register_installation(parser.add_subparsers(metavar="COMMAND", required=True))
    arguments = parser.parse_args()
    try:
        return int(arguments.run(arguments))
    except KeyboardInterrupt:
        sys.stderr.write("\nkeepmum: interrupted; running this again goes on where it stopped\n")
        return 130


if __name__ == "__main__":
    raise SystemExit(main())
