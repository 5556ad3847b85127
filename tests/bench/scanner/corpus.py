"""Labelled texts as JSON lines, and what each says about itself.

    {"id", "text_b64", "label", "kind", "source", "rule", "ctx", "permissive",
     "secret_b64"?, "stratum"?, "shape"?, "side"?}

Texts are in base64, so that no tool takes a file of them for a leak. `label` is "secret", "benign", "benign-vector" (a
text of a tool's own tests) or "benign-toy" (a document that prints a made-up but realistic credential; counts neither
as a hit nor as a false positive). `kind` is "note" or "vector", `ctx` is "keyword", "nokeyword", "hard" and others.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["Row", "digest", "encoded", "read"]

_TEMPLATE = re.compile(r"/(t[0-9]+)/")
_NEXT_WORDS = 3  # after a secret, which with the word before it identify the sentence that carries it


class Row(NamedTuple):
    """One labelled text."""

    id: str
    text: str
    label: str
    kind: str
    source: str  # a repository, a tool, a kind of carrier
    template: str  # the sentence or the form that carries the secret; "" for benign texts and vectors
    value: str  # the secret; "" when there is none
    context: str
    stratum: str
    shape: str
    permissive: bool  # may be trained on
    side: str = ""  # the half of a corpus, such as "d" for new sources and "old-held"

    @property
    def is_secret(self) -> bool:
        """Whether the text holds a secret."""
        return self.label == "secret"

    @property
    def origin(self) -> str:
        """What the row shares with others of the same author: the carrier of a generated text, else the source."""
        return self.template if self.is_secret and self.shape else self.source


def read(path: Path) -> Iterator[Row]:
    """The rows of a file of JSON lines, which may be compressed with gzip."""
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
        for line in lines:
            yield _row(json.loads(line))


def digest(path: Path) -> str:
    """The first 16 digits of the file's SHA-256, which name the corpus in a report."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def encoded(rows: Iterable[Row]) -> Iterator[str]:
    """The JSON lines of `rows`."""
    for row in rows:
        line = {"id": row.id, "text_b64": _base64(row.text), "label": row.label, "kind": row.kind, "source": row.source}
        line |= {"rule": f"generated/{row.template}/", "ctx": row.context, "stratum": row.stratum, "shape": row.shape}
        line |= {"secret_b64": _base64(row.value)} if row.value else {}
        yield json.dumps({**line, "permissive": row.permissive})


def _row(line: dict[str, Any]) -> Row:
    text, value = (
        base64.b64decode(line.get(name, "")).decode("utf-8", "replace") for name in ("text_b64", "secret_b64")
    )
    numbered = _TEMPLATE.search(line["rule"]) if line.get("shape") else None
    template = numbered.group(1) if numbered else _sentence(text, value) if line["kind"] == "note" and value else ""
    return Row(
        line["id"],
        text,
        line["label"],
        line["kind"],
        line["source"],
        template,
        value,
        line.get("ctx") or "",
        line.get("stratum") or "",
        line.get("shape") or "",
        bool(line["permissive"]),
        line.get("side") or "",
    )


def _sentence(text: str, value: str) -> str:
    """The words around `value` in `text`, by which rows with the same carrier are recognised."""
    before, found, after = text.partition(value)
    if not found:
        return ""
    last = (before.rsplit("\n", 1)[-1].split() or [""])[-1]
    words = after.split("\n", 1)[0].split()[:_NEXT_WORDS]
    return " ".join([re.sub(r"\w{3,}(?==)", "NAME", last), *words])


def _base64(text: str) -> str:
    return base64.b64encode(text.encode("utf-8", "replace")).decode()
