"""Comparison with detect-secrets: our scanner finds what its plugins find in generated notes, with one exception."""

import base64
import random
import string
from collections.abc import Callable

import pytest
from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
from detect_secrets.plugins.base import BasePlugin

from keepmum_scanner import scan
from keepmum_scanner.detect_secrets_opinion import OFF

ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
ROUNDS = 25


def pick(rng: random.Random, letters: str, count: int) -> str:
    return "".join(rng.choices(letters, k=count))


# A text that each plugin reports; keys are assembled here, so that the repository contains none.
SHAPES: dict[str, Callable[[random.Random], str]] = {
    "ArtifactoryDetector": lambda c: "art: AK" + "Cp" + pick(c, ALNUM, 69),
    "AWSKeyDetector": lambda c: "id AK" + "IA" + pick(c, string.ascii_uppercase + "234567", 16),
    "AzureStorageKeyDetector": lambda c: "AccountKey=" + pick(c, ALNUM + "+/", 86) + "==",
    "BasicAuthDetector": lambda c: f"https://u{pick(c, ALNUM, 4)}:{pick(c, ALNUM, 9)}@host/x",
    "CloudantDetector": lambda c: "cloudant_password = '" + pick(c, HEX, 64) + "'",
    "DiscordBotTokenDetector": lambda c: f"M{pick(c, ALNUM, 23)}.{pick(c, ALNUM, 6)}.{pick(c, ALNUM, 27)}",
    "GitHubTokenDetector": lambda c: "gh" + "p_" + pick(c, ALNUM, 36),
    "GitLabTokenDetector": lambda c: "gl" + "pat-" + pick(c, ALNUM, 20),
    "IbmCloudIamDetector": lambda c: "ibm_cloud_iam_api_key = '" + pick(c, ALNUM + "_-", 44) + "'",
    "IbmCosHmacDetector": lambda c: "cos_hmac_secret_access_key = '" + pick(c, HEX, 48) + "'",
    "JwtTokenDetector": lambda c: ".".join(
        (encoded('{"alg":"HS256"}'), encoded(f'{{"sub":"{pick(c, ALNUM, 9)}"}}'), pick(c, ALNUM, 43))
    ),
    "MailchimpDetector": lambda c: "mailchimp key " + pick(c, HEX, 32) + "-us7",
    "NpmDetector": lambda c: "//registry.example/:_authToken=np" + "m_" + pick(c, ALNUM, 36),
    "OpenAIDetector": lambda c: "sk-" + pick(c, ALNUM, 20) + "T3BlbkFJ" + pick(c, ALNUM, 20),
    "PrivateKeyDetector": lambda c: "-----BEGIN RSA PRIVATE " + "KEY-----\n" + pick(c, ALNUM, 64),
    "PypiTokenDetector": lambda c: "py" + "pi-AgEIcHlwaS5vcmc" + pick(c, ALNUM + "_-", 80),
    "SendGridDetector": lambda c: f"SG.{pick(c, ALNUM, 22)}.{pick(c, ALNUM, 43)}",
    "SlackDetector": lambda c: "xo" + "xb-" + pick(c, string.digits, 12) + "-" + pick(c, ALNUM, 24),
    "SoftlayerDetector": lambda c: "softlayer_api_key = '" + pick(c, HEX, 64) + "'",
    "SquareOAuthDetector": lambda c: "sq0" + "csp-" + pick(c, ALNUM, 43),
    "StripeDetector": lambda c: "rk" + "_live_" + pick(c, ALNUM, 24),
    "TelegramBotTokenDetector": lambda c: f"bot 110201543:AA{pick(c, ALNUM, 33)}",
    "TwilioKeyDetector": lambda c: "twilio SK" + pick(c, HEX, 32),
    "KeywordDetector": lambda c: f'api_key = "{pick(c, ALNUM, 20)}"',
}


def encoded(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def plugins() -> dict[str, type[BasePlugin]]:
    classes: list[type[BasePlugin]] = list(get_mapping_from_secret_type_to_class().values())
    return {plugin.__name__: plugin for plugin in classes if plugin.__name__ not in OFF}


def test_every_plugin_has_a_text() -> None:
    assert plugins().keys() == SHAPES.keys()


def found_by(name: str, text: str) -> bool:
    plugin = plugins()[name]()
    return any(plugin.analyze_line(filename="note", line=line, line_number=1) for line in text.splitlines())


@pytest.mark.parametrize("name", SHAPES)
def test_our_scanner_finds_what_the_plugin_finds(name: str) -> None:
    rng = random.Random(name)
    texts = [SHAPES[name](rng) for _ in range(ROUNDS)]
    found = [text for text in texts if found_by(name, text)]
    assert len(found) > ROUNDS // 2, "the plugin does not report this text"
    assert [text for text in found if not scan(text)] == []


def test_a_plain_word_in_quotes_is_reported_by_the_plugin_only() -> None:
    """The keyword plugin reports any word after a credential's name, even placeholders, which are common in notes."""
    text = 'api_key = "blabla"'
    assert found_by("KeywordDetector", text)
    assert scan(text) == []
