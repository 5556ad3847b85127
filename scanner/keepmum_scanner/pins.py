"""Finds PINs and the codes of doors, alarms and cards where a text assigns them: "the PIN of the card is …".

A number alone is not a secret; a word for the PIN, and a verb or a separator, must point to it. Numbers that everybody
tries first ("1234", "0000"), measures, dates and years in other sentences pass.
"""

from __future__ import annotations

from keepmum_scanner.assigning_words import ARROWS, ATTACHED_IS, IS, NOW, QUOTES, TO_A_NUMBER
from keepmum_scanner.candidates import EXPLICIT
from keepmum_scanner.credential_words import CHOSEN, occurrences
from keepmum_scanner.expressions import compiled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from keepmum_scanner.candidates import Candidate
    from keepmum_scanner.context import Context

# "PIN", "SIM pin", "PIN-Code", "PUK".
_PIN = compiled(
    r"(?:(?<![a-z])(?:pin-?(?:code|kod|kode|nummer)|pins?(?![a-z])(?:[ _-]?(?:code|kod|kodu|number|nummer|код)\b)?|"
    r"puk(?![a-z])(?:[ -]?code)?)|pin(?=[ _-]?code))"
)
# What has a code: "the code of the garage door", "alarm code".
_LOCKED = (
    "(?:door|gate|garage|alarm|access|entry|unlock|lock|lockbox|key ?safe|safe|security|voice ?mail|mailbox|intercom|"
    "building|elevator|lobby|office|server room|sim|card|locker|padlock|disarm|burglar|keypad|combination|"
    "parental|tablet|phone|screen)"
)
_CODE = compiled(rf"{_LOCKED}(?: (?:lock|door|gate|room|pin))?[ _-]?$")
_CODE_OF = compiled(rf"s?(?: number)? (?:for|of|to|on|at) (?:the |our |my )?(?:[\w'-]{{1,20}} ){{0,2}}?{_LOCKED}")
# What stands before or after words for "code" in the names of such codes in other languages, in lower case.
_PARTS = ("cod", "kod", "cód", "код", "zahl")
_BEFORE = tuple(
    "zugangs|alarm|entsperr|sperr|tor|tür|sicherheits|schloss|digi|toegangs|deur|ontgrendel|port|larm|dörr|geheim|"
    "kap\u0131 |alarm |giriş |kilit |пин-|пин ".split("|")
)
_AFTER_CODE = tuple(
    "code secret|code de la porte|code de l'alarme|code du portail|code du coffre|code d'accès|code d'entrée|"
    "code de déverrouillage|codice di accesso|codice d'accesso|codice della porta|codice dell'allarme|codice allarme|"
    "codice di sblocco|codice del cancello|codice segreto|codice porta|codigo de acceso|codigo de acesso|"
    "código de acceso|código de la puerta|código de la alarma|código de desbloqueo|código del port|"
    "código de seguridad|código de acesso|código da porta|código do alarme|código do port|código de desbloqueio|"
    "kod do|kod alarmu|kod odblokowania|kod dostępu|"
    "код от|код доступа|код домофона|код сигнализации|код разблокировки".split("|")
)
_OTHER_CODES = tuple(f"{kind} " for kind in "zip postal post area country error exit status source qr promo".split())
_TAIL = compiled(r"[^\W\d_]{3,9}")
_NAMES = (
    "пин",
    "暗証番号",
    "解錠番号",
    "解锁码",
    "解鎖碼",
    "门禁码",
    "門禁碼",
    "開錠コード",
    "解除コード",
    "핀번호",
    "핀 번호",
    "핀코드",
)
_LONGEST_LOCKED = 32  # characters before "code"
_AFTER = 128  # characters after a name, within its line
_WORDS = r"(?:[ \t]+[^\s:=,;.!?]{1,24})"
_UNITS = (
    r"(?:digits?|bits?|stellig|chiffres|cifre|dígitos|cyfr|times|ms|seconds?|sec|minutes?|min|hours?|days?|attempts|tries|"
    r"users?|people|eur|usd|€|pins?)\b"
)
_NUMBER = rf"\*?(?P<value>[0-9]{{4,8}}|[0-9]{{2,4}}(?:[ -][0-9]{{2,4}}){{1,3}})(?![\w%]|[-.:/,][0-9]|[ -]{_UNITS})"
_ASSIGNED = compiled(
    rf"[^\W\d_]{{0,4}}[\"'`*_)]{{0,4}}(?P<gap>{_WORDS}{{0,8}}?)(?:[ \t]*\([^()\n]{{1,24}}\))?"
    rf"(?:[ \t]*(?:[:=]|{ARROWS})[ \t]*|[ \t]+(?:{IS}{NOW}|{TO_A_NUMBER}):?[ \t]+|(?P<adjacent>[ \t]+)|"
    rf"[^\s:=,;.!?A-Za-z0-9]{{0,8}}[ \t]?{ATTACHED_IS}[ \t]?)[{QUOTES}(]{{0,3}}[ \t]?{_NUMBER}"
)
_DIGIT = compiled("[0-9]")
_FOUR = compiled(r"[0-9]{2}[ -]?[0-9]{2}")  # in every value; saves the search after most names
_SEPARATED = compiled(rf"[^\W\d_]{{0,4}}[{QUOTES})]{{0,3}}[ \t]*(?:[:=]|{ATTACHED_IS})[ \t]*[{QUOTES}(]{{0,3}}")
_VERBAL = compiled(rf"[ \t](?:{IS}{NOW}|{TO_A_NUMBER}):?[ \t]+[{QUOTES}(]{{0,3}}$")
# Words between a name and a number that is no PIN.
_DESCRIBING = compiled(
    r"\b(?:length|attempts?|retr(?:y|ies)|limit|timeout|digits?|minimum|maximum|min|max|version|port|count(?:er)?|size|age|since|until|in|"
    r"by|line|page|section|issue|ticket|rfc|error|seit|bis|länge|versuche|longueur|longitud|lunghezza|status|expires?|valid|at|year|not|never)\b|#"
)
_VERB = ("pin", "pins")  # "pin the build to …", and of electronics: "pin 1013"
_ARTICLES = ("the ", "a ", "an ", "all ", "it ", "this ", "our ", "your ", "its ", "every ", "each ")
_YEAR = compiled(r"(?:19[5-9]|20[0-4])[0-9]")
_GUESSED = frozenset(("1234", "12345", "123456", "1234567", "12345678", "4321", "654321", "87654321", "1212", "2580"))
_NAMES_PIN = -1  # other than CHOSEN
_FEWEST_DIGITS = 6  # of a password of digits only, unless a word for a PIN names it


