"""Turns a line with a finding into a line of the same shape that can be shown to others: `keepmum scan --mask`."""

from __future__ import annotations

import os
import sys

from keepmum_scanner.inputs import STDIN, inputs
from keepmum_scanner.masking import mask, reveals
from keepmum_scanner.scan import scan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

    from keepmum_scanner.finding import Finding

_STRICT, _ATTEMPTS = 100, 300  # after the first number, more of the words around the values is kept
_MOST = 20  # excerpts of one input
_LONGEST = 4000  # characters of an excerpt; of a longer line the surroundings of the finding are taken
_BEFORE, _AFTER = 400, 200  # characters of such a line
_LINES_BEFORE = (0, 1, 2, 4, 8, 16)  # that are added until the excerpt alone has the verdict of the whole text
_LINES_AFTER = (0, 3)


class NotMasked(Exception):
    """Why a line cannot be masked."""


class Shareable:
    """A masked excerpt of a text."""

    __slots__ = ("first", "last", "rules", "text")

    def __init__(self, first: int, last: int, text: str, rules: list[str]) -> None:
        self.first = first  # number of its first line, from 1
        self.last = last
        self.text = text
        self.rules = rules  # of the findings in the original and in the masked excerpt


def shareable(text: str, line: int | None = None, random: Random | None = None) -> Iterator[Shareable]:
    """The masked excerpt around `line`, or those of all lines with findings.

    Each has the same findings as the original: the same rules at the same places.
    Raises: NotMasked when there is no such line, or no masked text has the verdict of the original.
    """
    if random is None:
        from random import SystemRandom

        random = SystemRandom()
    findings = scan(text)
    starts = _line_starts(text)
    if line is None:
        wanted = [_line_of(starts, one.start) for one in findings]
        if not wanted and len(text.splitlines()) != 1:
            raise NotMasked("nothing was found; name the line to mask as FILE:LINE")
        lines = list(dict.fromkeys(wanted)) or [1]
    elif 1 <= line < len(starts) and text:
        lines = [line]
    else:
        raise NotMasked(f"there is no line {line}")
    done = 0
    for number in lines[:_MOST]:
        if number > done:
            excerpt = _excerpt(text, starts, number, findings)
            done = _line_of(starts, max(excerpt.start, excerpt.stop - 1))
            masked, rules = _masked(text[excerpt.start : excerpt.stop], number, random)
            yield Shareable(_line_of(starts, excerpt.start), done, masked, rules)
    if len(lines) > _MOST:
        raise NotMasked(f"{len(lines) - _MOST} more lines have findings; name one as FILE:LINE")


def print_masked(name: str) -> None:
    """Print the masked excerpts of the input `name`, which may end with ":LINE"; say on standard error what they are.

    Raises: NotMasked when there is nothing to print, or not everything is printed.
    """
    name, line = _with_line(name)
    if name != STDIN and os.path.isdir(name):
        raise NotMasked("a folder has no line; name a file")
    (one,) = inputs([name])
    if one.problem:
        raise NotMasked(one.problem)
    for excerpt in shareable(one.text, line):
        encoding = sys.stdout.encoding or "utf-8"
        text = excerpt.text.rstrip("\r\n").encode(encoding, "backslashreplace").decode(encoding)
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
        lines = f"line {excerpt.first}" if excerpt.first == excerpt.last else f"lines {excerpt.first}-{excerpt.last}"
        found = ", ".join(excerpt.rules) or "nothing"
        sys.stderr.write(f"scanner: {lines}: masked; found in the original and in the masked text: {found}\n")


def _with_line(name: str) -> tuple[str, int | None]:
    """The file and the line that `name` names; a file whose name ends like a line comes first."""
    file, separator, line = name.rpartition(":")
    if not separator or not line.isdecimal() or len(line) > 9 or os.path.exists(name):
        return name, None
    return file, int(line)


def _line_starts(text: str) -> list[int]:
    """Where each line begins; the last number is the end of the text."""
    starts = [0]
    while (place := text.find("\n", starts[-1])) >= 0 and place + 1 < len(text):
        starts.append(place + 1)
    return [*starts, len(text)]


def _line_of(starts: list[int], position: int) -> int:
    from bisect import bisect_right

    return min(bisect_right(starts, position), len(starts) - 1)


def _excerpt(text: str, starts: list[int], line: int, findings: list[Finding]) -> range:
    """The fewest lines around `line` that alone have the findings that `line` has in the whole text."""
    start, end = starts[line - 1], starts[line]
    own = [one for one in findings if one.start < end and start < one.end]
    first = min([line, *(_line_of(starts, one.start) for one in own)])
    last = max([line, *(_line_of(starts, one.end - 1) for one in own)])
    for after in _LINES_AFTER:
        for before in _LINES_BEFORE:
            excerpt = range(starts[max(0, first - 1 - before)], starts[min(len(starts) - 1, last + after)])
            if len(excerpt) > _LONGEST and own:
                excerpt = _surroundings(text, own[0], excerpt)
                own = [one for one in own if excerpt.start <= one.start and one.end <= excerpt.stop]
            if len(excerpt) > _LONGEST:
                break
            found = scan(text[excerpt.start : excerpt.stop])
            if _agree(own, [_moved(one, excerpt.start) for one in found], start, end):
                return excerpt
    raise NotMasked(f"line {line}: it is longer than {_LONGEST} characters, or its verdict depends on distant lines")


def _surroundings(text: str, finding: Finding, limits: range) -> range:
    """The part of a long line around `finding`, from space to space."""
    start, end = max(limits.start, finding.start - _BEFORE), min(limits.stop, finding.end + _AFTER)
    if start > limits.start:
        space = text.find(" ", start, finding.start)
        start = space + 1 if space >= 0 else start
    if end < limits.stop:
        space = text.rfind(" ", finding.end, end)
        end = space if space >= 0 else end
    return range(start, end)


def _moved(finding: Finding, offset: int) -> Finding:
    from keepmum_scanner.finding import Finding

    return Finding(finding.rule, finding.start + offset, finding.end + offset, finding.confidence)


def _agree(wanted: list[Finding], found: list[Finding], start: int, end: int) -> bool:
    """Whether `found` has the `wanted` findings between `start` and `end`, and no others there."""
    return _verdict(wanted) == _verdict([one for one in found if one.start < end and start < one.end])


def _verdict(findings: list[Finding]) -> list[tuple[str, int, int]]:
    return [(one.rule, one.start, one.end) for one in findings]


def _is_same(findings: list[Finding], others: list[Finding]) -> bool:
    """Whether both have the same rules at the same places, give or take a word around a value."""
    return len(findings) == len(others) and all(
        one.rule == other.rule and one.start < other.end and other.start < one.end
        for one, other in zip(findings, others)
    )


def _masked(original: str, line: int, random: Random) -> tuple[str, list[str]]:
    """The masked `original` with the same findings, and their rules."""
    findings = scan(original)
    for attempt in range(_ATTEMPTS):
        masked = mask(original, findings, random, loose=attempt >= _STRICT)
        if _is_same(findings, scan(masked.text)) and not reveals(original, masked, findings):
            return masked.text, [one.rule for one in findings]
    raise NotMasked(
        f"line {line}: no generated text has the same verdict, so nothing is shown; "
        "the verdict depends on words that only you can replace"
    )
