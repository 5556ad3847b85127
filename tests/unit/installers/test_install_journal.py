"""Backups of other programs' files, and what uninstalling does without them."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from keepmum_installers import apply
from keepmum_installers.files import digest
from keepmum_installers.journal import Journal, Kept, Linked, Wrote
from keepmum_installers.machine import Machine
from keepmum_installers.plan import Change, Link, edit_keys


def test_two_files_of_the_same_content_have_two_backups(machine: Machine, home: Path) -> None:
    files = [home / name / "settings.json" for name in ("a", "b")]
    journal = Journal(machine.home)
    for file in files:
        file.parent.mkdir()
        file.write_text("{}", encoding="utf-8")
        journal.keep(str(file), b"{}", "claude-code")
        file.write_text('{"enabledPlugins": {}}', encoding="utf-8")
    assert [each.problem for each in apply.undo(journal, machine, lambda _: True) if each.problem] == []
    assert [file.read_text(encoding="utf-8") for file in files] == ["{}", "{}"]


def test_a_file_whose_backup_was_deleted_stays(machine: Machine, home: Path) -> None:
    file = home / "settings.json"
    file.write_text("{}", encoding="utf-8")
    journal = Journal(machine.home)
    journal.keep(str(file), b"{}", "claude-code")
    (record,) = journal
    assert isinstance(record, Kept)
    Path(str(record.backup)).unlink()
    apply.undo(journal, machine, lambda _: True)
    assert file.read_text(encoding="utf-8") == "{}"


def test_a_list_of_the_clients_that_others_use_now_stays_without_a_word(machine: Machine, home: Path) -> None:
    file = home / "installed_plugins.json"
    journal = Journal(machine.home)
    journal.keep(str(file), None, "claude-code", state=True)
    file.write_text('{"version": 2, "plugins": {"theirs@x": []}}', encoding="utf-8")
    assert apply.undo(journal, machine, lambda _: True) == []
    assert "theirs@x" in file.read_text(encoding="utf-8")


def test_a_list_of_the_clients_that_is_empty_again_is_removed(machine: Machine, home: Path) -> None:
    file = home / "installed_plugins.json"
    journal = Journal(machine.home)
    journal.keep(str(file), None, "claude-code", state=True)
    file.write_text('{"version": 2, "plugins": {}}', encoding="utf-8")
    apply.undo(journal, machine, lambda _: True)
    assert not file.exists()


def test_an_item_of_ours_in_a_newer_form_is_removed_as_one(machine: Machine, home: Path) -> None:
    file, text = home / "hooks.json", '{"hooks": {"stop": [{"command": "mine"} // mine\n]}}'
    file.write_text(text, encoding="utf-8")
    keys = ("hooks", "stop")
    for item, older in (({"command": "old"}, []), ({"command": "new"}, [{"command": "old"}])):
        change = edit_keys(str(file), (), "hooks", [(keys, item, older)], comments=True)
        assert change is not None
        apply.carry_out([change], Journal(machine.home), machine)
    assert '{"command": "new"}' in file.read_text(encoding="utf-8")
    assert "old" not in file.read_text(encoding="utf-8")
    apply.undo(Journal(machine.home), machine, lambda _: True)
    assert file.read_text(encoding="utf-8") == text


def test_undoing_two_edits_of_a_file_leaves_no_backup(machine: Machine, home: Path) -> None:
    file, text = home / "settings.json", '{"theme": "dark"}'
    file.write_text(text, encoding="utf-8")
    for key in ("first", "second"):
        change = edit_keys(str(file), [((key,), True)], "a key")
        assert change is not None
        apply.carry_out([change], Journal(machine.home), machine)
    apply.undo(Journal(machine.home), machine, lambda _: True)
    assert file.read_text(encoding="utf-8") == text
    assert not Path(machine.state("backups")).exists()


def test_a_step_that_the_system_refuses_to_undo_stays_and_the_others_are_undone(
    machine: Machine, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, link = home / "ours", home / "link"
    for step in (Change(str(ours), None, b"x", "a file"), Link(str(link), str(ours), "a link")):
        apply.carry_out([step], Journal(machine.home), machine)
    journal, unlink = Journal(machine.home), os.unlink

    def refuse(path: str) -> None:
        if path == str(link):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        unlink(path)

    with monkeypatch.context() as patch:
        patch.setattr(os, "unlink", refuse)
        problems = [str(each.problem) for each in apply.undo(journal, machine, lambda _: True) if each.problem]
    assert problems == [f"could not remove {link}: Permission denied"]
    assert not ours.exists()
    assert [type(record) for record in journal] == [Linked]


@pytest.mark.parametrize("content", [b"old", b"new", None])
def test_a_step_that_was_recorded_and_perhaps_not_done_can_be_undone(
    machine: Machine, home: Path, content: bytes | None
) -> None:
    path = home / "ours"
    if content is not None:
        path.write_bytes(content)
    journal = Journal(machine.home)
    journal.add(Wrote(str(path), digest(b"new") or "", None, digest(b"old")))
    assert [each.problem for each in apply.undo(journal, machine, lambda _: True) if each.problem] == []
    assert not path.exists()
