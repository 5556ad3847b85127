"""Finds passwords that a sentence names without a separator: "the password has always been …", "pw is …".

The word must be spelled like a password, since most sentences about passwords contain none.
"""

from __future__ import annotations

from keepmum_scanner.candidates import EXPLICIT
from keepmum_scanner.credential_words import CHOSEN, CUE, occurrences
from keepmum_scanner.expressions import compiled
from keepmum_scanner.password_spelling import has_symbol, is_passphrase, looks_like_password
from keepmum_scanner.values import trimmed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from keepmum_scanner.candidates import Candidate
    from keepmum_scanner.context import Context

    Span = tuple[int, int]

# A word with a digit, or hyphenated words, between spaces, quotes, brackets, separators, or letters beyond ASCII, as in
# "密码是…".
_CHARACTER = r"[!#-&*+\-./0-9?@A-Z^_a-z~]"
_WORD = compiled(
    rf"(?<![A-Za-z0-9_.+/~-])(?:(?=[^\s\"'`()<>{{}}\[\]\\,;|=:0-9]{{0,63}}[0-9])(?!\*){_CHARACTER}{{6,64}}|"
    r"[a-z]{3,10}(?:-[a-z]{3,10}){3,7}(?![A-Za-z0-9_-]))"
)
_MARK = compiled("[0-9]|-[a-z]{3,10}-")  # in every such word
_AFTER, _BEFORE = 72, 32  # characters after and before a name, within its line, that are searched
_PASSPHRASE_AFTER = 36  # characters after a name, within which hyphenated words count as a passphrase
# A question for the password, and an answer on the next line: "what's the password?\nkolja: sure, …".
_ANSWER = r"[^\n?]{0,48}\?\n{1,2}[> ]{0,4}(?:[^\n]{0,32}[ \t])?(?P<value>[!-~]{6,64})[ \t]*(?:\n|$)"
_SHORT = ("pw ", "pass is ")  # names that `credential_words` accepts only before a separator
# Words that are called a passphrase, up to the end of the line, the quotes or the sentence.
_PASSPHRASE = compiled(
    r"s?(?:(?: [^\W\d_][\w./'\u2019@-]{0,24}){0,4}? (?:is|was)| ?[:=])[ \t]*[\"'`\u201e\u201c\u201d\u00ab(]{0,2}"
    r"(?P<value>[a-z]{3,10}(?:[ ._][a-z]{3,10}){3,23})(?=[\"'`.]?(?:\s|$))"
)
_KINDS = ("pass", "seed ", "recovery ", "mnemonic ", "backup ", "secret ", "wallet ")
_COMMON_WORDS = frozenset(
    "all and any are but can for from has have its may must need needed not one only required should that the then "
    "this used using was when which will with you your".split()
)
_WALLET = 12  # words; a list as long as this is not a sentence even if it contains common words
_ARGUMENTS = ("(", "=(", " = (")  # "mail.login(…)", "auth=(…)"
_ROUTER_TYPES = (" 0 ", " 5 ", " 7 ")  # before a secret in the configuration of a router


def find(context: Context) -> list[Candidate]:
    """Candidates for words that a sentence calls a password."""
    spans = _near_names(context) if context.credential_words else []
    for name in [name for name in _SHORT if name in context.lower]:
        for start in occurrences(name, context.lower)[: context.case_limit]:
            if not context.text[start - 1 : start].isalpha():
                spans += _near_name(context, start, start + len(name))
    if "phrase" in context.lower:
        spans += _passphrases(context.lower, context.case_limit)
    return [("secret.password", start, end, EXPLICIT) for start, end in spans]


def _near_names(context: Context) -> list[Span]:
    """Spans of words spelled like passwords near the names of passwords."""
    text = context.text
    spans: list[Span] = []
    for end, start, kind, _ in context.credential_words[: context.case_limit]:
        if context.checks_left <= 0:
            break
        if kind == CHOSEN:
            spans += _near_name(context, start, end)
            if "?" in text:
                spans += _in_answer(context, end)
        elif text.startswith(_ARGUMENTS if kind == CUE else _ROUTER_TYPES, end):
            spans += _near_name(context, end, end)
    return spans


def _near_name(context: Context, start: int, end: int) -> Iterator[Span]:
    """Spans of the first word spelled like a password after the name at [start, end), else of those before it.

    A word before the name must contain a symbol.
    """
    text = context.text
    stop = text.find("\n", end, end + _AFTER)
    stop = stop if stop >= 0 else min(len(text), end + _AFTER)
    if _MARK.search(text, end, stop):  # saves the search after most names
        for match in _WORD.finditer(text, end, stop):
            span = _password(context, match.start(), match.end())
            if span and (match.start() - end <= _PASSPHRASE_AFTER or not is_passphrase(match.group())):
                yield span
                return
    first = max(text.rfind("\n", 0, start) + 1, start - _BEFORE)
    if has_symbol(text[first:start]):
        for match in _WORD.finditer(text, first, start):
            span = _password(context, match.start(), match.end()) if has_symbol(match.group()) else None
            if span:
                yield span


def _in_answer(context: Context, end: int) -> Iterator[Span]:
    """Span of the last word of the line after the question that contains the name ending at `end`."""
    match = compiled(_ANSWER).match(context.text, end)
    span = _password(context, *match.span("value")) if match else None
    if span:
        yield span


def _password(context: Context, start: int, end: int) -> Span | None:
    """Span of the word at [start, end) without final punctuation; None when it is not spelled like a password."""
    context.checks_left -= 1
    value = trimmed(context.text[start:end])
    # Links contain random names and numbers.
    if context.checks_left < 0 or not looks_like_password(value) or context.in_link(start):
        return None
    return start, start + len(value)


def _passphrases(lower: str, limit: int) -> Iterator[Span]:
    """Spans of words that are called a passphrase or the phrase of a wallet; at most `limit` names are checked."""
    for start in occurrences("phrase", lower)[:limit]:
        match = _PASSPHRASE.match(lower, start + len("phrase")) if lower.endswith(_KINDS, 0, start) else None
        if match is not None:
            words = match["value"].replace(".", " ").replace("_", " ").split(" ")
            if len(words) >= _WALLET or _COMMON_WORDS.isdisjoint(words):
                yield match.span("value")
