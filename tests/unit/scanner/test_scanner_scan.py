"""Typical texts that `scan` refuses, and typical texts that pass."""

import pytest

from keepmum_scanner import Finding, scan

GITHUB = "gh" + "p_" + "a1B2" * 9
SHA1 = "94ee59639f242537a8880045a76eadde5211c2a9"
SHA256 = SHA1 + "0a1b2c3d4e5f60718293a4b5"
UUID = "2ec8128b-ee80-4222-b58a-570990994454"
RANDOM = "q7Zr2LxV9" + "tKc4Wn8Bf1Hd6"


def rules(text: str) -> list[str]:
    return [finding.rule for finding in scan(text)]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param(f"fixed in {SHA1}", id="SHA-1"),
        pytest.param(f"{SHA256}  dist/keepmum.whl", id="SHA-256"),
        pytest.param(f"image sha256:{SHA256}", id="digest"),
        pytest.param(f"session {UUID} failed", id="UUID"),
        pytest.param("thread 01ARZ3NDEKTSV4RRFFQ69G5FAV", id="ULID"),
        pytest.param("memory mem_01ARZ3NDEKTSV4RRFFQ69G5FAV", id="ULID with its kind"),
        pytest.param("order 507f1f77bcf86cd799439011", id="ObjectId"),
        pytest.param('"integrity": "sha512-' + RANDOM * 3 + 'abcd=="', id="lock-file integrity"),
        pytest.param("see #2763/#2774", id="issue numbers"),
        pytest.param("it is task-while-still-running", id="task-while-still-"),
        pytest.param("a risk-based-approach", id="risk-based-"),
        pytest.param("uses sk-learn-based-classifier-v2-final", id="sk-learn-based-classifier-"),
        pytest.param("password: process.env.DB_PASSWORD", id="process.env"),
        pytest.param("apiKey: import.meta.env.VITE_API_KEY", id="import.meta.env"),
        pytest.param("password=${DB_PASSWORD}", id="shell variable"),
        pytest.param("token: ${{ secrets.GITHUB_TOKEN }}", id="workflow secret"),
        pytest.param("token: <your-token-here>", id="placeholder in angle brackets"),
        pytest.param("API_KEY=your_api_key_here", id="placeholder in words"),
        pytest.param("API_KEY=...", id="ellipsis"),
        pytest.param("api_key = 'my-api-key-here'", id="my key here"),
        pytest.param("Authorization: Basic credentials", id="prose about basic authorization"),
        pytest.param("export npm_config_registry_is_set_in_the_environment", id="prefix and words"),
        pytest.param("password: str | None = None", id="type"),
        pytest.param("def check(password: string, token: Token)", id="parameters"),
        pytest.param("token = get_token(session)", id="call"),
        pytest.param("max_tokens: 4096, input_tokens=1200", id="tokens of a model"),
        pytest.param("the token is required for all requests", id="prose about a token"),
        pytest.param("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + RANDOM + " me@host", id="ssh public key"),
        pytest.param(f"https://github.com/a/b/blob/{SHA1}/src/auth/token.py#L10", id="git permalink"),
        pytest.param(f"rotated the token ([1c845e5](https://github.com/a/b/commit/{SHA1}))", id="commit near a token"),
        pytest.param("arn:aws:kms:us-west-2:111122223333:key/" + UUID, id="ARN"),
        pytest.param("class Ed25519PublicKey(ApiGatewayV2Stage)", id="camelCase with numbers"),
        pytest.param("-----BEGIN PRIVATE KEY----- is the header", id="PEM header alone"),
        pytest.param(f"-----BEGIN CERTIFICATE-----\nMIIB{RANDOM}\n-----END CERTIFICATE-----", id="certificate"),
        pytest.param("base64 aGVsbG8gd29ybGQsIGhvdyBhcmUgeW91", id="base64 of words"),
        pytest.param("cache key: 9f8e7d6c5b", id="hexadecimal key of a cache"),
        pytest.param('{"token": "12345678"}', id="number of a token"),
        pytest.param('autocomplete: "current-password", password: "not-required"', id="hyphenated words of a form"),
        pytest.param("list?page_token=CAUQAA1234567890abcdefgh", id="cursor of a listing, in a link"),
    ],
)
def test_harmless_text_passes(text: str) -> None:
    assert rules(text) == []


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        pytest.param(f"push with {GITHUB}", "github.token", id="GitHub token"),
        pytest.param('{"note": "a\\n' + GITHUB + '"}', "github.token", id="after an escaped line break"),
        pytest.param(f"https://example.com/?access={GITHUB}", "github.token", id="in a link's query"),
        pytest.param("hf" + "_" + "aBcDeFgHiJ" * 3 + "kLmN", "huggingface.token", id="Hugging Face"),
        pytest.param("AS" + "IA" + "Q3EGRIZ7WLH2NPKX", "aws.access-key", id="temporary AWS key"),
        pytest.param("id AK" + "IA" + "IOSFODNN7" + "EXAMPLE", "aws.access-key", id="AWS key of the documentation"),
        pytest.param("Authorization: Basic " + "dXNlcjpwYXNzd29y" + "ZDEyMw==", "http.basic", id="basic authorization"),
        pytest.param("pat" + "a1B2c3D4e5F6g7." + "0a1b2c3d" * 8, "airtable.token", id="two parts"),
        pytest.param("abc" + "8Q~" + "a1B2c3D4" * 4, "azure.client-secret", id="mark in the middle"),
        pytest.param("password: my-secret-" + "password-2024x7", "secret.password", id="words with a number"),
        pytest.param("PASSWORD=" + "HUNTER2XX \u0130", "secret.password", id="a letter that grows in lower case"),
        pytest.param("postgres://user:" + "sesame@host", "url.password", id="postgres"),
        pytest.param("https://user:" + "sesame@host", "url.password", id="https"),
        pytest.param("mongodb+srv://u:" + "p@cluster", "url.password", id="mongodb"),
        pytest.param("password = " + "correcthorsebattery", "secret.password", id="one long word"),
        pytest.param("our staging password is " + "correct7horse", "secret.password", id="in prose"),
        pytest.param("use " + "tr0ub4dor&3" + " as the password", "secret.password", id="before its name"),
        pytest.param("비밀번호: " + "dipPr" + "191Gg!", "secret.password", id="in Korean"),
        pytest.param("curl -u admin:" + "S3cr3tPw", "secret.password", id="curl user"),
        pytest.param(f"the deploy key is {SHA1}", "secret.named", id="hexadecimal that is named a key"),
        pytest.param(f"BUILD_TOKEN={UUID}", "secret.named", id="UUID that is named a token"),
        pytest.param(f"pasted {RANDOM} into the form", "secret.unnamed", id="random spelling in a sentence"),
        pytest.param("AUTH_TOKEN: " + "abc123de", "secret.named", id="short hexadecimal that is given to a token"),
        pytest.param(
            "the api token is " + "ABCD-1234-123456-" + "abcdef-12345678", "secret.named", id="digits in groups"
        ),
        pytest.param("api key: " + RANDOM + ".." + RANDOM, "secret.named", id="two dots inside a long key"),
        pytest.param(
            "apikey = '" + "m{{h}o)p${e]nob(ody" + "[finds>-_$#thisone}}'", "secret.named", id="all kinds of symbols"
        ),
        pytest.param("Password for the account is `" + "open-" + "sesame`", "secret.password", id="words in quotes"),
        pytest.param("Salt credentials: " + "\\x23!" + "\\xae2389x&543@", "secret.password", id="escaped bytes"),
        pytest.param("CREATE USER a IDENTIFIED BY " + "SqLpa5sW0rD", "secret.password", id="SQL without quotes"),
        pytest.param("ConvertTo-SecureString -AsPlainText " + "dsjUE#gds8s", "secret.password", id="PowerShell"),
        pytest.param("id/passwd: root / " + "iPp8@GRq", "secret.password", id="pair"),
        pytest.param(f"it says {RANDOM}", "secret.unnamed", id="random spelling"),
        pytest.param("-----BEGIN RSA PRIVATE KEY-----\n" + RANDOM * 3, "private-key", id="PEM block without its end"),
    ],
)
def test_secret_is_found(text: str, rule: str) -> None:
    assert rules(text) == [rule]


