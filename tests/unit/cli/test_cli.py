"""The command line with valid and invalid input."""

from __future__ import annotations

import argparse
import io
import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from keepmum.cli import commands, console
from keepmum.cli import parser as command_line
from keepmum.core.errors import ConfirmationNeeded
from unit.cli.conftest import Command

TOKEN = "gh" + "p_" + "4fQ9" + "zR7k" * 7 + "Xb21"


pytestmark = pytest.mark.usefixtures("project")


def test_remembered_text_is_recalled(keepmum: Command) -> None:
    keepmum("remember", "Deploys go through the blue pool first")
    assert "blue pool" in keepmum("recall", "which pool?").out


def test_remembered_text_is_in_the_next_briefing(keepmum: Command) -> None:
    keepmum("remember", "--kind", "decision", "Deploys go through the blue pool first")
    (briefing,) = (Path(os.environ["KEEPMUM_HOME"]) / "state" / "briefings").iterdir()
    assert "blue pool" in briefing.read_text(encoding="utf-8")


def test_the_history_shows_who_said_each_revision(keepmum: Command) -> None:
    keepmum("remember", "The pool is green", "--key", "pool", "--source-kind", "web", "--source", "example.org")
    keepmum("remember", "Deploys use blue", "--key", "pool", "--source-kind", "user")
    answer = keepmum("load", "pool", "--history").out
    assert "said by the user, according to cli" in answer.splitlines()[0]
    assert "from outside: web page example.org; claims to be by cli" in answer.splitlines()[-1]


def test_text_needs_no_quotes(keepmum: Command) -> None:
    keepmum("remember", "the", "blue", "pool")
    assert "the blue pool" in keepmum("recall").out


def test_text_is_read_from_a_pipe(keepmum: Command) -> None:
    keepmum("remember", stdin="Grüße aus dem Pool".encode())
    assert "Grüße aus dem Pool" in keepmum("recall").out


def test_running_without_a_command_shows_the_help(keepmum: Command) -> None:
    assert keepmum() == keepmum("--help")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param(("remember", ""), "text: is empty", id="nothing to remember"),
        pytest.param(("remember", "x", "--ttl-days", "inf"), "above 0 and at most 36500", id="endless days"),
        pytest.param(
            ("remember", "x", "--ttl-days", "soon"), "above 0 and at most 36500", id="days that are not a number"
        ),
        pytest.param(("remember", "x", "--importance", "3"), "importance", id="importance past its limit"),
        pytest.param(("recall", "--limit", "none"), "a whole number, 1 or more", id="a limit that is not a number"),
        pytest.param(("recall", "--since", "never"), "--since: is not a time", id="an invalid time"),
        pytest.param(("load", "nothing"), "no memory has this key", id="an unknown key"),
        pytest.param(("forget",), "name a memory", id="nothing to forget"),
        pytest.param(("forget", "--undo"), "--undo needs the ids", id="nothing to undo"),
        pytest.param(("export", "absent/folder/file"), "No such file", id="an export to a missing folder"),
        pytest.param(("import", "absent"), "No such file", id="an import of a missing file"),
        pytest.param(("import", "."), "holds neither MEMORY.md nor folders", id="an import of a folder"),
        pytest.param(("import", "--from", "server"), "no team server is configured", id="an import without a server"),
        pytest.param(
            ("migrate", "sqlite", "rest"), "TO: no team server is configured", id="a migration to a missing server"
        ),
        pytest.param(
            ("migrate", "rest", "sqlite"), "FROM: no team server is configured", id="a migration from a missing server"
        ),
        pytest.param(("logout",), "no team server is configured", id="logout without a server"),
        pytest.param(("audit", "absent"), "absent does not exist", id="an audit of a missing file"),
        pytest.param(("outbox", "drop"), "ID: is missing", id="outbox drop without a write"),
        pytest.param(("off", "--bogus"), "keepmum off: error: unrecognized arguments: --bogus", id="an unknown option"),
        pytest.param(("recall",), "there are no memories for this project yet", id="an empty list"),
        pytest.param(("mcp", "--dialect", "none"), "unknown dialect", id="an unknown dialect"),
    ],
)
def test_invalid_input_is_refused_with_a_message(keepmum: Command, words: tuple[str, ...], message: str) -> None:
    status, out, err = keepmum(*words)
    assert (status in {1, 2}, message in err, out) == (True, True, "")


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(("remember", f"it is {TOKEN}"), id="as the text"),
        pytest.param(("remember", "x", "--kind", TOKEN), id="as a choice"),
        pytest.param(("recall", "--no-such-option", TOKEN), id="after an unknown option"),
        pytest.param((TOKEN,), id="as the command"),
        pytest.param(("remember", "x", "--key", TOKEN), id="as a key"),
        pytest.param(("load", TOKEN), id="as an id"),
        pytest.param(("recall", "--since", TOKEN), id="as a time"),
        pytest.param(("install", "--client", TOKEN), id="as a client"),
        pytest.param(("import", TOKEN), id="as a file"),
        pytest.param(("export", f"{TOKEN}/file"), id="in a path"),
        pytest.param(("audit", TOKEN), id="as an audited file"),
        pytest.param(("mcp", "--dialect", TOKEN), id="as a dialect"),
        pytest.param(("backend", "use", f"https://user:{TOKEN}@host"), id="in an address"),
    ],
)
def test_no_message_repeats_a_secret(keepmum: Command, words: tuple[str, ...]) -> None:
    status, out, err = keepmum(*words)
    assert (status != 0, TOKEN in out + err) == (True, False)


