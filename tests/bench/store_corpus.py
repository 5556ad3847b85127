"""Any number of realistic memories: technical English from the help texts of Python.

A memory is made of random sentences of the language reference, so that words are as frequent as in real notes. A query
is made of neighbouring words of one of them.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pydoc_data.topics import topics

from keepmum.core import ids
from keepmum.core.memory import KINDS, LASTING_KINDS, Memory
from keepmum.core.retention import DAY_MS

__all__ = ["Corpus", "memories", "questions"]

_SENTENCE = re.compile(r"[^.!?]{40,300}[.!?](?=\s)")
_ASKED = ("How do we handle {}?", "What did we decide about {}?", "{}", "Why is {} like that?", "where is {} set")


@dataclass(frozen=True)
class Corpus:
    """Sentences for memories and queries."""

    sentences: tuple[str, ...]

    @classmethod
    def load(cls) -> Corpus:
        """The sentences of this interpreter's language reference."""
        found = (" ".join(text.split()) for page in topics.values() for text in _SENTENCE.findall(page))
        return cls(tuple(dict.fromkeys(found)))


def memories(count: int, now: int, seed: int = 7) -> Iterator[Memory]:
    """`count` memories of 1 to 6 sentences, in two projects, written over the last 90 days."""
    corpus, chance = Corpus.load(), random.Random(seed)
    for number in range(count):
        sentences = chance.choices(corpus.sentences, k=chance.randint(1, 6))
        at = now - chance.randrange(90 * DAY_MS)
        kind = chance.choice(KINDS)
        yield Memory(
            id=ids.new_id(at), text=" ".join(sentences), title=sentences[0][:100], created_at=at, updated_at=at,
            kind=kind, tier="long" if kind in LASTING_KINDS else "mid", project="alpha" if number % 3 else "beta",
            tags=(f"area-{chance.randrange(40)}",), key=f"note.{number}" if number % 4 == 0 else None,
            importance=chance.random(), agent="bench", created_by="bench", updated_by="bench",
        )  # fmt: skip


def questions(count: int, seed: int = 11) -> list[str]:
    """`count` queries of 3 to 8 neighbouring words of a sentence."""
    corpus, chance = Corpus.load(), random.Random(seed)
    asked = []
    for _ in range(count):
        words = chance.choice(corpus.sentences).rstrip(".").split()
        start = chance.randrange(max(1, len(words) - 8))
        asked.append(chance.choice(_ASKED).format(" ".join(words[start : start + chance.randint(3, 8)])))
    return asked
