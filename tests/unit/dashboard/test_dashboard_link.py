"""The linker makes one page of the panel's modules, and refuses what it does not know."""

from __future__ import annotations

import gzip
import hashlib
import re
from base64 import b64encode
from pathlib import Path

import pytest

from keepmum.dashboard import link

_LIMIT, _GZIPPED_LIMIT = 96 * 1024, 32 * 1024


def _module(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_the_committed_panel_is_what_the_linker_renders() -> None:
    assert link.PANEL.read_text(encoding="utf-8") == link.render(), "run python3 plugin/keepmum/dashboard/link.py"


def test_the_panel_is_small() -> None:
    page = link.PANEL.read_bytes()
    assert len(page) <= _LIMIT
    assert len(gzip.compress(page, 9)) <= _GZIPPED_LIMIT


def test_the_policy_of_the_panel_names_its_own_script_and_style_alone() -> None:
    page = link.PANEL.read_text(encoding="utf-8")
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    for element, directive in (("script", "script-src"), ("style", "style-src")):
        (text,) = re.findall(rf"<{element}[^>]*>(.*?)</{element}>", page, re.DOTALL)
        digest = b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_a_module_is_run_once_before_those_that_import_it(tmp_path: Path) -> None:
    _module(tmp_path, "low.js", "export const ONE = 1;\nexport function two() { return 2; }\n")
    _module(tmp_path, "mid.js", 'import { ONE } from "./low.js";\nexport { ONE as FIRST };\n')
    top = _module(
        tmp_path,
        "top.js",
        'import { ONE, two as pair } from "./low.js";\nimport { FIRST } from "./mid.js";\nrun(ONE, pair, FIRST);\n',
    )
    script = link.linked(top)
    assert [line for line in script.splitlines() if line.startswith("//")] == ["// low.js", "// mid.js", "// top.js"]
    assert "const { ONE, two: pair } = m0;" in script
    assert "return { FIRST: ONE };" in script


@pytest.mark.parametrize(
    "text",
    [
        'import whole from "./low.js";',
        'import * as all from "./low.js";',
        'import "./low.js";',
        "export default 1;",
        'export * from "./low.js";',
        'const later = import("./low.js");',
        "export const { a } = b;",
        "use(import.meta.url);",
    ],
)
def test_what_the_linker_does_not_know_is_refused(tmp_path: Path, text: str) -> None:
    _module(tmp_path, "low.js", "export const ONE = 1;\n")
    with pytest.raises(link.LinkError, match="does not know"):
        link.linked(_module(tmp_path, "top.js", f"{text}\n"))


def test_modules_that_import_each_other_are_refused(tmp_path: Path) -> None:
    _module(tmp_path, "one.js", 'import { b } from "./two.js";\nexport const a = 1;\n')
    top = _module(tmp_path, "two.js", 'import { a } from "./one.js";\nexport const b = 1;\n')
    with pytest.raises(link.LinkError, match="imports itself"):
        link.linked(top)
