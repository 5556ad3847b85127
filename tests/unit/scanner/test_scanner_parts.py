"""The functions that `scan` consists of."""

import binascii
import hmac
import runpy
from pathlib import Path

import pytest

from keepmum_scanner import shapes
from keepmum_scanner.candidates import merged
from keepmum_scanner.context import ASSIGNED, NEAR, UNNAMED, Context
from keepmum_scanner.decode import decoded, is_readable
from keepmum_scanner.finding import fingerprint
from keepmum_scanner.prefixes import ends_with_crc32
from keepmum_scanner.scored_tokens import find as find_scored
from keepmum_scanner.scorer import THRESHOLD, Features
from keepmum_scanner.surprise import surprise
from keepmum_scanner.tokens import tokens

manual_score = runpy.run_path(str(Path(__file__).parents[3] / "scanner" / "train_scorer.py"))["manual_score"]
RANDOM = "q7Zr2LxV9" + "tKc4Wn8Bf1Hd6"


def _is_placeholder(token: str) -> bool:
    return shapes.is_placeholder(token, surprise(token))


BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


@pytest.mark.parametrize(
    "words",
    ["task-while-still-running", "processTokenRefreshEvent", "src/components/AuthProvider", "MAX_OUTPUT_TOKENS"],
)
def test_words_surprise_less_than_keys(words: str) -> None:
    assert surprise(words) < 5.5
    assert surprise(RANDOM) > 7


def test_letters_beyond_ascii_cost_as_much_as_words() -> None:
    assert surprise("приветствие") == pytest.approx(4.0)


def test_one_character_has_no_surprise() -> None:
    assert surprise("a") == surprise("") == 0


def test_token_ends_before_the_full_stop() -> None:
    assert [token.text for token in tokens(f"it is {RANDOM}. Next")] == [RANDOM]


def test_name_and_value_are_two_tokens() -> None:
    assert [token.text for token in tokens(f"{RANDOM}A={RANDOM}==")] == [RANDOM + "A", RANDOM + "=="]


def test_escaped_line_break_is_not_part_of_the_token() -> None:
    (token,) = tokens(f"a\\n{RANDOM}")
    assert (token.text, token.start) == (RANDOM, 3)


def test_short_words_are_not_tokens() -> None:
    assert tokens("short words only") == []


@pytest.mark.parametrize(
    ("text", "naming"),
    [
        pytest.param("the value is @", UNNAMED, id="nothing"),
        pytest.param("password: @", ASSIGNED, id="separator"),
        pytest.param("Password for the staging account is `@`", ASSIGNED, id="in prose"),
        pytest.param("a token we made last week @", NEAR, id="in the same line"),
        pytest.param("send @ as the bearer token", NEAR, id="after"),
        pytest.param("<token>\n  @\n</token>", ASSIGNED, id="on a line of its own"),
        pytest.param("about tokens\n@", UNNAMED, id="another line"),
        pytest.param("rotated the token. See commit @", UNNAMED, id="another sentence"),
        pytest.param("token fix in commit @", UNNAMED, id="a nearer name"),
        pytest.param("tokens: @", UNNAMED, id="tokens are counted"),
        pytest.param("monkey: @", UNNAMED, id="part of another word"),
        pytest.param("dbKey: @", ASSIGNED, id="camelCase"),
        pytest.param("nextToken: @", UNNAMED, id="cursor of a listing"),
    ],
)
def test_surroundings_name_a_value(text: str, naming: int) -> None:
    start = text.index("@")
    assert Context(text).naming(start, start + 1) == naming


@pytest.mark.parametrize(
    ("guard", "token", "passes"),
    [
        (shapes.is_identity, "94ee59639f242537a8880045a76eadde5211c2a9", True),
        (shapes.is_identity, "94EE59639f242537a8880045a76eadde5211c2a9", False),
        (shapes.is_identity, "01ARZ3NDEKTSV4RRFFQ69G5FAV", True),
        (shapes.is_identity, "job-2ec8128b-ee80-4222-b58a-570990994454", True),
        (shapes.is_identity, "20251121T093000Z", True),
        (shapes.is_identity, RANDOM, False),
        (shapes.is_path, "src/auth/provider", True),
        (shapes.is_public, "_ZN2v88internal9Execution4CallEPNS0", True),
        (shapes.is_public, RANDOM, False),
        (shapes.is_path, RANDOM + "/" + RANDOM, False),
        (shapes.is_name, "hashlib.pbkdf2_hmac", True),
        (shapes.is_name, "AZURE_API_KEY", True),
        (shapes.is_name, RANDOM, False),
        (shapes.is_camel, "Ed25519PublicKey", True),
        (shapes.is_camel, RANDOM, False),
        (_is_placeholder, "your-api-key-here", True),
        (_is_placeholder, "xxxxxxxxxxxxxxxx", True),
        (_is_placeholder, "abcdef...uvwxyz", True),
        (_is_placeholder, RANDOM, False),
        (shapes.is_reference, "${DB_PASSWORD}", True),
        (shapes.is_reference, "{{ password }}", True),
        (shapes.is_reference, "<password>", True),
        (shapes.is_reference, "%(password)s", True),
        (shapes.is_reference, "hunter2", False),
    ],
)
def test_shape(guard, token: str, passes: bool) -> None:  # type: ignore[no-untyped-def] # noqa: ANN001, FBT001 - a table of functions
    assert guard(token) is passes