@pytest.mark.parametrize(
    "words", [["mcp", "--help"], ["guard", "--url"], ["hook", "--help"]], ids=lambda words: words[0]
)
def test_commands_run_by_clients_skip_imports_of_other_commands(
    root: Path, bare_python: list[str], words: list[str]
) -> None:
    folders = [str(root / folder) for folder in ("plugin", "scanner", "hooks")]
    heavy = {"argparse", "dataclasses", "sqlite3", "keepmum.service.opening", "keepmum.cli.parser"}
    code = (
        f"import sys; sys.path[:0] = {folders!r}; from keepmum.cli import main; main.main({words!r}); "
        f"print('imported:', sys.modules.keys() & {heavy!r})"
    )
    done = subprocess.run([*bare_python, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.splitlines()[-1] == "imported: set()"


def test_every_command_is_in_the_table() -> None:
    parser = command_line.build_parser()
    (registered,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    assert sorted(registered.choices) == sorted(commands.COMMANDS)


@pytest.mark.parametrize("name", commands.COMMANDS)
def test_the_module_of_a_command_registers_it(name: str) -> None:
    parser = command_line.build_parser([name])
    (registered,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    assert name in registered.choices


def test_an_alias_is_not_a_command_and_leads_to_one() -> None:
    assert not commands.ALIASES.keys() & commands.COMMANDS.keys()
    assert set(commands.ALIASES.values()) <= commands.COMMANDS.keys()


def test_help_fits_the_terminal(keepmum: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    assert max(map(len, keepmum("--help").out.splitlines())) <= 60


@pytest.mark.parametrize("words", [["--version"], ["--help"], ["rember"]], ids=lambda words: words[0])
def test_what_needs_no_parser_imports_nothing_expensive(root: Path, bare_python: list[str], words: list[str]) -> None:
    folders = [str(root / folder) for folder in ("plugin", "hooks")]
    code = (
        f"import __future__, os, sys; sys.path[:0] = {folders!r}; before = set(sys.modules); "
        f"from keepmum.cli import main; main.main({words!r}); "
        "print('\\nimported:', sorted(name for name in set(sys.modules) - before if not name.startswith('keepmum')))"
    )
    done = subprocess.run([*bare_python, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.splitlines()[-1] == "imported: []"


def test_command_help_describes_the_command(keepmum: Command) -> None:
    assert "Remove memories; --undo works for 30 days." in keepmum("forget", "--help").out


@pytest.mark.parametrize(("word", "message"), [("recal", "did you mean `keepmum recall`?"), ("xyzzy", "lists them")])
def test_unknown_command_is_refused_with_a_suggestion(keepmum: Command, word: str, message: str) -> None:
    answer = keepmum(word)
    assert (answer.status, message in answer.err) == (2, True)


def test_oversized_pipe_is_refused(keepmum: Command) -> None:
    answer = keepmum("remember", stdin=b"a" * 1_000_000)
    assert (answer.status, "more than the 65,536 bytes" in answer.err) == (1, True)


def test_stderr_is_written_after_stdout(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(screen, encoding="utf-8"))
    monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(screen, encoding="utf-8", write_through=True))
    console.out("first")
    console.err("second")
    assert screen.getvalue() == b"first\nkeepmum: second\n"


def test_review_of_an_empty_memory_is_reported(keepmum: Command) -> None:
    assert keepmum("review").err.endswith("keepmum: there are no memories here yet\n")


def test_unknown_store_kind_is_refused_with_the_valid_kinds(keepmum: Command) -> None:
    answer = keepmum("backend", "use", "markdwon")
    assert (answer.status, "must be one of sqlite, markdown, rest" in answer.err) == (1, True)


def test_clean_audit_of_files_is_reported(keepmum: Command) -> None:
    Path("notes.md").write_text("Deploys go through the blue pool first.\n", encoding="utf-8")
    assert keepmum("audit", ".") == (0, "", "keepmum: 0 places with secrets\n")


@pytest.mark.parametrize(("count", "text"), [(0, "0 memories"), (1, "1 memory"), (2000, "2,000 memories")])
def test_count_and_noun_agree(count: int, text: str) -> None:
    assert console.memory_count(count) == text


def test_small_token_budget_is_distinguished_from_an_empty_memory(keepmum: Command) -> None:
    assert "there are no memories" in keepmum("resume").err
    keepmum("remember", "Use tabs")
    assert "fits into 1 tokens" in keepmum("resume", "--tokens", "1").err


def test_advice_for_too_long_input_depends_on_the_field(keepmum: Command) -> None:
    assert "shorten it" in keepmum("remember", "--title", "t" * 200, "text").err
    assert "store one concept per memory" in keepmum("remember", stdin=b"two words " * 6600).err


def test_text_that_is_not_utf8_is_refused(keepmum: Command) -> None:
    assert "is not UTF-8" in keepmum("remember", stdin=b"\xff\xfe").err


def test_export_is_readable_only_by_its_owner(keepmum: Command) -> None:
    keepmum("export", "all.jsonl")
    assert os.name == "nt" or stat.S_IMODE(os.stat("all.jsonl").st_mode) == 0o600


def test_export_does_not_overwrite_a_file(keepmum: Command) -> None:
    Path("all.jsonl").write_text("mine")
    assert keepmum("export", "all.jsonl").status == 1
    assert Path("all.jsonl").read_text() == "mine"


def test_failed_export_leaves_no_file(keepmum: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    keepmum("remember", "one")
    monkeypatch.setattr("keepmum.core.serialization.to_json", _full_disk)
    assert keepmum("export", "all.jsonl").err == (
        "keepmum: failed: No space left on device. Fix that, then try again\n"
    )
    assert not os.path.exists("all.jsonl")


def _full_disk(_: object) -> None:
    raise OSError(28, "No space left on device")


def test_export_is_importable_elsewhere(keepmum: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    keepmum("remember", "The blue pool is first")
    exported = keepmum("export").out
    monkeypatch.setenv("KEEPMUM_HOME", os.path.join(os.getcwd(), "elsewhere"))
    assert keepmum("import", stdin=exported.encode()).out == "1 imported, 0 unchanged, 0 refused\n"
    assert "blue pool" in keepmum("recall").out


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(b"\xff\xfe", id="not UTF-8"),
        pytest.param(b"{", id="incomplete object"),
        pytest.param(b"[]", id="a list"),
        pytest.param(b"[" * 100_000, id="deep nesting"),
        pytest.param(b'"' + b"x" * (1 << 20) + b'"', id="enormous"),
        pytest.param(b'{"text": 1}', id="text of the wrong type"),
    ],
)
def test_import_skips_an_invalid_line(keepmum: Command, line: bytes) -> None:
    keepmum("remember", "The blue pool is first")
    good = keepmum("export").out.encode()
    status, out, err = keepmum("import", stdin=line + b"\n" + good)
    assert (status, out, "line 1: " in err) == (1, "0 imported, 1 unchanged, 1 refused\n", True)


def test_import_of_another_format_groups_its_errors(keepmum: Command) -> None:
    done = keepmum("import", stdin=b"name,age\n" * 500)
    lines = ", ".join(f"line {number}" for number in range(1, 11))
    assert done.out == "0 imported, 0 unchanged, 500 refused\n"
    assert done.err.splitlines() == [
        f"keepmum: {lines} and 490 more: is not JSON in UTF-8",
        "keepmum: nothing could be imported; is it another format? See `keepmum import --help`",
    ]


def test_long_list_of_refusals_is_truncated(capsys: pytest.CaptureFixture[str]) -> None:
    console.print_refused((f"line {number}", f"has {number} faults") for number in range(1, 31))
    lines = capsys.readouterr().err.splitlines()
    assert (len(lines), lines[0], lines[-1]) == (21, "keepmum: line 1: has 1 faults", "keepmum: and 10 more reasons")


def test_import_accepts_a_byte_order_mark(keepmum: Command) -> None:
    keepmum("remember", "The blue pool is first")
    Path("all.jsonl").write_bytes(b"\xef\xbb\xbf" + keepmum("export").out.encode())
    assert keepmum("import", "--yes", "all.jsonl").out == "0 imported, 1 unchanged, 0 refused\n"


def test_import_refuses_a_secret(keepmum: Command) -> None:
    keepmum("remember", "The pool is blue", "--key", "pool")
    changed = json.loads(keepmum("export").out) | {"text": TOKEN}
    keepmum("forget", "pool", "--purge", "--yes")
    done = keepmum("import", stdin=json.dumps(changed).encode())
    assert (done.out, TOKEN in done.err) == ("0 imported, 0 unchanged, 1 refused\n", False)


def test_forget_by_query_needs_confirmation(keepmum: Command) -> None:
    keepmum("remember", "The pool is blue")
    assert "Repeat the command with --yes" in keepmum("forget", "--query", "pool").err
    assert "blue" in keepmum("recall").out


class _Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


def test_end_of_input_does_not_confirm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", _Terminal(io.BytesIO()))
    with pytest.raises(ConfirmationNeeded, match="nothing was removed"):
        console.confirm("Continue?")


def test_undo_restores_a_forgotten_memory(keepmum: Command) -> None:
    keepmum("remember", "The pool is blue", "--key", "pool")
    keepmum("forget", "pool")
    keepmum("forget", "pool", "--undo")
    assert "blue" in keepmum("load", "pool").out


def test_store_damage_is_reported(keepmum: Command) -> None:
    for number in range(40):
        keepmum("remember", f"Pool {number} is blue " + "and stays so " * 60)
    with open(os.path.join(os.environ["KEEPMUM_HOME"], "memory.db"), "r+b") as file:
        file.seek(4096)
        file.write(b"\xa5" * 4096 * 30)
    assert "the memory store was damaged" in keepmum("recall", "pool").err


@pytest.mark.parametrize("name", ["CLAUDECODE", "AI_AGENT"])
def test_an_agent_cannot_switch_everything_off(keepmum: Command, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "1")
    answer = keepmum("off")
    assert answer.status == 1
    assert "only a person" in answer.err
    assert keepmum("on").status == 0
    assert keepmum("off", "--project").status == 0
    assert "the guard for other memories stays on" in keepmum("off", "--project").err


def test_a_person_switches_everything_off(keepmum: Command) -> None:
    assert keepmum("off").status == 0


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["backend", "--json"], {"kind", "used", "place"}),
        (["whoami", "--json"], {"server", "key_source", "keys_for"}),
        (["allow", "--list", "--json"], set()),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_state_is_printed_as_json(keepmum: Command, words: list[str], names: set[str]) -> None:
    printed = json.loads(keepmum(*words).out)
    first = printed[0] if isinstance(printed, list) and printed else printed
    assert names <= set(first)
