"""Rule families of the scanner, each of which can be switched off in this process to measure what it is worth.

A switch replaces a function or a table while it is on; the scanner itself has no switches and pays nothing for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from unittest.mock import patch

from keepmum_scanner import (
    assignment,
    bare_tokens,
    command_values,
    credential_words,
    login_prompts,
    named_values,
    phrases,
    pins,
    possible,
    prefixes,
    recovery_codes,
    scored_tokens,
    seed_phrases,
    sentences,
    structure,
    tables,
    verdict,
)

__all__ = ["FAMILIES", "without"]

_scan = import_module("keepmum_scanner.scan")  # the package has a function of this name

_Switch = Callable[[], object]  # returns a context manager


def _nothing(*_args: object, **_named: object) -> tuple[()]:
    return ()


def _silent(module: object, name: str = "find") -> _Switch:
    """A detector that finds nothing."""
    return lambda: patch.object(module, name, _nothing)


def _list(module: object, name: str = "find") -> _Switch:
    return lambda: patch.object(module, name, lambda *_args: [])


def _word(word: str) -> _Switch:
    """A credential word that is not known."""
    rest = {one: kind for one, kind in credential_words._WORDS.items() if one != word}
    return lambda: patch.object(credential_words, "_WORDS", rest)


def _cues() -> object:
    rest = {word: kind for word, kind in credential_words._WORDS.items() if kind != credential_words.CUE}
    return patch.object(credential_words, "_WORDS", rest)


FAMILIES: Mapping[str, _Switch] = {
    "prefixes": _silent(prefixes),
    "structure": _silent(structure),
    "assignment": _silent(assignment),
    "phrases": _silent(phrases),
    "sentences": _list(sentences),
    "login prompts": _list(login_prompts),
    "named values": _silent(named_values),
    "command values": _silent(command_values),
    "PINs": _silent(pins),
    "recovery codes": _silent(recovery_codes),
    "seed phrases": _silent(seed_phrases),
    "tables": _silent(tables),
    "bare passwords": _silent(bare_tokens, "passwords"),
    "bare keys": _silent(bare_tokens, "keys"),
    "scored tokens": _silent(scored_tokens),
    "decoding": _silent(_scan, "_decoded_candidates"),
    "second stage": lambda: patch.object(verdict, "judged", lambda _certain, proposed, _context: proposed),
    "possible words": _silent(possible),
    "all cues": _cues,
    **{
        f"cue {word.strip()!r}": _word(word)
        for word, kind in credential_words._WORDS.items()
        if kind == credential_words.CUE
    },
}


@contextmanager
def without(family: str) -> Iterator[None]:
    """Switch one of `FAMILIES` off."""
    with FAMILIES[family]():  # type: ignore[attr-defined]  # what `patch` returns is private
        yield
