"""Our block in another program's text: it is found again, updated in place, and removed completely."""

from __future__ import annotations

import pytest

from keepmum_installers.blocks import Block, put, remove

BLOCK = Block("[plugins.ours]\nenabled = true")


def test_block_is_at_the_end_after_an_empty_line() -> None:
    text, _ = put("a = 1\n", BLOCK)
    assert text.startswith("a = 1\n\n# keepmum: begin")
    assert text.endswith("enabled = true\n# keepmum: end\n")


def test_existing_block_changes_nothing() -> None:
    text, _ = put("a = 1\n", BLOCK)
    assert put(text, BLOCK) == (text, None)


def test_older_block_is_updated_in_place() -> None:
    older, _ = put("a = 1\n", Block("[plugins.ours]\nenabled = false"))
    newer, _ = put(older + "\n[theirs]\n", BLOCK)
    assert newer == put("a = 1\n", BLOCK)[0] + "\n[theirs]\n"


def test_block_of_another_version_is_updated_in_place() -> None:
    committed = "a = 1\n\n# keepmum: begin; `keepmum uninstall` takes this block out\nold = 1\n# keepmum: end\n"
    assert put(committed, BLOCK)[0] == put("a = 1\n", BLOCK)[0]


def test_markdown_has_comments_of_its_own() -> None:
    text, _ = put("", Block("words", markdown=True))
    assert text.startswith("<!-- keepmum: begin")


def test_line_ends_are_those_of_the_file() -> None:
    text, _ = put("a = 1\r\n", BLOCK)
    assert "\n" not in text.replace("\r\n", "")


def test_lines_that_were_added_below_stay_lines() -> None:
    text, mark = put("last line without an end", BLOCK)
    assert remove(text + "below\n", mark).splitlines() == ["last line without an end", "", "below"]


def test_changes_inside_are_removed_with_the_block() -> None:
    text, mark = put("a = 1\n", BLOCK)
    assert remove(text.replace("true", "false"), mark) == "a = 1\n"


@pytest.mark.parametrize("harm", ["# keepmum: end", "# keepmum: begin"])
def test_incomplete_block_is_left_unchanged(harm: str) -> None:
    text, mark = put("a = 1\n", BLOCK)
    broken = text.replace(harm, "# something else")
    assert remove(broken, mark) == broken
