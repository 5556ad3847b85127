"""Masks secrets in responses, for servers whose store contains some from before the guard."""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    Pairs = list[tuple[str, object]]

__all__ = ["masked"]

# The members of results that models read. Others are left alone: a cursor can look like a key.
_READ_BY_MODELS = ("content", "structuredContent", "contents", "messages")
# Every response contains one of these, however its letters are escaped.
_ANSWERS = (b'"result"', b'"error"', b"\\u")


def masked(line: bytes) -> bytes:
    """The line with each secret in its responses replaced by the name of its rule; the same bytes if there is none.

    A line that is not a response, or not JSON, is returned unchanged.
    """
    if not any(word in line for word in _ANSWERS):
        return line
    text = line.decode("utf-8", "replace")  # as clients decode it
    repeated: list[Pairs] = []

    def as_object(pairs: Pairs) -> dict[str, object]:
        one = dict(pairs)
        if len(one) < len(pairs):
            repeated.append(pairs)
        return one

    try:
        value = json.loads(text, object_pairs_hook=as_object)
        clean = [_answer(one) for one in value] if isinstance(value, list) else _answer(value)
        if clean == value and all(map(_is_clean, repeated)):
            return line
        return json.dumps(clean, separators=(",", ":")).encode("ascii") + b"\n"  # each name once
    except ValueError:
        return line
    except RecursionError:  # nested too deeply here, perhaps not for the client
        return _redacted(text).encode("utf-8")


def _answer(message: object) -> object:
    if not isinstance(message, dict):
        return message
    answer = dict(message)
    result = message.get("result")
    if isinstance(result, dict):
        answer["result"] = {name: _clean(value) if name in _READ_BY_MODELS else value for name, value in result.items()}
    if "error" in message:
        answer["error"] = _clean(message["error"])
    return answer


def _is_clean(pairs: Pairs) -> bool:
    given = [list(pair) for pair in pairs]
    return _clean(given) == given


def _clean(value: object) -> object:
    if isinstance(value, str):
        return _redacted(value)
    if isinstance(value, list):
        return [_clean(item) for item in value]
    if isinstance(value, dict):
        return {_redacted(name): _clean(item) for name, item in value.items()}
    return value


def _redacted(text: str) -> str:
    from keepmum.guard.scanning import scan
    from keepmum_scanner import redact

    return redact(text, scan(text))
