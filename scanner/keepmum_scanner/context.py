"""What the words around a place say about it.

Looked up for single candidates in a short window of their own line, so the cost never grows with the text.
"""

from __future__ import annotations

from keepmum_scanner.expressions import compiled
from keepmum_scanner.mentions import CUE, is_place, mentions
from keepmum_scanner.suspect import crowd_of

BEFORE = 72  # characters before a candidate that can name it: "Password for the staging account is …"
AFTER = 36  # … and behind it: "… as the deploy token"

_LONGEST_WORD = 16  # characters of a credential word
_LONG = 8192  # characters of a text, longer than a note

# Places of a text that are looked at closely; notes and sources stay below.
_LOOKS = 96
_LOOKS_EACH = 640  # characters of a longer text for each

UNNAMED = 0  # nothing names the place a credential
NEAR = 1  # a credential word stands in the window
ASSIGNED = 2  # a credential word is given the value: by sign, by quotes, by "is" or "to"

# Words that make a value the name or digest of a thing.
_NAMING = compiled(
    r"\b(?:commits?|sha\d*|digest|checksum|md5|hash|revision|rev|etag|uuid|guid|trace|thread|request|message|build|image|"
    r"branch|tree|blob|merge[sd]?|cherry|bump|pin(?:ned)?|diff|snapshot|fingerprint|integrity|version|"
    r"run|issue|pull|pr|id)\b|(?:_|\b)(?:id|sha|hash)\b|\(#[0-9]+\)"
)
_COUNTED = compiled(r"s\b|iz|_?(?:id|name|count|limit|type|url)")  # "tokens" mostly counts words of a language model
_GIVEN = compiled(r"^\s*\|\s*[`'\"]?$|[=:(`'\"{>]|\b(?:is|to|was|are|send|use|bearer|basic)\s*[`'\"]?$")
_TOLD = compiled(r"[\s\"'`,=:(]{0,6}")  # right behind a cue: "pasted `…`", "login: …"
_SENTENCE_END = compiled(r"[.;!?]\s|\w\s*\|")
_NEARER = compiled(r"[,;&{][^,;&{]*[\w-][\"']?\s*[=:]\s*[\"'`]?$")  # "key=a, value=": another name is given the value
_ID = compiled(
    r"(?:id|identifier|digest|sha\d*|hash|checksum|etag|fingerprint|arn|boundary|signature|challenge|verification|"
    r"md5|cursor|socket-accept|pub(?:lic)?[ _-]?key|site[ _-]?key|\bh1)"
    r"[\"'`]?\s*[:=]?\s*(?:w/)?[\"'`]?-*$"
)
_LONGEST_ID = 24  # characters of such a name and the signs behind it
_IDS = tuple(
    "id identifier digest sha hash checksum etag fingerprint arn boundary signature challenge verification md cursor "
    "accept key h".split()
)
_SIGNS = " \t\r\n\u1680\u2028\u2029\"'`:=-"  # what may stand between such a name and its value …
_DIGITS = "0123456789"  # … and end it
_ID_ENDS = frozenset([*_DIGITS, "n", *(name[-1] for name in _IDS)])
_ALGORITHMS = ("sha1", "sha256", "sha384", "sha512", "sha-256", "sha-384", "sha-512", "md5")
# What stands right before a link or a digest, and the dashes before a boundary (those of a PEM mark are five).
_TELLING = ("://", "h1:", "-" * 8, *(name + sign for name in _ALGORITHMS for sign in (":", "-", "=", "=:")))
_TELLING_ENDS = frozenset(told[-2:] for told in _TELLING)
_SIGNS_OF_BASE64, _MOST_SIGNS = frozenset("+/-"), 8
_BEFORE_DATA = "+/-,"
TELLERS = frozenset(":/-=+,")  # their last characters
# Source: https://www.rfc-editor.org/rfc/rfc2397, read 2026-11-21
_EMBEDDED = compiled(r"data:(?:image|font|audio|video|application)/[\w.+-]{1,32}(?:;[\w=-]{1,32}){0,3};base64,$")
_LONGEST_EMBEDDED = 140  # characters from "data:" to the data
# The boundaries of mail programs: "=_" behind dashes, a quote or nothing, never behind a name that is given a value.
_BOUNDARY = compiled(r"(?:^|[\s\"'`(-]|-mail)=$")
# "signing key 0x…", "gpg --recv-keys …", `signingkey = …`
_OPENPGP = compiled(r"(?:gpg|pgp|fingerprint|sign(?:ing|ed|er)|keyserver|recv-keys?|key[ _-]?id|user\.)[^\n.;!?]*$")
_LINE_OPENERS = (">", ":", "=", "{", "(")  # behind these a value may stand on a line of its own
_BREAKS = " \t\n\"'<>`("
_DOMAIN = compiled(r"[a-z][a-z0-9-]*(?:\.[a-z0-9-]+)*\.[a-z]{2,8}\b")
_DEFINING = tuple(
    f"{word} " for word in "class def enum extends fn from func import interface new struct #define".split()
)
_HOST = compiled(r"[\w-]+(?:\.[\w-]+)*\.[a-z]{2,6}/")


TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator
    from typing import Callable

    from keepmum_scanner.pem import Block


class Context:
    """The surroundings of candidates in one plain text."""

    __slots__ = ("_bisect", "_ends", "_spaced", "blocks", "crowd", "crowd_begins", "looks", "lower", "mentions", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.looks = max(_LOOKS, len(text) // _LOOKS_EACH)  # that are left, for all detectors together
        self.crowd = crowd_of(text)
        self.lower = _lower(text)
        self.mentions = mentions(text, self.lower)
        self.blocks = _blocks(text)
        self._spaced = ""
        self.crowd_begins: int | None = None  # where tokens begin that are judged by their coarse look alone
        self._ends = [mention[0] for mention in self.mentions]
        self._bisect: Callable[[list[int], int], int] = _bisect_right
        if len(text) > _LONG:
            from bisect import bisect_right  # faster, but to load it takes longer than a note has use for it

            self._bisect = bisect_right

    def matches(self, expression: re.Pattern[str], start: int) -> Iterator[re.Match[str]]:
        """The matches of `expression` from `start` on and outside of every block; it begins with the sign before.

        It is looked for in a text with a space in front of it, so places there are greater by one, and with spaces for
        escaped line breaks, whose letters would stick to what follows.
        """
        if not self._spaced:
            self._spaced = " " + self.text
            for escape in ("\\n", "\\r", "\\t"):
                self._spaced = self._spaced.replace(escape, "  ")
        for block in self.blocks:
            if start < block.start:
                yield from expression.finditer(self._spaced, start, block.start + 1)
            start = max(start, block.end)
        yield from expression.finditer(self._spaced, start)

    def is_near(self, start: int, end: int) -> bool:
        """Whether a credential word stands close enough to [start, end) to name it."""
        if not self.mentions:
            return False
        index = self._bisect(self._ends, start)
        if index and start - self._ends[index - 1] <= BEFORE:
            return True
        return index < len(self._ends) and self._ends[index] - end <= AFTER + _LONGEST_WORD

    def nearness(self) -> Callable[[int, int], bool]:
        """An `is_near` for places that are asked for in order, which then costs a third."""
        ends = iter(self._ends)
        last = next(ends, -1)

        def is_near(start: int, end: int) -> bool:
            nonlocal last
            while 0 <= last < start - BEFORE:
                last = next(ends, -1)
            return 0 <= last <= end + AFTER + _LONGEST_WORD

        return is_near

    def naming(self, start: int, end: int) -> int:
        """How the surroundings name [start, end) a credential: `UNNAMED`, `NEAR` or `ASSIGNED`."""
        if not self.mentions:
            return UNNAMED
        return max(self._from_before(start), self._from_behind(end))

    def mention_inside(self, start: int, end: int) -> int:
        """Where the last credential word that lies within [start, end) ends; -1 when there is none.

        "pw" and its kin do not count: random characters spell them too.
        """
        if not self.mentions:
            return -1
        for index in range(self._bisect(self._ends, end) - 1, -1, -1):
            place, begin, kind, short = self.mentions[index]
            if begin < start:
                break
            if kind != CUE and not short:
                return place
        return -1

    def _from_before(self, start: int) -> int:
        for index in range(self._bisect(self._ends, start) - 1, -1, -1):
            place, _, kind, short = self.mentions[index]
            if start - place > BEFORE:
                break
            if not short and not _COUNTED.match(self.lower, place):
                gap = self.lower[place:start]
                said = self._across(gap)
                return said if kind != CUE or _TOLD.fullmatch(gap) else min(NEAR, said)
        return UNNAMED

    @staticmethod
    def _across(gap: str) -> int:
        """What a mention says across `gap` about the value behind it."""
        line_break = gap.rfind("\n")
        if line_break >= 0 and (gap[line_break:].strip() or not gap[:line_break].rstrip().endswith(_LINE_OPENERS)):
            return UNNAMED
        if _NAMING.search(gap) or _SENTENCE_END.search(gap) or _NEARER.search(gap):
            return UNNAMED
        return ASSIGNED if _GIVEN.search(gap) or len(gap) <= 2 else NEAR

    def _from_behind(self, end: int) -> int:
        index = self._bisect(self._ends, end)
        for place, begin, _, short in self.mentions[index : index + 2]:
            if begin < end or short or _COUNTED.match(self.lower, place):
                continue
            gap = self.lower[end:begin]
            if " --" in gap:
                return UNNAMED  # the next option has a value of its own
            return NEAR if len(gap) < AFTER and "\n" not in gap and not _SENTENCE_END.search(gap) else UNNAMED
        return UNNAMED

    def named_id(self, start: int) -> bool:
        """Whether the value at `start` is given to a name that ends in "id", "digest" or the like."""
        first = max(0, start - _LONGEST_ID)
        before = self.lower[first:start].rstrip(_SIGNS)
        if before.endswith(" w/"):
            before = before[: -len(" w/")].rstrip(_SIGNS)
        if before[-1:] not in _ID_ENDS:
            return False
        if before.endswith("token"):
            return is_place(before, len(before) - len("token"))
        if not before.rstrip(_DIGITS).endswith(_IDS):
            return False  # most do not, and the expression costs more
        return _ID.search(self.lower, first, start) is not None

    def is_told_apart(self, start: int) -> bool:
        """Whether what stands right before `start` says that a link follows, or a digest as lock files write it."""
        before = self.text[max(0, start - 2) : start]
        teller = before[-1:]
        if teller not in TELLERS:
            return False
        if before in _TELLING_ENDS and self.lower.endswith(_TELLING, 0, start):
            return True
        if teller == "=" and self.text[start : start + 1] == "_":
            return _BOUNDARY.search(self.lower, max(0, start - 8), start) is not None
        return teller in _BEFORE_DATA and self._is_data(start)

    def _is_data(self, start: int) -> bool:
        """Whether a digest or an embedded file begins before `start`, with signs that no token begins with."""
        first = start
        while self.text[first - 1 : first] in _SIGNS_OF_BASE64 and first > start - _MOST_SIGNS:
            first -= 1
        if first < start and self.lower.endswith(_TELLING, 0, first):
            return True
        if not self.lower.endswith(";base64,", 0, first):
            return False
        return _EMBEDDED.search(self.lower, max(0, first - _LONGEST_EMBEDDED), first) is not None

    def is_fragment(self, start: int) -> bool:
        """Whether the value at `start` is a place within a page, as links write it behind a "#"."""
        return start > 1 and self.text[start - 1] == "#" and not self.text[start - 2].isspace()

    def is_code(self, start: int, end: int) -> bool:
        """Whether [start, end) is called, defined or imported, as names of programs are."""
        return self.text[end : end + 1] == "(" or self.text.endswith(_DEFINING, 0, start)

    def is_mailbox(self, start: int, end: int) -> bool:
        """Whether [start, end) is what stands before the "@" of an address or of a message's id."""
        if self.text[end : end + 1] != "@" or self.text[start - 1 : start] not in _BREAKS:
            return False
        return _DOMAIN.match(self.lower, end + 1) is not None

    def is_within_word(self, start: int, end: int) -> bool:
        """Whether letters beyond ASCII go on where [start, end) begins or ends: then it is a piece of a word."""
        around = self.text[max(0, start - 1) : start] + self.text[end : end + 1]
        return not around.isascii() and any(map(str.isalpha, around.replace("_", "")))

    def names_fingerprint(self, start: int) -> bool:
        """Whether the words before `start` speak of the fingerprint or the id of somebody's public key."""
        return _OPENPGP.search(self.lower, max(0, start - 48), start) is not None

    def in_link(self, start: int) -> bool:
        """Whether the place at `start` is inside a link: places have names, and links are made to be shared."""
        if start == 0 or self.lower[start - 1] in _BREAKS:
            return False
        if self.is_fragment(start):
            return True
        window = self.lower[max(0, start - 200) : start]
        if "://" not in window and "arn:" not in window and ("." not in window or "/" not in window):
            return False  # neither a scheme nor a host
        run = window[max(map(window.rfind, _BREAKS)) + 1 :]
        return "://" in run or run.startswith("arn:") or _HOST.match(run) is not None


def _bisect_right(places: list[int], place: int) -> int:
    """How many of `places`, which are in order, are not behind `place`."""
    low, high = 0, len(places)
    while low < high:
        middle = (low + high) // 2
        if place < places[middle]:
            high = middle
        else:
            low = middle + 1
    return low


def _blocks(text: str) -> list[Block]:
    """The PEM blocks of `text`."""
    if "-----BEGIN " not in text:
        return []
    from keepmum_scanner.pem import blocks  # a module that few texts need

    return blocks(text)


def _lower(text: str) -> str:
    """`text` in lower case, each character in its place: of all letters only \u0130 would become two."""
    lower = text.lower()
    return lower if len(lower) == len(text) else text.replace("\u0130", "i").lower()
