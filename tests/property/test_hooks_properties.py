"""Properties of the hooks for any input: TOML as tomllib reads it, JSON as json reads it, turns counted once."""

from __future__ import annotations

import json
import os
import tempfile
import tomllib
from typing import Any
from unittest.mock import patch

from hypothesis import assume, given
from hypothesis import strategies as st

from keepmum_hooks import guard, main, payload, places, system, toml_lines, turns
from keepmum_hooks.clients import claude_code
from keepmum_hooks.event import STOP, Event

# -- TOML ------------------------------------------------------------------------------------------------------------

_PARTS = st.sampled_from(["a", "b", "capture", "every", "enabled", "1", "x-y", '"q"', "é", ""])
_KEYS = st.lists(_PARTS, min_size=1, max_size=3).map(".".join)
_VALUES = st.one_of(
    st.sampled_from(["true", "false", "0", "-1", "+12", "007", "1_000", "1.5", "0x1", "inf", "1979-05-27", "", "x"]),
    st.sampled_from(['["a", "b"]', "[\n'a', # ]\n]", '"""\na = 1\n"""', "[[1], {a = ']'}]", '"\\\\"', "'''a''''"]),
    st.sampled_from(['"s"', "'s'", '"\\n"', '"""', "'''", '"a # b"', "'a\"b'", "[1, 2]", "[", "{ a = 1 }", "{", '"é"']),
    st.integers().map(str),
)
_ENDS = st.sampled_from(["", " ", "\t# a comment", "#", " # é", "# \x07", " x"])
_LINES = st.one_of(
    st.builds(lambda key, value, end: f"{key} = {value}{end}", _KEYS, _VALUES, _ENDS),
    st.builds(lambda key, end: f"[{key}]{end}", _KEYS, _ENDS),
    st.builds(lambda key: f"[[{key}]]", _KEYS),
    st.sampled_from(["", " ", "# a comment", "\x0b", "enabled=false", "a b = 1"]),
    st.text(max_size=12),
)
_FILES = st.builds(
    lambda lines, newline: newline.join(lines), st.lists(_LINES, max_size=8), st.sampled_from(["\n", "\r\n"])
)


def flat(table: dict[str, Any], above: tuple[str, ...] = ()) -> dict[tuple[str, ...], object]:
    """Every value of a parsed document by its full path; empty tables have no values and are left out."""
    found: dict[tuple[str, ...], object] = {}
    for key, value in table.items():
        found.update(flat(value, (*above, key)) if isinstance(value, dict) else {(*above, key): value})
    return found


@given(_FILES)
def test_known_values_are_those_that_tomllib_reads(text: str) -> None:
    lines = toml_lines.read(text)
    try:
        document = flat(tomllib.loads(text))
    except tomllib.TOMLDecodeError:
        return  # not TOML: nothing is promised about the values
    for path in {*document, *lines.values}:
        if lines.knows(path):
            found = lines.values.get(path)
            assert (list(found) if isinstance(found, tuple) else found) == document.get(path)


_KNOWN = ["true", "7", '"s"', "['a', 'b']", "[\n 'a', # ]\n]"]
_SKIPPED = ["1.5", '"""\nx = 1\n"""', "{ a = 1 }", "[1, [2]]"]
_PAIRS = st.tuples(st.sampled_from("abcd"), st.sampled_from(_KNOWN + _SKIPPED))


@given(st.lists(_PAIRS, unique_by=lambda pair: pair[0]))
def test_a_file_of_simple_values_is_plain(pairs: list[tuple[str, str]]) -> None:
    lines = toml_lines.read("\n".join(f"{key} = {value}" for key, value in pairs))
    assert lines.is_plain
    assert [lines.knows((key,)) for key, _ in pairs] == [value in _KNOWN for _, value in pairs]


# -- JSON ------------------------------------------------------------------------------------------------------------

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def expected(raw: bytes) -> object:
    """The object that json parses, or None."""
    try:
        value = json.loads(raw.removeprefix(b"\xef\xbb\xbf").decode())
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


@given(st.dictionaries(st.text(), _JSON))
def test_any_object_is_parsed_as_by_json(content: dict[str, object]) -> None:
    raw = json.dumps(content).encode()
    assert repr(payload.parse(raw)) == repr(expected(raw))  # repr, because NaN does not equal itself


@given(st.binary())
def test_any_bytes_are_parsed_as_by_json(raw: bytes) -> None:
    assert payload.parse(raw) == expected(raw)


