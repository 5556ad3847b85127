"""Import Cursor's rules: `.cursor/rules/*.mdc`, or the older `.cursorrules`.

Source: https://docs.cursor.com/context/rules, read 2026-11-22.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from keepmum.core.memory import JsonValue
from keepmum.service.importers.format import Format, Found
from keepmum.service.importers.item import ImportItem, build_item
from keepmum.service.importers.markdown_source import files_below, read_markdown
from keepmum.service.importers.sniff import Sniff

__all__ = ["FORMAT"]

_FILE, _FOLDER = ".cursorrules", os.path.join(".cursor", "rules")


def _matches(sniff: Sniff) -> bool:
    if not sniff.is_folder:
        return sniff.name == _FILE or sniff.name.endswith(".mdc")
    return (
        any(name.endswith(".mdc") for name in sniff.names)
        or (sniff.name == ".cursor" and "rules" in sniff.names)
        or os.path.isdir(os.path.join(sniff.path, _FOLDER))
        or _FILE in sniff.names
    )


def _read(path: str) -> Iterator[Found]:
    if not os.path.isdir(path):
        yield _item(os.path.dirname(path), os.path.basename(path))
        return
    for folder in (os.path.join(path, _FOLDER), os.path.join(path, "rules")):
        if os.path.isdir(folder):
            yield from (_item(folder, name) for name in files_below(folder, ".mdc", ".md"))
            break
    else:
        yield from (_item(path, name) for name in files_below(path, ".mdc"))
    if os.path.isfile(os.path.join(path, _FILE)):
        yield _item(path, _FILE)


def _item(folder: str, name: str) -> ImportItem:
    path = os.path.join(folder, name)
    try:
        file = read_markdown(path)
    except ValueError as error:
        return ImportItem(name, None, str(error))
    data: dict[str, JsonValue] = {}
    if patterns := file.texts("globs"):
        data["globs"] = patterns
    if file.text("alwaysApply"):
        data["alwaysApply"] = file.text("alwaysApply") == "true"
    lost = ["patterns of files that a rule is for: kept as data, and not applied"] if patterns else []
    if file.has_lost_head:
        lost.append("front matter that is not understood: kept in the text")
    return build_item(
        name, "cursor", f"{os.path.realpath(folder)}\0{name}", file.body, file.changed_at,
        title=file.text("description") or os.path.splitext(name)[0].replace("-", " "), author="cursor",
        kind="instruction", why=file.text("description") or None, data=data or None,
        source=f"Cursor rule: {name}"[:200], not_kept=lost,
    )  # fmt: skip


FORMAT = Format("Cursor's rules", _matches, _read)
