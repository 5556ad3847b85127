"""Ids, names and digests pass in every sentence, even near the words of credentials."""

import base64
import random
import string
import uuid
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import pytest

from keepmum_scanner import scan

ROUNDS = 20
ALNUM = string.ascii_letters + string.digits
WORDS = (
    "session token key secret cache user commit pointer review handle parser loader config worker memory store retry "
    "index query build while still based risk task note async batch signal graph"
).split()


def hexadecimal(rng: random.Random, digits: int) -> str:
    return "".join(rng.choices("0123456789abcdef", k=digits))


def pick(rng: random.Random, size: int) -> str:
    return "".join(rng.choices(ALNUM, k=size))


def encoded(rng: random.Random, size: int) -> str:
    return base64.b64encode(rng.randbytes(size)).decode()


def words(rng: random.Random, count: int, joint: str) -> str:
    return joint.join(rng.choices(WORDS, k=count))


def camel_case(rng: random.Random, count: int) -> str:
    return words(rng, 1, "") + "".join(map(str.title, rng.choices(WORDS, k=count)))


def identity(rng: random.Random) -> str:
    return str(uuid.UUID(int=rng.getrandbits(128), version=4))


def lines(rng: random.Random) -> str:
    return "\n".join(encoded(rng, 57) for _ in range(5)) + "\n" + encoded(rng, 20)


def query(rng: random.Random) -> str:
    """A search query."""
    return words(rng, rng.randint(1, 5), " ") + rng.choice(("", " #1234", "/x?y=1", " 100%", ' "as is"'))


def layout(rng: random.Random) -> str:
    """A format string of `struct`."""
    counts, kinds = ("", "2", "4", "16", "32"), "bBhHiIlLqQfds"
    return "".join(rng.choice(counts) + rng.choice(kinds) for _ in range(rng.randint(7, 16)))


def safe(rng: random.Random, size: int) -> str:
    """Random characters as in names of pods: without vowels, so that they form no words."""
    return "".join(rng.choices("bcdfghjklmnpqrstvwxz2456789", k=size))


