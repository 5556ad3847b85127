"""The secrets in a tool call: what the allowlist drops, and which texts are scanned."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from keepmum.workspace.allowlist import Allowed, Allowlist
from keepmum_hooks import files
from keepmum_hooks.call_scan import AllowlistScanner, find_secrets, texts
from keepmum_hooks.event import ToolCall
from keepmum_scanner import scan
from related_fields import HALVES, VALUES, honest, leaks, strings


def token() -> str:
    """A string that looks like a code host's key, assembled here so that no file contains one."""
    return "gh" + "p_" + "a1B2c3D4e5" * 3 + "f6G7h8"


def other_token() -> str:
    return "gh" + "p_" + "Z9y8X7w6V5" * 3 + "u4T3s2"


def allow(home: Path, text: str, why: str = "made up") -> None:
    allowlist = Allowlist(str(home))
    for finding in scan(text, allowlist.key()):
        allowlist.add(Allowed(finding.fingerprint, why, "2026-11-21"))


def test_an_allowed_finding_is_dropped(tmp_path: Path) -> None:
    allow(tmp_path, token())
    assert AllowlistScanner(str(tmp_path))(f"use {token()} here") == []


def test_any_other_finding_is_kept(tmp_path: Path) -> None:
    allow(tmp_path, token())
    assert [finding.rule for finding in AllowlistScanner(str(tmp_path))(f"{token()} and {other_token()}")] == [
        "github.token"
    ]


def test_a_finding_has_the_fingerprint_that_keepmum_allow_accepts(tmp_path: Path) -> None:
    (finding,) = AllowlistScanner(str(tmp_path))(token())
    assert finding.fingerprint == scan(token(), Allowlist(str(tmp_path)).key())[0].fingerprint != ""


@pytest.mark.parametrize(
    "why",
    ["plain", 'with "quotes" and \\ signs', "with = and [[allowed]] and # in it", "naïve “why”", "fingerprint = x"],
)
def test_an_entry_is_read_whatever_its_reason_contains(tmp_path: Path, why: str) -> None:
    allow(tmp_path, token(), why)
    allow(tmp_path, other_token(), why)
    assert AllowlistScanner(str(tmp_path))(f"{token()} {other_token()}") == []


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("[[allowed]]\nfingerprint = {fingerprint}\n", id="no quotes"),
        pytest.param('fingerprint = "{fingerprint}"\nodd = "x"\n', id="unknown key"),
        pytest.param('fingerprint = "{fingerprint}"\n[other]\n', id="unknown table"),
        pytest.param('fingerprint = "{fingerprint}" # and more\n', id="text after the value"),
        pytest.param("\0" * 40, id="zeros"),
        pytest.param("", id="nothing"),
    ],
)
def test_a_list_in_any_other_form_allows_nothing(tmp_path: Path, text: str) -> None:
    fingerprint = scan(token(), Allowlist(str(tmp_path)).key())[0].fingerprint
    (tmp_path / "allow.toml").write_text(text.format(fingerprint=fingerprint), encoding="utf-8")
    assert AllowlistScanner(str(tmp_path))(token())


@pytest.mark.parametrize("key", [b"", b"short", b"x" * 33])
def test_a_damaged_key_allows_nothing(tmp_path: Path, key: bytes) -> None:
    allow(tmp_path, token())
    (tmp_path / "fingerprint.key").write_bytes(key)
    (finding,) = AllowlistScanner(str(tmp_path))(token())
    assert finding.fingerprint == ""


def test_an_empty_fingerprint_allows_nothing(tmp_path: Path) -> None:
    (tmp_path / "fingerprint.key").write_bytes(b"x")
    (tmp_path / "allow.toml").write_text('[[allowed]]\nfingerprint = ""\n', encoding="utf-8")
    assert AllowlistScanner(str(tmp_path))(token())


def test_the_key_that_the_guard_creates_is_private_and_used_by_keepmum_allow(tmp_path: Path) -> None:
    AllowlistScanner(str(tmp_path))(token())
    path = tmp_path / "fingerprint.key"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert Allowlist(str(tmp_path)).key() == path.read_bytes()
    assert os.listdir(tmp_path) == ["fingerprint.key"]


def test_an_existing_key_is_kept(tmp_path: Path) -> None:
    key = Allowlist(str(tmp_path)).key()
    files.create(str(tmp_path / "fingerprint.key"), b"another")
    AllowlistScanner(str(tmp_path))(token())
    assert (tmp_path / "fingerprint.key").read_bytes() == key


