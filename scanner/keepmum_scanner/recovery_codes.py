"""Finds lists of recovery codes: what replaces the second factor of a login, below or after a name for them."""

from __future__ import annotations

from keepmum_scanner.candidates import EXPLICIT
from keepmum_scanner.expressions import compiled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from keepmum_scanner.candidates import Candidate
    from keepmum_scanner.context import Context

    Span = tuple[int, int]

_PARTS = ("cod", "cód", "kod", "код", "码", "碼", "コード", "코드")  # one is in every name
_NAME = compiled(
    r"(?:recovery|back-?up|2fa|mfa|two[- ]factor|emergency|rescue|scratch|restore|notfall-?|ersatz-?|"
    r"wiederherstellungs-?|herstel-?|reserv|återställnings)[ _-]?(?:cod|kod)(?:es?|er|s)?|"
    r"codes? de (?:secours|récupération|sauvegarde)|c[oó]digos? de (?:respaldo|recuperaci[oó]n|emergencia)|"
    r"codici di (?:backup|recupero|emergenza)|códigos? de (?:backup|recuperação|reserva)|"
    r"kody (?:zapasowe|odzyskiwania|awaryjne)|(?:резервн|запасн)\w{2,3} код\w{0,3}|код\w{0,3} восстановления|"
    r"(?:yedek|kurtarma) kod\w{0,6}|恢复码|备用码|恢复代码|備用碼|復原碼|救援码|"
    r"(?:リカバリー?|バックアップ|回復|復旧)コード|(?:복구|백업) ?코드"
)
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
    lower = context.lower
    if not any(map(lower.__contains__, _PARTS)):
        return
    done = names = 0
    for match in _NAME.finditer(lower):
        names += 1
        if names > context.case_limit or context.checks_left <= 0:
            return
        if match.end() < done:
            continue
        codes = _codes(context.text, match.end())
        context.checks_left -= 1
        if len(codes) >= _FEWEST:
            done = codes[-1][1]
            for start, end in codes:
                yield ("secret.recovery-code", start, end, EXPLICIT)


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