THINGS: dict[str, Callable[[random.Random], str]] = {
    "SHA-1": lambda c: hexadecimal(c, 40),
    "SHA-1, cut": lambda c: hexadecimal(c, c.randint(7, 12)),
    "SHA-256": lambda c: hexadecimal(c, 64),
    "MD5": lambda c: hexadecimal(c, 32),
    "UUID": identity,
    "ULID": lambda c: "01" + "".join(c.choices("0123456789ABCDEFGHJKMNPQRSTVWXYZ", k=24)),
    "ObjectId": lambda c: hexadecimal(c, 24),
    "digest of an image": lambda c: f"ghcr.io/acme/{words(c, 1, '')}@sha256:{hexadecimal(c, 64)}",
    "sha256:": lambda c: "sha256:" + hexadecimal(c, 64),
    "lock file integrity": lambda c: "sha512-" + encoded(c, 64),
    "go.sum": lambda c: "h1:" + encoded(c, 32),
    "fingerprint of an ssh key": lambda c: "SHA256:" + encoded(c, 32).rstrip("="),
    "issues": lambda c: f"#{c.randint(1, 9999)}/#{c.randint(1, 9999)}",
    "hyphenated words": lambda c: words(c, 4, "-") + "-",
    "environment in JavaScript": lambda c: "process.env." + words(c, 3, "_").upper(),
    "variable": lambda c: "${" + words(c, 2, "_").upper() + "}",
    "git permalink": lambda c: f"https://github.com/acme/x/blob/{hexadecimal(c, 40)}/src/{words(c, 1, '')}.py#L12",
    "link of a commit without its scheme": lambda c: f"github.com/acme/{words(c, 1, '')}/commit/{hexadecimal(c, 40)}",
    "browser's boundary": lambda c: "----WebKitFormBoundary" + pick(c, 16),
    "curl's boundary": lambda c: "-" * 24 + pick(c, 22),
    "mail's boundary": lambda c: "=_" + pick(c, 24),
    "Java's boundary": lambda c: f"----=_Part_{c.randint(1, 9**7)}_{c.randint(1, 9**9)}.{c.randint(1, 9**13)}",
    "Python's boundary": lambda c: f"==============={c.randint(1, 10**18):019d}==",
    "Apple's boundary": lambda c: f"Apple-Mail=_{identity(c).upper()}",
    "camelCase": lambda c: camel_case(c, 4),
    "camelCase with a size": lambda c: camel_case(c, 2) + c.choice(("Base64", "Utf8", "Uint8", "IPv6")) + "Reader",
    "snake_case": lambda c: words(c, 5, "_"),
    "SCREAMING_CASE": lambda c: words(c, 4, "_").upper(),
    "CSS colour": lambda c: "#" + hexadecimal(c, c.choice((3, 6, 8))),
    "data URI of a PNG": lambda c: "data:image/png;base64,iVBORw0KGgo" + encoded(c, 90),
    "data URI of another image": lambda c: f"data:image/{c.choice(('webp', 'avif', 'gif'))};base64," + encoded(c, 90),
    "data URI of a font": lambda c: "data:font/woff2;charset=utf-8;base64," + encoded(c, 120),
    "ssh public key": lambda c: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + encoded(c, 33)[:43],
    "trace": lambda c: f"00-{hexadecimal(c, 32)}-{hexadecimal(c, 16)}-01",
    "branch": lambda c: f"feature/{words(c, 1, '')}-{c.randint(1, 9999)}-{words(c, 2, '-')}",
    "git describe": lambda c: f"v1.{c.randint(0, 30)}.{c.randint(0, 9)}-{c.randint(1, 300)}-g{hexadecimal(c, 8)}",
    "work tree": lambda c: f"worktree-{hexadecimal(c, 8)}",
    "directory of an archive": lambda c: f"ninja-{hexadecimal(c, 40)}",
    "role of a cloud": lambda c: f"arn:aws:iam::{c.randint(10**11, 10**12 - 1)}:role/{words(c, 2, '-')}",
    "query, percent-encoded": lambda c: "&".join(f"{words(c, 1, '')}={quote(query(c), safe='')}" for _ in range(4)),
    "query of a form": lambda c: "&".join(f"{name}={quote_plus(query(c))}" for name in ("q", "filter", "sort", "next")),
    "link inside a link": lambda c: (
        "https://login.example.org/authorize?scope=openid%20profile&redirect_uri="
        + quote(f"https://app.example.org/{words(c, 2, '/')}?next=/{words(c, 1, '')}&lang=de", safe="")
    ),
    "JSON inside a link": lambda c: (
        "filter=" + quote(f'{{"status":["open"],"labels":["{words(c, 1, "")}"],"page":{c.randint(1, 99)}}}', safe="")
    ),
    "IBAN": lambda c: f"{c.choice(('DE', 'FR', 'ES', 'PL'))}{c.randint(10**19, 10**20 - 1)}",
    "IBAN with letters": lambda c: f"GB{c.randint(10, 99)}{pick(c, 4).upper()}{c.randint(10**13, 10**14 - 1)}",
    "IBAN in groups": lambda c: "DE" + " ".join(str(c.randint(1000, 9999)) for _ in range(5)),
    "format of struct": lambda c: c.choice("<>=!@") + layout(c),
    "call of struct": lambda c: f"struct.unpack('{c.choice('<>=!')}{layout(c)}', data)",
    "format of printf": lambda c: "%" + "%".join(c.choice(("02x", "s", "-20s", "08.3f", "d")) for _ in range(8)),
    "format of a date": lambda c: c.choice(("%Y-%m-%dT%H:%M:%S.%fZ", "%d%b%Y_%H%M%S", "%Y%m%d%H%M%S")),
    "complex number": lambda c: f"{c.uniform(-9, 9):.8e}{c.choice('+-')}{c.uniform(0, 9):.8e}j",
    "complex numbers": lambda c: ", ".join(f"{c.gauss(0, 1):.6f}{c.choice('+-')}{c.random():.6f}j" for _ in range(4)),
    "numbers": lambda c: ", ".join(f"{c.gauss(0, 1):.8f}" for _ in range(6)),
    "pod": lambda c: f"{words(c, 2, '-')}-{safe(c, c.randint(8, 10))}-{safe(c, 5)}",
    "address of a network card": lambda c: ":".join(hexadecimal(c, 2) for _ in range(6)),
    "IPv6": lambda c: ":".join(hexadecimal(c, 4) for _ in range(8)),
    "paper": lambda c: (
        f"arXiv:{c.randint(1, 26):02d}{c.randint(1, 12):02d}.{c.randint(10**4, 10**5 - 1)}v{c.randint(1, 9)}"
    ),
    "document on the web": lambda c: f"https://docs.google.com/document/d/{pick(c, 44)}/edit",
    "film on the web": lambda c: f"https://www.youtube.com/watch?v={pick(c, 11)}",
    "domain name in other letters": lambda _: "xn--e1afmkfd.xn--p1ai",
    "alphabet": lambda c: string.ascii_uppercase + string.ascii_lowercase + string.digits + c.choice(("+/", "-_", "")),
    "German": lambda c: c.choice(
        (
            "Der Schlüssel liegt im Tresor; die Zugangsdaten verwaltet das Betriebsteam.",
            "Das Passwort wird vierteljährlich geändert und nie im Klartext gespeichert.",
            "Geschwindigkeitsbegrenzungsüberschreitung beim Token-Endpunkt vermeiden.",
        )
    ),
    "Chinese": lambda c: c.choice(
        (
            "密码由运维团队保管\uff0c令牌每三个月轮换一次。",
            "登录接口返回的令牌不要写入日志。",
            "请不要在提交信息里写密钥。",
        )
    ),
}
SENTENCES = (
    "Fixed in {} after the review.",
    "{} is the one we use.",
    "- see `{}` for details",
    "* {}",
    "| commit | {} |",
    "ref: {}\nname: x",
    '{{"ref": "{}", "n": 1}}',
    'it says "{}" there',
    "We settled on {}",
    "```\n{}\n```",
    "The commit key {} is unique.",
    "cache key: {}",
    'idempotency_key = "{}"',
    "The primary key of the row is {}.",
    "token count near {} was off",
    "hash: {}",
    "Der Schlüssel der Tabelle lautet {}.",
    "secret_id: {}",
    "Token refresh was fixed in commit {}.",
    "The token endpoint changed, see {}.",
    "auth: fix login redirect ({})",
    "Replace the private accessor (#1007) {}",
    "Merge {} into main: rotate keys nightly",
)


