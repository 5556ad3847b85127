"""The one door: text in, findings out."""

from __future__ import annotations

from keepmum_scanner import assignment, pem, prefixes, scored, structure
from keepmum_scanner.context import Context
from keepmum_scanner.finding import Finding
from keepmum_scanner.fingerprint import fingerprint
from keepmum_scanner.normalise import normalise
from keepmum_scanner.suspect import merged
from keepmum_scanner.tokens import tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from keepmum_scanner.suspect import Suspect


def scan(text: str, key: bytes | None = None) -> list[Finding]:
    """Findings in `text`, in order and not overlapping; with `key` each carries a fingerprint.

    The same secret has the same fingerprint under the same key, whatever invisible characters were put into it.
    """
    view = normalise(text)
    findings = []
    for rule, start, end, confidence in merged(_suspects(view.text)):
        place = view.origin_span(start, end)
        findings.append(Finding(rule, *place, confidence, fingerprint(view.text[start:end], key)))
    return findings


def _suspects(text: str) -> list[Suspect]:
    public = pem.public_spans(text)
    found = [token for token in tokens(text) if not any(start <= token.start < end for start, end in public)]
    context = Context(text)
    return [
        *pem.find(text),
        *structure.find(text),
        *prefixes.find(found, text),
        *assignment.find(context),
        *scored.find(found, context),
    ]
