"""`scanner.second_opinion` on, off, and without the package, as the service applies it."""

import sys
from pathlib import Path

import pytest

from keepmum.core.errors import SecretFound
from keepmum.service.opening import open_session

NOTE = "const apiKey = " + "'blabla';"  # only detect-secrets reports it


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return home


def environ(home: Path) -> dict[str, str]:
    return {"HOME": str(home.parent), "KEEPMUM_HOME": str(home)}


def switch_on(home: Path) -> None:
    (home / "config.toml").write_text("[scanner]\nsecond_opinion = true\n")


def test_without_the_setting_only_our_scanner_runs(home: Path) -> None:
    service = open_session(environ(home), "test", upkeep=False)
    service.remember(NOTE)
    service.close()


def test_with_the_setting_findings_of_both_are_refused(home: Path) -> None:
    switch_on(home)
    service = open_session(environ(home), "test", upkeep=False)
    with pytest.raises(SecretFound, match="detect-secrets"):
        service.remember(NOTE)
    service.close()


def test_missing_package_refuses_nothing_and_is_reported_once(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    switch_on(home)
    monkeypatch.setitem(sys.modules, "detect_secrets", None)  # makes the import fail
    service = open_session(environ(home), "test", upkeep=False)
    service.remember(NOTE)
    assert [notice for notice in service.notices() if "detect-secrets is missing" in notice] == service.notices()[:1]
    service.close()


def test_damaged_baseline_is_reported_and_every_plugin_runs(home: Path) -> None:
    switch_on(home)
    Path(".secrets.baseline").write_text("{")
    service = open_session(environ(home), "test", upkeep=False)
    with pytest.raises(SecretFound):
        service.remember(NOTE)
    assert any("no baseline" in notice for notice in service.notices())
    service.close()


def test_project_file_cannot_configure_the_scanner(home: Path) -> None:
    switch_on(home)
    Path(".keepmum.toml").write_text("[scanner]\nsecond_opinion = false\n")
    service = open_session(environ(home), "test", upkeep=False)
    with pytest.raises(SecretFound, match="detect-secrets"):
        service.remember(NOTE)
    assert any("is not allowed in this file" in notice for notice in service.notices())
    service.close()


CARD = "the customer paid with " + "4111 1111 " + "1111 1111"


@pytest.mark.parametrize("also", ["", "second_opinion = true\n"], ids=["alone", "with a second opinion"])
def test_personal_data_is_refused_where_that_is_configured(home: Path, also: str) -> None:
    with open_session(environ(home), "test", upkeep=False) as service:
        service.remember(CARD)
    (home / "config.toml").write_text(f"[scanner]\npersonal_data = true\n{also}")
    with open_session(environ(home), "test", upkeep=False) as service:
        with pytest.raises(SecretFound, match=r"personal\.card"):
            service.remember(f"{CARD} again")
        places = service.audit().places
        assert {place.rule for place in places} == {"personal.card"}
        shown = service.recall("customer")[0].memory.text
    assert "1111" not in shown