@pytest.mark.parametrize("name", THINGS)
def test_a_harmless_name_passes_in_every_sentence(name: str) -> None:
    rng = random.Random(name)
    texts = [sentence.format(THINGS[name](rng)) for sentence in SENTENCES for _ in range(ROUNDS)]
    assert [text for text in texts if scan(text)] == []


PUBLIC: dict[str, Callable[[random.Random], str]] = {
    "OpenPGP fingerprint": lambda c: hexadecimal(c, 40).upper(),
    "OpenPGP fingerprint in groups": lambda c: " ".join(hexadecimal(c, 4).upper() for _ in range(10)),
    "OpenPGP id": lambda c: hexadecimal(c, 16).upper(),
    "OpenPGP id with its sign": lambda c: "0x" + hexadecimal(c, 16).upper(),
    "ssh fingerprint": lambda c: "SHA256:" + encoded(c, 32).rstrip("="),
    "ssh fingerprint of old": lambda c: "MD5:" + ":".join(hexadecimal(c, 2) for _ in range(16)),
    "RSA public key": lambda c: "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A" + encoded(c, 270),
    "Ed25519 public key": lambda c: "MCowBQYDK2VwAyEA" + encoded(c, 32),
}
KEY_SENTENCES = (
    "signing key {}",
    "The release is signed with key {}.",
    "gpg --recv-keys {}",
    "key id {}",
    "key fingerprint {}",
    "fingerprint of the deploy key: {}",
    "public key: {}",
    '"publicKey": "{}"',
    "public_key = {}",
)


@pytest.mark.parametrize("name", PUBLIC)
def test_an_id_of_a_public_key_passes_after_the_word_key(name: str) -> None:
    rng = random.Random(name)
    texts = [sentence.format(PUBLIC[name](rng)) for sentence in KEY_SENTENCES for _ in range(ROUNDS)]
    assert [text for text in texts if scan(text)] == []
