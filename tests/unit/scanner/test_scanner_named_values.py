"""Passwords that people compose, and PINs, behind a word that names them, in sentences of several languages."""

import random
from collections.abc import Callable

import pytest

from keepmum_scanner import scan

WORDS = "velvet copper lantern rabbit window meadow pepper harvest saddle anchor violet timber".split()
NAMES = "Jonas Lucia Marta Tomek Akiko Pedro".split()


def words(rng: random.Random, count: int) -> list[str]:
    return rng.sample(WORDS, count)


VALUES: dict[str, Callable[[random.Random], str]] = {
    "two words, number": lambda c: "_".join(map(str.title, words(c, 2))) + str(c.randint(100, 9999)),
    "joined words, number": lambda c: "".join(map(str.title, words(c, 2))) + str(c.randint(100, 9999)),
    "words and symbols": lambda c: c.choice("!&#").join(map(str.title, words(c, 2))) + str(c.randint(100, 9999)),
    "number between words": lambda c: str(c.randint(20, 99)).join(words(c, 2)) + c.choice("!?#"),
    "dots": lambda c: ".".join(words(c, 5)),
    "hyphens": lambda c: "-".join(words(c, 4)),
    "underscores": lambda c: "_".join(words(c, 4)),
    "name and year": lambda c: c.choice(NAMES) + str(c.randint(1960, 2020)) + c.choice(("", "!")),
    "neighbouring keys": lambda c: "Qwer" + "ty" + c.choice("!#") + c.choice(("", "12", "kd")),
    "letters replaced": lambda c: c.choice(WORDS)[:3].title() + "0r" + "4d_" + c.choice(WORDS),
    "initials": lambda c: "Mdvi" + "E" + c.choice("!&%") + str(c.randint(10, 99)) + "tbo",
}
SENTENCES = {
    "en": "The staging password of {} was changed: it is {{}} now.",
    "en, adverb": "password for the print server is still {{}}",
    "en, token": "{}'s API key is {{}}, rotate it in May",
    "en, dash": "**{} auth token** — `{{}}`",
    "en, afterwards": "We call {} with {{}} as API token.",
    "en, comma": "Send {}'s API key, {{}}, in a header.",
    "de": "Das Passwort für {} lautet jetzt {{}}.",
    "de, quotes": "Anmeldung an {} nur mit dem Passwort „{{}}“.",
    "de, key": "Der API-Schlüssel von {} ist {{}}, bitte merken.",
    "fr": "Le mot de passe de {} est « {{}} ».",
    "fr, key": "La clé d'API {} vaut {{}}, elle expire bientôt.",
    "fr, token": "Jeton d'accès {} : `{{}}`",
    "es": "La contraseña de {} en dev es {{}}.",
    "it": "La chiave API di {} è {{}}",
    "pt": "A senha do {} continua {{}}.",
    "pt, secret": "Segredo do webhook {}: {{}}",
    "nl": "Het wachtwoord van {} is nu {{}}",
    "pl": "Hasło do {} (qa) to {{}}.",
    "sv": "Lösenordet till {} är {{}}.",
    "ru": "Пароль от {}: {{}}",
    "ru, key": "Ключ API {} теперь {{}}.",
    "tr": "{} için şifre: {{}}",
    "zh": "{} 的密码是 {{}}\uff0c请勿外传。",
    "zh, colon": "{} 密钥\uff1a{{}}",
    "ja": "{} のパスワードは「{{}}」です。",
    "ko": "{} 비밀번호는 {{}} 입니다.",
    "log, password": "thread 'main' panicked at 'bad {} password {{}}'",
    "ini": "[{}]\nhost = pg\npassword = {{}}",
    "header": "config: {{{{ headers: {{{{ 'X-{}-Api-Key': '{{}}' }}}} }}}}",
}
# What such sentences say when they contain no credential.
WITHOUT = [
    "The password is stored in the vault under prod/db.",
    "The password is wrong, the token is expired and the key is missing.",
    "The API key is read from settings.api.key and never logged.",
    "The token is short-lived-and-signed by the gateway.",
    "password: str = field(default_factory=get_password_from_env)",
    "token: AccessTokenV2, secret: ClientSecret2024Type",
    "password = config.database.primary.password",
    "key: build-cache-linux-node-modules",
    "secretName: orders-db-credentials-prod",
    "api_key = os.environ['OPENAI_API_KEY']",
    "The password policy was changed in Sommer 2024.",
    "Password hashing moved from SHA256 to Argon2id in v3.2.1.",
    "The token is base64 encoded.",
    "Das Passwort ist abgelaufen und liegt im Tresor.",
    "Das Passwort steht in 1Password, der Schlüssel ist ungültig.",
    "Der API-Schlüssel wird aus der Umgebung gelesen.",
    "Le mot de passe est stocké dans le coffre.",
    "La clé d'API est révoquée depuis lundi.",
    "La contraseña es obligatoria y está en el gestor.",
    "La chiave API è scaduta, chiedi al team.",
    "A senha é guardada no cofre.",
    "Het wachtwoord is verlopen.",
    "Hasło jest w sejfie.",
    "Lösenordet är fel.",
    "Пароль хранится в сейфе.",
    "密码是必填项\uff0c请联系管理员。",
    "パスワードは金庫にあります。",
    "비밀번호는 볼트에 있습니다.",
    "password reset emails use the template Welcome_Mail2024",
    "Segredo do webhook: ver o cofre da equipa.",
]


