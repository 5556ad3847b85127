"""Explanations of a scan: what decided, without the text."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from hidden import assert_hidden
from keepmum_scanner import scan, tree_table, trees
from keepmum_scanner.cli import CLEAN, ERROR, FOUND, main
from keepmum_scanner.explain import explain
from keepmum_scanner.tree_weights import contributions
from unit.scanner import carriers

GITHUB = "gh" + "p_" + "a1B2" * 9
PASSWORD = "Winter" + "2024!"
COMMIT = "3f786850e387550fdab8" + "36ed7e6dc881de23001b"


def test_weights_of_all_features_add_up_to_the_sum() -> None:
    rng = random.Random(1)
    rows = [[rng.choice((0, 0.3, 1, 2, 5, 10, 40)) for _ in range(tree_table.FEATURES)] for _ in range(20)]
    starts = {round(trees.margin(row) - sum(contributions(row).values()), 6) for row in rows}
    assert len(starts) == 1, "the rest is the mean of all leaves, whatever the candidate is"


def test_format_is_named_as_what_decided() -> None:
    (found,) = [one for one in explain(f"key {GITHUB}") if one.rule]
    assert (found.rule, found.facts["length"], found.facts["weighed"]) == ("github.token", 40, None)


def test_weighed_finding_shows_name_sum_and_threshold() -> None:
    found = explain(f"the password is {PASSWORD} for prod")[0]
    name, weighed = found.facts["name"], found.facts["weighed"]
    assert name is not None
    assert (name["word"], name["kind"], name["relation"]) == ("password", "password", "assigned")
    assert weighed is not None
    assert weighed["sum"] >= weighed["threshold"]
    assert weighed["weights"]


def test_strongest_rejected_candidate_is_last() -> None:
    *_, last = explain(f"the password is {PASSWORD}\ncommit {COMMIT} fixes it")
    assert (last.rule, last.facts["shapes"]) == ("", ["id, digest or address"])
    assert last.end - last.start == len(COMMIT)


@pytest.mark.parametrize("text", ["", "\n", "nothing but prose", "\u200b"])
def test_text_without_candidates_has_no_explanation(text: str) -> None:
    assert explain(text) == []


def test_every_finding_is_explained_and_nothing_of_it_is_shown() -> None:
    rng = random.Random(7)
    for carrier in [*carriers.FILES.values()][::4]:
        for maker in (*carriers.PASSWORDS.values(), *carriers.TOKENS.values()):
            secret = maker(rng)
            text = carrier(secret)
            found = [one for one in explain(text) if one.rule]
            assert [(one.rule, one.start, one.end) for one in found] == [tuple(one[:3]) for one in scan(text)]
            shown = json.dumps([one.facts for one in found])
            for start in range(0, len(secret) - 5, 3):
                assert_hidden(secret[start : start + 6], shown)


def test_positions_are_those_of_the_original_text() -> None:
    text = f"\u200bkey\u200b {GITHUB[:9]}\u200b{GITHUB[9:]}"
    assert (explain(text)[0].start, explain(text)[0].end) == (6, len(text))


def test_a_long_list_is_explained() -> None:
    text = "\n".join(f"password: Winter{number}!x" for number in range(300))
    assert len([one for one in explain(text) if one.rule]) == len(scan(text))


def test_command_prints_what_decided(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "note").write_text(f"the password is {PASSWORD}\n")
    assert main(["--explain", str(tmp_path / "note")]) == FOUND
    out = capsys.readouterr().out
    assert "secret.password\n    value: 11 characters" in out
    assert 'name: "password"' in out
    assert_hidden(PASSWORD, out)


def test_rejected_candidate_alone_is_clean(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "note").write_text(f"commit {COMMIT}\n")
    assert main(["--json", "--explain", str(tmp_path / "note")]) == CLEAN
    (report,) = json.loads(capsys.readouterr().out)
    assert (report["rule"], report["column"], report["explanation"]["length"]) == ("", 8, 40)


def test_explanations_are_not_sarif(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--sarif", "--explain", "file"]) == ERROR
    assert "--explain" in capsys.readouterr().err


def test_allowed_findings_are_not_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "note").write_text(f"key {GITHUB}\n")
    assert main(["--explain", str(tmp_path / "note")], lambda _text: []) == CLEAN
    assert "github" not in capsys.readouterr().out
