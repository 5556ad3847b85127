"""Passwords that a sentence tells without a sign behind their name: "the password has always been …", "pw …".

The word that is told must be spelled as a password (`spelled`), since sentences about passwords are many more.
"""

from __future__ import annotations

from keepmum_scanner.expressions import compiled
from keepmum_scanner.mentions import CHOSEN, ISSUED, places
from keepmum_scanner.spelled import is_spelled
from keepmum_scanner.suspect import STATED
from keepmum_scanner.values import trimmed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from keepmum_scanner.context import Context
    from keepmum_scanner.suspect import Suspect

    Span = tuple[int, int]

_QUOTE = r"[\"'`\u201e\u201c\u201d\u00ab\u300c\u300e(]{0,2}"
_MARKED = r"(?=[!-~]{0,63}[0-9]|[a-z]+-[a-z]+-[a-z]+-[a-z])"  # has a digit, or is a passphrase
_VALUE = rf"[ \t]{{0,4}}{_QUOTE}(?P<value>{_MARKED}[!-~]{{6,64}})"
_WORD = r"[^\W\d_][\w./'\u2019@-]{0,24}"
# What ends the way from a name to its value, in the languages whose names `mentions` knows.
_TELLING = (
    r" (?:is|was|are|be|been|to|now|ist|lautet|auf|war|est|es|\u00e9|\u00e8|\u00e4r|on|je|jest|till|type|enter|use)|"
    r"(?: ?[:=,\u2192]| [\u2013\u2014-])(?: (?:type|enter|use|try))?|"
    r"\u662f|\u4e3a|\u70ba|\u306f|\u304c|\ub294|\uc740| \(|[\u300c\u300e]"
)
# Right behind the name, or behind some words and one of those; a name may be inflected: "Passwortes".
_BEHIND = rf"[^\W\d_]{{0,5}}[\])}}\"'`*]{{0,3}}(?:[ \t](?:[057] )?|(?: {_WORD}){{0,6}}?(?:{_TELLING})){_VALUE}"
# A question for it, and an answer on the next line: "what's the password?\nkolja: sure, …".
_ANSWERED = rf"[^\n?]{{0,48}}\?\n{{1,2}}[> ]{{0,4}}(?:[^\n]{{0,32}}[ \t])?{_VALUE}[ \t]*(?:\n|$)"
_FAR = 240  # characters behind a name that are looked at
_DIGIT = compiled("[0-9]|-[a-z]+-")  # every password that is told so has one
# Words alone are a passphrase where they are called one, and end where the line, the quotes or the sentence do.
_PHRASE = compiled(
    rf"s?(?:(?: {_WORD}){{0,4}}? (?:is|was)| ?[:=])[ \t]*{_QUOTE}"
    r"(?P<value>[a-z]{3,10}(?:[ ._][a-z]{3,10}){3,23})(?=[\"'`.]?(?:\s|$))"
)
_KINDS = ("pass", "seed ", "recovery ", "mnemonic ", "backup ", "secret ", "wallet ")
_SENTENCE = frozenset(
    "all and any are but can for from has have its may must need needed not one only required should that the then "
    "this used using was when which will with you your".split()
)
_WALLET = 12  # words, at which a list is no sentence whatever its words are
_TYPED = ("0 ", "5 ", "7 ")  # how routers write a secret down


def find(context: Context) -> Iterator[Suspect]:
    """Suspects for words that a sentence tells as a password."""
    text = context.text
    for start, end in _behind(context):
        value = trimmed(text[start:end])
        context.looks -= 1
        if context.looks >= 0 and is_spelled(value):
            yield ("secret.password", start, start + len(value), STATED)
    for start, end in _phrases(context.lower, context.crowd):
        yield ("secret.password", start, end, STATED)


def _phrases(lower: str, most: int) -> Iterator[Span]:
    """Where words are told as a passphrase, or as the phrase of a wallet, `most` times."""
    if "phrase" not in lower:
        return
    for place in places("phrase", lower)[:most]:
        told = _PHRASE.match(lower, place + len("phrase")) if lower.endswith(_KINDS, 0, place) else None
        if told is not None:
            words = told["value"].replace(".", " ").replace("_", " ").split(" ")
            if len(words) >= _WALLET or _SENTENCE.isdisjoint(words):
                yield told.span("value")


def _behind(context: Context) -> Iterator[Span]:
    """Where a sentence tells a value for a name of credentials."""
    text = context.text
    for end, _, kind, _ in context.mentions[: context.crowd]:
        if kind != CHOSEN and not (kind == ISSUED and text.startswith(_TYPED, end + 1)):
            continue
        if _DIGIT.search(text, end, end + _FAR):
            told = compiled(_BEHIND).match(text, end, end + _FAR)
            if told is None and "?" in text:
                told = compiled(_ANSWERED).match(text, end, end + _FAR)
            if told is not None:
                yield told.span("value")
