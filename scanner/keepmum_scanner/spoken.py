"""Passwords that a sentence tells beside their name, without a sign: "the password has always been …", "pw is …".

The word that is told must be spelled as a password (`spelled`), since sentences about passwords are many more.
"""

from __future__ import annotations

from keepmum_scanner.expressions import compiled
from keepmum_scanner.mentions import CHOSEN, CUE, places
from keepmum_scanner.spelled import has_sign, is_phrase, is_spelled
from keepmum_scanner.suspect import STATED
from keepmum_scanner.values import trimmed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from keepmum_scanner.context import Context
    from keepmum_scanner.suspect import Suspect

    Span = tuple[int, int]

# A word with a digit, or words joined by dashes, between blanks, quotes, brackets, signs that give a value, and letters
# beyond ASCII, which need no blank: "密码是…".
_CHARACTER = r"[!#-&*+\-./0-9?@A-Z^_a-z~]"
_WORD = compiled(
    rf"(?<![A-Za-z0-9_.+/~-])(?:(?=[^\s\"'`()<>{{}}\[\]\\,;|=:0-9]{{0,63}}[0-9])(?!\*){_CHARACTER}{{6,64}}|"
    r"[a-z]{3,10}(?:-[a-z]{3,10}){3,7}(?![A-Za-z0-9_-]))"
)
_MARK = compiled("[0-9]|-[a-z]{3,10}-")
_BEHIND, _BEFORE = 72, 32  # characters behind a name and before it, within the line, that are looked at
_NEAR = 36  # characters, within which words joined by dashes are told as a passphrase
# A question for it, and an answer on the next line: "what's the password?\nkolja: sure, …".
_ANSWERED = r"[^\n?]{0,48}\?\n{1,2}[> ]{0,4}(?:[^\n]{0,32}[ \t])?(?P<value>[!-~]{6,64})[ \t]*(?:\n|$)"
_SHORT = ("pw ", "pass is ")  # names that `mentions` takes for such only where a sign follows
# Words alone are a passphrase where they are called one, and end where the line, the quotes or the sentence do.
_PHRASE = compiled(
    r"s?(?:(?: [^\W\d_][\w./'\u2019@-]{0,24}){0,4}? (?:is|was)| ?[:=])[ \t]*[\"'`\u201e\u201c\u201d\u00ab(]{0,2}"
    r"(?P<value>[a-z]{3,10}(?:[ ._][a-z]{3,10}){3,23})(?=[\"'`.]?(?:\s|$))"
)
_KINDS = ("pass", "seed ", "recovery ", "mnemonic ", "backup ", "secret ", "wallet ")
_SENTENCE = frozenset(
    "all and any are but can for from has have its may must need needed not one only required should that the then "
    "this used using was when which will with you your".split()
)
_WALLET = 12  # words, at which a list is no sentence whatever its words are
_ARGUMENTS = ("(", "=(", " = (")  # "mail.login(…)", "auth=(…)"
_TYPED = (" 0 ", " 5 ", " 7 ")  # how routers write a secret down


def find(context: Context) -> list[Suspect]:
    """Suspects for words that a sentence tells as a password."""
    spans = _beside(context) if context.mentions else []
    for name in [name for name in _SHORT if name in context.lower]:
        for place in places(name, context.lower)[: context.crowd]:
            if not context.text[place - 1 : place].isalpha():
                spans += _told(context, place, place + len(name))
    if "phrase" in context.lower:
        spans += _phrases(context.lower, context.crowd)
    return [("secret.password", start, end, STATED) for start, end in spans]


def _beside(context: Context) -> list[Span]:
    """Words spelled as passwords beside a name of passwords."""
    text = context.text
    spans: list[Span] = []
    for end, start, kind, _ in context.mentions[: context.crowd]:
        if context.looks <= 0:
            break  # no word is looked at any more
        if kind == CHOSEN:
            spans += _told(context, start, end)
            if "?" in text:
                spans += _answered(context, end)
        elif text.startswith(_ARGUMENTS if kind == CUE else _TYPED, end):
            spans += _told(context, end, end)
    return spans


def _told(context: Context, start: int, end: int) -> Iterator[Span]:
    """The first word spelled as a password behind the name at [start, end), or one with a sign before it."""
    text = context.text
    stop = text.find("\n", end, end + _BEHIND)
    stop = stop if stop >= 0 else min(len(text), end + _BEHIND)
    if _MARK.search(text, end, stop):  # behind most names no word can be one
        for match in _WORD.finditer(text, end, stop):
            span = _spelled(context, match.start(), match.end())
            if span and (match.start() - end <= _NEAR or not is_phrase(match.group())):
                yield span
                return
    first = max(text.rfind("\n", 0, start) + 1, start - _BEFORE)
    if has_sign(text[first:start]):
        for match in _WORD.finditer(text, first, start):
            span = _spelled(context, match.start(), match.end()) if has_sign(match.group()) else None
            if span:
                yield span


def _answered(context: Context, end: int) -> Iterator[Span]:
    """The last word of the line that answers the question which ends with the name at `end`."""
    match = compiled(_ANSWERED).match(context.text, end)
    span = _spelled(context, *match.span("value")) if match else None
    if span:
        yield span


def _spelled(context: Context, start: int, end: int) -> Span | None:
    """Where the word at [start, end) is, without what ends the sentence; None when it is spelled as no password."""
    context.looks -= 1
    value = trimmed(context.text[start:end])
    if context.looks < 0 or not is_spelled(value) or context.in_link(start):  # links have random names and numbers
        return None
    return start, start + len(value)


def _phrases(lower: str, most: int) -> Iterator[Span]:
    """Where words are told as a passphrase, or as the phrase of a wallet, `most` times."""
    for place in places("phrase", lower)[:most]:
        told = _PHRASE.match(lower, place + len("phrase")) if lower.endswith(_KINDS, 0, place) else None
        if told is not None:
            words = told["value"].replace(".", " ").replace("_", " ").split(" ")
            if len(words) >= _WALLET or _SENTENCE.isdisjoint(words):
                yield told.span("value")
