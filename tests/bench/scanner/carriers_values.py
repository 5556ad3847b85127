"""Makers of values for generated texts: passwords of many styles, PINs, codes, phrases and tokens, and what is none.

All are made at run time, so that the repository contains no secret.
"""

from __future__ import annotations

import hashlib
import random
import string
from collections.abc import Callable, Mapping

from keepmum_scanner.seed_words import numbers

__all__ = ["HARMLESS", "SECRETS", "Maker"]

Maker = Callable[[random.Random], str]

_LETTERS = string.ascii_letters
_ALNUM = string.ascii_letters + string.digits
_HEX = "0123456789abcdef"
_LISTED = [word.decode() for word in numbers()]
# Words that few lists of seed words contain.
_WORDS = (
    "acorn badger barley bramble candle cedar cinder clover cobalt comet copper coral cricket daisy ember falcon "
    "fennel ferry flint garnet gravel hazel heron indigo jasper juniper kettle lantern larch lilac linen magnet mallow "
    "marble meadow nectar nettle nutmeg oriole otter paddle pebble pepper plover poplar quartz quill raven ribbon "
    "saddle saffron sorrel sparrow thimble thistle timber topaz tundra turnip velvet violet walnut willow yarrow zephyr"
).split()
_FOREIGN = (
    "sommer winter fruehling katze garten schatten verano playa gato montana jardin soleil fleur ciel neige matin "
    "estate mare cuore sabbia praia floresta saudade zomer fiets molen lato kwiat sommar skog vinter leto zima yaz "
    "bahar natsu sakura umi haru"
).split()
_NAMES = (
    "jonas marta lucia pedro akiko tomasz ahmed yuki sofia mateo anneke bjorn ines olga dmitri selin kerem minjun "
    "haruto amelie nikos"
).split()
_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm", "1qaz2wsx", "qwe123", "zaq12wsx", "q1w2e3r4", "qazwsx")
_SYMBOLS = "!?#$%&*+.@-_"
_LEET = str.maketrans("aeiost", "4310$7")


def _pick(rng: random.Random, letters: str, count: int) -> str:
    return "".join(rng.choices(letters, k=count))


def _word(rng: random.Random) -> str:
    return rng.choice(_WORDS if rng.random() < 0.5 else _LISTED)


def _cased(rng: random.Random, word: str) -> str:
    return rng.choice((word, word, word.title(), word.upper() if len(word) < 6 else word.title()))


def _words_and_number(rng: random.Random) -> str:
    joint = rng.choice(("", "", "_", "-", ".", "!", "&", "@", "#"))
    words = joint.join(_word(rng).title() for _ in range(rng.choice((2, 2, 3))))
    return words + str(rng.randint(10, 9999)) + rng.choice(("", "", rng.choice("!?*#")))


def _number_between(rng: random.Random) -> str:
    return _word(rng) + str(rng.randint(10, 99)) + _word(rng) + rng.choice(("", "!", "$", "?"))


def _drawn(rng: random.Random) -> str:
    return rng.choice((".", "-", "_", "-")).join(_word(rng) for _ in range(rng.randint(4, 6)))


def _dated(rng: random.Random) -> str:
    name = _cased(rng, rng.choice(_NAMES + _FOREIGN))
    return name + rng.choice(("", "", "_", "-")) + str(rng.randint(1961, 2026)) + rng.choice(("", "!", "."))


def _keyboard(rng: random.Random) -> str:
    row = rng.choice(_ROWS)
    return rng.choice((row[:6], row[:6].title())) + rng.choice("!#1") + _pick(rng, string.ascii_lowercase + "0123", 2)


def _initials(rng: random.Random) -> str:
    mixed = _pick(rng, _LETTERS, 5) + rng.choice("!&%$") + str(rng.randint(10, 99)) + _pick(rng, _LETTERS, 3)
    return "A" + mixed + "z"


def _replaced(rng: random.Random) -> str:
    first, second = (_word(rng).translate(_LEET) for _ in range(2))
    return first.title() + rng.choice("_-!.") + second + str(rng.randint(1, 99))


def _foreign(rng: random.Random) -> str:
    return _cased(rng, rng.choice(_FOREIGN)) + rng.choice(_SYMBOLS) + rng.choice(_FOREIGN) + str(rng.randint(1, 999))


def _alnum(rng: random.Random) -> str:
    return "k" + _pick(rng, _ALNUM, rng.randint(6, 10)) + "7Q"


def _random(rng: random.Random) -> str:
    return "T" + _pick(rng, _ALNUM + "!#%&*+=?@^~-", rng.randint(9, 16)) + "x4!"


def _token(rng: random.Random) -> str:
    return _pick(rng, rng.choice((_ALNUM, _HEX, string.ascii_lowercase + string.digits)), rng.choice((24, 32, 40)))


def _pin(rng: random.Random) -> str:
    return "7" + _pick(rng, string.digits, rng.choice((3, 5, 7)))


def _phrase(rng: random.Random) -> str:
    length = rng.choice((12, 12, 15, 18, 24))
    size = length // 3
    secret = rng.randbytes(4 * size)
    number = int.from_bytes(secret, "big") << size | hashlib.sha256(secret).digest()[0] >> (8 - size)
    return " ".join(_LISTED[number >> 11 * place & 2047] for place in reversed(range(length)))


def _code(rng: random.Random) -> str:
    return "-".join("4" + _pick(rng, _HEX, 3) + "a" for _ in range(2))


SECRETS: Mapping[str, Maker] = {
    "password:words": _words_and_number,
    "password:twowords": _number_between,
    "password:dice": _drawn,
    "password:nameyear": _dated,
    "password:keyboard": _keyboard,
    "password:initials": _initials,
    "password:leet": _replaced,
    "password:foreign": _foreign,
    "password:alnum": _alnum,
    "password:random": _random,
    "random": _token,
    "pin": _pin,
    "phrase": _phrase,
    "code": _code,
}


def _uuid(rng: random.Random) -> str:
    return "-".join(_pick(rng, _HEX, count) for count in (8, 4, 4, 4, 12))


# What texts about credentials contain instead of one.
HARMLESS: Mapping[str, Maker] = {
    "digest": lambda rng: _pick(rng, _HEX, rng.choice((32, 40, 64))),
    "uuid": _uuid,
    "version": lambda rng: f"{rng.randint(0, 9)}.{rng.randint(0, 20)}.{rng.randint(0, 30)}",
    "identifier": lambda rng: "_".join(rng.sample("user session reset refresh login default max retry".split(), 3)),
    "resource": lambda rng: "-".join(rng.sample("orders db prod backup eu west cluster api cache".split(), 3)),
    "setting": lambda rng: ".".join(rng.sample("config auth client server security default value".split(), 3)),
    "variable": lambda rng: rng.choice(("${{{}}}", "${}", "%{}%", "<{}>", "{{{{ {} }}}}")).format(
        rng.choice(("DB_PASSWORD", "API_TOKEN", "SMTP_PASS"))
    ),
    "placeholder": lambda rng: rng.choice(("********", "changeme", "<your-token>", "REDACTED", "xxxxxxxx", "n/a", "-")),
    "number": lambda rng: str(rng.randint(2, 90)),
    "algorithm": lambda rng: rng.choice(("SHA256", "Argon2id", "bcrypt", "HS512", "AES-256-GCM", "PBKDF2")),
    "ticket": lambda rng: rng.choice(("OPS", "SEC", "INC")) + f"-{rng.randint(100, 9999)}",
    "place": lambda rng: rng.choice(("1Password", "Bitwarden", "vault://kv/prod/db", "the team vault", "AWS SSM")),
}
