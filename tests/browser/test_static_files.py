"""What the page and the panel are made of: sizes, forbidden names, the vendored file, and types."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from clients import npm
from keepmum.dashboard import site
from keepmum.dashboard.link import bare_script

ROOT = Path(__file__).parents[2]
STATIC = ROOT / "plugin" / "keepmum" / "dashboard" / "static"
OF_SERVER = ROOT / "plugin" / "keepmum" / "server" / "dashboard" / "page"
TYPES = Path(__file__).parent / "types"
TYPESCRIPT = "5.9.3"
VENDORED = "72284e8e9079c87817145df1110f74e8a2aa040b2fc384922e18dfcb46fc1fd7"  # standalone.module.js of npm htm 3.1.1
MODULES = sorted(
    path for folder in (STATIC, OF_SERVER) for path in folder.rglob("*.js") if path.parent.name != "vendor"
)
_OF_THE_PANEL = re.compile(r"panel|bridge")
_FORBIDDEN = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|dangerouslySet|srcdoc"
)


def test_the_vendored_file_is_the_published_one_and_has_its_notice() -> None:
    assert hashlib.sha256((STATIC / "vendor" / "preact.js").read_bytes()).hexdigest() == VENDORED
    notice = (STATIC / "vendor" / "NOTICE").read_text(encoding="utf-8")
    assert VENDORED in notice
    assert "Jason Miller" in notice
    assert "Apache License" in notice
    assert "dashboard/static/vendor/preact.js" in (ROOT / "NOTICE").read_text(encoding="utf-8")


def test_no_module_can_make_markup_or_code_of_text() -> None:
    found = [
        (path.name, match[0]) for path in MODULES for match in _FORBIDDEN.finditer(path.read_text(encoding="utf-8"))
    ]
    assert not [each for each in found if each[1]]


def test_no_effect_waits_for_a_frame() -> None:
    """A key that comes before a frame is drawn acts on what the page holds, so its bindings must be there."""
    assert not [path.name for path in MODULES if re.search(r"\buseEffect\b", path.read_text(encoding="utf-8"))]


def test_nothing_is_loaded_from_elsewhere() -> None:
    files = [path for folder in (STATIC, OF_SERVER) for path in folder.rglob("*.*") if path.parent.name != "vendor"]
    texts = {path.name: path.read_text(encoding="utf-8") for path in files}
    assert not [name for name, text in texts.items() if re.search(r"(?:src|href|url|import)\W{1,3}https?:", text)]


def test_the_page_is_small() -> None:
    """As it is sent; the screens of administrators are loaded by them alone."""
    of_page = {path: file for path, file in site.static_files().items() if path != site.INDEX}
    assert sum(len(file.content) for path, file in of_page.items() if not _OF_THE_PANEL.search(path)) <= 160 * 1024
    assert sum(len(file.content) for file in site.static_files(OF_SERVER).values()) <= 48 * 1024


def test_no_module_is_long() -> None:
    assert not [path.name for path in MODULES if len(path.read_text(encoding="utf-8").splitlines()) >= 300]


@pytest.fixture(scope="module")
def typescript() -> Path:
    if shutil.which("node") is None:
        pytest.skip("node is not on this machine, and the compiler requires it")
    try:
        return npm.fetched(ROOT / ".cache" / "clients", "typescript", TYPESCRIPT, "typescript/bin/tsc")
    except npm.Unavailable as reason:
        pytest.skip(str(reason))


def test_what_is_sent_is_the_same_program(typescript: Path, tmp_path: Path) -> None:
    pairs = []
    for number, path in enumerate(MODULES):
        sent = tmp_path / f"{number}.js"
        sent.write_text(bare_script(path.read_text(encoding="utf-8")), encoding="utf-8")
        pairs += [str(path), str(sent)]
    command = ["node", str(TYPES / "same.cjs"), str(typescript.parents[1])]
    assert not subprocess.run([*command, *pairs], capture_output=True, text=True, check=True).stdout
    comment = tmp_path / "text.js"
    comment.write_text('const url = `a\n// of a text\n`, other = "/** x */";\n', encoding="utf-8")
    broken = tmp_path / "broken.js"
    broken.write_text(bare_script(comment.read_text(encoding="utf-8")), encoding="utf-8")
    done = subprocess.run([*command, str(comment), str(broken)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(comment), "the comparison finds nothing"


@pytest.mark.heavy
def test_the_types_of_the_modules_fit(typescript: Path, tmp_path: Path) -> None:
    shutil.copytree(STATIC, tmp_path / "static", ignore=shutil.ignore_patterns("vendor"))
    shutil.copytree(OF_SERVER, tmp_path / "static", ignore=shutil.ignore_patterns("sign-in.js"), dirs_exist_ok=True)
    (tmp_path / "static" / "vendor").mkdir()
    shutil.copy(TYPES / "preact.d.ts", tmp_path / "static" / "vendor")
    shutil.copy(TYPES / "tsconfig.json", tmp_path / "static")
    done = subprocess.run(
        ["node", str(typescript), "-p", str(tmp_path / "static")], capture_output=True, text=True, check=False
    )
    assert not done.stdout


def test_no_function_is_long(typescript: Path) -> None:
    command = ["node", str(TYPES / "functions.cjs"), str(typescript.parents[1]), "34", *map(str, MODULES)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert not done.stdout