def test_checksum_is_valid_for_its_token_only() -> None:
    body = "a1B2c3D4e5" * 3
    number, digits = binascii.crc32(body.encode()), ""
    while number:
        number, digit = divmod(number, 62)
        digits = BASE62[digit] + digits
    assert ends_with_crc32(body + digits.rjust(6, "0"))
    assert not ends_with_crc32("b" + body[1:] + digits.rjust(6, "0"))
    assert not ends_with_crc32("short")


@pytest.mark.parametrize(
    ("token", "text"),
    [
        ("cGFzc3dvcmQ9aHVudGVyMg==", "password=hunter2"),
        ("password%3Dhunter2", "password=hunter2"),
        ("70617373776f72643d68756e74657232", "password=hunter2"),
        (RANDOM, None),
        ("94ee59639f242537a8880045a76eadde5211c2a9", None),
    ],
)
def test_one_level_of_encoding_is_decoded(token: str, text: str | None) -> None:
    assert decoded(token) == text


def test_decoded_words_are_readable() -> None:
    assert is_readable(decoded("eyJjcmVhdGVkSW5WZXIiOiI0MS4xNTkuNCIsInRhcmdldEJyYW5jaCI6Im1haW4ifQ=="))
    assert not is_readable(decoded(RANDOM))


def test_a_new_token_is_not_decoded() -> None:
    (token,) = tokens("cGFzc3dvcmQ9aHVudGVyMg==")
    assert token.plain is None
    assert decoded(token.text) == "password=hunter2"


def features(**changed: float) -> Features:
    values = {"surprise": 4.0, "length": 24, "run": 24, "switches": 0, "naming": UNNAMED} | changed
    return Features(
        surprise=values["surprise"],
        length=int(values["length"]),
        run=int(values["run"]),
        switches=int(values["switches"]),
        mixed=values["switches"] > 0,
        naming=int(values["naming"]),
        identity=bool(values.get("identity")),
        path=bool(values.get("path")),
    )


def test_random_spelling_scores_high() -> None:
    assert manual_score(features(surprise=8.0, switches=6)) > THRESHOLD


def test_words_score_low_even_with_a_name() -> None:
    assert manual_score(features(naming=ASSIGNED)) < THRESHOLD


def test_id_scores_high_only_when_a_name_is_assigned_to_it() -> None:
    assert manual_score(features(identity=True, naming=ASSIGNED)) > THRESHOLD
    assert manual_score(features(identity=True, naming=NEAR)) < THRESHOLD


def test_part_of_a_link_scores_low() -> None:
    assert manual_score(features(path=True, surprise=9.0, switches=9, naming=ASSIGNED)) < THRESHOLD


def test_scorer_can_be_replaced() -> None:
    text = f"it says {RANDOM}"
    assert list(find_scored(tokens(text), Context(text), (), lambda _: 0.0)) == []
    assert list(find_scored(tokens(text), Context(text), (), lambda _: 1.0)) == [("secret.unnamed", 8, 30, 1.0)]


def test_overlapping_candidates_are_merged() -> None:
    assert merged([("a", 5, 9, 0.6), ("b", 0, 6, 0.9), ("c", 12, 14, 0.5)]) == [("b", 0, 9, 0.9), ("c", 12, 14, 0.5)]


@pytest.mark.parametrize("key", [b"k", b"x" * 32, b"y" * 64, b"z" * 65])
@pytest.mark.parametrize("text", ["", "word", "naïve \ud800"])
def test_a_fingerprint_is_an_hmac(key: bytes, text: str) -> None:
    expected = hmac.new(key, text.encode("utf-8", "surrogatepass"), "sha256").hexdigest()[:32]
    assert fingerprint(text, key) == expected
