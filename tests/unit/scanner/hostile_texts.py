"""Texts that are made to slow down a scanner, of any size; each targets one weakness.

Notes do not look like this, but an attack on the scanner may. Keys are assembled here, so that the repository contains
none.
"""

from __future__ import annotations

import base64
import random
import string
import zlib
from collections.abc import Callable

from keepmum_scanner.seed_words import numbers

ALNUM = string.ascii_letters + string.digits
LOWER = string.ascii_lowercase + string.digits
HEX = "0123456789abcdef"
PRINTABLE = "".join(map(chr, range(0x21, 0x7F)))
DASHES = "-" * 5
STARTS = (
    "gh" + "p_",
    "sk" + "-",
    "xo" + "xb-",
    "AK" + "IA",
    "gl" + "pat-",
    "np" + "m_",
    "AI" + "za",
    "SG" + ".",
    "key-",
)
WORDS = (
    "server client token store index path value cache build graph query vector memory session project branch commit "
    "review config module package handler password secret key login access pass user auth parser worker loader"
).split()

SEED_WORDS = [word.decode() for word in numbers()]

Maker = Callable[[random.Random], str]


def pick(rng: random.Random, letters: str, count: int) -> str:
    return "".join(rng.choices(letters, k=count))


def uuid(rng: random.Random) -> str:
    return "-".join(pick(rng, HEX, count) for count in (8, 4, 4, 4, 12))