def find(context: Context) -> Iterator[Candidate]:
    """Candidates for PINs behind a word for one."""
    text = context.text
    if _DIGIT.search(text) is None:
        return
    done = -1
    for end, kind in sorted(_names(context))[: context.case_limit]:
        if _FOUR.search(text, end, end + _AFTER) is None:
            continue
        match = _ASSIGNED.match(context.lower, end, end + _AFTER)
        if match is None or match.start("value") <= done:
            continue
        value = match["value"]
        digits = value.replace(" ", "").replace("-", "")
        if kind == CHOSEN and not _is_password(context.lower[end : match.start("value")], digits, value):
            continue
        if not _is_pin(digits, match["gap"], adjacent=bool(match["adjacent"])):
            continue
        is_verb = f"{match['gap'].lstrip()} ".startswith(_ARTICLES) and not text.endswith("PIN", 0, end)
        if context.lower.endswith(_VERB, 0, end) and (is_verb or (match["adjacent"] and text.endswith(_VERB, 0, end))):
            continue
        done = match.start("value")
        yield ("secret.pin", *match.span("value"), EXPLICIT)


def _names(context: Context) -> Iterator[tuple[int, int]]:
    """The end of each name, and whether it is one of passwords (CHOSEN) or of PINs."""
    lower, limit = context.lower, context.case_limit
    for word in ("pin", "puk"):
        for start in occurrences(word, lower)[:limit] if word in lower else ():
            match = _PIN.match(lower, start)
            if match:
                yield match.end(), _NAMES_PIN
    for end in _ends_of_codes(lower, limit):
        yield end, _NAMES_PIN
    for word in () if lower.isascii() else _NAMES:
        for start in occurrences(word, lower)[:limit] if word in lower else ():
            yield start + len(word), _NAMES_PIN
    for end, _, kind, _ in context.credential_words[:limit]:
        if kind == CHOSEN:
            yield end, CHOSEN


def _ends_of_codes(lower: str, limit: int) -> Iterator[int]:
    """Where the names of codes end, such as "alarm code" and "the code for the door"."""
    for part in [part for part in _PARTS if part in lower]:
        for start in occurrences(part, lower)[:limit]:
            if lower.startswith(_AFTER_CODE, start):
                name = max((name for name in _AFTER_CODE if lower.startswith(name, start)), key=len)
                yield start + len(name)
                continue
            tail = _TAIL.match(lower, start)
            end = tail.end() if tail else start + len(part)
            if lower.endswith(_BEFORE, 0, start):
                yield end
            elif lower.startswith("code", start) and not lower.endswith(_OTHER_CODES, 0, start):
                of = _CODE_OF.match(lower, start + 4)
                if of or _CODE.search(lower, max(0, start - _LONGEST_LOCKED), start):
                    yield of.end() if of else start + 4
    if "combination" in lower:
        for start in occurrences("combination", lower)[:limit]:
            if _CODE.search(lower, max(0, start - _LONGEST_LOCKED), start):
                yield start + len("combination")


def _is_password(gap: str, digits: str, value: str) -> bool:
    """Whether a number of few digits can be a password: right after a separator; a longer one also after a verb."""
    if len(digits) >= _FEWEST_DIGITS:
        return _SEPARATED.search(gap) is not None or _VERBAL.search(gap) is not None
    return digits == value and _SEPARATED.fullmatch(gap) is not None


def _is_pin(digits: str, gap: str, *, adjacent: bool) -> bool:
    """Whether `digits` can be a PIN after the words of `gap`."""
    if not 4 <= len(digits) <= 8 or digits in _GUESSED or len(set(digits)) == 1:
        return False
    if _DESCRIBING.search(gap):
        return False
    words = gap.split()
    if adjacent and (words or _YEAR.fullmatch(digits)):
        return False
    return not (_YEAR.fullmatch(digits) and len(words) > 4)
