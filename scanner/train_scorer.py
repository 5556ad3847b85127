"""Train the token scorer and hold it against the hand-set one: writes keepmum_scanner/score_table.py and a report.

    python3 scanner/train_scorer.py [CORPUS ...]

Each CORPUS is a JSONL file (.gz allowed) of rows with `text_b64`, `label` ("secret" or "benign"), `source`,
`permissive`, and `secret_b64` where the label is "secret". Only rows with `permissive: true` are read, and nothing of
their text is kept: what is written are weights and counts. The rest of the data is generated here from a fixed seed,
so that two runs over the same files write the same bytes. Standard library only.

A third of the rows is held out, by source and by text; the table is written from the other two.
"""

from __future__ import annotations

import base64
import gzip
import json
import math
import os
import random
import string
import sys
import zlib
from collections import Counter

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from keepmum_scanner import scored  # noqa: E402 - the path must come first
from keepmum_scanner.context import Context  # noqa: E402 - same
from keepmum_scanner.decode import decoded, is_words  # noqa: E402 - same
from keepmum_scanner.normalise import normalise  # noqa: E402 - same
from keepmum_scanner.score import THRESHOLD, by_hand, inputs  # noqa: E402 - same
from keepmum_scanner.tokens import tokens  # noqa: E402 - same

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from keepmum_scanner.score import Features, Scorer

    Row = tuple[str, str, str, str]  # source, text, the secret in it or "", and what decides on its part
    Example = tuple[Features, bool, str, bool]  # what is known, whether it is a secret, its source, held out

TARGET = os.path.join(HERE, "keepmum_scanner", "score_table.py")
REPORT = os.path.join(HERE, "score_report.md")
SEED = 20261121
GENERATED = 1500  # texts of each kind
ROUNDS = 1200
RATE = 2.0
DECAY = 1e-4  # keeps weights small where the data says little
PARTS = 3  # one of them is held out
BENIGN_WEIGHT = 1.0  # weight of all benign tokens together, beside that of all secrets
LEAN = 1.9  # added to the bias, in nats: a key that is kept costs more than a refusal; false alarms on the trained part
# stay below one in a thousand notes

HEADER = '''"""Weights of the token scorer; written by scanner/train_scorer.py, do not edit."""

BIAS = {bias!r}
WEIGHTS = (
'''


def corpus(paths: Iterable[str]) -> Iterator[Row]:
    """Rows of the permissively licensed part of the files."""
    for path in paths:
        with gzip.open(path, "rt") if path.endswith(".gz") else open(path, encoding="utf-8") as file:
            for line in file:
                row = json.loads(line)
                if row["permissive"] and row["label"] in {"secret", "benign"}:
                    secret = _plain(row.get("secret_b64", ""))
                    if secret or row["label"] == "benign":
                        yield (row["source"], _plain(row["text_b64"]), secret, row.get("secret_b64") or row["text_b64"])


def _plain(encoded: str) -> str:
    return base64.b64decode(encoded).decode("utf-8", "replace")


_KEYS = (
    string.ascii_letters + string.digits,
    string.ascii_lowercase + string.digits,
    string.ascii_uppercase + string.digits,
    string.ascii_letters + string.digits + "-_",
    string.ascii_letters + string.digits + "+/",
)
_SECRET_PLACES = (
    "it says {}",
    "we use {} for staging",
    "token: {}",
    "API_KEY={}",
    "the secret is `{}`",
    "send {} as key",
)
_BENIGN_PLACES = (
    "see {}",
    "run {} first",
    "fixed in {}",
    "the token helper {}",
    "pass {} to the client",
    "https://example.org/{}",
    "the key part of {} moved",
)
_WORDS = (
    "server client token store index path value cache build graph query vector memory session project branch commit "
    "review config module package handler parser worker loader reader writer schema table column filter result request "
    "response message event stream socket buffer thread process signal timer update delete insert select create remove"
).split()


def generated() -> Iterator[Row]:
    """Texts with a random key, and texts with names, slugs and paths as programs have them."""
    chance = random.Random(SEED)  # noqa: S311 - examples, no keys
    for number in range(GENERATED):
        key = "".join(chance.choices(chance.choice(_KEYS), k=chance.randint(16, 64)))
        yield ("generated", chance.choice(_SECRET_PLACES).format(key), key, f"secret {number}")
    for number in range(GENERATED):
        yield ("generated", chance.choice(_BENIGN_PLACES).format(_name(chance)), "", f"benign {number}")


