"""Finds lists of recovery codes: what replaces the second factor of a login, below or after a name for them."""

from __future__ import annotations

from keepmum_scanner.candidates import EXPLICIT
from keepmum_scanner.credential_words import occurrences
from keepmum_scanner.expressions import compiled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from keepmum_scanner.candidates import Candidate
    from keepmum_scanner.context import Context

    Span = tuple[int, int]

_PARTS = ("cod", "kod", "cód")  # of words for "code"
_BEYOND_ASCII = ("код", "码", "碼", "コード", "코드")
# What stands before such a word, or how the whole name begins.
_BEFORE = tuple(
    "recovery|back-up|backup|2fa|mfa|two-factor|two factor|emergency|rescue|scratch|restore|notfall|ersatz|"
    "wiederherstellungs|herstel|reserv|återställnings|резервные|резервный|резервных|запасные|запасных|"
    "yedek|kurtarma|恢复|恢复代|备用|備用|復原|救援|リカバリ|リカバリー|バックアップ|回復|復旧|복구|백업".split("|")
)
_NAMES = tuple(
    f"{word}{joint}{kind}"
    for word, joint, kinds in (
        ("code", " de ", ("secours", "récup", "sauvegarde")),
        ("codes", " de ", ("secours", "récup", "sauvegarde")),
        ("código", " de ", ("respaldo", "recuper", "emergencia", "backup", "reserva")),
        ("códigos", " de ", ("respaldo", "recuper", "emergencia", "backup", "reserva")),
        ("codigos", " de ", ("respaldo", "recuper", "emergencia", "backup", "reserva")),
        ("codici", " di ", ("backup", "recupero", "emergenza")),
        ("kody", " ", ("zapasowe", "odzyskiwania", "awaryjne")),
        ("код", " ", ("восстановления",)),
        ("коды", " ", ("восстановления",)),
    )
    for kind in kinds
)
_JOINTS = (" ", "-", "_")
_TAIL = compiled(r"(?:cod|kod|cód|код)[^\W\d_]{0,9}|[^\W\d_]{1,3}")
_LINES, _BLANK_LINES = 24, 2  # below a name
_LONGEST_LINE = 240
_INTRODUCTION = 60  # characters after a name, before the first code on the same line
_OPENING = compiled(r"[\s>*\u2022|\[\]\"'`-]*(?:[0-9]{1,2}[.):]\s)?[\s*\u2022|\[\]\"'`x-]*")
_SEPARATORS = compiled(r"[\s,;|/\"'`*\u3001]+")
_INDEX = compiled(r"[0-9]{1,2}[.):]?|-|")
# "a1b2c-d3e4f", "1234-5678", "12345678", "a1b2c3d4e5", half of "1234 5678".
_CODE = compiled(
    r"[A-Za-z0-9]{3,8}(?:-[A-Za-z0-9]{3,8}){1,7}|[0-9]{6,10}|[0-9]{4}|"
    r"(?=[A-Za-z]{0,14}[0-9])(?=[0-9]{0,14}[A-Za-z])[A-Za-z0-9]{8,16}"
)
_TICKET = compiled(r"[A-Za-z]+(?:-[A-Za-z]+)*(?:-[0-9]+)?")  # words, "OPS-1234"
_LINK = compiled(r"[:=]\s{0,2}|\b(?:is|are|ist|sind|est|sont|es|son|sono|są|är)\b\s{1,2}|[は是]\s?")
_FEWEST = 2  # codes


def find(context: Context) -> Iterator[Candidate]:
    """Candidates for the codes of every list."""
    done = 0
    for end in _names(context.lower, context.case_limit):
        if context.checks_left <= 0:
            return
        if end < done:
            continue
        codes = _codes(context.text, end)
        context.checks_left -= 1
        if len(codes) >= _FEWEST:
            done = codes[-1][1]
            for start, stop in codes:
                yield ("secret.recovery-code", start, stop, EXPLICIT)


def _names(lower: str, limit: int) -> Iterator[int]:
    """Where the names of such lists end, in order."""
    parts = _PARTS if lower.isascii() else (*_PARTS, *_BEYOND_ASCII)
    starts = [start for part in parts if part in lower for start in occurrences(part, lower)[:limit]]
    for start in sorted(starts)[:limit]:
        joint = start - (lower[start - 1 : start] in _JOINTS)
        if lower.endswith(_BEFORE, 0, joint) or lower.startswith(_NAMES, start):
            tail = _TAIL.match(lower, start)
            yield tail.end() if tail else start


def _codes(text: str, start: int) -> list[Span]:
    """The spans of the codes in the rest of the line at `start`, and in the lines below it."""
    end = _end_of_line(text, start)
    found: list[Span] = []
    link = _LINK.search(text, start, min(end, start + _INTRODUCTION))
    if link:
        found += _in_line(text, link.end(), end)
    blank = 0
    for _ in range(_LINES):
        start, end = end + 1, _end_of_line(text, end + 1)
        if start >= len(text):
            break
        if not text[start:end].strip():
            blank += 1
            if blank > _BLANK_LINES:
                break
            continue
        line = _in_line(text, start, end)
        if not line:
            break
        found += line
    return found


def _end_of_line(text: str, start: int) -> int:
    end = text.find("\n", start)
    return end if end >= 0 else len(text)


def _in_line(text: str, start: int, end: int) -> list[Span]:
    """The spans of the codes in [start, end); none when there is anything else."""
    if end - start > _LONGEST_LINE:
        return []
    opening = _OPENING.match(text, start, end)
    at = opening.end() if opening else start
    found = []
    for word in _SEPARATORS.split(text[at:end]):
        code = word.rstrip(".)]")
        at = text.find(word, at)
        if _CODE.fullmatch(code) and not _TICKET.fullmatch(code):
            found.append((at, at + len(code)))
        elif _INDEX.fullmatch(word) is None:
            return []
        at += len(word)
    return found
