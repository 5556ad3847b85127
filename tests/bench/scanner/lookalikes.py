"""Texts for training that no corpus has enough of: keys in unlikely places, and public data that is spelled like keys.

Made up from a fixed seed. The second stage must neither clear a random key because words for public things stand near
it, nor refuse public data because it is random.
"""

from __future__ import annotations

import base64
import random
import string
from collections.abc import Callable, Iterator, Mapping

from bench.scanner.corpus import Row

__all__ = ["lookalikes"]

SEED = 20261122
_EACH = 60  # texts of each kind
_HEX, _LETTERS = "0123456789abcdef", string.ascii_letters + string.digits
_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_WORDS = (
    "server client store index path value cache build graph query vector session project branch commit review config "
    "module package handler parser worker loader reader writer schema table column filter result request response "
    "message event stream socket buffer thread process signal timer update delete insert select node image hash digest "
    "key token login address public release version file host port account service cluster the of and for with"
).split()
_JOINTS = (" ", " ", " ", "/", "_", "=", " = ", ", ", "; ", ": ", "-", ".", "\n")


def lookalikes() -> Iterator[Row]:
    """Rows of each kind, the same at every call."""
    rng = random.Random(SEED)
    for number in range(10 * _EACH):
        key = _drawn(rng, rng.choice((_LETTERS, _LETTERS, _LETTERS + "-_", _LETTERS + "+/")), rng.randint(20, 64))
        place = rng.choice(("\n{}\n", " {} ", "\n{}\n", " `{}` ", ' "{}" '))
        text = _neighbour(rng) + rng.choice(("", " here", ":")) + place.format(key) + _neighbour(rng)
        yield _row(f"key-{number}", text, key)
    for name, make in PUBLIC.items():
        for number in range(_EACH):
            around = rng.choice(("{}", "{}", _filler(rng) + "\n{}", "{}\n" + _filler(rng)))
            yield _row(f"{name}-{number}", around.replace("{}", make(rng), 1), "")


def _row(name: str, text: str, value: str) -> Row:
    label = "secret" if value else "benign"
    return Row(name, text, label, "note", "lookalikes", "", value, "", "", "random" if value else "", permissive=True)


def _drawn(rng: random.Random, alphabet: str, count: int) -> str:
    return "".join(rng.choices(alphabet, k=count))


def _filler(rng: random.Random) -> str:
    joint = rng.choice(_JOINTS)
    return joint.join(rng.choices(_WORDS, k=rng.randint(4, 24)))


def _neighbour(rng: random.Random) -> str:
    """What may stand around a key: words, nothing, or a long run of anything."""
    return rng.choice(
        (
            _filler(rng),
            "",
            rng.choice("=-_#*/. a7") * rng.randint(8, 120),
            _drawn(rng, rng.choice((_LETTERS, _HEX, string.digits, string.ascii_lowercase)), rng.randint(40, 200)),
            "/".join(rng.choices(_WORDS, k=20)),
        )
    )


def _bytes(rng: random.Random, count: int) -> str:
    return base64.b64encode(rng.randbytes(count)).decode()


def _words(rng: random.Random, count: int = 2, joint: str = "-") -> str:
    return joint.join(rng.choices(_WORDS[:48], k=count))


def _public_key(rng: random.Random) -> str:
    name = rng.choice(
        ("pub_key", "public_key", "verify_key", "pubKey", "signer", "validator_pub_key", "consensus_pubkey")
    )
    key = _bytes(rng, 32) if rng.random() < 0.7 else _drawn(rng, _HEX.upper(), 64)
    kind = rng.choice(("type", "@type", "algorithm"))
    algorithm = rng.choice(("PubKeyEd25519", "ed25519", "/cosmos.crypto.ed25519.PubKey", "Secp256k1"))
    return rng.choice(
        (
            f'"{name}": {{\n  "{kind}": "{algorithm}",\n  "value": "{key}"\n}}',
            f'"{name}": {{ "value": "{key}", "{kind}": "{algorithm}" }}',
            f'{{"{name}": "{key}", "{kind}": "{algorithm}"}}',
            f"{name}={algorithm}{{{key}}}",
            f"{name}: {key}",
            f"[Peer]\nPublicKey = {key}\nEndpoint = 10.0.0.2:51820",
        )
    )


def _encoded_words(rng: random.Random) -> str:
    plain = _words(rng, rng.randint(1, 4), rng.choice((".", "-", " ", "_")))
    text = base64.b64encode(plain.encode()).decode()
    return rng.choice(
        (
            f'"key": "{text}",\n"value": "{_bytes(rng, 3)}"',
            f'"key": "{text}"',
            f"// Prints: {text}",
            f"echo {text} | base64 -d",
        )
    )


