"""The record of what this home wrote to files that others can change: id, digest and trust of each memory.

Anyone who can write to a repository can write any front matter. So what a file says of its trust, its confirmation and
its pin counts only when this home wrote exactly that, or when a person accepted the file. Everything else is from
outside. The file is append-only, and shared by all projects and processes of this home.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
import re
import secrets
from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from keepmum.core import serialization, trust
from keepmum.core.memory import TRUST_LEVELS, Memory, Trust
from keepmum.system import private_files

__all__ = ["Ledger", "ledger_path"]

_HEADER = re.compile(rb"keepmum-ledger 1 ([0-9a-f]{16})")
_LINE = re.compile(rf"(mem_[0-9a-z]{{26}} [0-9a-f]{{32}}) ({'|'.join(TRUST_LEVELS)})".encode())
# Fields that no author states: uses are counted per machine, and the project of a file is that of its repository.
_LEFT_OUT = ("project", "access_count", "accessed_at")
# Defaults are left out as well, so that a field of a later version changes no digest.
_DEFAULTS = {field.name: field.default for field in dataclasses.fields(Memory)}


# What a file of others may name as its channel: not one for which a memory is read in another way.
_CHANNELS = frozenset({"mcp", "cli", "dashboard", "library"})


class _Seen(NamedTuple):
    """How far the file was read."""

    device: int = 0
    inode: int = 0
    end: int = 0


def ledger_path(home: str) -> str:
    """The ledger of a home."""
    return os.path.join(home, "state", "written-memories.txt")


class Ledger:
    """The trust of memories in files; None for what this home neither wrote nor accepted."""

    def __init__(self, path: str) -> None:
        """The ledger at `path`, which is created; without it (on a full disk) everything is from outside."""
        self._path = path
        self._seen = _Seen()
        self._trusts: dict[str, Trust] = {}
        self.identity = ""  # changes when the file is lost
        self.damaged = 0  # lines that cannot be read
        with contextlib.suppress(OSError):
            self._create()
        self._read()

    def judged(self, memory: Memory) -> Memory:
        """A memory as its file has it, with the trust that it deserves."""
        name = _name(memory)
        if name not in self._trusts:
            self._read()
        deserved = self._trusts.get(name, "outside")
        if deserved == memory.trust != "outside":
            return memory
        judged = trust.unconfirmed(memory, deserved)
        return judged if name in self._trusts or memory.origin in _CHANNELS else replace(judged, origin="mcp")

    def level_of(self, memory: Memory) -> Trust:
        """The trust that a memory deserves in exactly this form."""
        return self._trusts.get(_name(memory), "outside")

    def note(self, memories: Iterable[tuple[Memory, Trust]]) -> None:
        """Record memories, as a file has them, with the trust that they deserve; each once.

        Raises: OSError.
        """
        named = {_name(memory): deserved for memory, deserved in memories}
        new = {name: level for name, level in named.items() if self._trusts.get(name) != level}
        if not new:
            return
        self._create()
        descriptor = os.open(self._path, os.O_RDWR | os.O_APPEND | getattr(os, "O_CLOEXEC", 0))
        with open(descriptor, "rb+", buffering=0) as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - 1))
            is_torn = file.read(1) not in {b"", b"\n"}  # a process was killed while it wrote
            lines = "".join(f"{name} {level}\n" for name, level in new.items())
            file.write(("\n" if is_torn else "").encode() + lines.encode())  # one call: other processes append too
            os.fsync(descriptor)
        self._trusts |= new

    def _create(self) -> None:
        """Create the file with its header unless it exists; of two processes one does.

        Raises: OSError.
        """
        if os.path.exists(self._path):
            return
        with contextlib.suppress(FileExistsError):
            private_files.create_file(self._path, f"keepmum-ledger 1 {secrets.token_hex(8)}\n".encode())

    def _read(self) -> None:
        """Read what was appended since; everything when it is another file."""
        try:
            with open(self._path, "rb") as file:
                about = os.fstat(file.fileno())
                if (about.st_dev, about.st_ino) != self._seen[:2] or about.st_size < self._seen.end:
                    self._seen, self._trusts, self.identity, self.damaged = _Seen(), {}, "", 0
                file.seek(self._seen.end)
                content = file.read()
        except OSError:
            self._seen, self._trusts, self.identity, self.damaged = _Seen(), {}, "", 0
            return
        whole = content[: content.rfind(b"\n") + 1]
        for line in filter(None, whole.split(b"\n")):
            if found := _LINE.fullmatch(line):
                self._trusts[found[1].decode()] = next(one for one in TRUST_LEVELS if one == found[2].decode())
            elif header := _HEADER.fullmatch(line):
                self.identity = self.identity or header[1].decode()
            else:
                self.damaged += 1
        self._seen = _Seen(about.st_dev, about.st_ino, self._seen.end + len(whole))


def _name(memory: Memory) -> str:
    """The id of a memory and a digest of what its file says."""
    values = {
        name: value
        for name, value in serialization.to_json(memory).items()
        if name not in _LEFT_OUT and value != _DEFAULTS.get(name)
    }
    text = json.dumps(values, ensure_ascii=False, sort_keys=True)
    return f"{memory.id} {hashlib.blake2b(text.encode(), digest_size=16).hexdigest()}"
