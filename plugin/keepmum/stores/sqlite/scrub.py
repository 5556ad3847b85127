"""What is kept beside the memories, gone through word by word, and the copies of the file that have the old ones."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3

from keepmum.stores.base import Redact
from keepmum.stores.sqlite import files

__all__ = ["remove_copies", "rewrite_past"]

_TOLD = ("agent", "key", "project", "detail")


def rewrite_past(db: sqlite3.Connection, redact: Redact) -> None:
    """Put history and activity through `redact`, forget folders that it would change; in the caller's transaction."""
    for row in db.execute("SELECT seq, memory, before FROM history").fetchall():
        before = json.loads(row["before"])
        after = json.dumps(redact(row["memory"], before), ensure_ascii=False)
        if after != json.dumps(before, ensure_ascii=False):
            db.execute("UPDATE history SET before = ? WHERE seq = ?", (after, row["seq"]))
    for row in db.execute("SELECT * FROM activity").fetchall():
        said = {name: row[name] for name in _TOLD}
        after_all = redact(row["memory"], said)
        if after_all != said:
            db.execute(
                "UPDATE activity SET agent = :agent, key = :key, project = :project, detail = :detail WHERE seq = :seq",
                {**after_all, "seq": row["seq"]},
            )
    for row in db.execute("SELECT root, project, name FROM roots").fetchall():
        folder = dict(row)
        if redact(None, folder) != folder:
            db.execute("DELETE FROM roots WHERE root = ?", (row["root"],))


def remove_copies(path: str) -> list[str]:
    """Remove backups, damaged files that were set aside and unfinished files of a store; their names."""
    folder, name = os.path.split(path)
    beside = [entry for entry in os.listdir(folder) if entry.startswith((f"{name}.corrupt-", f"{name}.mended"))]
    beside += [entry for entry in os.listdir(folder) if entry.startswith(f"{name}.") and entry.endswith(".part")]
    removed = []
    for copy in [*files.backups(path), *(os.path.join(folder, entry) for entry in beside)]:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(copy)
            removed.append(os.path.basename(copy))
    return removed
