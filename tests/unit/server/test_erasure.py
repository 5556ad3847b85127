"""What an operator erases, on all engines: it is in no file afterwards, and a restore does not bring it back."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from contract.stores import NOW, a_memory, an_event
from keepmum.cli.main import main
from keepmum.core.errors import InvalidInput
from keepmum.core.memory import Change
from keepmum.service.team_erasing import Erasing, Named
from keepmum.stores.grants import ORGANISATION, Grant
from keepmum.stores.shared import PostgresSpec
from unit.server.drill_sites import Site, wipe


def test_a_restore_does_not_bring_back_what_was_erased(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    site.write("Written by ada", "ada")
    kept = site.write("Written by bob", "bob")
    site.write("Of a secret project", "bob", "skunkworks")
    backup = str(site.home / "one.backup")
    assert main(["serve", "backup", backup]) == 0
    capsys.readouterr()
    assert main(["serve", "erase", "--person", "ada", "--yes"]) == 0
    assert '"memories": 1' in capsys.readouterr().out
    assert main(["serve", "erase", "--project", "skunkworks", "--yes"]) == 0
    assert site.texts() == {"Written by bob"}
    wipe(site)
    assert main(["serve", "restore", backup, "--yes"]) == 0
    assert "2 erasures repeated" in capsys.readouterr().out
    assert site.texts() == {"Written by bob"}
    with site.opened() as shared:
        rows = shared.records.audit(limit=1_000)
        assert "ada" not in {row.actor for row in rows}
        assert "skunkworks" not in {row.project for row in rows}
        assert any(row.subject == kept for row in rows)
        assert {person.name for person in shared.records.people() if person.removed_at is None} == {"admin"}
    assert main(["serve", "verify"]) == 0


def test_the_last_administrator_is_not_erased(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    site.write("Written by the operator", "admin")
    with site.opened() as shared:
        people, erasures = shared.records.people(), shared.records.erasures()
    for more in (["--dry-run"], ["--yes"]):
        assert main(["serve", "erase", "--person", "admin", *more]) == 1
        assert "no one else is admin of every project; give another person that role first" in capsys.readouterr().err
    assert site.texts() == {"Written by the operator"}
    with site.opened() as shared:
        assert (shared.records.people(), shared.records.erasures()) == (people, erasures)
    assert main(["people", "role", "ada", "admin", "--all"]) == 0
    assert main(["serve", "erase", "--person", "admin", "--yes"]) == 0
    assert site.texts() == set()


def test_of_two_administrators_who_erase_each_other_one_stays(site: Site) -> None:
    assert main(["people", "role", "ada", "admin", "--all"]) == 0
    for name in ("ada", "admin"):
        site.write(f"Written by {name}", name)
    begin = threading.Barrier(2)
    with site.opened() as shared:

        def erase(name: str) -> bool:
            erasing = Erasing(shared, b"a secret for tests only", "root")
            begin.wait(60)
            try:
                erasing.erase(Named("person", name))
            except InvalidInput:
                return False
            return True

        with ThreadPoolExecutor(2) as threads:
            erased = dict(zip(("ada", "admin"), threads.map(erase, ("ada", "admin")), strict=True))
        assert sorted(erased.values()) == [False, True]
        (stays,) = [name for name, done in erased.items() if not done]
        assert [person.name for person in shared.records.people() if person.removed_at is None] == [stays]
    assert site.texts() == {f"Written by {stays}"}


def test_a_restore_erases_also_who_was_the_only_administrator_then(site: Site) -> None:
    site.write("Written by the operator", "admin")
    backup = str(site.home / "one.backup")
    assert main(["serve", "backup", backup]) == 0
    assert main(["people", "role", "ada", "admin", "--all"]) == 0
    assert main(["serve", "erase", "--person", "admin", "--yes"]) == 0
    wipe(site)
    assert main(["serve", "restore", backup, "--yes"]) == 0
    assert site.texts() == set()
    assert main(["people", "role", "ada", "admin", "--all"]) == 0


def test_nothing_is_erased_that_the_journal_cannot_name(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    site.write("Written by ada", "ada")
    journal = site.home / "server" / "erasures.jsonl"
    journal.mkdir(parents=True)
    assert main(["serve", "erase", "--person", "ada", "--yes"]) == 1
    assert f"{journal}, cannot be written" in capsys.readouterr().err
    assert site.texts() == {"Written by ada"}


def test_an_erasure_reaches_everybody_who_had_the_name(site: Site) -> None:
    assert main(["people", "remove", "ada", "--yes"]) == 0
    assert main(["people", "add", "ada", "--role", "writer", "--all"]) == 0
    assert main(["serve", "erase", "--person", "ada", "--yes"]) == 0
    with site.opened() as shared:
        assert [person.name for person in shared.records.people() if person.name == "ada"] == []


def test_an_erased_project_is_in_no_role_and_in_no_key(site: Site) -> None:
    site.write("Of a secret project", "ada", "skunkworks")
    for project in ("skunkworks", "alpha"):
        assert main(["people", "role", "ada", "writer", "--project", project]) == 0
    for name, projects in (("one", ["skunkworks"]), ("two", ["skunkworks", "alpha"])):
        named = [option for project in projects for option in ("--project", project)]
        assert main(["keys", "make", "ada", "--name", name, *named]) == 0
    assert main(["serve", "erase", "--project", "skunkworks", "--yes"]) == 0
    with site.opened() as shared:
        roles = {person.name: person.roles for person in shared.records.people()}
        found = shared.records.keys()
        shared.records.seal()
        rows = shared.records.audit(limit=1_000)
    assert roles == {"admin": {"*": "admin"}, "ada": {"*": "writer", "alpha": "writer"}}
    keys = {key.name: (key.projects, key.withdrawn_at is None) for key in found}
    assert (keys["one"], keys["two"], keys["first"]) == (((), False), (("alpha",), True), (None, True))
    assert "skunkworks" not in repr(rows)


@pytest.mark.parametrize("project", ["*", ""])
def test_what_is_no_project_is_not_erased(site: Site, project: str, capsys: pytest.CaptureFixture[str]) -> None:
    site.write("Deploys go through the blue pool")
    assert main(["serve", "erase", "--project", project, "--yes"]) == 1
    assert "must be the id of one project" in capsys.readouterr().err
    assert site.texts() == {"Deploys go through the blue pool"}
    with site.opened() as shared:
        assert {person.name: person.roles for person in shared.records.people()}["admin"] == {"*": "admin"}


def test_an_erased_name_is_in_no_file(site: Site) -> None:
    if isinstance(site.spec, PostgresSpec):
        pytest.skip("the files belong to the database server, which overwrites them when it vacuums")
    name = "wilhelmina"
    assert main(["people", "add", name, "--role", "writer", "--all"]) == 0
    site.write(f"{name} wrote this", name)
    other = site.write("Written by bob", "bob")
    with site.opened() as shared:
        store = shared.acting(Grant(ORGANISATION))
        (memory,) = store.get([other])
        changed = replace(memory, text="Revised", updated_by=name, revision=memory.revision + 1)
        store.commit([Change(memory, changed)], [an_event(changed, action="updated", agent=name)])
        again = replace(changed, text="Revised again", updated_by="bob", revision=changed.revision + 1)
        store.commit([Change(changed, again)], [an_event(again, action="updated", agent="bob")])
    assert main(["serve", "erase", "--person", name, "--yes"]) == 0
    for path in (site.home / "server").rglob("*"):
        if path.is_file():
            assert name.encode() not in path.read_bytes(), path


def test_a_name_given_again_keeps_what_is_new(site: Site) -> None:
    """A restore repeats an erasure for what was there then, not for another person of the name."""
    site.write("Written by the first ada")
    assert main(["serve", "erase", "--person", "ada", "--yes"]) == 0
    assert main(["people", "add", "ada", "--role", "writer", "--all"]) == 0
    memory = a_memory("Written by the second ada", at=NOW * 2, created_by="ada", updated_by="ada")
    with site.opened() as shared:
        shared.acting(Grant(ORGANISATION)).commit([Change(None, memory)], [an_event(memory, agent="ada")])
    backup = str(site.home / "two.backup")
    assert main(["serve", "backup", backup]) == 0
    wipe(site)
    assert main(["serve", "restore", backup, "--yes"]) == 0
    assert site.texts() == {"Written by the second ada"}


def test_a_restore_erases_names_that_no_memory_has(site: Site) -> None:
    """A project with nothing but a role, and one who only removed what another wrote."""
    assert main(["people", "role", "ada", "writer", "--project", "skunkworks"]) == 0
    memory = a_memory("Written by bob", created_by="bob", updated_by="bob")
    with site.opened() as shared:
        store = shared.acting(Grant(ORGANISATION))
        store.commit([Change(None, memory)], [an_event(memory, agent="bob")])
        store.commit([Change(memory, None)], [an_event(memory, agent="wilhelmina", action="purged")])
    backup = str(site.home / "one.backup")
    assert main(["serve", "backup", backup]) == 0
    assert main(["serve", "erase", "--person", "wilhelmina", "--yes"]) == 0
    assert main(["serve", "erase", "--project", "skunkworks", "--yes"]) == 0
    wipe(site)
    assert main(["serve", "restore", backup, "--yes"]) == 0
    with site.opened() as shared:
        actors = {row.actor for row in shared.records.audit(limit=1_000)}
        roles = {person.name: person.roles for person in shared.records.people()}
    assert "bob" in actors
    assert "wilhelmina" not in actors
    assert roles["ada"] == {"*": "writer"}


@pytest.mark.usefixtures("site")
def test_an_erasure_of_a_name_that_nobody_has_is_pointed_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "erase", "--person", "Ada", "--dry-run"]) == 0
    assert "nothing here has that name" in capsys.readouterr().err
    assert main(["serve", "erase", "--person", "ada", "--dry-run"]) == 0
    assert "nothing here has that name" not in capsys.readouterr().err