def _name(chance: random.Random) -> str:
    words = chance.choices(_WORDS, k=chance.randint(2, 5))
    digits = "".join(chance.choices(string.digits, k=chance.randint(0, 4)))
    return chance.choice(
        (
            "".join(map(str.capitalize, words)) + digits,
            "_".join([*words, digits]),
            "-".join(["v2", *words, digits]),
            "/".join([*words, f"{digits}.md"]),
            ".".join([*words, "py"]),
            "".join(map(str.upper, words[:2])) + digits + "".join(words[2:]),
        )
    )


def examples(rows: Iterable[Row]) -> Iterator[Example]:
    """Each token of `rows` that a scorer decides; what stands in a secret's text beside the secret is left out."""
    for source, raw, secret, part in rows:
        text = normalise(raw).text
        context = Context(text)
        for token in tokens(text):
            features = None if is_words(decoded(token.text)) else scored.measure(token, context)
            if features is None or scored.passes(token, features):
                continue
            if not secret or token.text in secret or secret in token.text:
                yield (features, bool(secret), source, is_held_out(source, part))


def is_held_out(source: str, part: str) -> bool:
    """Whether a row is kept from training: by its source, and elsewhere by its text."""
    return (source != "generated" and _part(source) == 0) or _part(part) == 0


def _part(name: str) -> int:
    return zlib.crc32(name.encode()) % PARTS


def train(data: list[Example]) -> tuple[float, list[float]]:
    """Bias and weights of a logistic scorer, by plain gradient descent over `data`."""
    rows = [(inputs(features), secret) for features, secret, _, _ in data]
    size = len(rows[0][0])
    bias, weights = 0.0, [0.0] * size
    share = {
        True: 1.0 / max(1, sum(secret for _, secret in rows)),
        False: BENIGN_WEIGHT / max(1, sum(not secret for _, secret in rows)),
    }
    for _ in range(ROUNDS):
        slope, slopes = 0.0, [0.0] * size
        for values, secret in rows:
            error = (_logistic(bias, weights, values) - secret) * share[secret]
            slope += error
            for index, value in enumerate(values):
                slopes[index] += error * value
        bias -= RATE * slope
        weights = [weight - RATE * (one + DECAY * weight) for weight, one in zip(weights, slopes)]
    return round(bias + LEAN, 4), [round(weight, 4) for weight in weights]


def _logistic(bias: float, weights: list[float], values: list[float]) -> float:
    return 1.0 / (1.0 + math.exp(-(bias + sum(map(float.__mul__, weights, values)))))


def tally(data: list[Example], scorer: Scorer) -> str:
    """Found secrets and false alarms of `scorer` over `data`, in words."""
    found = Counter((secret, scorer(features) >= THRESHOLD) for features, secret, _, _ in data)
    secrets, benign = found[True, True] + found[True, False], found[False, True] + found[False, False]
    return f"{found[True, True]} of {secrets} secrets found, {found[False, True]} of {benign} benign tokens refused"


def report(data: list[Example], learned: Scorer) -> str:
    """The data and what both scorers make of it, in Markdown; counts only."""
    sources = Counter((source, secret, held) for _, secret, source, held in data)
    lines = [
        "# Token scorer: data and result",
        "",
        "Written by `scanner/train_scorer.py`; counts of tokens, no text.",
        "",
    ]
    lines += ["| source | secrets, trained on | held out | benign, trained on | held out |", "|---|---|---|---|---|"]
    for source in sorted({source for source, _, _ in sources}):
        counts = [sources[source, secret, held] for secret in (True, False) for held in (False, True)]
        lines.append(f"| {source} | " + " | ".join(map(str, counts)) + " |")
    lines.append("")
    for name, held in (("Trained on", False), ("Held out", True)):
        part = [one for one in data if one[3] is held]
        lines += [f"{name}, by hand: {tally(part, by_hand)}.  ", f"{name}, learned: {tally(part, learned)}.", ""]
    return "\n".join(lines)


def main(paths: list[str]) -> int:
    """Write table and report, print the report; 0."""
    data = [*examples(generated()), *examples(corpus(paths))]
    bias, weights = train([one for one in data if not one[3]])

    def learned(features: Features) -> float:
        return _logistic(bias, weights, inputs(features))

    with open(TARGET, "w", encoding="utf-8") as table:
        table.write(HEADER.format(bias=bias) + "".join(f"    {weight!r},\n" for weight in weights) + ")\n")
    text = report(data, learned)
    with open(REPORT, "w", encoding="utf-8") as file:
        file.write(text)
    sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
