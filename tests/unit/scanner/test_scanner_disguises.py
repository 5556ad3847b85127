"""Keys in disguise: split by invisible characters, in full-width letters, encoded; private keys; keys of two parts."""

import base64
import json
import random
import runpy
import string
from collections.abc import Callable
from pathlib import Path

import pytest

from keepmum_scanner import scan
from unit.scanner.carriers import ALNUM, base64_of, pick, quoted
from unit.scanner.key_patterns import assembled

RULES = runpy.run_path(str(Path(__file__).parents[3] / "scanner" / "render_providers.py"))["rules"]()
KEYS = [rule["hits"][0] for rule in RULES][::3]
DASHES = "-" * 5

SPLIT: dict[str, Callable[[str], str]] = {
    **{
        f"U+{ord(hidden):04X}": lambda key, hidden=hidden: hidden.join(key)  # type: ignore[misc]
        for hidden in "\u200b\u200c\u200d\u2060\ufeff\u00ad\u202e\u2066\ufe0f\u034f\U000e0020\x00\x1b"
    },
    "here and there": lambda key: f"{key[:6]}\u200b{key[6:15]}\u200d{key[15:]}",
    "full width": lambda key: "".join(chr(ord(letter) + 0xFEE0) for letter in key),
    "bold of mathematics": lambda key: "".join(map(_bold, key)),
    "full width, and split": lambda key: "\u200b".join(chr(ord(letter) + 0xFEE0) for letter in key),
}
ENCODED: dict[str, Callable[[str], str]] = {
    "percent signs": lambda key: "".join(f"%{ord(letter):02X}" for letter in key),
    "percent signs, small": lambda key: "".join(f"%{ord(letter):02x}" for letter in key),
    "percent signs where links need them": lambda key: quoted(f"key={key}&x=1"),
    "hexadecimal": lambda key: key.encode().hex(),
    "hexadecimal, capitals": lambda key: key.encode().hex().upper(),
    "hexadecimal of C": lambda key: "0x" + key.encode().hex(),
    "base64": base64_of,
    "base64 for links": lambda key: base64.urlsafe_b64encode(key.encode()).decode().rstrip("="),
    "base64 of an assignment": lambda key: base64_of(f"TOKEN={key}\n"),
    "base64 of JSON": lambda key: base64_of(json.dumps({"token": key})),
    "base64 of a login": lambda key: base64_of(f"ada:{key}"),
    "escapes of C": lambda key: "".join(f"\\x{ord(letter):02x}" for letter in key),
    "escapes of JSON": lambda key: "".join(f"\\u{ord(letter):04x}" for letter in key),
    "entities": lambda key: "".join(f"&#{ord(letter)};" for letter in key),
    "entities, hexadecimal": lambda key: "".join(f"&#x{ord(letter):x};" for letter in key),
}
CARRIERS: dict[str, Callable[[str], str]] = {
    "a sentence": lambda text: f"push with {text} from now on",
    "code": lambda text: f"run `{text}` there",
    "JSON": lambda text: json.dumps({"note": text}),
    "JSON beyond ASCII": lambda text: json.dumps({"note": text}, ensure_ascii=False),
    "a link": lambda text: f"https://example.org/?q={text}",
    "a table": lambda text: f"| a | {text} |\n",
}


def _bold(letter: str) -> str:
    for first, bold in (("A", 0x1D400), ("a", 0x1D41A)):
        if letter.isascii() and letter.isalpha() and letter.isupper() == first.isupper():
            return chr(bold + ord(letter) - ord(first))
    return chr(0x1D7CE + int(letter)) if letter.isdigit() else letter


def passed(disguise: Callable[[str], str], carrier: Callable[[str], str], seed: str) -> list[int]:
    """Indices of the keys that pass in this disguise."""
    rng = random.Random(seed)
    return [number for number, key in enumerate(KEYS) if not scan(carrier(disguise(assembled(key, rng))))]


