"""Makes smaller what browsers get, and the panel one page: `python3 plugin/keepmum/dashboard/link.py` renders it.

Each module becomes a function that is called once and returns its exports; an import becomes `const {…} = m1`. What the
linker does not know (default exports, `import *`, circular imports) is refused, so the page does what the modules do.
"""

from __future__ import annotations

import base64
import hashlib
import re
import sys
from collections.abc import Sequence
from pathlib import Path

__all__ = ["PANEL", "LinkError", "bare_script", "bare_style", "linked", "main", "render"]

_FOLDER = Path(__file__).resolve().parent
PANEL = _FOLDER / "panel.html"
_STATIC = _FOLDER / "static"
_ENTRY = "panel.js"
_STYLES = ("tokens.css", "base.css", "panel.css")
_POLICY = (
    "default-src 'none'", "img-src data:", "base-uri 'none'", "form-action 'none'",
    "require-trusted-types-for 'script'", "trusted-types 'none'",
)  # fmt: skip
_IMPORT = re.compile(r'^import \{ ?([^{}]+?) ?\} from "(\./|\.\./)([^"]+)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (async function|function|class|const|let) (\w+)", re.MULTILINE)
_EXPORTS = re.compile(r"^export ?\{([^{}]*)\};?\s*\Z", re.MULTILINE)
_PACKED_EXPORTS = re.compile(r"export\{([^{}]*)\};?\s*\Z")  # of a minified file, after its last statement
_UNKNOWN = re.compile(r"^\s*(?:import|export)\b|\bimport\s*\(|\bimport\.meta\b", re.MULTILINE)

# Comments: of types, and whole lines. Nothing else may look like one: a test compares what a compiler reads.
_COMMENTS = re.compile(r"/\*\*(?s:.*?)\*/ ?|^[ \t]*//.*\n", re.MULTILINE)
_STYLE_COMMENTS = re.compile(r"/\*.*?\*/\n?", re.DOTALL)
_INDENTATION = re.compile(r"^[ \t]+|\n+(?=\n)", re.MULTILINE)


class LinkError(Exception):
    """A module does something that the linker does not know."""


def render() -> str:
    """The whole panel."""
    styles = "".join((_STATIC / name).read_text(encoding="utf-8") for name in _STYLES)
    return _page(linked(_STATIC / _ENTRY), bare_style(styles))


def bare_script(text: str) -> str:
    """A module without comments and indentation, that does the same."""
    return _INDENTATION.sub("", _COMMENTS.sub("", text))


def bare_style(text: str) -> str:
    """A style sheet without comments and indentation, that says the same."""
    return _INDENTATION.sub("", _STYLE_COMMENTS.sub("", text))


def linked(entry: Path) -> str:
    """One script that does what the module `entry` does.

    Raises: LinkError.
    """
    linker = _Linker()
    linker.add(entry.resolve(), ())
    return "\n".join(['"use strict";', *linker.parts, ""])


def main(argv: Sequence[str]) -> int:
    """Write the panel; with `--check`, only say whether that would change it."""
    page = render()
    if "--check" in argv:
        return int(not PANEL.exists() or PANEL.read_text(encoding="utf-8") != page)
    PANEL.write_text(page, encoding="utf-8", newline="\n")
    return 0


class _Linker:
    """The modules that have been linked, in the order in which they run."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self._names: dict[Path, str] = {}

    def add(self, module: Path, importers: tuple[Path, ...]) -> str:
        """The variable that holds the exports of a module.

        Raises: LinkError.
        """
        if module in importers:
            raise LinkError(f"{module.name} imports itself, through {importers[-1].name}")
        if module in self._names:
            return self._names[module]
        text = module.read_text(encoding="utf-8")
        heads = []
        for found in _IMPORT.finditer(text):
            imported = self.add((module.parent / f"{found[2]}{found[3]}").resolve(), (*importers, module))
            heads.append(f"const {{ {found[1].replace(' as ', ': ')} }} = {imported};")
        body, exports = _without_exports(_IMPORT.sub("", bare_script(text)))
        if _UNKNOWN.search(body):
            raise LinkError(f"{module.name} has an import or export that the linker does not know")
        name = self._names[module] = f"m{len(self._names)}"
        returned = ", ".join(public if public == local else f"{public}: {local}" for public, local in exports)
        lines = [
            f"// {module.name}",
            f"const {name} = (() => {{",
            *heads,
            body.strip("\n"),
            f"return {{ {returned} }};",
        ]
        self.parts.append("\n".join([*lines, "})();"]))
        return name


def _without_exports(text: str) -> tuple[str, list[tuple[str, str]]]:
    """A module without its exports, and each of them by its public and its local name."""
    exports = [(found[2], found[2]) for found in _EXPORT.finditer(text)]
    text = _EXPORT.sub(r"\1 \2", text)
    if tail := _EXPORTS.search(text) or _PACKED_EXPORTS.search(text):
        for part in filter(None, map(str.strip, tail[1].split(","))):
            local, _, public = part.partition(" as ")
            exports.append((public or local, local))
        text = text[: tail.start()]
    return text, exports


def _page(script: str, styles: str) -> str:
    """The page, with a policy that lets this script and these styles alone run.

    Raises: LinkError when either would end its own element.
    """
    if "</script" in script.lower() or "<!--" in script or "</style" in styles.lower():
        raise LinkError("a module or a style holds the end of its own element")
    policy = "; ".join([*_POLICY, f"script-src {_digest(script)}", f"style-src {_digest(styles)}"])
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><title>Memory</title>\n'
        f'<style>{styles}</style></head><body><script type="module">{script}</script></body></html>\n'
    )


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