@given(st.dictionaries(st.text(), _JSON), st.integers(min_value=0), st.binary(max_size=3))
def test_a_damaged_object_is_parsed_as_by_json(content: dict[str, object], at: int, garbage: bytes) -> None:
    raw = json.dumps(content).encode()
    cut = at % len(raw)
    damaged = raw[:cut] + garbage + raw[cut + len(garbage) :]
    assert repr(payload.parse(damaged)) == repr(expected(damaged))


@given(st.text())
def test_any_text_is_quoted_as_by_json(text: str) -> None:
    assert payload.quote(text) == json.dumps(text)


# -- Claude Code's payloads ------------------------------------------------------------------------------------------

_FIELDS = ["session_id", "cwd", "prompt_id", "stop_hook_active", "agent_id", "background_tasks", "source"]
_TASKS = st.lists(st.dictionaries(st.sampled_from(["id", "type", "status"]), _JSON, max_size=3), max_size=3)


@given(st.dictionaries(st.sampled_from(_FIELDS), _JSON | _TASKS), st.text())
def test_fields_of_any_type_give_an_event_or_none(fields: dict[str, Any], agent: str) -> None:
    event = claude_code.read(STOP, {"hook_event_name": "Stop", **fields}, {"AI_AGENT": agent})
    if event is not None:
        assert turns.record(event, silent=False).startswith(b"\nT ")
        assert json.loads(claude_code.render(event, "text"))


_STOPPED = json.dumps(
    {
        "session_id": "c7f0fbca-a509-4a37-bece-ba09cc355bad",
        "cwd": "/",
        "prompt_id": "70b03ea6-3ae0-477c-a351-fc009cf395d6",
        "hook_event_name": "Stop",
        "stop_hook_active": False,
        "background_tasks": [{"id": "a181e623c1dcfcbb6", "type": "shell", "status": "running"}],
    }
).encode()


@given(st.integers(0, len(_STOPPED)), st.integers(0, 6), st.binary(max_size=6))
def test_a_damaged_payload_is_answered_with_json_or_nothing(at: int, lost: int, garbage: bytes) -> None:
    damaged = _STOPPED[:at] + garbage + _STOPPED[at + lost :]
    with tempfile.TemporaryDirectory() as home:
        environ = {"KEEPMUM_HOME": home, "KEEPMUM_CAPTURE_EVERY": "1"}
        try:
            output = main.answer(STOP, "claude-code", damaged, environ)
        except ValueError:  # a NUL in a path, a folder that is not text: run.py ends such a run without output
            return
    assert not output or json.loads(output)["decision"] == "block"


# -- the guard -------------------------------------------------------------------------------------------------------

_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
_SECRETS = (
    st.text(_ALPHABET, min_size=36, max_size=36).filter(lambda tail: len(set(tail)) > 15).map(("gh" + "p_").__add__)
)


def _nest(secret: str, inside: object, path: list[str | int]) -> object:
    """The secret in a text at this path of names and indices."""
    value: object = f"{inside} {secret}\n{inside}"
    for step in reversed(path):
        value = {step: value} if isinstance(step, str) else [inside] * step + [value]
    return value


@given(_SECRETS, st.text(max_size=20), st.lists(st.text(max_size=8) | st.integers(0, 3), max_size=5), st.booleans())
def test_a_key_anywhere_in_a_memory_tools_input_is_refused_and_not_shown(
    secret: str,
    inside: str,
    path: list[str | int],
    nested: bool,  # noqa: FBT001 - Hypothesis passes it
) -> None:
    value = _nest(secret, inside, path)
    tool_input = {"data": json.dumps(value) if nested else value}
    call = {"session_id": "s", "cwd": "/", "hook_event_name": "PreToolUse", "tool_name": "mcp__memory__add"}
    output = guard.answer("claude-code", json.dumps({**call, "tool_input": tool_input}).encode(), {})
    reason = json.loads(output)["hookSpecificOutput"]["permissionDecisionReason"]
    assert "github" in reason
    assert not any(secret[at : at + 5] in reason for at in range(len(secret) - 4))


@given(st.dictionaries(st.sampled_from(["tool_name", "tool_input", "cwd", "session_id"]), _JSON), _JSON)
def test_a_call_of_any_form_is_denied_or_allowed(fields: dict[str, Any], tool_input: object) -> None:
    for tool in ("mcp__memory__add", "Write", "Bash", "Read"):
        call = {"hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": tool_input, **fields}
        output = guard.answer("claude-code", json.dumps(call).encode(), {})
        assert not output or json.loads(output)["hookSpecificOutput"]["permissionDecision"] == "deny"


