"""The command line, called as a function."""

import io
import json
import re
from pathlib import Path

import pytest

from hidden import assert_hidden
from keepmum_scanner import Finding
from keepmum_scanner.cli import CLEAN, ERROR, FOUND, main

GITHUB = "gh" + "p_" + "a1B2" * 9


@pytest.fixture
def note(tmp_path: Path) -> Path:
    return tmp_path / "note.md"


def test_clean_file(note: Path, capsys: pytest.CaptureFixture[str]) -> None:
    note.write_text("nothing here\n")
    assert main([str(note)]) == CLEAN
    assert capsys.readouterr() == ("", "")


def test_finding_is_reported_with_file_line_and_column(note: Path, capsys: pytest.CaptureFixture[str]) -> None:
    note.write_text(f"one\ntwo {GITHUB}\n")
    assert main([str(note)]) == FOUND
    assert capsys.readouterr().out == f"{note}:2:5: github.token\n"


def test_json_contains_positions_and_no_text(note: Path, capsys: pytest.CaptureFixture[str]) -> None:
    note.write_text(f"two {GITHUB}\n")
    assert main(["--json", str(note)]) == FOUND
    (report,) = json.loads(capsys.readouterr().out)
    assert report | {"confidence": 0.9} == {
        "file": str(note),
        "line": 1,
        "column": 5,
        "rule": "github.token",
        "start": 4,
        "end": 44,
        "confidence": 0.9,
    }


def test_json_without_findings_is_an_empty_list(note: Path, capsys: pytest.CaptureFixture[str]) -> None:
    note.write_text("")
    assert main(["--json", str(note)]) == CLEAN
    assert json.loads(capsys.readouterr().out) == []


def test_text_around_invalid_utf8_is_scanned(note: Path, capsys: pytest.CaptureFixture[str]) -> None:
    note.write_bytes(b"caf\xe9 \xed\xa0\x80 " + GITHUB.encode())
    assert main([str(note)]) == FOUND
    assert "github.token" in capsys.readouterr().out


@pytest.mark.parametrize(("content", "reason"), [(b"\x00\x01", "binary data"), (None, "No such file")])
def test_unreadable_input_is_reported_in_one_line(
    note: Path, content: bytes | str | None, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if content == "folder":
        note.mkdir()
    elif isinstance(content, bytes):
        note = note.with_suffix(".bin")
        note.write_bytes(content)
    assert main([str(note)]) == ERROR
    error = capsys.readouterr().err
    assert reason in error
    assert error.count("\n") == 1


def test_one_bad_file_does_not_hide_the_others(note: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    note.write_text(GITHUB)
    assert main([str(tmp_path / "missing"), str(note)]) == ERROR
    assert "github.token" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["--what"], ["-x", "file"]])