def test_a_clean_text_reads_neither_key_nor_allowlist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "read", None)
    assert AllowlistScanner(str(tmp_path))("Deploys go through the blue pool.") == []


def test_without_a_home_nothing_is_allowed() -> None:
    assert AllowlistScanner(None)(token())


def locations(value: dict[str, Any]) -> dict[str, str]:
    """The texts by their locations."""
    return {text.location(lambda _: True): text.text for text in texts(value) if text.text}


def test_every_string_has_a_location() -> None:
    found = locations({"a": "one", "b": [{"note": "two"}, ["three"]], "n": 7, "none": None})
    assert {"a": "a: one", "b[0].note": "note: two", "b[1][0]": "b: three"}.items() <= found.items()


def test_field_names_are_scanned() -> None:
    assert "deep" in locations({"a": {"deep": {"x": 1}}}).values()


def test_a_string_is_scanned_with_its_field_name_except_the_name_of_a_memory() -> None:
    assert list(locations({"password": "x", "key": "y"}).values()) == ["y", "password: x"]


def test_a_string_is_also_scanned_without_its_field_name() -> None:
    assert [text.text for text in texts({"commit": "x"})] == ["x", "commit: x"]


def test_a_long_string_is_scanned_without_its_field_name_only() -> None:
    assert [text.text for text in texts({"content": "x" * 513})] == ["x" * 513]


def test_json_in_a_string_is_parsed() -> None:
    inner = json.dumps({"deep": json.dumps(["x\n"])})
    assert locations({"data": inner})["data (JSON).deep (JSON)[0]"] == "deep: x\n"


def test_json_is_parsed_up_to_eight_levels_deep() -> None:
    text = "bottom"
    for _ in range(12):
        text = json.dumps([text])
    assert max(location.count("(JSON)") for location in locations({"a": text})) == 8


def test_a_field_is_left_out_at_every_depth() -> None:
    found = texts({"old": "x", "edits": [{"old": "y", "new": "z"}]}, ("old",))
    assert [text.text for text in found if text.text != "edits"] == ["z", "new: z"]


@pytest.mark.parametrize("name", ["a1b2", "x" * 33, "two words", "ü", "", "a\nb"])
def test_a_field_name_that_could_be_a_secret_is_replaced_by_its_number(name: str) -> None:
    assert {text.location(lambda _: True) for text in texts({name: "x"})} == {"(field 1)"}


def test_a_field_name_that_is_not_clean_is_replaced_by_its_number() -> None:
    assert {text.location(lambda name: name != "name") for text in texts({"name": "x"})} == {"(field 1)"}


def test_lines_are_counted_from_the_value() -> None:
    *_, text = texts({"content": "one\ntwo"})
    assert [text.line(text.text.index(word)) for word in ("content", "one", "two")] == [1, 1, 2]


def test_deeply_nested_input_is_scanned() -> None:
    value: dict[str, Any] = {"a": "bottom"}
    for _ in range(50_000):
        value = {"a": value}
    assert [text.text for text in texts(value)][-1] == "a: bottom"
    while value:  # step by step, because the interpreter would free it recursively
        value = value.pop("a") if isinstance(value.get("a"), dict) else {}


def refused(tool_input: dict[str, Any], leave_out: tuple[str, ...] = ()) -> list[str]:
    call = ToolCall(tool="mcp__memory__create_entities", input=tool_input, existing=leave_out)
    return find_secrets(call, None)[0]


@pytest.mark.parametrize("half", HALVES)
def test_a_value_that_another_field_names_is_found(half: str) -> None:
    cases = [record for kind in VALUES for _, record, _ in leaks(HALVES[half], kind, 1, "hook")]
    assert sum(not refused(record) for record in cases) <= 0.02 * len(cases)


@pytest.mark.parametrize("half", HALVES)
def test_an_honest_call_passes(half: str) -> None:
    cases = [record for _, record in honest(HALVES[half], 5, "hook") if not any(map(scan, strings(record)))]
    assert sum(bool(refused(record)) for record in cases) <= 0.005 * len(cases)


def test_a_related_finding_names_field_and_line() -> None:
    entity = {"name": "staging root password", "observations": ["for bob:\nSommer" + "2024!"]}
    assert refused({"entities": [entity]}) == ["secret.password in entities[0].observations[0], line 2"]
