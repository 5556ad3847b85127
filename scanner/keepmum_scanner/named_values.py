"""Finds composed passwords that a text assigns to a credential's name, in sentences of several languages.

`sentences` looks near a name for a word that nothing but a password is spelled like. Here the words between the name
and the value must assign it, so that the value may be spelled like a name: "пароль теперь Kick_Engine1662",
"the key is now ridge.tulip.mango.sofa", "« jonas2019 » est le mot de passe".
"""

from __future__ import annotations

from keepmum_scanner.assigning_words import ARROWS, AS, ATTACHED_IS, IS, NOW, QUOTES, TO
from keepmum_scanner.by_place import IN_CHAT
from keepmum_scanner.candidates import EXPLICIT
from keepmum_scanner.credential_words import CHOSEN, CUE, ISSUED, names_only_credentials, occurrences
from keepmum_scanner.expressions import compiled
from keepmum_scanner.values import trimmed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from keepmum_scanner.candidates import Candidate
    from keepmum_scanner.context import Context
    from keepmum_scanner.credential_words import CredentialWord

    Span = tuple[int, int]

_AFTER, _BEFORE = 96, 64  # characters after and before a name, within its line
_DRAWN = 0.75  # share of words that are on a list from which passphrases are drawn
_SAME_CLAUSE = 60  # characters between a name and a word in the same clause
_CLAUSE_END = compiled(r"[.;!?)|]\s|[=<>{}]| --")
_FIRST_WORD = compiled(r"[^\w\n]{0,3}(?P<word>[a-z]+)")  # "password policy"
_APART, _NEAR, _ADJACENT, _ASSIGNED = range(4)  # how a word is linked to the name before it
_CLOSELY, _FEW = 24, 8  # characters to a candidate that was found before, and how many of these are compared
_SHORTEST = 6  # characters of a password
_TRIED = 4  # words after a name
# A word that may be a password; after a delimiter or a letter beyond ASCII.
_WORD = compiled(r"(?<![A-Za-z0-9_.+/~$%&@#-])[A-Za-z0-9!#$%&*+@?^~][!#-&*+\-./0-9=?@A-Z^_a-z~]{5,63}")
_MARK = compiled(r"[0-9!$@#&~]|[a-z][-._+][a-z]|[qQ][wW]|[A-Z]{2}[a-z]|[a-z][A-Z]")  # in each of them
_ENCODED = compiled("%(?:2[0-9A-F]|3[A-F]|[46]0|[57][B-E])")  # symbols in the query of a link
_QUOTE = f"(?:[{QUOTES}(\\[]{{1,3}}[ \\t]?)?"
_END = r"(?:s|e|en|er|et|n|a|i|u|y|ja|[^\W\da-z_]{0,4})(?![a-z])"  # of a name
_WORDS = r"(?:[ \t]+[^\s:=,;.!?]{1,24})"
_NAMES = r"(?:[ \t]+[^\s:=,;!?]{1,24})"  # also of hosts, which contain dots
# What stands between a name and its value: the rest of the name, a few words, and what assigns.
_LINKED = compiled(
    rf"^{_END}[{QUOTES})\]]{{0,4}}(?:{_WORDS}{{0,7}}[ \t]*\)?(?:[:=]|{ARROWS}|[ \t]-[ \t])|"
    rf"{_NAMES}{{0,7}}?[ \t]+{IS}{NOW}:?|{_NAMES}{{1,7}}?[ \t]+{TO}:?|"
    rf"[^\s:=,;.!?A-Za-z0-9]{{0,10}}{_WORDS}{{0,3}}[ \t]?{ATTACHED_IS})"
    rf"[ \t]*{_QUOTE}$"
)
# "the API key, …, must be sent"; "changed yesterday: it is …".
_APPOSED = compiled(rf"^{_END},[ \t]*$")
_PRONOUN = compiled(rf"[:;,.][ \t]+(?:it|this|that|er|es|sie|il|elle|он|now)[ \t]*(?:'s|{IS}){NOW}:?[ \t]*{_QUOTE}$")
_NEXT_WORD = compiled(rf"^{_END}[ \t]{{1,2}}{_QUOTE}$")
# The key of a table or a row looks something up, and opens nothing.
_OF_A_TABLE = compiled(
    r"\b(?:cache|column|dict|index|map|record|row|table|datensatz(?:es)?|spalte|tabelle|zeile|tabla|fila|tabela|"
    r"tabella|riga|ligne|tabel|таблиц\w|строк\w|записи)\b"
)
_NEGATED = compiled(r"\b(?:not|never|no longer|isn't|nicht|kein\w*|pas|nunca|jamais|non)\b")
_OTHER_ASSIGNMENT = compiled(r"[=:][ \t]*\S+[ \t]*[,;&][^,;&]*$|[.;!?][ \t]+[a-z]")
# After a value: "… as API token", "… is the root password".
_NAMES_BEFORE = compiled(rf"^[{QUOTES})]{{0,3}}[ \t]+{AS}(?:[ \t]+[^\s:=,;.!?]{{1,16}}){{0,3}}[ \t]+[\w-]{{0,12}}$")