def test_unknown_option_is_an_error(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == ERROR
    assert "--help" in capsys.readouterr().err


def test_secret_given_as_a_file_name_is_not_repeated(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([GITHUB]) == ERROR
    assert_hidden(GITHUB[:12], capsys.readouterr().err)


def test_help_explains_the_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == CLEAN
    assert "0 clean, 1 found, 2" in capsys.readouterr().out


def test_standard_input_is_read_without_a_file(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(GITHUB.encode())))
    assert main([]) == FOUND
    assert capsys.readouterr().out == "<stdin>:1:1: github.token\n"


def test_all_text_files_of_a_folder_are_scanned(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("b/deep/note.md", "a.txt", ".git/config", "b/image.png"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(f"key {GITHUB}".encode() + (b"\0" if name.endswith("png") else b""))
    (tmp_path / "link").symlink_to(tmp_path / "a.txt")
    assert main([str(tmp_path)]) == FOUND
    found = [line.partition(":")[0] for line in capsys.readouterr().out.splitlines()]
    assert found == [str(tmp_path / "a.txt"), str(tmp_path / "b/deep/note.md")]


def test_a_binary_file_is_an_error_only_when_it_is_named(tmp_path: Path) -> None:
    (tmp_path / "image").write_bytes(b"\0")
    assert main([str(tmp_path)]) == CLEAN
    assert main([str(tmp_path / "image")]) == ERROR


@pytest.mark.parametrize("content", [b"\0\nkey " + GITHUB.encode(), f"\n{GITHUB}".encode("utf-16")])
def test_a_text_with_nulls_is_scanned(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "note.md").write_bytes(content)
    assert main([str(tmp_path)]) == FOUND


def test_an_empty_folder_is_clean(tmp_path: Path) -> None:
    assert main([str(tmp_path)]) == CLEAN


@pytest.mark.parametrize("words", [["--staged", "note"], ["--json", "--sarif"], ["--what"], ["-x"]])
def test_invalid_arguments_are_an_error(words: list[str]) -> None:
    assert main(words) == ERROR


def test_two_dashes_end_the_options(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("--json").write_text(GITHUB)
    assert main(["--", "--json"]) == FOUND
    assert capsys.readouterr().out == "--json:1:1: github.token\n"


def test_sarif_contains_positions_and_no_text(note: Path, capsys: pytest.CaptureFixture[str]) -> None:
    note.write_text(f"one\ntwo {GITHUB}\n")
    assert main(["--sarif", str(note), str(note.parent / "none")]) == ERROR
    output = capsys.readouterr().out
    (run,) = json.loads(output)["runs"]
    (result,) = run["results"]
    (location,) = result["locations"]
    assert (result["ruleId"], run["tool"]["driver"]["rules"]) == ("github.token", [{"id": "github.token"}])
    assert location["physicalLocation"]["region"] == {"startLine": 2, "startColumn": 5}
    assert location["physicalLocation"]["artifactLocation"]["uri"] == note.as_uri()
    assert run["invocations"][0]["executionSuccessful"] is False
    assert not [GITHUB[start : start + 5] for start in range(4, len(GITHUB) - 4) if GITHUB[start : start + 5] in output]


# The properties that we write, by object: required ones, then optional ones. The schema allows no others.
# Source: https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json, read 2026-11-21
SARIF = {
    "": ("version runs", "$schema"),
    "runs": ("tool", "results columnKind invocations"),
    "tool": ("driver", ""),
    "driver": ("name", "rules informationUri"),
    "rules": ("id", ""),
    "invocations": ("executionSuccessful", "toolExecutionNotifications"),
    "toolExecutionNotifications": ("message", "level"),
    "results": ("message", "ruleId ruleIndex level locations"),
    "message": ("text", ""),
    "locations": ("", "physicalLocation"),
    "physicalLocation": ("artifactLocation", "region"),
    "artifactLocation": ("uri", ""),
    "region": ("startLine startColumn", ""),
}
URI = re.compile(r"(?:[A-Za-z0-9._~!$&'()*+,;=@:/-]|%[0-9A-F]{2})+")


def schema_violations(value: object, name: str = "") -> list[str]:
    """Missing and unknown properties in the value of `name`."""
    if isinstance(value, list):
        return [one for item in value for one in schema_violations(item, name)]
    if not isinstance(value, dict):
        return []
    required, more = (set(names.split()) for names in SARIF[name])
    wrong = [f"{name}: {one}" for one in (required - set(value)) | (set(value) - required - more)]
    return wrong + [one for key, item in value.items() for one in schema_violations(item, key)]


@pytest.mark.parametrize("name", ["note.md", "a b#c?.md", "x:y.md", "ä.md"])
def test_sarif_is_valid(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    note = tmp_path / name
    note.write_text(f"one\ntwo {GITHUB}\n", encoding="utf-8")
    main(["--sarif", str(note), str(tmp_path / "none")])
    document = json.loads(capsys.readouterr().out)
    assert schema_violations(document) == []
    (result,) = document["runs"][0]["results"]
    location = result["locations"][0]["physicalLocation"]
    assert URI.fullmatch(location["artifactLocation"]["uri"])
    assert (document["version"], result["level"]) == ("2.1.0", "error")
    assert location["region"]["startLine"] >= 1 <= location["region"]["startColumn"]
    assert document["runs"][0]["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]


def test_the_given_scan_function_is_used(note: Path) -> None:
    note.write_text(GITHUB)
    assert main([str(note)], lambda _: []) == CLEAN


def test_a_text_that_breaks_the_scanner_is_an_error(note: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def broken(_: str) -> list[Finding]:
        raise RuntimeError(GITHUB)

    note.write_text(GITHUB)
    assert main([str(note)], broken) == ERROR
    assert capsys.readouterr().err == f"scanner: {note}: the scanner failed (RuntimeError)\n"
