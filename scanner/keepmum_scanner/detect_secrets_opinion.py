"""An optional second opinion from detect-secrets, which adds findings and removes none.

`scan` never imports the package. Its entropy plugins stay off, since they report every digest. The user's own plugins
run; those that a repository names do not, since cloning it would run its code.
"""

from __future__ import annotations

import json
import re
import threading
from itertools import accumulate

from keepmum_scanner.finding import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any, Callable

    Scan = Callable[[str], Sequence[Finding]]

__all__ = ["is_installed", "with_second_opinion"]

# Entropy alone proves nothing in a note, and an IP address is not a secret.
OFF = frozenset(("Base64HighEntropyString", "HexHighEntropyString", "IPPublicDetector"))
_PRAGMA = "detect_secrets.filters.allowlist.is_line_allowlisted"  # off: an agent can write a pragma
_OWN_FILTERS = "detect_secrets.filters."
_CONFIDENCE = 0.6
_NAME = "note"  # in place of a file name, which filters may examine
_LOCK = threading.Lock()  # the package has one global variable for its settings


def is_installed() -> bool:
    """Whether detect-secrets is installed."""
    from importlib.util import find_spec

    return find_spec("detect_secrets") is not None


def with_second_opinion(first: Scan, baseline: str | None = None, plugins: Iterable[str] = ()) -> Scan:
    """A function that returns the findings of `first` and those of detect-secrets that do not overlap them.

    The added findings have no fingerprint: users of detect-secrets allow secrets in the baseline.

    Args:
        first: the scan whose findings stay unchanged.
        baseline: a `.secrets.baseline`; its plugins and filters are used, and its secrets are not reported.
        plugins: files with the user's own plugins.

    Raises: ImportError without detect-secrets; ValueError when the baseline cannot be read.
    """
    import detect_secrets  # noqa: F401 - fails here instead of at the first write

    read = _read(baseline) if baseline else {}
    settings = _settings(read, plugins)
    known = {secret["hashed_secret"] for secrets in read.get("results", {}).values() for secret in secrets}

    def scan_twice(text: str) -> list[Finding]:
        found = list(first(text))
        more = [
            one
            for one in _opinion(text, settings, known)
            if not any(one.start < ours.end and ours.start < one.end for ours in found)
        ]
        return sorted([*found, *more], key=lambda one: (one.start, one.end))

    return scan_twice


def _read(path: str) -> dict[str, Any]:
    try:
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
    except (OSError, ValueError) as error:
        raise ValueError(f"{path}: no baseline of detect-secrets ({type(error).__name__})") from None
    if not isinstance(content, dict):
        raise ValueError(f"{path}: no baseline of detect-secrets (no object)")  # noqa: TRY004 - the caller handles both alike
    return content


def _settings(baseline: Mapping[str, Any], plugins: Iterable[str]) -> dict[str, Any]:
    """Settings for detect-secrets: the plugins of the baseline without its own code, else all that come with it."""
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class, get_plugins_from_file
    from detect_secrets.settings import get_settings

    classes: list[type] = list(get_mapping_from_secret_type_to_class().values())
    bundled = {plugin.__name__ for plugin in classes}
    chosen = baseline.get("plugins_used", [{"name": name} for name in sorted(bundled)])
    chosen = [plugin for plugin in chosen if plugin["name"] in bundled - OFF and "path" not in plugin]
    own: list[dict[str, str]] = []
    for path in plugins:
        in_file: list[type] = list(get_plugins_from_file(path))
        own += [{"name": plugin.__name__, "path": f"file://{path}"} for plugin in in_file]
    filters = baseline.get("filters_used", [{"path": path} for path in sorted(get_settings().filters)])
    filters = [one for one in filters if one["path"].startswith(_OWN_FILTERS) and one["path"] != _PRAGMA]
    return {"plugins_used": [*chosen, *own], "filters_used": filters}


def _opinion(text: str, settings: dict[str, Any], known: set[str]) -> Iterator[Finding]:
    # The documented scan_line() reports every word; this is the function that scans the lines of files.
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
    from detect_secrets.core.scan import _process_line_based_plugins
    from detect_secrets.settings import transient_settings

    lines = text.split("\n")
    with _LOCK, transient_settings(settings):
        get_mapping_from_secret_type_to_class.cache_clear()  # else it does not find the user's plugins
        secrets = list(_process_line_based_plugins(list(enumerate(lines, start=1)), _NAME))
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    for secret in secrets:
        if secret.secret_hash not in known:
            line = lines[secret.line_number - 1]
            value = secret.secret_value or ""
            column = max(0, line.find(value))
            end = column + len(value) if value and value in line else len(line)
            start = starts[secret.line_number - 1]
            rule = "detect-secrets." + re.sub(r"[^a-z0-9]+", "-", secret.type.lower()).strip("-")
            yield Finding(rule, start + column, start + end, _CONFIDENCE)