# The next line, or the one after the name and the time of a speaker, is the value: "…, the token\nkolja: …".
_SPEAKER = r"[>*<\[ \t]{0,4}[\w.@-]{1,32}[>*\]]{0,3}"
_NEXT_LINE = compiled(
    rf"s?(?![A-Za-z0-9_])[^\n:={{}}()\[\];]{{0,48}}[?!.:]?[ \t]*\n{{1,2}}"
    rf"(?:{_SPEAKER}(?::[*]{{0,2}}|>)?[ \t]{{1,4}}(?:[0-9:.,APMapm ]{{4,12}}\n)?|[^\S\n]{{0,8}}[>*-]?[ \t]?)"
    rf"[{QUOTES}]{{0,3}}(?P<value>[!-~]{{6,64}}?)[{QUOTES}]{{0,3}}[ \t]*(?:\n|$)"
)

# Words with spaces between them, in quotes, or at the end of a line: "password: ridge tulip mango sofa".
_BLOCK = r"(?P<block>[ \t]*[|>][+-]?[ \t]*\r?\n[ \t]{1,24})?"  # of YAML
_DRAWN_WORDS = r"(?P<value>[a-z]{3,9}(?: [a-z]{3,9}){3,7})(?: ?[0-9]{1,4})?"
_SPACED = compiled(
    rf"[^\W\d_]{{0,4}}[{QUOTES})]{{0,4}}(?:{_WORDS}{{0,6}}?[ \t]*(?::|=|{ARROWS}){_BLOCK}|"
    rf"{_NAMES}{{0,6}}?[ \t]+{IS}{NOW}:?|{ATTACHED_IS})[ \t]*"
    rf"(?P<quote>[{QUOTES}]?)[ \t]?{_DRAWN_WORDS}[!.]?(?P<end>[{QUOTES}]|[ \t]*(?:\n|$))"
)


def find(context: Context, found: list[Candidate]) -> Iterator[Candidate]:
    """Candidates for composed passwords that are assigned to a name, unless one of `found` follows it closely."""
    starts = sorted(start for _, start, _, _ in found)
    for end, start, kind, short in [*context.credential_words[: context.case_limit], *_in_chat(context)]:
        if any(end <= one <= end + _CLOSELY for one in starts[:_FEW]):
            continue
        if context.checks_left <= 0:
            return
        if kind == CUE or (kind != CHOSEN and not names_only_credentials(context.lower, start, end)):
            continue
        span = (
            _after(context, start, end, kind, short=short)
            or _before(context, start, kind)
            or _below(context, end, kind)
        )
        if span is None and kind == CHOSEN:
            span = _spaced(context, end)
        if span:
            yield ("secret.password", *span, EXPLICIT)


def _in_chat(context: Context) -> Iterator[CredentialWord]:
    """Short names that `credential_words` accepts only before a separator: "pw is …", "pass for the lab is …"."""
    for name in [name for name in IN_CHAT if name in context.lower]:
        for start in occurrences(name, context.lower)[: context.case_limit]:
            if not context.text[start - 1 : start].isalnum():
                yield start + name.index(" "), start, CHOSEN, False


