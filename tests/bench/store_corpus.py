"""Realistic memories in any number: technical English from the texts that come with every Python.

Sentences of the language reference are drawn at random, so that words are as frequent as they are in such notes, and
a question is made of words that stand near each other in one of them.
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
    """Sentences to make memories of."""

    sentences: tuple[str, ...]

    @classmethod
    def load(cls) -> Corpus:
        """The sentences of this interpreter's language reference."""
        found = (" ".join(text.split()) for page in topics.values() for text in _SENTENCE.findall(page))
        return cls(tuple(dict.fromkeys(found)))


def memories(count: int, now: int, seed: int = 7) -> Iterator[Memory]:
    """So many memories of 1 to 6 sentences, of two projects, written over the last 90 days."""
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
    """So many questions, of 3 to 8 words that stand together in a sentence of the corpus."""
    corpus, chance = Corpus.load(), random.Random(seed)
    asked = []
    for _ in range(count):
        words = chance.choice(corpus.sentences).rstrip(".").split()
        start = chance.randrange(max(1, len(words) - 8))
        asked.append(chance.choice(_ASKED).format(" ".join(words[start : start + chance.randint(3, 8)])))
    return asked