@pytest.mark.parametrize("sentence", SENTENCES.values(), ids=list(SENTENCES))
@pytest.mark.parametrize("make", VALUES.values(), ids=list(VALUES))
def test_a_composed_password_is_found(sentence: str, make: Callable[[random.Random], str]) -> None:
    found = 0
    for seed in range(4):
        rng = random.Random(seed)
        value = make(rng)
        text = sentence.format(rng.choice(("meridian", "harborlight", "gw1"))).format(value)
        found += any(value in text[finding.start : finding.end + 1] for finding in scan(text))
    assert found == 4


@pytest.mark.parametrize("text", WITHOUT)
def test_a_sentence_about_credentials_passes(text: str) -> None:
    assert not scan(text)


PINS = {
    "en": "The PIN of the payroll token on Oscar's desk is {}.",
    "en, short": "SIM PIN: {}",
    "en, door": "door code for the lab: {}",
    "en, of": "the code for the garage is {}",
    "en, card": "Company card PIN {}",
    "en, voicemail": "Voicemail pin is now {}",
    "de": "Die PIN der Firmenkarte ist {}.",
    "de, door": "Türcode: {}",
    "de, number": "Geheimzahl lautet {}",
    "fr": "Le code PIN de la carte est {}",
    "fr, door": "Le code d'entrée du bâtiment est {}.",
    "es": "El PIN de la tarjeta es {}",
    "it": "Il PIN della carta è {}",
    "pt": "O PIN do cartão é {}",
    "nl": "Pincode: {}",
    "pl": "Kod do drzwi: {}",
    "sv": "Portkod: {}",
    "ru": "ПИН-код карты: {}",
    "tr": "Kap\u0131 kodu: {}",
    "zh": "门禁码\uff1a{}",
    "ja": "暗証番号は {} です",
    "ko": "핀번호는 {} 입니다",
}
NO_PINS = [
    "The PIN must have 4 to 8 digits.",
    "PIN retries: 0003, PIN length is 4096 bits",
    "The default PIN is 123456 and should be changed.",
    "Pin version 20240101 of the base image.",
    "We pin the build to 4821 because of #2917.",
    "Connect the LED to GPIO pin 1013 of the header.",
    "error code: 5003, exit code 1390, status code 4040",
    "The PIN was reset in 2024.",
    "postal code: 80331, country code 0049",
    "The door opened 4821 times; the alarm rang at 1630.",
    "Die PIN wurde 2023 geändert.",
    "Le code d'erreur est 4821.",
    "pin: 0000",
    "zip code for the office: 10115",
    "Pin it to 20240101.",
    "The password must be changed every 100000 requests.",
]


@pytest.mark.parametrize("sentence", PINS.values(), ids=list(PINS))
@pytest.mark.parametrize("digits", [4, 6, 8])
def test_a_pin_is_found(sentence: str, digits: int) -> None:
    for seed in range(4):
        value = "73" + "".join(random.Random(seed).choices("0123456789", k=digits - 2))
        text = sentence.format(value)
        assert any(value in text[finding.start : finding.end] for finding in scan(text))


@pytest.mark.parametrize("text", NO_PINS)
def test_a_number_without_a_name_for_it_passes(text: str) -> None:
    assert not scan(text)
