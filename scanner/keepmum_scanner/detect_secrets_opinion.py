"""A second opinion from detect-secrets, for those who ask for it: it adds findings and takes none away.

The package is imported when an opinion is first wanted, and never by `scan`. Its entropy plugins stay off: they call
every digest a secret. A user's own plugins run; those that a repository names do not, since a clone would run code.
"""

from __future__ import annotations

import json
import re
import threading

from keepmum_scanner.finding import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any, Callable

    Scan = Callable[[str], Sequence[Finding]]

__all__ = ["is_installed", "with_second_opinion"]

# Entropy alone says nothing of a note; an address is no secret.
OFF = frozenset(("Base64HighEntropyString", "HexHighEntropyString", "IPPublicDetector"))
_PRAGMA = "detect_secrets.filters.allowlist.is_line_allowlisted"  # an agent can type a pragma: allowing is a person's
_OWN_FILTERS = "detect_secrets.filters."
_CONFIDENCE = 0.6
_NAME = "note"  # stands for a file's name, which filters may look at
_LOCK = threading.Lock()  # the package keeps its settings in one place for the whole process


def is_installed() -> bool:
    """Whether detect-secrets can be asked."""
    from importlib.util import find_spec

    return find_spec("detect_secrets") is not None


def with_second_opinion(first: Scan, baseline: str | None = None, plugins: Iterable[str] = ()) -> Scan:
    """A function that scans as `first` does, and adds what detect-secrets finds beside it.

    What it adds has no fingerprint: its users allow by their baseline.

    Args:
        first: the scan that is asked first; its findings stay as they are.
        baseline: a `.secrets.baseline`, whose choice of plugins and filters holds, and whose secrets are known.
        plugins: files with plugins of the user's own.

    Raises: ImportError without detect-secrets; ValueError when the baseline cannot be read.
    """
    import detect_secrets  # noqa: F401 - to fail here, not at the first write

    read = _read(baseline) if baseline else {}
    settings = _settings(read, plugins)
    known = _known(read)

    def scan_twice(text: str) -> list[Finding]:
        found = list(first(text))
        more = [one for one in _opinion(text, settings, known) if not any(_overlap(one, ours) for ours in found)]
        return sorted([*found, *more], key=lambda one: (one.start, one.end))

    return scan_twice


def _read(path: str) -> dict[str, Any]:
    try:
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
    except (OSError, ValueError) as error:
        raise ValueError(f"{path}: no baseline of detect-secrets ({type(error).__name__})") from None
    if not isinstance(content, dict):
        raise ValueError(f"{path}: no baseline of detect-secrets (a list of something)")  # noqa: TRY004 - same advice
    return content


def _settings(baseline: Mapping[str, Any], plugins: Iterable[str]) -> dict[str, Any]:
    """What detect-secrets is to use: the baseline's choice without code of its own, else every plugin it brings."""
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
    from detect_secrets.settings import get_settings

    classes: list[type] = list(get_mapping_from_secret_type_to_class().values())
    brought = {plugin.__name__ for plugin in classes}
    chosen = baseline.get("plugins_used", [{"name": name} for name in sorted(brought)])
    chosen = [plugin for plugin in chosen if plugin["name"] in brought - OFF and "path" not in plugin]
    own = [{"name": name, "path": f"file://{path}"} for path in plugins for name in _plugins_of(path)]
    filters = baseline.get("filters_used", [{"path": path} for path in sorted(get_settings().filters)])
    filters = [one for one in filters if one["path"].startswith(_OWN_FILTERS) and one["path"] != _PRAGMA]
    return {"plugins_used": [*chosen, *own], "filters_used": filters}


def _plugins_of(path: str) -> list[str]:
    from detect_secrets.core.plugins.util import get_plugins_from_file

    classes: list[type] = list(get_plugins_from_file(path))
    return [plugin.__name__ for plugin in classes]


def _known(baseline: Mapping[str, Any]) -> frozenset[str]:
    """Digests of the secrets that the baseline lists, as detect-secrets makes them."""
    results = baseline.get("results", {}).values()
    return frozenset(secret["hashed_secret"] for secrets in results for secret in secrets)


def _opinion(text: str, settings: dict[str, Any], known: frozenset[str]) -> Iterator[Finding]:
    # The documented scan_line() searches so eagerly that every word is a finding; a file's lines go through this.
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
    from detect_secrets.core.scan import _process_line_based_plugins
    from detect_secrets.settings import transient_settings

    lines = text.split("\n")
    with _LOCK, transient_settings(settings):
        get_mapping_from_secret_type_to_class.cache_clear()  # or the user's plugins are not among those it knows
        secrets = list(_process_line_based_plugins(list(enumerate(lines, start=1)), _NAME))
    starts = _starts(lines)
    for secret in secrets:
        if secret.secret_hash not in known:
            line = lines[secret.line_number - 1]
            value = secret.secret_value or ""
            place = max(0, line.find(value))
            end = place + len(value) if value and value in line else len(line)
            start = starts[secret.line_number - 1]
            rule = "detect-secrets." + re.sub(r"[^a-z0-9]+", "-", secret.type.lower()).strip("-")
            yield Finding(rule, start + place, start + end, _CONFIDENCE)


def _starts(lines: list[str]) -> list[int]:
    """Where each of `lines` begins in the text they come from."""
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    return starts


def _overlap(one: Finding, other: Finding) -> bool:
    return one.start < other.end and other.start < one.end
