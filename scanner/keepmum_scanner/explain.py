"""Explains a scan: what decided about each finding, and about the strongest candidate that was rejected.

Says how a value is spelled and named, never what it is: classes of characters, shapes, distances, weights, and the name
only where it is a word of the scanner's lists. Not part of a scan, which remembers none of this.
"""

from __future__ import annotations

from itertools import islice

from keepmum_scanner import shapes
from keepmum_scanner.context import ASSIGNED, NEAR, UNNAMED
from keepmum_scanner.credential_words import CHOSEN, CUE, ISSUED
from keepmum_scanner.decode import encodes_text
from keepmum_scanner.expressions import compiled
from keepmum_scanner.normalise import normalise
from keepmum_scanner.scan import candidates_of, scan
from keepmum_scanner.surprise import surprise
from keepmum_scanner.verdict import LENIENCE, MOST, POSSIBLE, units

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypedDict

    from keepmum_scanner.candidates import Candidate, Unit
    from keepmum_scanner.context import Context
    from keepmum_scanner.finding import Finding

    class Name(TypedDict):
        """The credential word nearest to a value."""

        word: str
        kind: str
        distance: int
        place: str
        relation: str
        separator: str

    class Weighed(TypedDict):
        """The verdict of the trees."""

        sum: float
        threshold: float
        weights: dict[str, float]

    class Facts(TypedDict):
        """What may be shown of a value."""

        length: int
        characters: dict[str, int]
        bits: float
        shapes: list[str]
        name: Name | None
        decided_by: str
        weighed: Weighed | None


_SHAPES = (
    ("id, digest or address", shapes.is_identity),
    ("integrity string", shapes.is_integrity),
    ("path", shapes.is_path),
    ("public key", shapes.is_public),
    ("camelCase", shapes.is_camel),
    ("words with short parts", shapes.is_slug),
    ("name in code", shapes.is_name),
    ("host", shapes.is_host),
    ("time", shapes.is_time),
    ("alphabet", shapes.is_alphabet),
    ("repeated", shapes.is_repeated),
    ("format string", shapes.is_format_string),
    ("example", shapes.is_example),
    ("reference", shapes.is_reference),
    ("encoded text", encodes_text),
)
_KINDS = {CHOSEN: "password", ISSUED: "token or key", CUE: "cue"}
_RELATIONS = {UNNAMED: "unnamed", NEAR: "near", ASSIGNED: "assigned"}
_SEPARATORS = ("=>", ":=", "==", "->", "=", ":", "|", " is ", " to ", " as ", ",")
_LONGEST = 512  # characters of a value that are described
_FARTHEST = 99  # characters between a name and its value
_MOST_WEIGHTS = 6
_MOST_REJECTED = 400  # candidates that are compared; each is counted in the whole text
_VALUE = compiled(
    r"[\"'`\])*]{0,4}[ \t]{0,4}(?:[:=|>]{1,2}|(?: \w{1,12})? (?:is|to))[ \t]{0,4}[\"'`]?([^\s\"'`]{4,128})"
)


class Explanation:
    """What decided about the text at [start, end) of the original."""

    __slots__ = ("confidence", "end", "facts", "rule", "start")

    def __init__(self, rule: str, start: int, end: int, confidence: float, facts: Facts) -> None:
        self.rule = rule  # "" when the candidate was rejected
        self.start = start
        self.end = end
        self.confidence = confidence
        self.facts = facts  # ready for JSON; nothing in it is text of the value or around it


def explain(text: str) -> list[Explanation]:
    """An explanation for each finding in `text`, and a last one for the strongest candidate that was rejected."""
    view = normalise(text)
    findings = scan(view.text)
    context, certain, proposed = candidates_of(view.text)
    is_list = len(proposed) > MOST or context.is_dump  # of a list nothing is weighed
    judged = [] if is_list else units(certain, proposed, context)
    certain.sort(key=_start)
    found = [_found(one, certain, judged, findings, context) for one in findings]
    rejected = _rejected(judged, findings, context)
    explained = [*found, *([rejected] if rejected else [])]
    spans = view.origin_spans([(one.start, one.end) for one in explained])
    return [Explanation(one.rule, start, end, one.confidence, one.facts) for one, (start, end) in zip(explained, spans)]


def _found(
    finding: Finding, certain: list[Candidate], judged: list[Unit], findings: Sequence[Finding], context: Context
) -> Explanation:
    facts = _described(finding.start, finding.end, findings, context)
    parts = certain[_before(certain, finding.start) : _before(certain, finding.end)]
    exact = any(one[0] == finding.rule for one in parts)
    weighed = [one for one in judged if _overlap(one[0], finding)]
    verdict = _weighed(weighed[0], context) if weighed and not exact else None
    if verdict is None:
        facts["decided_by"] = "the format or the place" if exact else "a rough check of a list"
    else:
        facts["decided_by"] = "weights"
        facts["weighed"] = verdict
    return Explanation(finding.rule, finding.start, finding.end, finding.confidence, facts)


