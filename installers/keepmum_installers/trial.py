"""Tries a version before it becomes the current one: on a copy of the store, in a temporary home.

The new version migrates the copy, so a fault in it leaves the user's store unchanged. The backup that the copy is made
from stays.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
import time

from keepmum.core.errors import SettingsError
from keepmum.system import private_files
from keepmum.workspace import settings, toml_edit
from keepmum_installers import demo, files, local_plugin, temporary_home
from keepmum_installers.errors import InstallError
from keepmum_installers.machine import Machine
from keepmum_installers.product import Product

__all__ = ["back_up", "check"]

_SECONDS = 300
_JUDGED = frozenset({"keepmum", "scanner", "settings", "store"})  # findings of the doctor that a copy can have


def back_up(machine: Machine) -> str | None:
    """A new backup of the local store; None when there is no store yet.

    Raises: InstallError when it cannot be made.
    """
    path = _store(machine)
    if path is None or not os.path.exists(path):
        return None
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    folder = os.path.join(os.path.dirname(path), "backups")
    target = os.path.join(folder, f"{os.path.basename(path).removesuffix('.db')}-{stamp}.db")
    unfinished = f"{target}.{os.getpid()}-{os.urandom(4).hex()}.part"
    try:
        private_files.make_folder(folder)
        os.close(os.open(unfinished, os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o600))
        # Read-only, since a writer would need the lock of the store.
        source = f"file:{path.replace('%', '%25').replace('?', '%3f').replace('#', '%23')}?mode=ro"
        with (
            contextlib.closing(sqlite3.connect(source, uri=True)) as store,
            contextlib.closing(sqlite3.connect(unfinished)) as copy,
        ):
            store.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")  # a single file, which any tool can open
        os.replace(unfinished, target)
    except (OSError, sqlite3.Error) as error:
        with contextlib.suppress(OSError):
            os.unlink(unfinished)
        raise InstallError(
            f"the memories in {path} could not be backed up: {error}; nothing was changed",
            "Run `keepmum doctor`, and check the free space.",
        ) from None
    return target


def check(root: str, product: Product, backup: str | None, machine: Machine) -> None:
    """Run the demo of the version at root, then its doctor on a copy of the memories.

    Raises: InstallError with what it found.
    """
    demo.run(root, machine, product)
    with temporary_home.create("keepmum-trial-", machine) as home:
        store = os.path.join(home, "memory.db")
        _copy_settings(machine, home, store)
        if backup is not None:
            shutil.copyfile(backup, store)
            os.chmod(store, 0o600)
        _judge(root, product, home, machine)


def _copy_settings(machine: Machine, home: str, store: str) -> None:
    """Copy the user's settings to the temporary home, with the copied store as the store."""
    path = os.path.join(machine.home, "config.toml")
    text = (files.read(path) or b"").decode("utf-8", "replace")
    try:
        if text and _store(machine) != os.path.join(machine.home, "memory.db"):
            text = toml_edit.changed(path, text, "store.path", store)
    except SettingsError as error:
        raise InstallError(f"{error}; nothing was changed", "Fix that file, then run this again.") from None
    if text:
        files.write(os.path.join(home, "config.toml"), text.encode())


def _judge(root: str, product: Product, home: str, machine: Machine) -> None:
    launch = os.path.join(root, "plugin", "launch.py")
    # Another HOME and PATH: no client is found, whose checks take seconds and say nothing about the version.
    environ = {"KEEPMUM_HOME": home, "HOME": home, "PATH": "", "KEEPMUM_BACKEND": "sqlite"}
    done = machine.run((local_plugin.interpreter(), "-I", "-S", launch, "doctor", "--json"), _SECONDS, environ)
    try:
        findings = json.loads(done.out)["findings"]
    except (ValueError, KeyError, TypeError):
        says = f"version {product.version} does not start: {done.sentence}"
        raise InstallError(f"{says}; {_UNCHANGED}", _REPORT) from None
    wrong = [each for each in findings if each["level"] == "problem" and each["about"] in _JUDGED]
    if wrong:
        says = "; ".join(f"{each['about']}: {each['says']}" for each in wrong)
        raise InstallError(f"with version {product.version} there is a problem: {says}; {_UNCHANGED}", _REPORT)


_UNCHANGED = "it was not made the current one, and your memories were not touched"
_REPORT = "Report this message; docs/upgrading.md says more."


def _store(machine: Machine) -> str | None:
    """The file of the local store, as the user's settings name it.

    Raises: InstallError when the settings are damaged.
    """
    try:
        return settings.load({"KEEPMUM_HOME": machine.home}, None).store.path
    except SettingsError as error:
        raise InstallError(f"{error}; nothing was changed", "Fix that file, then run this again.") from None