def _resource(rng: random.Random) -> str:
    name, tail = _words(rng, rng.randint(1, 3)), _drawn(rng, "bcdfghjklmnpqrstvwxz2456789", 5)
    return rng.choice(
        (
            f"the secret name `{name}-token-{tail}`:",
            f"Image pull secrets:  {name}-dockercfg-{tail}",
            f"get-token {name}-k8s -n monitoring",
            f"create token {name}-k8s)",
            f"token of the `{name}-k8s` service account",
            f"rendered-{name}-{_drawn(rng, _HEX, 32)}",
            f"config rendered-{name}-{_drawn(rng, _HEX, 32)} written",
            f"permalink: {name}-{_drawn(rng, _HEX, 12)}/{_words(rng)}",
            f"stored under the key `{name}-1`.",
        )
    )


def _identifier(rng: random.Random) -> str:
    return rng.choice(
        (
            f"Message-ID: <CA{_drawn(rng, _LETTERS + '-_', 28)}={_drawn(rng, _LETTERS, 12)}@mail.example.com>",
            f"https://www.youtube.com/watch?v={_drawn(rng, _LETTERS, 11)}",
            f"https://discord.gg/{_drawn(rng, _LETTERS, 10)} [discord.gg/{_drawn(rng, _LETTERS, 10)}]",
            f"@article{{{rng.choice(('miller', 'zhang', 'novak'))}{rng.randint(1990, 2026)}{_words(rng, 3, '')},",
            f"the MAC key ([CVE-{rng.randint(2014, 2026)}-{rng.randint(1000, 49999)}])",
            f"sha256+b64u:{base64.urlsafe_b64encode(rng.randbytes(32)).decode().rstrip('=')}",
            f"tx {_drawn(rng, _HEX.upper(), 64)} in block {_bytes(rng, 32)}",
            f"app_hash: {_bytes(rng, 32)}",
            f"block {_bytes(rng, 32)} at height {rng.randint(1, 99999)}",
            f"sent to {_drawn(rng, _BASE58, 44)} (address)",
            f"cosmos1{_drawn(rng, string.ascii_lowercase + string.digits, 38)}",
            f"project `{_drawn(rng, string.ascii_lowercase, 20)}` on the host",
            f"node id {_drawn(rng, _LETTERS, 22)}, cluster {_drawn(rng, _LETTERS, 22)}",
            f"ETag: {_drawn(rng, _LETTERS, 24)}\nx-amz-id-2: {_bytes(rng, 48)}",
            f"id: {_drawn(rng, _LETTERS, 20)}\nname: {_words(rng)}",
        )
    )


def _shortened(rng: random.Random) -> str:
    name = rng.choice(("APP_KEY", "token", "assertion", "key", "embedding", "--api-key"))
    return f"{name}={_drawn(rng, _LETTERS, rng.randint(8, 40))}" + rng.choice(("...", "\u2026"))


def _code(rng: random.Random) -> str:
    first, second = _words(rng, 1), _words(rng, 1)
    return rng.choice(
        (
            f"get('https://example.org/get?{first}1=value1&{second}2=value2&{first}=value{rng.randint(1, 9)}')",
            f"`to_string_with_credentials()` of the `{first.title()}{rng.randint(100, 999)}Url`",
            f"the token is **[{first.title()}]({second}.md)**.",
            f"a fast single-pass {first}; use `/{second}` instead",
            f"the default for private key encryption is {rng.choice(('3DES_CBC', 'AES256', 'RC2_40', 'DES_EDE3'))}.",
            f"Fl {''.join(sorted(rng.sample(_LETTERS, 16)))}",
            f'passwd"):\n    {first.upper()}{rng.randint(1, 9)}\n',
            f"amqp://guest:guest@{first}:5672// and transport://userid:password@hostname:port",
            f"url = 'amqp://my{first}:mypassword@localhost:5672/{second}'",
            f"libsecp256k1 {first} private keys (like ed25519{second})",
            f"{first.upper()}_{second.upper()}-X25519, {first.upper()}_get0_{second.upper()}()",
            f"draft-ietf-{first}-h{rng.randint(100, 999)}v2-0{rng.randint(1, 9)}",
            f"the 16,000 token `gpt-{rng.randint(3, 5)}.5-turbo-16k` model",
            f"recall@{rng.randint(1, 20)} and `{first}2{second}` in {first}_{rng.randint(1000, 9999)}",
        )
    )


PUBLIC: Mapping[str, Callable[[random.Random], str]] = {
    "public-key": _public_key,
    "encoded-words": _encoded_words,
    "resource": _resource,
    "identifier": _identifier,
    "shortened": _shortened,
    "code": _code,
}
