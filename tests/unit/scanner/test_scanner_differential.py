"""Beside detect-secrets: what its plugins for known shapes find in generated notes, we find, or we say why not."""

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


def drawn(chance: random.Random, letters: str, count: int) -> str:
    return "".join(chance.choices(letters, k=count))


# A text as each plugin looks for it; keys are put together here, so that none lies in the repository.
SHAPES: dict[str, Callable[[random.Random], str]] = {
    "ArtifactoryDetector": lambda c: "art: AK" + "Cp" + drawn(c, ALNUM, 69),
    "AWSKeyDetector": lambda c: "id AK" + "IA" + drawn(c, string.ascii_uppercase + "234567", 16),
    "AzureStorageKeyDetector": lambda c: "AccountKey=" + drawn(c, ALNUM + "+/", 86) + "==",
    "BasicAuthDetector": lambda c: f"https://u{drawn(c, ALNUM, 4)}:{drawn(c, ALNUM, 9)}@host/x",
    "CloudantDetector": lambda c: "cloudant_password = '" + drawn(c, HEX, 64) + "'",
    "DiscordBotTokenDetector": lambda c: f"M{drawn(c, ALNUM, 23)}.{drawn(c, ALNUM, 6)}.{drawn(c, ALNUM, 27)}",
    "GitHubTokenDetector": lambda c: "gh" + "p_" + drawn(c, ALNUM, 36),
    "GitLabTokenDetector": lambda c: "gl" + "pat-" + drawn(c, ALNUM, 20),
    "IbmCloudIamDetector": lambda c: "ibm_cloud_iam_api_key = '" + drawn(c, ALNUM + "_-", 44) + "'",
    "IbmCosHmacDetector": lambda c: "cos_hmac_secret_access_key = '" + drawn(c, HEX, 48) + "'",
    "JwtTokenDetector": lambda c: ".".join(
        (encoded('{"alg":"HS256"}'), encoded(f'{{"sub":"{drawn(c, ALNUM, 9)}"}}'), drawn(c, ALNUM, 43))
    ),
    "MailchimpDetector": lambda c: "mailchimp key " + drawn(c, HEX, 32) + "-us7",
    "NpmDetector": lambda c: "//registry.example/:_authToken=np" + "m_" + drawn(c, ALNUM, 36),
    "OpenAIDetector": lambda c: "sk-" + drawn(c, ALNUM, 20) + "T3BlbkFJ" + drawn(c, ALNUM, 20),
    "PrivateKeyDetector": lambda c: "-----BEGIN RSA PRIVATE " + "KEY-----\n" + drawn(c, ALNUM, 64),
    "PypiTokenDetector": lambda c: "py" + "pi-AgEIcHlwaS5vcmc" + drawn(c, ALNUM + "_-", 80),
    "SendGridDetector": lambda c: f"SG.{drawn(c, ALNUM, 22)}.{drawn(c, ALNUM, 43)}",
    "SlackDetector": lambda c: "xo" + "xb-" + drawn(c, string.digits, 12) + "-" + drawn(c, ALNUM, 24),
    "SoftlayerDetector": lambda c: "softlayer_api_key = '" + drawn(c, HEX, 64) + "'",
    "SquareOAuthDetector": lambda c: "sq0" + "csp-" + drawn(c, ALNUM, 43),
    "StripeDetector": lambda c: "rk" + "_live_" + drawn(c, ALNUM, 24),
    "TelegramBotTokenDetector": lambda c: f"bot 110201543:AA{drawn(c, ALNUM, 33)}",
    "TwilioKeyDetector": lambda c: "twilio SK" + drawn(c, HEX, 32),
    "KeywordDetector": lambda c: f'api_key = "{drawn(c, ALNUM, 20)}"',
}


def encoded(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def plugins() -> dict[str, type[BasePlugin]]:
    classes: list[type[BasePlugin]] = list(get_mapping_from_secret_type_to_class().values())
    return {plugin.__name__: plugin for plugin in classes if plugin.__name__ not in OFF}


def test_every_plugin_has_a_shape() -> None:
    assert plugins().keys() == SHAPES.keys()


def found_by(name: str, text: str) -> bool:
    plugin = plugins()[name]()
    return any(plugin.analyze_line(filename="note", line=line, line_number=1) for line in text.splitlines())


@pytest.mark.parametrize("name", SHAPES)
def test_what_the_plugin_finds_we_find(name: str) -> None:
    chance = random.Random(name)
    texts = [SHAPES[name](chance) for _ in range(ROUNDS)]
    found = [text for text in texts if found_by(name, text)]
    assert len(found) > ROUNDS // 2, "the shape is not what the plugin looks for"
    assert [text for text in found if not scan(text)] == []


def test_plain_word_in_quotes_is_what_we_do_not_share() -> None:
    """The keyword plugin takes any word behind a credential's name, placeholders too; notes are full of them."""
    text = 'api_key = "blabla"'
    assert found_by("KeywordDetector", text)
    assert scan(text) == []
