"""Writes the ordinary tables of a SQLite database as SQL, which a fixture can be built from: `dump_tables.py DB SQL`.

Virtual tables (full-text and vector indexes) need an extension or are large, and importers do not read them.
"""

import sqlite3
import sys


def main(path: str, out: str) -> None:
    db = sqlite3.connect(path)
    listed = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY rowid").fetchall()
    virtual = [name for name, sql in listed if sql and sql.upper().startswith("CREATE VIRTUAL")]
    with open(out, "w", encoding="utf-8") as file:
        for name, sql in listed:
            if name.startswith("sqlite_") or any(name == one or name.startswith(f"{one}_") for one in virtual):
                continue
            file.write(f"{sql};\n")
            columns = [row[1] for row in db.execute(f'PRAGMA table_info("{name}")')]
            quoted = ", ".join(f'quote("{column}")' for column in columns)
            for row in db.execute(f'SELECT {quoted} FROM "{name}" ORDER BY rowid'):
                file.write(f'INSERT INTO "{name}" VALUES ({", ".join(row)});\n')


main(*sys.argv[1:])
