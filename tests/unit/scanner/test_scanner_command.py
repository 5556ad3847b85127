"""The command line, called as a function."""

import io
import json
from pathlib import Path

import pytest

from keepmum_scanner.cli import CLEAN, ERROR, FOUND, main

GITHUB = "gh" + "p_" + "a1B2" * 9


@pytest.fixture
def note(tmp_path: Path) -> Path:
    return tmp_path / "note.md"


def test_clean_file(note: Path, capsys: pytest.CaptureFixture[str]) -> None:
    note.write_text("nothing here\n")
    assert main([str(note)]) == CLEAN
    assert capsys.readouterr() == ("", "")


def test_finding_is_named_by_file_line_and_column(note: Path, capsys: pytest.CaptureFixture[str]) -> None:
    note.write_text(f"one\ntwo {GITHUB}\n")
    assert main([str(note)]) == FOUND
    assert capsys.readouterr().out == f"{note}:2:5: github.token\n"


def test_json_holds_places_and_no_text(note: Path, capsys: pytest.CaptureFixture[str]) -> None:
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


def test_json_of_nothing_is_an_empty_list(note: Path, capsys: pytest.CaptureFixture[str]) -> None:
    note.write_text("")
    assert main(["--json", str(note)]) == CLEAN
    assert json.loads(capsys.readouterr().out) == []


def test_bytes_beyond_utf8_are_scanned_around(note: Path, capsys: pytest.CaptureFixture[str]) -> None:
    note.write_bytes(b"caf\xe9 \xed\xa0\x80 " + GITHUB.encode())
    assert main([str(note)]) == FOUND
    assert "github.token" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "reason"), [(b"\x00\x01", "binary data"), (None, "No such file"), ("folder", "Is a directory")]
)
def test_what_cannot_be_scanned_is_said_in_one_line(
    note: Path, content: bytes | str | None, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if content == "folder":
        note.mkdir()
    elif isinstance(content, bytes):
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
    assert GITHUB[:12] not in capsys.readouterr().err


def test_help_names_the_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == CLEAN
    assert "0 clean, 1 found, 2" in capsys.readouterr().out


def test_standard_input_is_read_without_a_file(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(GITHUB.encode())))
    assert main([]) == FOUND
    assert capsys.readouterr().out == "<stdin>:1:1: github.token\n"
