"""Releases of this tree for tests: relabelled copies, and a server on loopback that offers them as GitHub does."""

from __future__ import annotations

import functools
import http.server
import shutil
import threading
from pathlib import Path

from keepmum_installers import archive, release
from keepmum_installers.app.bundle import bundle_at

__all__ = ["Releases", "copy", "publish"]


def copy(root: Path, folder: Path, version: str = "") -> Path:
    """The product's files in a folder, as a clone or an unpacked release has them; with another version if named."""
    for name, path in bundle_at(str(root)).paths.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, folder / name)
    if version:
        release.relabel(str(folder), version, "2026-11-22")
    return folder


def publish(site: Path, bundle: Path, version: str) -> None:
    """Write a version into the folder of a server, as the newest one; a copy of the folder is one of a server too."""
    folder = site / "releases" / "download" / f"v{version}"
    folder.mkdir(parents=True)
    path = folder / archive.file_name(version)
    archive.pack(bundle_at(str(bundle)), version, str(path))
    (folder / archive.SUMS).write_text(archive.sums([str(path)]))
    latest = site / "releases" / "latest" / "download"
    latest.parent.mkdir(exist_ok=True)
    latest.unlink(missing_ok=True)
    latest.symlink_to(Path("..", "download", folder.name))


class Releases:
    """A server with releases below `address`; `asked` are the paths that were fetched."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.asked: list[str] = []
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Handler, self))
        self.origin = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.address = f"{self.origin}/releases"
        self.truncated = False  # whether a connection ends after half of an archive
        self._thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self._thread.start()

    def offer(self, bundle: Path, version: str) -> None:
        """Publish a version, which is the newest from now on."""
        publish(self.folder, bundle, version)

    def close(self) -> None:
        self.server.shutdown()
        self._thread.join()
        self.server.server_close()


class _Handler(http.server.SimpleHTTPRequestHandler):
    def __init__(self, releases: Releases, *arguments: object) -> None:
        self.releases = releases
        super().__init__(*arguments, directory=str(releases.folder))  # type: ignore[arg-type]  # of the base class

    def do_GET(self) -> None:
        self.path = self.path.removeprefix(self.releases.origin)  # a proxy is asked for the whole address
        self.releases.asked.append(self.path)
        if self.releases.truncated and self.path.endswith(".gz"):
            content = Path(self.translate_path(self.path)).read_bytes()
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content[: len(content) // 2])
            return
        super().do_GET()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base class
        """Nothing: a test's output is its own."""
