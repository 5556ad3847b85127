"""The command: scan files or standard input, say where and what, never the text."""

from __future__ import annotations

import sys

from keepmum_scanner.redact import redact
from keepmum_scanner.scan import scan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from keepmum_scanner.finding import Finding

CLEAN, FOUND, ERROR = 0, 1, 2

USAGE = """\
usage: python3 scanner [--json] [FILE ...]

Looks for secrets in each FILE, or in standard input when there is none.
Prints file:line:column and the rule, never the text.
Exit code: 0 clean, 1 found, 2 a file could not be scanned.
"""


class Unreadable(Exception):
    """An input that cannot be scanned; the message says why."""


def main(arguments: list[str]) -> int:
    """The exit code of one run: `CLEAN`, `FOUND`, or `ERROR` when anything could not be scanned."""
    if {"-h", "--help"} & set(arguments):
        sys.stdout.write(USAGE)
        return CLEAN
    unknown = [one for one in arguments if one.startswith("-") and one not in ("-", "--json")]
    if unknown:
        sys.stderr.write(f"scanner: unknown option, see --help ({len(unknown)} given)\n")
        return ERROR
    return _run([one for one in arguments if one != "--json"] or ["-"], as_json="--json" in arguments)


def _run(names: list[str], *, as_json: bool) -> int:
    results = [_attempt(name) for name in names]
    for name, result in zip(names, results):
        if isinstance(result, Unreadable):
            sys.stderr.write(f"scanner: {_shown(name)}: {result}\n")
    reports = [report for result in results if isinstance(result, list) for report in result]
    _print(reports, as_json=as_json)
    if any(isinstance(result, Unreadable) for result in results):
        return ERROR
    return FOUND if reports else CLEAN


def _attempt(name: str) -> list[dict[str, object]] | Unreadable:
    try:
        return list(_reports(name))
    except Unreadable as reason:
        return reason


def _reports(name: str) -> Iterator[dict[str, object]]:
    text = _decoded(_read(name))
    for finding in scan(text):
        line, column = _position(text, finding)
        yield {
            "file": _shown(name),
            "line": line,
            "column": column,
            "rule": finding.rule,
            "start": finding.start,
            "end": finding.end,
            "confidence": round(finding.confidence, 2),
        }


def _print(reports: list[dict[str, object]], *, as_json: bool) -> None:
    if as_json:
        import json  # half of the command's start; plain output does without

        sys.stdout.write(json.dumps(reports, indent=2) + "\n")
        return
    for report in reports:
        sys.stdout.write(f"{report['file']}:{report['line']}:{report['column']}: {report['rule']}\n")


def _read(name: str) -> bytes:
    if name == "-":
        return sys.stdin.buffer.read()
    try:
        with open(name, "rb") as file:
            return file.read()
    except (OSError, ValueError) as error:
        raise Unreadable(getattr(error, "strerror", None) or "no such file") from None


def _decoded(data: bytes) -> str:
    """`data` as text; bytes that are no UTF-8 become replacement characters, binary data is refused."""
    if b"\0" in data:
        raise Unreadable("binary data, not text")
    return data.decode("utf-8-sig", "replace")


def _position(text: str, finding: Finding) -> tuple[int, int]:
    """Line and column of `finding`, both from 1."""
    before = text[: finding.start]
    return before.count("\n") + 1, finding.start - before.rfind("\n")


def _shown(name: str) -> str:
    """`name` as it can be printed: file names may hold any bytes, and a secret may be given as one by mistake."""
    if name == "-":
        return "<stdin>"
    plain = name.encode("utf-8", "replace").decode("utf-8")
    return redact(plain, scan(plain))