def _rejected(judged: list[Unit], findings: Sequence[Finding], context: Context) -> Explanation | None:
    """The strongest of the candidates that are not findings, and of the values that a name is given."""
    spans = {(one[0][1], one[0][2]): one for one in judged}
    for end, _, kind, _ in context.credential_words[: context.case_limit]:
        match = _VALUE.match(context.text, end) if kind != CUE else None
        if match:
            first, last = match.span(1)
            last -= len(match[1]) - len(match[1].rstrip(".,;:!?)]}"))
            if last > first:
                spans.setdefault((first, last), ((POSSIBLE, first, last, 0.5), 0))
    from keepmum_scanner.tokens import tokens

    for token in tokens(context.text):
        spans.setdefault((token.start, token.end), ((POSSIBLE, token.start, token.end, 0.5), 0))
    others = [one for one in islice(spans.values(), _MOST_REJECTED) if not _is_in(one[0][1], one[0][2], findings)]
    if not others or context.is_dump:
        return None
    from keepmum_scanner.evidence import evidence
    from keepmum_scanner.trees import margin

    best = max(others, key=lambda one: margin(evidence(one, context)))
    start, end = best[0][1], best[0][2]
    facts = _described(start, end, findings, context)
    proposed = any(best[0] == one[0] for one in judged)
    facts["decided_by"] = "weights" if proposed else "no rule proposed it"
    facts["weighed"] = _weighed(best, context)
    return Explanation("", start, end, 0.0, facts)


def _start(candidate: Candidate | Finding) -> int:
    return candidate[1]


def _before(candidates: Sequence[Candidate | Finding], position: int) -> int:
    """How many of the sorted `candidates` begin before `position`."""
    low, high = 0, len(candidates)
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if candidates[middle][1] < position else (low, middle)
    return low


def _is_in(start: int, end: int, findings: Sequence[Finding]) -> bool:
    """Whether [start, end) overlaps one of `findings`, which are in order and do not overlap."""
    index = _before(findings, end)
    return index > 0 and findings[index - 1].end > start


def _overlap(candidate: Candidate, finding: Finding) -> bool:
    return candidate[1] < finding.end and finding.start < candidate[2]


def _described(start: int, end: int, findings: Sequence[Finding], context: Context) -> Facts:
    """Length, characters and shapes of the value at [start, end), and its name."""
    value = context.text[start : min(end, start + _LONGEST)]
    digits, upper, lower = (sum(map(test, value)) for test in (str.isdigit, str.isupper, str.islower))
    bits = surprise(value)
    found = [name for name, has_shape in _SHAPES if value.isascii() and has_shape(value)]
    if shapes.is_placeholder(value, bits):
        found.append("placeholder")
    return {
        "length": end - start,
        "characters": {
            "small": lower,
            "capital": upper,
            "digits": digits,
            "other": len(value) - digits - upper - lower,
        },
        "bits": round(bits, 1),
        "shapes": found,
        "name": _name(start, end, findings, context),
        "decided_by": "",
        "weighed": None,
    }


def _name(start: int, end: int, findings: Sequence[Finding], context: Context) -> Name | None:
    """The nearest credential word before the value, else after it; None when there is none near."""
    word = context.credential_word_before(start)
    if word is not None and start - word[0] > _FARTHEST:
        word = None
    after = context.credential_word_after(end) if word is None else None
    if after is not None and end <= after[1] <= end + _FARTHEST:
        word = after
    if word is None or _is_in(word[1], word[0], findings):
        return None
    last, first, kind, _ = word
    gap = context.text[last:start] if last <= start else ""
    return {
        "word": context.lower[first:last],
        "kind": _KINDS[kind],
        "distance": start - last if last <= start else first - end,
        "place": "before" if last <= start else "after",
        "relation": _RELATIONS[context.naming(start, end)],
        "separator": next((one.strip() for one in _SEPARATORS if one in gap), ""),
    }


def _weighed(unit: Unit, context: Context) -> Weighed:
    """The sum of the weights of a candidate, its threshold, and the features that moved it most."""
    from keepmum_scanner.evidence import NAMES, evidence
    from keepmum_scanner.tree_weights import contributions
    from keepmum_scanner.trees import margin

    values = evidence(unit, context)
    moved = contributions(values)
    largest = sorted(moved, key=lambda feature: -abs(moved[feature]))[:_MOST_WEIGHTS]
    return {
        "sum": round(margin(values), 2),
        "threshold": -LENIENCE if unit[1] else 0.0,
        "weights": {NAMES[feature]: round(moved[feature], 2) for feature in largest if moved[feature]},
    }
