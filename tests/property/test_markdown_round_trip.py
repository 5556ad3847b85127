"""Round trips: memories to files and back, and changes of files."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import Any

import yaml
from hypothesis import assume, given
from hypothesis import strategies as st

from keepmum.core import ids, serialization
from keepmum.core.errors import InvalidInput
from keepmum.core.memory import KINDS, SCOPES, STATUSES, TIERS, Memory
from keepmum.stores.markdown import front_matter, full_yaml, mapping
from keepmum.stores.markdown.yaml_subset import BeyondSubset, InvalidYaml, parse_entry, render_entry, to_json

WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
LINES = st.one_of(
    WORDS, st.sampled_from(["yes", "null", "1", "1.0", "0x1f", "~", "- a", "a: b", "a #b", "'", '"', "---"])
)
TIMES = st.integers(0, 4_102_444_800_000)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | LINES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(LINES, inner, max_size=3),
    max_leaves=8,
)
GIT = st.fixed_dictionaries(
    {"branch": LINES, "commit": st.from_regex(r"[0-9a-f]{7,12}", fullmatch=True)},
    optional={"dirty": st.booleans(), "files_changed": st.lists(LINES, max_size=3)},
)


@st.composite
def memories(draw: st.DrawFn) -> Memory:
    """A valid memory, cleaned as by the service."""
    at = draw(TIMES)
    values: dict[str, Any] = {
        "id": ids.new_id(at), "text": draw(st.text(min_size=1, max_size=200)), "title": draw(LINES) or "title",
        "created_at": at, "updated_at": draw(TIMES), "kind": draw(st.sampled_from(KINDS)),
        "scope": draw(st.sampled_from(SCOPES)), "status": draw(st.sampled_from(STATUSES)),
        "tier": draw(st.sampled_from(TIERS)), "tags": draw(st.lists(LINES, max_size=3)), "data": draw(JSON),
        "git": draw(st.none() | GIT), "importance": draw(st.floats(0, 1)), "revision": draw(st.integers(1, 99)),
        "project": draw(st.sampled_from(["alpha", "beta"])), "agent": draw(LINES) or "unknown",
    }  # fmt: skip
    values |= {name: draw(LINES) for name in ("key", "why", "source", "session", "user", "created_by", "updated_by")}
    values |= {name: draw(st.none() | TIMES) for name in ("expires_at", "trashed_at", "accessed_at")}
    memory = None
    with contextlib.suppress(InvalidInput):
        memory = serialization.parse({name: value for name, value in values.items() if value is not None})
    assume(memory is not None)
    assert memory is not None
    return replace(memory, project=None) if memory.scope == "global" else memory


@given(memories())
def test_a_memory_round_trips_through_its_file(memory: Memory) -> None:
    text = mapping.new_text(memory, "alpha")
    assert mapping.parse(front_matter.split(text), "alpha").memory == memory


@given(memories())
def test_pyyaml_reads_our_files(memory: Memory) -> None:
    document = front_matter.split(mapping.new_text(memory, "alpha"))
    head = "".join(entry.raw for entry in document.entries)
    assert yaml.safe_load(head)["tags"] == [str(tag) for tag in memory.tags]
    ours = {name: to_json(node) for name, node in front_matter.nodes_of(document).items()}
    assert {name: to_json(node) for name, node in full_yaml.parse(head).items()} == ours


@given(memories(), memories())
def test_a_changed_file_round_trips(before: Memory, after: Memory) -> None:
    document = front_matter.split(mapping.new_text(before, "alpha"))
    now = replace(after, id=before.id, created_at=before.created_at, access_count=0, accessed_at=before.accessed_at)
    text = mapping.revised_text(document, before, now, "alpha")
    assert mapping.parse(front_matter.split(text), "alpha").memory == now


PLAIN_LINE = st.builds("{}: {}".format, st.from_regex(r"x_[a-z]{1,8}", fullmatch=True), st.sampled_from("a b_c 1"))
QUOTES = st.sampled_from(['"q: #"', "'it''s'", "[a, {b: c}]", "2026-01-01"])
QUOTED_LINE = st.builds("x_{}: {}".format, st.integers(0, 999), QUOTES)
BLOCK = st.builds("x_{}:\n  - a\n  - b: c\n    d: |\n      text\n\n      more".format, st.integers(0, 999))
COMMENT = st.builds("# {}".format, st.from_regex(r"[\w :'\"-]{0,20}", fullmatch=True))
FOREIGN = st.lists(PLAIN_LINE | QUOTED_LINE | BLOCK | COMMENT | st.just(""), max_size=6)


LINE_ENDS, MARKS = st.sampled_from(["\n", "\r\n"]), st.sampled_from(["", "\ufeff"])


@given(memories(), memories(), st.tuples(FOREIGN, FOREIGN), LINE_ENDS, MARKS)
def test_a_change_keeps_all_other_entries_byte_for_byte(
    before: Memory, after: Memory, foreign: tuple[list[str], list[str]], line_end: str, mark: str
) -> None:
    names = [line.partition(":")[0] for part in foreign for line in part if line[:1] == "x"]
    assume(len(set(names)) == len(names))
    lines = mapping.new_text(before, "alpha").split("\n")
    end = lines.index("---", 1)
    text = mark + line_end.join([lines[0], *foreign[0], *lines[1:end], *foreign[1], *lines[end:]])
    document = front_matter.split(text)
    assert front_matter.text_of(document) == text
    parsed = mapping.parse(document, "alpha").memory
    now = replace(parsed, tags=after.tags, kind=after.kind, why=after.why, data=after.data)
    changed = mapping.revised_text(document, parsed, now, "alpha")
    about = ("tags", "kind", "why", "data")
    assert _without(changed, about) == _without(text, about)
    assert mapping.parse(front_matter.split(changed), "alpha").memory == now


def _without(text: str, names: tuple[str, ...]) -> tuple[list[str], str]:
    document = front_matter.split(text)
    return [entry.raw for entry in document.entries if entry.name not in names], document.body


@given(JSON)
def test_every_value_round_trips(value: Any) -> None:
    raw = render_entry("name", value, "\n")
    assert to_json(full_yaml.parse(raw)["name"]) == value
    with contextlib.suppress(BeyondSubset):
        assert to_json(parse_entry(raw)) == value


@given(st.text(st.sampled_from("ab:-[]{}'\"#, \n\t\\|>&*!%@`~01.eE+/_üé="), max_size=30))
def test_the_subset_means_the_same_to_pyyaml(text: str) -> None:
    raw = f"name:{text}\n"
    entries = front_matter.split(f"---\n{raw}---\n").entries
    assume(len(entries) == 1)
    try:
        ours = to_json(parse_entry(raw))
    except (BeyondSubset, InvalidYaml):
        return
    try:
        theirs = {name: to_json(node) for name, node in full_yaml.parse(raw).items()}
    except InvalidYaml:
        return  # JSON that YAML 1.1 does not read, such as a tab between two values
    assert {"name": ours} == theirs


HEADS = st.lists(
    st.sampled_from(["id: x\n", "tags:\n", "  - a\n", "- b\n", "# c\n", "  # d\n", "\n", "  \n", '"q": 1\n', "é: 2\n"])
    | st.text(st.sampled_from("ab1:-# \n\r\t_"), max_size=8),
    max_size=6,
).map("".join)


@given(HEADS)
def test_entries_are_the_same_by_regular_expression_and_by_line(head: str) -> None:
    assert front_matter._entries(head) == front_matter._entries_by_line(head)