def _after(context: Context, start: int, end: int, kind: int, *, short: bool) -> Span | None:
    """The span of the composed password that is assigned to the name ending at `end`."""
    text = context.text
    stop = text.find("\n", end, end + _AFTER)
    stop = stop if stop >= 0 else min(len(text), end + _AFTER)
    if _MARK.search(text, end, stop) is None:
        return None
    tried = 0
    for match in _WORD.finditer(text, end, stop + 64):
        if match.start() >= stop or tried >= _TRIED:
            return None
        tried += 1
        value = trimmed(match.group().rstrip("*_"))
        if len(value) < _SHORTEST or _MARK.search(value) is None:
            continue
        link = _link(context.lower[end : match.start()], is_word=not text[start - 1 : start].isalnum())
        if link != _ASSIGNED and context.follows_id_name(match.start()):
            continue
        if kind == ISSUED and link and _OF_A_TABLE.search(context.lower, end, match.start()):
            continue
        if link == _APART or (short and link != _ASSIGNED) or (link == _NEAR and kind != CHOSEN):
            continue
        context.checks_left -= 1
        # Joined words that are only near a name mostly name something else.
        chosen = kind == CHOSEN and link != _NEAR
        if _is_value(context, match.start(), value, certain=link == _ASSIGNED, chosen=chosen):
            return match.start(), match.start() + len(value)
    return None


def _link(gap: str, *, is_word: bool) -> int:
    """How `gap`, after a name, leads to what follows: `_ASSIGNED`, `_ADJACENT`, `_NEAR` or `_APART`.

    `is_word` tells whether the name is a word of its own, and no part of an identifier.
    """
    pronoun = _PRONOUN.search(gap)
    if _NEGATED.search(gap) or (pronoun is None and _OTHER_ASSIGNMENT.search(gap)):
        return _APART
    if pronoun or _LINKED.match(gap) or (is_word and _APPOSED.match(gap)):
        return _ASSIGNED
    if _NEXT_WORD.match(gap):
        return _ASSIGNED if gap[-1:] in QUOTES else _ADJACENT
    return _NEAR if is_word and _is_same_clause(gap) else _APART


def _is_same_clause(gap: str) -> bool:
    """Whether what follows `gap` is in the clause of the name, and the name is not part of a compound."""
    if len(gap) > _SAME_CLAUSE or _CLAUSE_END.search(gap):
        return False
    from keepmum_scanner.labels import describes  # few texts get here

    first = _FIRST_WORD.match(gap)
    return first is None or not describes(first["word"])


def _before(context: Context, start: int, kind: int) -> Span | None:
    """The span of the composed password that is called by the name at `start`."""
    text = context.text
    first = max(text.rfind("\n", 0, start) + 1, start - _BEFORE)
    if " " not in text[first:start] or _MARK.search(text, first, start) is None:
        return None
    for match in _WORD.finditer(text, first, start):
        value = trimmed(match.group().rstrip("*_"))
        if len(value) >= _SHORTEST and _NAMES_BEFORE.match(context.lower[match.start() + len(value) : start]):
            context.checks_left -= 1
            if _is_value(context, match.start(), value, certain=True, chosen=kind == CHOSEN):
                return match.start(), match.start() + len(value)
    return None


def _below(context: Context, end: int, kind: int) -> Span | None:
    """The span of the composed password that is all of the line below the name ending at `end`."""
    match = _NEXT_LINE.match(context.text, end) if "\n" in context.text[end : end + _AFTER] else None
    if match is None:
        return None
    context.checks_left -= 1
    start, value = match.start("value"), trimmed(match["value"])
    if len(value) < _SHORTEST or not _is_value(context, start, value, certain=False, chosen=kind == CHOSEN):
        return None
    return start, start + len(value)


def _spaced(context: Context, end: int) -> Span | None:
    """The span of the words that are assigned to the name ending at `end`; without quotes they must be drawn words."""
    match = _SPACED.match(context.text, end)
    if match is None:
        return None
    context.checks_left -= 1
    words = match["value"].split(" ")
    if match["block"] or (match["quote"] and match["end"].strip()):
        from keepmum_scanner.whole_values import is_phrase

        return match.span("value") if is_phrase(match["value"]) else None
    from keepmum_scanner.seed_words import numbers

    known = sum(word.encode() in numbers() for word in words)
    return match.span("value") if known >= _DRAWN * len(words) else None


def _is_value(context: Context, start: int, value: str, *, certain: bool, chosen: bool) -> bool:
    """Whether `value` is a composed password, and neither called as in code nor a part of a link or a digest."""
    end = start + len(value)
    if context.text[end : end + 1] in {"(", "["} or context.text[start - 1 : start] in {"$", "{", "<"}:
        return False
    from keepmum_scanner.composed_passwords import is_composed  # few texts need it

    if not is_composed(value, certain=certain, chosen=chosen):
        return False
    if context.text[start - 1 : start] == "=" and _ENCODED.search(value):
        return False  # its decoded text is scanned
    return not context.in_link(start) and not context.follows_public_marker(start)
