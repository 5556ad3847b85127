"""Tables with a credential's name in the header."""

import random
import string

import pytest

from keepmum_scanner import scan

RNG = random.Random(20261121)
ALNUM = string.ascii_letters + string.digits
NAMES = ("root", "deploy", "ada", "backup", "svc-mail")
PASSWORDS = [
    *(word + str(RNG.randint(1950, 2030)) + symbol for word in ("Winter", "tiger", "Coffee") for symbol in "!$*"),
    *("".join(RNG.choices(ALNUM, k=size)) for size in (10, 12, 16) for _ in range(3)),
    *("".join(RNG.choices(ALNUM + "!@#%^&", k=14)) for _ in range(3)),
    "".join(RNG.choices("0123456789abcdef", k=32)),
    "tr0ub" + "4dor&3",
]

# Formats of a table with three columns; each takes the rows, beginning with the header.
Rows = list[tuple[str, str, str]]


def markdown(rows: Rows) -> str:
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], "|---|:--:|---|", *lines[1:]])


def bare_markdown(rows: Rows) -> str:
    lines = [" | ".join(row) for row in rows]
    return "\n".join([lines[0], "--- | --- | ---", *lines[1:]])


def grid(rows: Rows) -> str:
    line = "+" + "+".join("-" * 34 for _ in rows[0]) + "+"
    return "\n".join([line, *(f"| {' | '.join(cell.ljust(32) for cell in row)} |\n{line}" for row in rows)])


def aligned(rows: Rows) -> str:
    widths = [max(len(row[column]) for row in rows) + 2 for column in range(3)]
    return "\n".join("".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)


def overflowing(rows: Rows) -> str:
    return "\n".join(f"{name:<18} {secret:<18} {note}" for name, secret, note in rows)


FORMS = {
    "Markdown": markdown,
    "Markdown without outer bars": bare_markdown,
    "a grid": grid,
    "commas": lambda rows: "\n".join(",".join(row) for row in rows),
    "commas and quotes": lambda rows: "\n".join(",".join(f'"{cell}"' for cell in row) for row in rows),
    "semicolons": lambda rows: "\r\n".join(";".join(row) for row in rows),
    "tabs": lambda rows: "\n".join("\t".join(row) for row in rows),
    "aligned": aligned,
    "aligned, with overflowing cells": overflowing,
    "code in cells": lambda rows: markdown([rows[0], *((a, f"`{b}`", c) for a, b, c in rows[1:])]),
    "bold headers": lambda rows: markdown([(f"**{rows[0][0]}**", f"**{rows[0][1]}**", "note"), *rows[1:]]),
}
HEADERS = (
    ("user", "password", "note"),
    ("Host", "Passwords", "Note"),
    ("E-Mail", "Initial password", "seen"),
    ("db_user", "db_password", "role"),
    ("Service", "API key", "Owner"),
    ("System", "Passwort (neu)", "Wer"),
)


@pytest.mark.parametrize("header", HEADERS, ids=[header[1] for header in HEADERS])
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_each_row_below_a_credentials_name_is_judged(form, header: tuple[str, str, str]) -> None:  # type: ignore[no-untyped-def] # noqa: ANN001 - a table of functions
    missed = []
    for number, password in enumerate(PASSWORDS):
        rows = [header, ("ops", "none", "old"), (NAMES[number % len(NAMES)], password, "primary")]
        text = form(rows)
        start = text.index(password)
        if not any(found.start <= start and start + len(password) <= found.end for found in scan(text)):
            missed.append(number)
    assert missed == []


def test_a_table_between_paragraphs_is_read() -> None:
    table = markdown([("user", "password", "note"), ("root", PASSWORDS[0], "-")])
    assert scan(f"The accounts:\n\n{table}\n\nAsk before you change them.") != []


def test_all_rows_of_a_table_are_found() -> None:
    rows = [
        ("user", "password", "note"),
        *((f"user{number}", "Winter" + f"{number + 1950}!", "-") for number in range(60)),
    ]
    assert len(scan(markdown(rows))) == 60


def test_a_cell_with_the_separator_in_quotes_is_one_cell() -> None:
    password = "Winter" + "2001!"
    text = f'user,note,password\nada,"old, and new",{password}'
    assert [text[found.start : found.end] for found in scan(text)] == [password]


HARMLESS = {
    "options": "| Option | Password | Default |\n|---|---|---|\n| length | min-12 | 8-64chars |\n",
    "no names": "| Host | Password | Note |\n|---|---|---|\n| db1 | see vault | - |\n| db2 | ${DB_PASSWORD} | x |\n",
    "rules": "| Account | Password rotated | by |\n|---|---|---|\n| ada | 2026-11-21 | ops |\n",
    "length": "user,password_length\nada,12-characters\n",
    "columns of a table": "| Column | Type | Key |\n|---|---|---|\n| user_id | uuid_v4 | idx_user2 |\n",
    "tests": "| Server | Pass | Fail |\n|---|---|---|\n| db1 | 120/120 | 0 |\n| db2 | 98.5% | 2 |\n",
    "tokens of a model": "| Client | Tokens | Cost |\n|---|---|---|\n| a | 12.5k/3.2k | 1,234,567 |\n",
    "digests": "| User | Password hash | Since |\n|---|---|---|\n| ada | argon2id-v19 | 2024-06-01 |\n",
    "a sentence with commas": "We changed user, password, and host,\nthen version2, build17x, and so on.\n",
    "another table below": "user,password\nada,-\n\nfile,size\nmain2.py,120kB7\n",
}


@pytest.mark.parametrize("text", HARMLESS.values(), ids=HARMLESS)
def test_a_harmless_table_passes(text: str) -> None:
    assert scan(text) == []
