"""Finds the values of Kubernetes secrets: every entry below "stringData:", and below "data:" in base64."""

from __future__ import annotations

from keepmum_scanner.candidates import EXPLICIT
from keepmum_scanner.composed_passwords import is_composed
from keepmum_scanner.expressions import compiled
from keepmum_scanner.values import is_credential

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from keepmum_scanner.candidates import Candidate
    from keepmum_scanner.context import Context

# Source: https://kubernetes.io/docs/concepts/configuration/secret/, read 2026-11-22
_SECTION = compiled(r"(?m)^(?P<indent>[ ]{0,16})(?P<encoded>data|stringData):[ \t]*\r?\n")
_KIND = compiled(r"(?m)^[ ]{0,16}kind:[ ]{0,4}[\"']?Secret\b")
_ENTRY = compiled(
    r"(?P<indent>[ ]{1,24})[\"']?(?P<name>[\w.-]{1,64})[\"']?:[ \t]{1,8}(?:[|>][+-]?[ \t]*\r?\n[ ]{1,32})?"
    r"(?P<quote>[\"']?)(?P<value>[^\s\"'#|>][^\n\"']{0,512}?)(?P=quote)[ \t]*\r?(?:\n|$)"
)
_LINES = 64  # of a section
# Entries that are not secrets by themselves.
_PUBLIC = compiled(
    r"(?i)(?:.*[._-])?(?:user(?:_?name)?|host(?:name)?|url|uri|port|name|type|ca|crt|cert|region|bucket|endpoint|database|db|"
    r"email|issuer|namespace|client[_-]?id|id|pub|enabled|mode|level|env)"
)
_BASE64 = compiled(r"[A-Za-z0-9+/]{6,512}={0,2}")


def find(context: Context) -> Iterator[Candidate]:
    """Candidates in the entries of every secret."""
    text = context.text
    is_secret = "kind:" in text and _KIND.search(text) is not None
    if not is_secret and "stringData:" not in text:
        return
    done = 0
    for section in _SECTION.finditer(text):
        encoded = section["encoded"] == "data"
        if section.end() < done or (encoded and not is_secret):
            continue
        done = section.end()
        for _ in range(_LINES):
            entry = _ENTRY.match(text, done)
            if entry is None or len(entry["indent"]) <= len(section["indent"]) or context.checks_left <= 0:
                break
            done = entry.end()
            value = _plain(entry["value"]) if encoded else entry["value"]
            if not _PUBLIC.fullmatch(entry["name"]) and _is_given(context, value):
                yield ("secret.password", *entry.span("value"), EXPLICIT)


def _is_given(context: Context, value: str) -> bool:
    return is_credential(value, context, chosen=True, certain=True) or is_composed(value, certain=True)


def _plain(value: str) -> str:
    """What `value` encodes; "" when that is not text."""
    if _BASE64.fullmatch(value) is None:
        return ""
    import binascii

    try:
        return binascii.a2b_base64(value).decode("ascii").strip()
    except ValueError:
        return ""
