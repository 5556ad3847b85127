"""`keepmum hook EVENT --client NAME`: one run of a hook, for hook files that a team shares and that can name no folder.

The command that the installer makes starts the hook at once and never comes here; this is for every other way to it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from keepmum_hooks import event, main

__all__ = ["run"]

_USAGE = f"usage: keepmum hook {'|'.join(event.KINDS)} --client NAME"


def run(words: Sequence[str]) -> int:
    """Always 0: a hook never breaks a turn."""
    if words[:1] in (["-h"], ["--help"]):
        sys.stdout.write(f"{_USAGE}\n\nClients start this.\n")
        return 0
    if not (words and words[0] in event.KINDS and "--client" in words):
        sys.stderr.write(f"{_USAGE}\n")
        return 0
    try:
        sys.stdout.write(main.main(words, os.environ))
    except Exception as error:  # noqa: BLE001 - as every hook: what is wrong is told to people, and to no client
        sys.stderr.write(f"keepmum: a hook gave up ({type(error).__name__})\n")
    return 0
