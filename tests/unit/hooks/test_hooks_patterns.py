"""Patterns for files and tools."""

from __future__ import annotations

import pytest

from keepmum_hooks.patterns import FilePattern, fits, parts_of

USER = "/home/u"


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        pytest.param("CLAUDE.md", "/p/CLAUDE.md", True, id="a name in any folder"),
        pytest.param("CLAUDE.md", "/CLAUDE.md", True, id="a name at the root"),
        pytest.param("CLAUDE.md", "/p/claude.MD", True, id="in any case"),
        pytest.param("CLAUDE.md", "/p/CLAUDE.md.py", False, id="not a part of a name"),
        pytest.param("CLAUDE.md", "/p/CLAUDE.md/x", False, id="not a folder of the name"),
        pytest.param(".memories/**", "/p/.memories/a/b.md", True, id="everything below a folder"),
        pytest.param(".memories/**", "/p/.memories", True, id="the folder itself"),
        pytest.param(".memories/**", "/p/x.memories/a", False, id="not a folder that ends so"),
        pytest.param("a/b/*.md", "/p/a/b/c.md", True, id="a wild name"),
        pytest.param("a/b/*.md", "/p/a/b/c/d.md", False, id="a star stays in its folder"),
        pytest.param("~/.x/**/memory/**", "/home/u/.x/p/q/memory/m.md", True, id="the user's folder"),
        pytest.param("~/.x/**/memory/**", "/home/u/.x/memory/m.md", True, id="no folder between"),
        pytest.param("~/.x/**/memory/**", "/home/v/.x/p/memory/m.md", False, id="another user's folder"),
        pytest.param("/abs/*.md", "/abs/a.md", True, id="an absolute pattern"),
        pytest.param("/abs/*.md", "/p/abs/a.md", False, id="an absolute pattern holds nowhere else"),
        pytest.param("C:/abs/*.md", "c:\\abs\\a.md", True, id="Windows"),
    ],
)
def test_a_pattern_fits_what_it_says(pattern: str, path: str, expected: bool) -> None:  # noqa: FBT001 - a table's column
    assert FilePattern(pattern, USER).fits(parts_of(path)) is expected


@pytest.mark.parametrize(
    ("pattern", "literal"),
    [("CLAUDE.md", "claude.md"), ("~/.x/**/memory/**", "memory"), ("a/*.md", ".md"), ("longest/x/**", "x")],
)
def test_the_literal_is_in_the_last_part_that_has_one(pattern: str, literal: str) -> None:
    assert FilePattern(pattern, USER).literal == literal


@pytest.mark.parametrize(
    ("pattern", "name", "expected"),
    [
        ("mcp__wiki__*", "mcp__wiki__write", True),
        ("mcp__wiki__*", "mcp__WIKI__write", True),
        ("mcp__wiki__*", "mcp__wikis__write", False),
        ("*note*", "mcp__x__notes", True),
        ("a*b*c", "a1b2c", True),
        ("a*b*c", "a1c2b", False),
        ("a*a", "a", False),
        ("same", "same", True),
        ("same", "sames", False),
        ("*", "", True),
    ],
)
def test_a_star_stands_for_anything(pattern: str, name: str, expected: bool) -> None:  # noqa: FBT001 - as above
    assert fits(pattern, name) is expected


def test_dots_are_resolved_by_name() -> None:
    assert parts_of("/a/./b//../c/") == ("a", "c")


def test_a_hostile_pattern_is_no_burden() -> None:
    pattern = FilePattern("/".join(["**", "*a*"] * 60), USER)
    assert not pattern.fits(("a" * 50 + "b",) * 50 + ("c",))
