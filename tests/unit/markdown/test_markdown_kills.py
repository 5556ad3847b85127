"""A process is killed before each of its calls to the system: its folder then holds whole files only."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from keepmum.core.memory import Change
from keepmum.stores.markdown import MarkdownStore
from keepmum.stores.markdown.folder import Folder
from unit.markdown.conftest import Open
from unit.markdown.markdown_parts import a_memory, file_of, keep, texts

PATH = "2026-02-04/143052_a1b2.md"
OLD, NEW = b"the old text", b"the whole new text"
LIMIT = 60.0  # seconds
MOST_CALLS = 200  # far more than any of these methods makes

# Runs ACTION on a folder of its own for each number, and dies before the call with that number, until none is left.
KILLED = """
import errno, os, sys
from keepmum.stores.markdown import folder as module
from keepmum.system import private_files

parent, action, links, path, content = sys.argv[1:]
sources = {module.__file__, private_files.__file__}


def no_link(*_args, **_options):
    raise OSError(errno.EPERM, "no hard links")


if links == "no links":
    os.link = no_link


def run(number):
    folder, made = module.Folder(os.path.join(parent, str(number))), 0

    def before_call(frame, event, _function):
        nonlocal made
        if event in ("c_call", "call") and frame.f_code.co_filename in sources:
            made += 1
            if made == number:
                os._exit(9)

    sys.setprofile(before_call)
    getattr(folder, action)(path, content.encode())
    os._exit(0)


for number in range(1, 200):
    child = os.fork()
    if child == 0:
        run(number)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0:
        print(number)
        break
"""


def killed_at_each_call(parent: Path, action: str, links: str) -> list[Folder]:
    """The folders that killed processes left, in the order of the calls; that of a whole run is last."""
    root = Path(__file__).resolve().parents[3]
    path = os.pathsep.join(str(root / part) for part in ("plugin", "scanner", "hooks"))
    child = subprocess.run(
        [sys.executable, "-c", KILLED, str(parent), action, links, PATH, NEW.decode()],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        timeout=LIMIT,
        check=False,
    )
    assert (child.returncode, child.stderr) == (0, b"")
    return [Folder(str(parent / str(number))) for number in range(1, int(child.stdout) + 1)]


def files_in(folder: Folder) -> dict[str, bytes]:
    return {path: folder.read(path) for day in folder.days(0) for path in folder.files(day, 0)}


def temporary_files(folder: Folder) -> list[str]:
    return [path.name for path in Path(folder.path).rglob("*") if path.is_file() and path.suffix != ".md"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_file_that_is_created_is_there_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    folders = killed_at_each_call(tmp_path, "create", "links")
    assert len(folders) > 15  # or it is not killed between the calls that matter
    found = [files_in(folder) for folder in folders]
    assert found[0] == {}
    assert found[-1] == {PATH: NEW}
    assert [one for one in found if one not in ({}, {PATH: NEW})] == []
    assert temporary_files(folders[-1]) == []
    assert any(temporary_files(folder) for folder in folders)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_file_that_is_replaced_has_the_old_text_or_the_new(tmp_path: Path) -> None:
    for number in range(1, MOST_CALLS):
        Folder(str(tmp_path / str(number))).create(PATH, OLD)
    found = [files_in(folder) for folder in killed_at_each_call(tmp_path, "replace", "links")]
    assert (found[0], found[-1]) == ({PATH: OLD}, {PATH: NEW})
    assert [one for one in found if one not in ({PATH: OLD}, {PATH: NEW})] == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.parametrize("links", ["links", "no links"])
def test_what_a_killed_process_left_is_removed_after_an_hour(tmp_path: Path, links: str) -> None:
    """Also the empty file that claims the name on a file system without hard links."""
    for folder in killed_at_each_call(tmp_path, "create", links):
        left = temporary_files(folder)
        folder.tidy("2026-02-04", time.time())
        assert temporary_files(folder) == left, "it may belong to a running process"
        folder.tidy("2026-02-04", time.time() + 7200)
        assert temporary_files(folder) == []
        assert files_in(folder) in ({}, {PATH: NEW})


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_folder_that_a_killed_process_left_can_be_written(tmp_path: Path) -> None:
    for folder in killed_at_each_call(tmp_path, "create", "links"):
        folder.create(PATH, OLD)
        folder.replace(PATH, b"a third text")
        assert files_in(folder) == {PATH: b"a third text"}


@pytest.mark.parametrize("links", ["links", "no links"])
def test_a_name_that_is_taken_keeps_its_file(tmp_path: Path, links: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_link(*_args: object, **_options: object) -> None:
        raise OSError("no hard links")

    if links == "no links":
        monkeypatch.setattr(os, "link", no_link)
    folder = Folder(str(tmp_path / "folder"))
    assert folder.create(PATH, OLD)
    assert not folder.create(PATH, NEW)
    assert (files_in(folder), temporary_files(folder)) == ({PATH: OLD}, [])


def left_behind(path: Path, text: str | None = None) -> Path:
    """A temporary file as a killed process leaves it: with `text`, or else a second name of the file."""
    left = path.with_name(f".{path.name}.4711-0123abcd.part")
    if text is None:
        os.link(path, left)
    else:
        left.write_text(text)
    return left


def test_a_temporary_file_is_no_memory(store: MarkdownStore, open_again: Open) -> None:
    memory = a_memory("A zebra")
    keep(store, memory)
    left_behind(file_of(store, memory), file_of(store, memory).read_text().replace("zebra", "gnu"))
    for reader in (store, open_again()):
        assert (texts(reader), reader.notice) == (["A zebra"], "")


def test_a_memory_whose_file_a_killed_process_linked_can_be_changed(store: MarkdownStore) -> None:
    memory = a_memory("A zebra")
    keep(store, memory)
    left = left_behind(file_of(store, memory))
    store.commit([Change(memory, replace(memory, text="A gnu", revision=2))])
    assert texts(store) == ["A gnu"]
    assert not left.exists()


@pytest.mark.parametrize("text", [None, "A zebra"], ids=["a second name", "an unfinished file"])
def test_a_memory_that_is_purged_is_in_no_temporary_file(store: MarkdownStore, text: str | None) -> None:
    memory = a_memory("A zebra")
    keep(store, memory)
    path = file_of(store, memory)
    left_behind(path, text)
    store.cleanse([Change(memory, None)], [], lambda _project, fields: fields)
    assert not path.parent.exists()