def test_finding_spans_the_secret_only() -> None:
    text = f"push with {GITHUB}, then go"
    (finding,) = scan(text)
    assert text[finding.start : finding.end] == GITHUB


def test_findings_are_in_order_of_position() -> None:
    findings = scan(f"first {GITHUB}\nthen postgres://u:" + f"pw@h\nand {GITHUB}")
    assert [finding.rule for finding in findings] == ["github.token", "url.password", "github.token"]


def test_a_token_inside_a_link_is_one_finding() -> None:
    (finding,) = scan(f"https://user:{GITHUB}@host/path")
    assert finding == Finding(finding.rule, 13, 13 + len(GITHUB), finding.confidence)


def test_zero_width_characters_do_not_hide_a_token() -> None:
    hidden = "\u200b".join(GITHUB)
    text = f"push with {hidden}."
    (finding,) = scan(text)
    assert finding.rule == "github.token"
    assert text[finding.start : finding.end] == hidden


def test_full_width_letters_do_not_hide_a_token() -> None:
    wide = "".join(chr(ord(letter) + 0xFEE0) for letter in GITHUB)
    assert rules(f"push with {wide}") == ["github.token"]


def test_lone_surrogates_do_not_stop_a_scan() -> None:
    assert rules(f"\ud800 {GITHUB} \udfff") == ["github.token"]


@pytest.mark.parametrize("encode", ["base64", "percent"])
def test_one_level_of_encoding_does_not_hide_a_token(encode: str) -> None:
    import base64
    import urllib.parse

    plain = f"token={GITHUB}"
    encoded = base64.b64encode(plain.encode()).decode() if encode == "base64" else urllib.parse.quote(plain, safe="")
    assert "github.token" in rules(f"the header was {encoded}")


def test_a_key_function_is_called_only_when_there_is_a_finding() -> None:
    called: list[int] = []

    def key() -> bytes:
        called.append(1)
        return b"k"

    assert scan("nothing here", key) == []
    assert called == []
    text = "gh" + "p_" + "a1B2" * 9
    assert scan(text, key) == scan(text, b"k")
    assert called == [1]