def base64_of(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def hidden(text: str) -> str:
    """`text` with a zero-width space after each character."""
    return "".join(letter + "\u200b" for letter in text)


def wide(text: str) -> str:
    """`text` in full-width letters."""
    return "".join(chr(ord(letter) + 0xFEE0) if "!" <= letter <= "~" else letter for letter in text)


def encoded(rng: random.Random, times: int) -> str:
    """Random words, encoded in base64 the given number of times."""
    data = " ".join(rng.choices(WORDS, k=12)).encode()
    for _ in range(times):
        data = base64.b64encode(data)
    return data.decode()


# Makers of the pieces that a text repeats with different characters.
PIECES: dict[str, Maker] = {
    # names and separators
    "names without values": lambda c: c.choice(WORDS) + "=",
    "names and short values": lambda c: f"{c.choice(WORDS)}={pick(c, ALNUM, 4)} ",
    "names and values": lambda c: f"{c.choice(WORDS)}: {pick(c, LOWER, 12)}\n",
    "names and quoted values": lambda c: f'"{c.choice(WORDS)}": "{pick(c, ALNUM, 20)}",\n',
    "passwords told": lambda c: f"the password is {pick(c, LOWER, 5)} ",
    "values far from names": lambda c: f"token {pick(c, string.ascii_lowercase, 3)} a b c d e f ",
    "short names": lambda _: "pw pin pass ",
    "names in one word": lambda c: c.choice(("key", "Key", "pass", "token")),
    "equals signs": lambda _: "=",
    "names and many signs": lambda c: "key" + c.choice("=:") * 40,
    "colons": lambda _: "a:",
    "unclosed quotes": lambda _: 'secret="',
    "quotes": lambda c: c.choice("\"'`"),
    "brackets behind names": lambda c: "key" + c.choice("([{\\") * 3,
    "spaces behind names": lambda c: "key" + " " * c.randint(10, 40),
    # links
    "links with users": lambda _: "a://b:",
    "links": lambda c: f"https://example.org/{pick(c, LOWER, 12)}?id={pick(c, ALNUM, 24)} ",
    "long users of links": lambda c: "a://" + pick(c, LOWER, 120) + ":",
    "paths": lambda c: "/".join(c.choices(WORDS, k=4)) + "/" + pick(c, LOWER, 8) + " ",
    "one path": lambda c: c.choice(WORDS) + "/",
    # almost keys
    "keys without names": lambda c: pick(c, ALNUM, 32) + " ",
    "keys near names": lambda c: f"key {pick(c, ALNUM, 24)} ",
    "just short of a key": lambda c: pick(c, string.ascii_lowercase, 9) + pick(c, LOWER, 6) + " ",
    "slugs": lambda c: "-".join(c.choices(WORDS, k=3)) + f"-{c.randint(1, 999)} ",
    "identifiers": lambda c: "".join(map(str.capitalize, c.choices(WORDS, k=4))) + "2 ",
    "uuids near names": lambda c: f"key {pick(c, HEX, 8)}-{pick(c, HEX, 4)}-4000-8000-{pick(c, HEX, 12)} ",
    "digests": lambda c: pick(c, HEX, 40) + " ",
    "digests of keys": lambda c: "key=" + pick(c, HEX, 40) + " ",
    "starts of keys": lambda c: " gh" + "p_" + pick(c, ALNUM, 30),
    "starts of keys, joined": lambda _: "xo" + "xb-1",
    "known keys": lambda c: "gh" + "p_" + pick(c, ALNUM, 36) + "\n",
    "signed tokens": lambda c: "ey" + "J" + pick(c, ALNUM, 20) + ".",
    "signed token, endless": lambda _: "eyJ" + "aaaaaaaa-",
    "password hashes": lambda _: "$5$",
    # key blocks
    "key headers": lambda _: f"{DASHES}BEGIN PRIVATE KEY{DASHES}\n",
    "key headers and lines": lambda c: f"{DASHES}BEGIN PRIVATE KEY{DASHES}\n{pick(c, ALNUM, 26)}\n",
    "certificates": lambda c: (
        f"{DASHES}BEGIN CERTIFICATE{DASHES}\n{pick(c, ALNUM, 26)}\n{DASHES}END CERTIFICATE{DASHES}\n"
    ),
    # encodings
    "percent signs": lambda _: "%41",
    "percent signs in words": lambda c: f"%{c.randint(0x61, 0x7A):02x}{pick(c, LOWER, 12)} ",
    "base64 of words": lambda c: encoded(c, 1) + " ",
    "base64 of base64": lambda c: encoded(c, 4) + " ",
    "base64 of names": lambda c: base64.b64encode(f"password={pick(c, ALNUM, 9)}".encode()).decode() + " ",
    "hexadecimal of words": lambda c: " ".join(c.choices(WORDS, k=4)).encode().hex() + " ",
    "one base64 file": lambda c: base64.b64encode(c.randbytes(57)).decode(),
    "base64 lines": lambda c: base64.b64encode(c.randbytes(57)).decode() + "\n",
    # beyond ASCII
    "zero width": lambda c: c.choice(ALNUM) + "\u200b",
    "zero width only": lambda c: chr(c.choice((0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF))),
    "tags": lambda c: chr(0xE0000 + c.randint(0x20, 0x7E)),
    "full width": lambda c: wide(pick(c, ALNUM, 24)) + " ",
    "full width names": lambda c: wide("password") + "\uff1a" + wide(pick(c, ALNUM, 8)) + " ",
    "full width and zero width": lambda c: wide(c.choice(ALNUM)) + "\u200b",
    "letters that grow": lambda c: c.choice("\ufb03\ufdfa\u2474\u3300"),
    "every character": lambda c: chr(c.choice((c.randint(0xA1, 0xD7FF), c.randint(0xE000, 0x1FFFF)))),
    "chinese": lambda c: chr(c.randint(0x4E00, 0x9FFF)),
    "accents": lambda c: "e\u0301" + c.choice("äöüßéñ"),
    "emoji": lambda _: "\U0001f44d\U0001f3fd ",
    "surrogates": lambda c: chr(c.randint(0xD800, 0xDFFF)),
    "letter that is two in lower case": lambda _: "\u0130key ",
    "controls": lambda c: chr(c.randint(0, 31)),
    # one class of characters
    "one letter": lambda _: "a",
    "letter and digit": lambda _: "a1",
    "random letters": lambda c: c.choice(ALNUM),
    "digits": lambda c: c.choice(string.digits),
    "dots": lambda _: "a.b.c.d1",
    "underscores": lambda _: "_",
    "dashes": lambda _: "-",
    "slashes": lambda _: "a/",
    "words": lambda c: c.choice(WORDS) + " ",
    "spaces": lambda _: " ",
    "breaks": lambda _: "\n",
    "any sign": lambda c: chr(c.randint(32, 126)),
    # phrases
    "users of programs": lambda _: "-u a:b ",
    "options": lambda _: "--password a ",
    "before their name": lambda _: "use aaaaaa as the ",
    "pairs": lambda _: "creds aa aa aa aa:1!",
    "programs": lambda _: "mysql ",
    "programs with options": lambda c: f"mysql -u root -p{pick(c, LOWER, 6)} ",
    "logins": lambda _: "login a:b/c:",
    "logins, far": lambda _: "login aaaaaaaa ",
    "as and spaces": lambda c: "use aaaaaa as" + " " * c.randint(50, 90),
    "brackets behind values": lambda _: "key=a1" + ")" * 250,
    "long names": lambda c: "key_" + pick(c, string.ascii_lowercase, 24) + "=",
    "escaped bytes": lambda _: "password=aaaa" + "\\x41" * 40,
    "uuids": lambda c: f"{pick(c, HEX, 8)}-{pick(c, HEX, 4)}-4000-8000-{pick(c, HEX, 12)}\n",
    "lock file": lambda c: f'"integrity": "sha512-{pick(c, ALNUM, 86)}==",\n',
    "all guards": lambda _: "://eyJ pat/pk_at.Q~ k_ _mmk; sig=:AA$token=uthorization ",
    "connections": lambda c: f"a={pick(c, LOWER, 4)};pwd=",
    # thousands of borderline cases
    "keys and other values each time": lambda c: f"key={pick(c, ALNUM, 8)}\n",
    "passwords of any sign": lambda c: f"password={pick(c, PRINTABLE, 10)}\n",
    "one name again and again": lambda _: "password ",
    "names as values": lambda _: "password: password\n",
    "names joined": lambda _: "key_id_key_id_key_url_",
    "names and arrows": lambda _: "key->key->",
    "short names and signs": lambda _: "pin=pw=pass=",
    "verbs and signs": lambda _: "pass: ",
    "short tokens near names": lambda c: f"key {pick(c, ALNUM, 12)} ",
    "short tokens": lambda c: pick(c, ALNUM, 12) + " ",
    "tokens of sixteen": lambda c: pick(c, ALNUM, 16) + "\n",
    "tokens of letters": lambda c: pick(c, string.ascii_letters, 20) + "\n",
    "tokens of capitals": lambda c: pick(c, string.ascii_uppercase + string.digits, 20) + "\n",
    "tokens with joints": lambda c: pick(c, ALNUM + "_-", 21) + " ",
    "tokens with any joint": lambda c: pick(c, ALNUM + "-_./+", 20) + c.choice(" ,;\n"),
    "tokens behind escapes": lambda c: "\\n" + pick(c, ALNUM, 20),
    "tokens in quotes": lambda c: f'"{pick(c, ALNUM, 18)}",',
    "objects of services": lambda c: f"cus_{pick(c, ALNUM, 14)} ",
    "objects of services near names": lambda c: f"key cus_{pick(c, ALNUM, 14)} ",
    "many kinds of keys, cut": lambda c: c.choice(STARTS) + pick(c, ALNUM, c.randint(4, 20)) + " ",
    "one character short": lambda c: "AK" + "IA" + pick(c, string.ascii_uppercase, 15) + " ",
    "placeholders": lambda c: f"key=your-{pick(c, LOWER, 12)}-here ",
    "crosses": lambda _: "x" * 30 + " ",
    "crosses for keys": lambda _: "key=" + "x" * 30 + " ",
    "slugs of chance": lambda c: f"{c.choice(WORDS)}-{pick(c, LOWER, 5)}-{c.choice(WORDS)}-{pick(c, LOWER, 6)} ",
    "numbered names near names": lambda c: (
        "key " + "".join(word.capitalize() + str(c.randint(1, 99)) for word in c.choices(WORDS, k=3)) + " "
    ),
    "versions with commits": lambda c: f"v1.2.{c.randint(1, 99)}-{pick(c, HEX, 12)} ",
    "hosts": lambda c: f"{pick(c, string.ascii_lowercase, 5)}.example.com/{pick(c, ALNUM, 22)} ",
    "users and passwords": lambda c: f"login {pick(c, string.ascii_lowercase, 5)}/{pick(c, LOWER, 7)}! ",
    "used as keys": lambda c: f"use {pick(c, LOWER, 8)} as the key ",
    "given by a statement": lambda _: "identified by ",
    # encodings, nested and mixed
    "escapes of JSON": lambda c: f"\\u00{c.randint(0x61, 0x7A):02x}",
    "escapes of names": lambda c: "".join(f"\\x{ord(letter):02x}" for letter in f"key={pick(c, ALNUM, 9)}") + " ",
    "escapes, far apart": lambda c: "\\u0061" + pick(c, ALNUM, 64),
    "entities": lambda c: f"&#{c.randint(97, 122)};",
    "ids of cloud keys": lambda c: "AK" + "IA" + pick(c, string.ascii_uppercase, 16) + " ",
    "ids of cloud keys, and keys": lambda c: (
        "AK" + "IA" + pick(c, string.ascii_uppercase, 16) + f" {pick(c, ALNUM, 40)}\n"
    ),
    "percent signs alone": lambda _: "%",
    "percent signs and breaks": lambda c: f"%0A{pick(c, LOWER, 4)}",
    "percent signs in names": lambda c: f"p%61ssword%3D{pick(c, ALNUM, 8)} ",
    "percent signs in tokens": lambda c: f"%41{pick(c, ALNUM, 12)}%3D ",
    "base64 of base64 of names": lambda c: base64_of(base64_of(f"key={pick(c, ALNUM, 9)}")) + " ",
    "base64 of key headers": lambda _: base64_of(f"{DASHES}BEGIN PRIVATE KEY{DASHES}") + " ",
    "base64 of a long list": lambda c: base64_of(f"password={pick(c, ALNUM, 9)};" * 60) + " ",
    "hexadecimal of names": lambda c: f"password={pick(c, ALNUM, 9)}".encode().hex() + " ",
    "basic authorization": lambda c: f"Authorization: Basic {base64_of('user:' + pick(c, ALNUM, 8))}\n",
    # files
    "JSON of ids": lambda c: f'{{"id": "{uuid(c)}", "sha": "{pick(c, HEX, 40)}", "key": "{pick(c, ALNUM, 22)}"}},',
    "CSV of ids": lambda c: f"{c.randint(1, 10**6)},{pick(c, ALNUM, 22)},{uuid(c)},{pick(c, HEX, 24)}\n",
    "query strings": lambda c: f"{pick(c, ALNUM, 12)}={pick(c, ALNUM, 18)}&",
    "YAML anchors": lambda c: f"- &{pick(c, LOWER, 8)} *{pick(c, LOWER, 8)}\n",
    "a dump in hexadecimal": lambda c: f"{pick(c, HEX, 8)}  " + " ".join(pick(c, HEX, 2) for _ in range(16)) + "\n",
    "a log": lambda c: f"2026-11-{c.randint(10, 30)}T10:11:{c.randint(10, 59)}Z auth request_id={pick(c, HEX, 32)}\n",
    "minified": lambda c: f"{pick(c, ALNUM, 2)}.{pick(c, ALNUM, 6)}={pick(c, ALNUM, 3)}=>key.{pick(c, ALNUM, 8)};",
    "heads of tables": lambda _: "user | password\n",
    "heads and rows": lambda c: f"user,password\n{pick(c, LOWER, 5)},{pick(c, LOWER, 9)}\n",
    "one head of many columns": lambda _: "user|" + "password|" * 112 + "\n",
    "cells in quotes": lambda _: 'user,"password\n',
    "columns of spaces": lambda c: f"user  password\n{pick(c, LOWER, 5)} {pick(c, LOWER, 9)}\n",
    "XML": lambda c: f"<key>{pick(c, ALNUM, 14)}</key><password>{pick(c, string.ascii_lowercase, 7)}</password>",
    # beyond ASCII, with names
    "hidden names": lambda c: hidden(f"password={pick(c, ALNUM, 6)}") + " ",
    "full-width assignments": lambda c: wide(f"key={pick(c, ALNUM, 16)}") + "\n",
    "bold letters of mathematics": lambda c: "key=" + "".join(chr(0x1D400 + c.randint(0, 51)) for _ in range(16)) + " ",
    "chinese names": lambda c: f"\u5bc6\u7801\uff1a{pick(c, LOWER, 8)}\uff0c",
    "unbreakable spaces": lambda c: f"key\u00a0=\u00a0{pick(c, LOWER, 9)}\u00a0",
    "nulls around signs": lambda c: f"key\0=\0{pick(c, LOWER, 9)}",
    "families of emoji": lambda _: "\U0001f468\u200d\U0001f469\u200d\U0001f467 ",
    # pieces that several detectors examine
    "starts of keys and words, joined": lambda _: "gl" + "pat-word-",
    "starts of keys and dots, joined": lambda _: "S" + "G.word.",
    "one start of keys, joined": lambda _: "s" + "k-",
    "starts of keys, any, joined": lambda c: c.choice(STARTS) + pick(c, string.ascii_lowercase, 2) + "-",
    "starts of keys and placeholders": lambda c: (
        c.choice(STARTS) + "your-secret-key-goes-here-" + c.choice(WORDS) + " "
    ),
    "all at once": lambda c: f"login key={pick(c, LOWER, 5)}/{pick(c, ALNUM, 9)}! ",
    "mail addresses": lambda c: f"{pick(c, LOWER, 8)}@{pick(c, LOWER, 6)}.com:{pick(c, ALNUM, 6)}\n",
    "users of curl": lambda c: f"curl -u {pick(c, LOWER, 4)}:{pick(c, LOWER, 6)} ",
    "options with values": lambda c: f"--password={pick(c, LOWER, 8)} --token {pick(c, ALNUM, 9)} ",
    "programs with passwords": lambda c: f"sshpass -p {pick(c, LOWER, 7)} ",
    "secure strings": lambda c: f'ConvertTo-SecureString "{pick(c, ALNUM, 6)}!1" ',
    "used as tokens": lambda c: f"send {pick(c, ALNUM, 7)}1 as my token; ",
    "digests told": lambda c: f"sha256={pick(c, ALNUM, 14)},h1:{pick(c, ALNUM, 12)}= ",
    "boundaries": lambda c: f'boundary="=_{pick(c, ALNUM, 14)}" ',
    "small images": lambda c: f"data:image/png;base64,{pick(c, ALNUM, 16)}== ",
    "words with signs": lambda c: f"{pick(c, ALNUM, 4)}{c.choice('!#$%&@^*~')}{pick(c, ALNUM, 4)} ",
    "signs and letters": lambda c: f"{c.choice('!#$%&@^*~')}{c.choice(ALNUM)}",
    "types of names": lambda c: f"token_{pick(c, LOWER, 3)}: str -> key: {c.choice(WORDS)}, ",
    "rows of a table": lambda c: f"| {c.choice(WORDS)} key | {pick(c, ALNUM, 8)} |\n",
    "escaped JSON": lambda c: f'\\"{c.choice(WORDS)}\\":\\"{pick(c, ALNUM, 13)}\\",',
    "short signed tokens": lambda c: f"ey{'J'}{pick(c, ALNUM, 9)}.ey{'J'}{pick(c, ALNUM, 9)} ",
    "hashes of passwords": lambda c: f"$5${pick(c, ALNUM, 21)} ",
    "ids of keys": lambda c: f"key_id={uuid(c)};",
    "percent signs, twice": lambda c: f"%25{c.randint(0x41, 0x7A):02x}{pick(c, LOWER, 2)}",
    "percent signs between letters": lambda c: f"{pick(c, ALNUM, 11)}%3D%26 ",
    "nulls between letters": lambda c: c.choice(ALNUM) + "\0",
    "ligatures": lambda c: c.choice("\ufb01\ufb02\ufb03\u2474\u33c2"),
    "cyrillic names": lambda c: f"\u043f\u0430\u0440\u043e\u043b\u044c: {pick(c, LOWER, 7)}\n",
    "switching kinds": lambda c: (
        "".join(c.choice(string.ascii_letters) + c.choice(string.digits) for _ in range(7)) + ","
    ),
    "versions": lambda c: (
        ".".join(str(c.randint(0, 99)) for _ in range(4)) + f"-rc{c.randint(1, 9)}a{c.randint(1, 9)} "
    ),
    "drawings": lambda c: (
        f"M{c.randint(1, 99)}.{c.randint(1, 9)}c-{c.randint(1, 9)}.{c.randint(1, 99)}a{c.randint(1, 9)} "
    ),
    "humps of names": lambda c: "".join(map(str.capitalize, c.choices(WORDS, k=2))) + f"Key{pick(c, LOWER, 3)} ",
    "passwords of passwords": lambda c: "password=" + c.choice(("", "Token ", pick(c, LOWER, 2))),
    "keys cut by dots": lambda c: c.choice(STARTS) + pick(c, ALNUM, 6) + ".." + pick(c, ALNUM, 4) + " ",
    "base64 of signs": lambda c: base64_of(f"{pick(c, ALNUM, 5)}!{pick(c, ALNUM, 6)}") + " ",
    "hexadecimal near names": lambda c: f"key {pick(c, HEX, 16)} ",
    "authors": lambda c: f"author {pick(c, string.ascii_lowercase, 2)} monkey ",
    # composed passwords and PINs
    "composed passwords": lambda c: f"the password for {c.choice(WORDS)} is now Kick_{pick(c, LOWER, 6)}12 and ",
    "composed names": lambda c: f"password {'.'.join(c.choices(WORDS, k=4))} ",
    "words after names": lambda c: "password " + " ".join(c.choices(WORDS, k=8)) + " is aB",
    "verbs after names": lambda _: "password is now is to ",
    "composed words before names": lambda c: f"aB3-{c.choice(WORDS)} as password ",
    "names of PINs": lambda c: f"pin of the card is {c.randint(1000, 9999)}x, ",
    "PINs": lambda c: f"PIN {c.randint(100, 9999999)} ",
    "words after PINs": lambda c: "PIN " + " ".join(c.choices(WORDS, k=8)) + " ",
    "codes of doors": lambda c: f"door code for the gate {c.randint(100, 99999)} ",
    "cyrillic PINs": lambda c: f"пин-код карты {c.randint(100, 99999)} ",
    "chains of words": lambda c: "password " + "-".join(c.choices(WORDS, k=30)) + " ",
    # places and lists
    "places in commands": lambda c: f"keytool -storepass {pick(c, LOWER, 5)} -keypass {pick(c, LOWER, 3)} ",
    "here-strings": lambda c: f"passwd <<< {pick(c, LOWER, 6)} ",
    "arguments of calls": lambda c: f"new PDO('{pick(c, LOWER, 8)}', ",
    "users of requests": lambda c: f"curl -u ana:{pick(c, LOWER, 4)} ",
    "communities": lambda _: "snmpwalk -v2c snmp-server community ",
    "codes of Wi-Fi": lambda c: f"WIFI:S:{pick(c, LOWER, 4)};",
    "lists of codes": lambda c: f"recovery codes: {pick(c, HEX, 5)}-{pick(c, HEX, 5)}\n",
    "names of codes": lambda _: "recovery codes\n",
    "secrets of a cluster": lambda c: f"kind: Secret\nstringData:\n  {pick(c, LOWER, 4)}: {pick(c, LOWER, 9)}\n",
    "cells of HTML": lambda c: f"<tr><th>password</th><td>{pick(c, LOWER, 6)}</td></tr>",
    "questions and answers": lambda c: f"what is the password?\n{pick(c, LOWER, 4)}: {pick(c, LOWER, 5)}\n",
    "passwords in spaces": lambda c: "password: " + " ".join(c.choices(SEED_WORDS, k=6)) + " ",
    "accounts and words": lambda c: f"login {pick(c, LOWER, 4)} / {pick(c, LOWER, 6)} ",
    "session cookies": lambda _: "ookie: a; sid=",
    "starts of cookies": lambda _: "ookie: sess",
    # phrases of wallets
    "seed words": lambda c: c.choice(SEED_WORDS) + " ",
    "seed words in runs": lambda c: " ".join(c.choices(SEED_WORDS, k=30)) + " of ",
    "seed words after names": lambda c: "seed phrase: " + " ".join(c.choices(SEED_WORDS, k=12)) + "; ",
    "numbered seed words": lambda c: f"word 1: {c.choice(SEED_WORDS)} ",
    "short plain words": lambda c: pick(c, string.ascii_lowercase, c.randint(3, 8)) + " ",
}


def text(name: str, size: int) -> str:
    """`size` characters of the text `name`, the same at every call; a longer text begins with the shorter one."""
    rng = random.Random(zlib.crc32(name.encode()))
    if name in NESTED:
        return NESTED[name](size)
    maker = PIECES[name]
    pieces: list[str] = []
    length = 0
    while length < size:
        pieces.append(maker(rng))
        length += len(pieces[-1])
    return "".join(pieces)[:size]


def _nested_objects(size: int) -> str:
    depth = size // 8
    return '{"key":' * depth + "1" + "}" * depth


def _nested_strings(size: int) -> str:
    """JSON in JSON, with quotes escaped again at each level."""
    inner = '{"token": "a1b2"}'
    while len(inner) < size:
        inner = '{"token": "' + inner.replace("\\", "\\\\").replace('"', '\\"') + '"}'
    return inner[:size]


def _nested_links(size: int) -> str:
    """A link in a link, percent-encoded again at each level."""
    inner = "https://example.org/?key=a1"
    while len(inner) < size:
        inner = "https://example.org/?next=" + inner.replace("%", "%25").replace("/", "%2f").replace(":", "%3a")
    return inner[:size]


# Texts with nested parts.
NESTED: dict[str, Callable[[int], str]] = {
    "nested objects": _nested_objects,
    "nested lists": lambda size: "[" * (size // 2) + "]" * (size // 2),
    "nested strings": _nested_strings,
    "nested links": _nested_links,
}
NAMES = [*PIECES, *NESTED]
