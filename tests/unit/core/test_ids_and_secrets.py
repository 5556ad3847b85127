"""Ids of sessions, users and projects look random and pass; keys of a known format do not, also in names of folders."""

from __future__ import annotations

import random
import string
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from keepmum.core import validation
from keepmum.core.errors import SecretFound
from keepmum.core.masking import Masker
from keepmum.core.memory import Memory
from keepmum.guard.fields import secrets
from keepmum.guard.message import Members, decode
from keepmum.service import MemoryService
from keepmum.workspace.project import Project, holds_key, without_key
from keepmum_hooks.call_scan import find_secrets
from keepmum_hooks.event import ToolCall
from keepmum_scanner import scan

ALNUM = string.ascii_letters + string.digits
CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def pick(rng: random.Random, letters: str, size: int) -> str:
    return "".join(rng.choices(letters, k=size))


def hexadecimal(rng: random.Random, size: int) -> str:
    return pick(rng, "0123456789abcdef", size)


def uuid4(rng: random.Random) -> str:
    return str(uuid.UUID(int=rng.getrandbits(128), version=4))


SESSIONS: dict[str, Callable[[random.Random], str]] = {
    "UUID (Claude Code, Cursor, Copilot)": uuid4,
    "UUID without hyphens": lambda c: hexadecimal(c, 32),
    "ULID": lambda c: "01" + pick(c, CROCKFORD, 24),
    "OpenCode": lambda c: "ses_" + pick(c, ALNUM, c.randint(24, 26)),
    "OpenCode, hexadecimal start": lambda c: "ses_" + hexadecimal(c, 12) + pick(c, ALNUM, 14),
    "two groups": lambda c: f"{hexadecimal(c, 8)}/{hexadecimal(c, 8)}",
    "a date": lambda c: f"20261122-1030-{hexadecimal(c, 8)}",
    "Codex": lambda c: f"rollout-2026-11-22T10-30-00-{uuid4(c)}",
    "Gemini": lambda c: f"session-2026-11-22T10-30-{hexadecimal(c, 8)}",
    "Visual Studio Code": lambda c: f"vscode-chat-session-{pick(c, ALNUM, 21)}",
}
KEYS = {
    "github": "gh" + "p_" + "a1B2c3D4e5" * 3 + "f6G7h8",
    "slack": "xox" + "b-" + "123456789012-1234567890123-" + "aB3dE5fG7hJ9kL1mN3pQ5rS7",
    "aws": "AK" + "IA" + "QZ7WERTY5UIO3PAS",
    "jwt": "eyJ" + "hbGciOiJIUzI1NiJ9." + "eyJ" + "zdWIiOiIxMjM0NTY3ODkwIn0." + "d8Fk3Lm9Qw2Er5Ty7Ui1Op4As6Df0Gh",
    "pem": "-----BEGIN "
    "PRIVATE KEY-----\n" + "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n" * 3 + "-----END " + "PRIVATE KEY-----",
}


@pytest.mark.parametrize("kind", SESSIONS)
def test_no_session_is_refused(kind: str) -> None:
    rng = random.Random(kind)
    for _ in range(1000):
        session = SESSIONS[kind](rng)
        validation.refuse_secrets({"session": session, "user": session}, scan)


@pytest.mark.parametrize("kind", SESSIONS)
def test_no_session_is_refused_by_the_guards(kind: str) -> None:
    rng = random.Random(kind)
    for name in ("session_id", "sessionId", "run_id", "user_id", "conversation_id", "threadId", "session"):
        arguments = {"text": "a note", name: SESSIONS[kind](rng), "metadata": {name: SESSIONS[kind](rng)}}
        assert find_secrets(ToolCall(tool="x", input=arguments), None) == ([], [])
        message = decode(str({"params": {"name": "add", "arguments": arguments}}).replace("'", '"'))
        assert isinstance(message, Members)
        assert secrets(message) == []


@pytest.mark.parametrize("kind", KEYS)
@pytest.mark.parametrize("name", ["session", "project", "user"])
def test_a_key_of_a_known_format_is_refused_in_an_id(kind: str, name: str) -> None:
    with pytest.raises(SecretFound):
        validation.refuse_secrets({name: KEYS[kind]}, scan)


@pytest.mark.parametrize("kind", KEYS)
def test_a_key_of_a_known_format_is_refused_by_the_guards(kind: str) -> None:
    assert find_secrets(ToolCall(tool="x", input={"session_id": KEYS[kind]}), None)[0]


def test_a_session_is_not_masked_and_a_key_in_it_is() -> None:
    masker = Masker(scan, lambda *_: None)
    given = SESSIONS["Visual Studio Code"](random.Random(1))
    memory = Memory(id="mem_" + "0" * 26, text="a", title="a", created_at=1, updated_at=1, session=given)
    assert masker.memory(memory).session == given
    planted = Memory(id="mem_" + "0" * 26, text="a", title="a", created_at=1, updated_at=1, session=KEYS["github"])
    assert KEYS["github"] not in str(masker.memory(planted).session)


def test_a_session_is_stored(service: MemoryService) -> None:
    for number, make in enumerate(SESSIONS.values()):
        session = make(random.Random(number))
        assert service.remember(f"note {number}", session=session, scope="session").memory.session == session


def test_a_project_named_by_a_key_has_a_digest() -> None:
    hidden = without_key(Project(f"github.com/a/{KEYS['github']}", KEYS["github"], "/work", "git remote origin"))
    assert hidden.id.startswith("path:")
    assert hidden.name.startswith("project-")
    assert KEYS["github"] not in hidden.id + hidden.name


@pytest.mark.parametrize(
    "name", ["keepmum", "tmp.aB3xK9Lq7Z", "feature-20261122-1030-a1b2c3d4", "3fa85f64571745628b3fc2c9"]
)
def test_an_ordinary_project_keeps_its_name(name: str) -> None:
    project = Project(f"github.com/a/{name}", name, f"/srv/{name}", "git folder")
    assert without_key(project) == project


def test_a_folder_that_holds_a_key_is_recognised(tmp_path: Path) -> None:
    assert holds_key(str(tmp_path / KEYS["github"] / "api"))
    assert not holds_key(str(tmp_path / "api"))