@pytest.mark.parametrize("carrier", CARRIERS.values(), ids=CARRIERS)
@pytest.mark.parametrize("disguise", SPLIT.values(), ids=SPLIT)
def test_a_split_or_full_width_key_is_refused(disguise: Callable[[str], str], carrier: Callable[[str], str]) -> None:
    assert passed(disguise, carrier, "split") == []


@pytest.mark.parametrize("carrier", CARRIERS.values(), ids=CARRIERS)
@pytest.mark.parametrize("disguise", ENCODED.values(), ids=ENCODED)
def test_an_encoded_key_is_refused(disguise: Callable[[str], str], carrier: Callable[[str], str]) -> None:
    assert passed(disguise, carrier, "encoded") == []


LABELS = ("", "RSA ", "EC ", "DSA ", "OPENSSH ", "ENCRYPTED ", "ED25519 ")
WIDTHS = (64, 70, 76)
QUOTING: dict[str, Callable[[list[str]], str]] = {
    "lines": "\n".join,
    "lines of Windows": "\r\n".join,
    "JSON": lambda lines: json.dumps({"private_key": "\n".join(lines)}),
    "YAML": lambda lines: "key: |\n" + "\n".join(f"  {line}" for line in lines),
    "a quotation": lambda lines: "\n".join(f"> {line}" for line in lines),
    "a comment": lambda lines: "\n".join(f"# {line}" for line in lines),
    "shell": lambda lines: "export KEY='" + "\\n".join(lines) + "'",
    "Python": lambda lines: "key = (\n" + "\n".join(f'    "{line}\\n"' for line in lines) + "\n)",
    "a code fence": lambda lines: "```\n" + "\n".join(lines) + "\n```",
    "without its end": lambda lines: "\n".join(lines[:-1]),
}


@pytest.mark.parametrize("quote", QUOTING.values(), ids=QUOTING)
def test_a_whole_private_key_is_refused(quote: Callable[[list[str]], str]) -> None:
    rng = random.Random(20261121)
    for label in LABELS:
        for width in WIDTHS:
            body = base64.b64encode(rng.randbytes(rng.choice((48, 120, 610, 1190)))).decode()
            lines = [body[at : at + width] for at in range(0, len(body), width)]
            text = quote(
                [f"{DASHES}BEGIN {label}PRIVATE KEY{DASHES}", *lines, f"{DASHES}END {label}PRIVATE KEY{DASHES}"]
            )
            start, end = text.index(lines[0]), text.index(lines[-1]) + len(lines[-1])
            assert any(found.start <= start and end <= found.end for found in scan(text)), (label, width)


PAIRS = (
    "{} {}",
    "{}\n{}\n",
    "{}:{}",
    "{},{}",
    "[default]\naws_access_key_id = {}\naws_secret_access_key = {}\n",
    "export AWS_ACCESS_KEY_ID={}\nexport AWS_SECRET_ACCESS_KEY={}\n",
    '{{"AccessKeyId": "{}", "SecretAccessKey": "{}"}}',
    "User name,Access key ID,Secret access key\nada,{},{}\n",
    "| key id | secret |\n|---|---|\n| {} | {} |\n",
    "access key {} with secret {}",
    "aws configure set aws_access_key_id {}; aws configure set aws_secret_access_key {}",
    "env:\n  - name: AWS_ACCESS_KEY_ID\n    value: {}\n  - name: AWS_SECRET_ACCESS_KEY\n    value: {}\n",
)


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("start", ["AK" + "IA", "AS" + "IA"])
def test_both_parts_of_a_key_are_found(pair: str, start: str) -> None:
    rng = random.Random(pair)
    missed = 0
    for _ in range(25):
        name = start + pick(rng, string.ascii_uppercase + "234567", 16)
        secret = pick(rng, ALNUM + "/+", 39) + rng.choice(ALNUM)
        text = pair.format(name, secret)
        found = scan(text)
        for part in (name, secret):
            at = text.index(part)
            missed += not any(one.start <= at and at + len(part) <= one.end for one in found)
    assert missed == 0