# -- turns -----------------------------------------------------------------------------------------------------------

_IDS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=6)


def is_due(records: list[bytes], every: int) -> bool:
    return turns.replay(b"".join(records), every)[0]


def recorded(prompt: str, tasks: tuple[str, ...] = ()) -> bytes:
    return turns.record(Event(kind=STOP, session="s", cwd="", prompt=prompt, reporting=tasks), silent=False)


@given(st.lists(_IDS, max_size=40), st.integers(1, 7))
def test_each_prompt_counts_once_in_any_order_of_stops(prompts: list[str], every: int) -> None:
    records = [recorded(prompt) for prompt in prompts]
    prompted = sum(is_due(records[:n], every) for n in range(1, len(records) + 1))
    assert prompted == len(set(prompts)) // every


@given(st.lists(st.booleans(), max_size=40), st.integers(1, 7))
def test_a_deferred_prompt_is_given_exactly_once(busy: list[bool], every: int) -> None:
    records = [recorded(f"p{n}", ("task",) if is_busy else ()) for n, is_busy in enumerate(busy)]
    prompted = [n for n in range(len(records)) if is_due(records[: n + 1], every)]
    assert not any(busy[n] for n in prompted)
    counted = waiting = 0
    model = []
    for n, is_busy in enumerate(busy):
        is_message = n > 0 and busy[n - 1] and not is_busy
        if not is_message:
            counted += 1
            waiting = waiting or counted % every == 0
        if waiting and not is_busy:
            model.append(n)
            waiting = False
    assert prompted == model


@given(st.binary(max_size=200), st.integers(1, 7))
def test_a_damaged_log_raises_nothing(damage: bytes, every: int) -> None:
    assert turns.replay(damage + recorded("p"), every)[0] in {True, False}


@given(st.binary(max_size=60).filter(lambda cut: not cut.endswith(b" .")))
def test_a_truncated_record_does_not_hide_the_next(truncated: bytes) -> None:
    assume(b" ." not in truncated)
    assert turns.replay(truncated + recorded("p"), 1)[0]


_STOPS = st.lists(
    st.builds(
        lambda prompt, tasks, lasting, silent: turns.record(
            Event(kind=STOP, session="s", cwd="", prompt=prompt, reporting=tuple(tasks), lasting=tuple(lasting)),
            silent=silent,
        ),
        st.sampled_from(["", *(f"p{n}" for n in range(12))]),
        st.lists(st.sampled_from(["a", "b"]), unique=True, max_size=2),
        st.lists(st.sampled_from(["p1", "sh"]), unique=True, max_size=1),
        st.booleans(),
    )
    | st.sampled_from([b"\nT p", b"\n", b"\nT p2 +a", b"\nX p3 ."]),
    max_size=60,
)


@given(_STOPS, st.lists(st.integers(0, 60), max_size=8), st.integers(1, 6), st.integers(1, 6))
def test_checkpoints_change_no_answer(records: list[bytes], late: list[int], every: int, other: int) -> None:
    """A checkpoint is equivalent to the records before it, for any number of readers that append one at any time."""
    plain = log = b""
    waiting: list[tuple[int, bytes]] = []
    for n, record in enumerate(records):
        plain += record
        log += record
        for interval in (every, other):
            with patch.object(turns, "_MANY", 3):
                due, checkpoint = turns.replay(log, interval)
            if turns._fields(
                record[1:]
            ):  # a run reads after it appended a complete record; without one the result has no meaning
                assert due == turns.replay(plain, interval)[0]
            waiting += [(n + delay, checkpoint) for delay in [0, *late]]
        log += b"".join(checkpoint for due_at, checkpoint in waiting if due_at == n)


# -- places ----------------------------------------------------------------------------------------------------------


@given(st.text())
def test_no_session_id_escapes_its_folder(session: str) -> None:
    path = places.turns_file("/h", session)
    assert os.path.normpath(path) == path
    assert os.path.dirname(path) == places.sessions_folder("/h")
    assert len(os.path.basename(path)) <= 100


@given(st.text(max_size=8), st.text(max_size=8))
def test_two_ids_never_share_a_file(one: str, other: str) -> None:
    assume(one != other)
    assert places.turns_file("/h", one).lower() != places.turns_file("/h", other).lower()


@given(st.lists(st.sampled_from(["a", "b", ".", "..", ""]), max_size=8))
def test_the_real_path_of_any_path_is_that_of_os(parts: list[str]) -> None:
    path = "/" + "/".join(parts)
    assert system.real_path(path) == os.path.realpath(path)
