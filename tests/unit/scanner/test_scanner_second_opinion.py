"""The second opinion adds findings of detect-secrets, respects the baseline, and runs no code of a repository."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from keepmum_scanner import scan
from keepmum_scanner.detect_secrets_opinion import is_installed, with_second_opinion

NOTE = "const apiKey = " + "'blabla';"  # found by detect-secrets only
PLUGIN = '''
import re
from detect_secrets.plugins.base import RegexBasedDetector

class HouseDetector(RegexBasedDetector):
    """Keys of this house."""

    secret_type = "House Key"
    denylist = [re.compile(r"house-[0-9]{4}")]
'''


@pytest.fixture
def baseline(tmp_path: Path) -> Path:
    return tmp_path / ".secrets.baseline"


def rules(text: str, baseline: Path | None = None, plugins: tuple[str, ...] = ()) -> list[str]:
    return [found.rule for found in with_second_opinion(scan, str(baseline) if baseline else None, plugins)(text)]


def test_package_is_installed_here() -> None:
    assert is_installed()


def test_finding_of_detect_secrets_is_added_with_its_position() -> None:
    assert scan(NOTE) == []
    (found,) = with_second_opinion(scan)(f"one\n{NOTE}")
    assert found.rule == "detect-secrets.secret-keyword"
    assert (found.start, found.end) == (20, 26)


def test_our_finding_keeps_its_rule() -> None:
    assert rules("key gh" + "p_" + "a1B2" * 9) == ["github.token"]


@pytest.mark.parametrize("text", ["fixed in 94ee59639f242537a8880045a76eadde5211c2a9", "at 8.8.8.8", "plain words"])
def test_digests_and_addresses_are_not_reported(text: str) -> None:
    assert rules(text) == []


def test_pragma_is_ignored() -> None:
    assert rules(f"{NOTE}  # pragma: allowlist secret") == ["detect-secrets.secret-keyword"]


def test_known_secret_of_a_baseline_is_not_reported(baseline: Path) -> None:
    digest = hashlib.sha1(b"blabla", usedforsecurity=False).hexdigest()
    baseline.write_text(json.dumps({"results": {"a.js": [{"hashed_secret": digest}]}}))
    assert rules(NOTE, baseline) == []


def test_only_plugins_of_the_baseline_run(baseline: Path) -> None:
    baseline.write_text(json.dumps({"plugins_used": [{"name": "AWSKeyDetector"}, {"name": "HexHighEntropyString"}]}))
    assert rules(NOTE, baseline) == []


def test_filters_of_the_baseline_are_used(baseline: Path) -> None:
    filters = [{"path": "detect_secrets.filters.regex.should_exclude_line", "pattern": ["apiKey"]}]
    baseline.write_text(json.dumps({"filters_used": filters}))
    assert rules(NOTE, baseline) == []


def test_plugin_of_the_user_runs(tmp_path: Path) -> None:
    plugin = tmp_path / "house.py"
    plugin.write_text(PLUGIN)
    assert rules("it is house-" + "1234", plugins=(str(plugin),)) == ["detect-secrets.house-key"]


def test_code_that_a_baseline_names_does_not_run(tmp_path: Path, baseline: Path) -> None:
    plugin = tmp_path / "evil.py"
    plugin.write_text("raise SystemExit('ran')\n")
    evil = {"name": "Evil", "path": f"file://{plugin}"}
    baseline.write_text(json.dumps({"plugins_used": [evil], "filters_used": [{"path": f"file://{plugin}::x"}]}))
    assert rules(NOTE, baseline) == []


@pytest.mark.parametrize("content", ["", "[]", "{"])
def test_unreadable_baseline_is_named_in_the_error(baseline: Path, content: str) -> None:
    baseline.write_text(content)
    with pytest.raises(ValueError, match=r"secrets\.baseline: no baseline"):
        with_second_opinion(scan, str(baseline))


def test_scanning_alone_never_imports_the_package() -> None:
    code = "import sys, keepmum_scanner; keepmum_scanner.scan('a'); print('detect_secrets' in sys.modules)"
    scanner = Path(__file__).parents[3] / "scanner"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=scanner, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "False\n"
