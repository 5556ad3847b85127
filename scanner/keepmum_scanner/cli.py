"""The command: scans files, folders, standard input or staged changes; prints position and rule, never the text."""

from __future__ import annotations

import sys

from keepmum_scanner.finding import Finding, redact
from keepmum_scanner.inputs import STDIN, Input, Unreadable, inputs, staged
from keepmum_scanner.scan import scan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Callable

    Scan = Callable[[str], Sequence[Finding]]
    Report = dict[str, object]

CLEAN, FOUND, ERROR = 0, 1, 2

USAGE = """\
usage: {program} [--json | --sarif] [--explain] [--staged | [--no-ignore] FILE ...]
       {program} --mask [FILE[:LINE]]

Searches for secrets in each FILE, in all files of a folder, in standard input when no FILE is given (or for "-"), or
in the lines that are staged for the next commit (--staged).
In a folder inside a git work tree, files that git ignores are skipped; --no-ignore scans them too.
Prints file:line:column and the rule, never the text; --json and --sarif print one document.
--explain also prints what decided about each finding and about the strongest candidate that was rejected: the class and
distance of the name, the characters and shapes of the value, and weights; with --json too, never the text.
--mask prints the lines with findings, or LINE, with generated text of the same shape in place of everything but public
words, for a report of a false positive; the result has the same findings, or nothing is printed.
Exit code: 0 clean, 1 found, 2 something could not be scanned; of --mask: 0 masked, 2 not.
"""
_OPTIONS = ("--json", "--sarif", "--explain", "--staged", "--no-ignore", "--mask")


def main(arguments: list[str], scan_text: Scan = scan, program: str = "python3 scanner") -> int:
    """The exit code of one run: `CLEAN`, `FOUND`, or `ERROR` when anything could not be scanned."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    options = {word for word in arguments[:end] if _is_option(word)}
    names = [word for word in arguments[:end] if not _is_option(word)] + arguments[end + 1 :]
    if {"-h", "--help"} & options:
        sys.stdout.write(USAGE.format(program=program))
        return CLEAN
    try:
        if "--mask" in options:
            return _mask(options, names)
        return _run(_inputs(options, names), scan_text, options)
    except Unreadable as reason:
        sys.stderr.write(f"scanner: {reason}\n")
        return ERROR


def _inputs(options: set[str], names: list[str]) -> Iterable[Input]:
    """The inputs that `options` and `names` select.

    Raises: Unreadable when they contradict each other.
    """
    unknown = len(options - set(_OPTIONS))
    if unknown:
        raise Unreadable(f"unknown option, see --help ({unknown} given)")
    if {"--json", "--sarif"} <= options:
        raise Unreadable("--json or --sarif, not both")
    if {"--explain", "--sarif"} <= options:
        raise Unreadable("--explain prints text or --json, not --sarif")
    if "--staged" not in options:
        return inputs(names or [STDIN], ignored="--no-ignore" in options)
    if names or "--no-ignore" in options:
        raise Unreadable("--staged takes no FILE and no --no-ignore: it scans what is staged")
    return staged()


def _mask(options: set[str], names: list[str]) -> int:
    """Print the masked lines of one input."""
    if len(options) > 1 or len(names) > 1:
        raise Unreadable("--mask takes one FILE or FILE:LINE, and no other option")
    from keepmum_scanner.shareable import NotMasked, print_masked

    try:
        print_masked(names[0] if names else STDIN)
    except NotMasked as reason:
        sys.stderr.write(f"scanner: {reason}\n")
        return ERROR
    except Exception as error:  # noqa: BLE001 - a traceback could show the text
        sys.stderr.write(f"scanner: the scanner failed ({type(error).__name__}); nothing more is shown\n")
        return ERROR
    return CLEAN


def _is_option(word: str) -> bool:
    return word.startswith("-") and word != STDIN


def _run(selected: Iterable[Input], scan_text: Scan, options: set[str]) -> int:
    reports: list[Report] = []
    problems: list[tuple[str, str]] = []
    for one in selected:
        found: list[Report] = []
        problem = one.problem
        try:
            found += () if problem else _reports(one, scan_text, explained="--explain" in options)
        except Exception as error:  # noqa: BLE001 - a text that breaks the scanner must not hide the others
            problem = f"the scanner failed ({type(error).__name__})"
        if problem:
            problems.append((_printable(one.name), problem))
            sys.stderr.write(f"scanner: {_printable(one.name)}: {problem}\n")
        for report in () if options & {"--json", "--sarif"} else found:
            sys.stdout.write(f"{report['file']}:{report['line']}:{report['column']}: {report['rule'] or 'rejected'}\n")
            if "--explain" in options:
                from keepmum_scanner.explanation_text import lines

                _write("".join(f"    {line}\n" for line in lines(report["explanation"])))  # type: ignore[arg-type]  # JSON
        reports += found
    if "--json" in options:
        _print_json(reports)
    elif "--sarif" in options:
        from keepmum_scanner.sarif import document

        _print_json(document(reports, problems))
    if problems:
        return ERROR
    return FOUND if any(report["rule"] for report in reports) else CLEAN


def _reports(one: Input, scan_text: Scan, *, explained: bool) -> Iterator[Report]:
    findings = scan_text(one.text)
    if not explained:
        yield from (_report(one, finding) for finding in findings if _is_selected(one, finding))
        return
    from keepmum_scanner.explain import explain

    reported = {(finding.start, finding.end) for finding in findings}
    for explanation in explain(one.text):
        if not explanation.rule or (explanation.start, explanation.end) in reported:
            finding = Finding(explanation.rule, explanation.start, explanation.end, explanation.confidence)
            if _is_selected(one, finding):
                yield {**_report(one, finding), "explanation": explanation.facts}


def _is_selected(one: Input, finding: Finding) -> bool:
    """Whether `finding` touches the lines of `one` that are reported."""
    line = one.text.count("\n", 0, finding.start) + 1
    last = line + one.text.count("\n", finding.start, finding.end)
    return one.lines is None or any(line < lines.stop and lines.start <= last for lines in one.lines)


def _report(one: Input, finding: Finding) -> Report:
    return {
        "file": _printable(one.name),
        "line": one.text.count("\n", 0, finding.start) + 1,
        "column": finding.start - one.text.rfind("\n", 0, finding.start),
        "rule": finding.rule,
        "start": finding.start,
        "end": finding.end,
        "confidence": round(finding.confidence, 2),
    }


def _write(text: str) -> None:
    """Print `text`, with escapes where the terminal has no such characters."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))


def _print_json(document: object) -> None:
    import json  # half of the command's start-up time, and plain output does not need it

    sys.stdout.write(json.dumps(document, indent=2) + "\n")


def _printable(name: str) -> str:
    """`name` as it can be printed: a file name may hold any bytes, or be a secret that was passed by mistake."""
    if name == STDIN:
        return "<stdin>"
    plain = name.encode("utf-8", "replace").decode("utf-8")
    return redact(plain, scan(plain))
