"""Passwords in a sentence, a conversation or a command, without a separator after their name."""

import random
import string
from collections.abc import Iterator

import pytest

from keepmum_scanner import scan

RNG = random.Random(20261122)
WORDS = "copper lantern rabbit window garden saturn walnut bridge".split()


def chosen() -> str:
    """A word, a number and a symbol, as people choose."""
    return RNG.choice(WORDS).title() + str(RNG.randint(10, 9999)) + RNG.choice("!$&")


def plain() -> str:
    """A word and a number."""
    return RNG.choice(WORDS) + str(RNG.randint(1000, 9999))


def generated() -> str:
    """Letters of both cases and digits."""
    return "".join(RNG.choices(string.ascii_letters, k=5)) + "7" + RNG.choice("kxz") + "4" + RNG.choice("QRV")


def passphrase() -> str:
    return "-".join(RNG.sample(WORDS, 4))


CARRIERS = (
    "the keystore password has always been {}",
    "Password for the staging database: {}",
    "Use password {} to open the archive.",
    "RDP to 10.2.0.14 as Administrator with the password {}",
    "the user's password, {}, contains signs, so quote it",
    "it asks for a password, type {}",
    "Temporary password ({}) must be changed on first login",
    "My password there is {}, same as on the old box.",
    "user kolja, pass {}",
    "SMTP user mailer@example.org, pw {}",
    "username admin privilege 15 password 0 {}",
    "Das Root-Passwort lautet {}, bitte nicht weitergeben.",
    "Ich habe das Passwort auf {} geändert.",
    "Mit dem Kennwort {} kommt man auf die Testumgebung.",
    "Zugangsdaten: Benutzer admin, Kennwort {}",
    "Le mot de passe de la base est {}",
    "mdp du serveur de recette : {}",
    "Usuario admin, clave {}",
    "A senha do banco de dados é {}",
    "Hasło do bazy to {}",
    "Heslo k serveru je {}",
    "Lösenordet till servern är {}",
    "Salasana on {}",
    "Логин admin, пароль {}",
    "管理员密码为{}",
    "用户名 admin 密码 {}",
    "登录口令是 {}",
    "管理者のパスワードは「{}」です。",
    "비밀번호는 {} 입니다",
    "marta: can you send me the staging password?\nkolja: sure, {}\nmarta: thx",
    "> what's the root password again?\n{}",
    "Credentials: admin / {}",
    'They wrote: "our account is me@example.org / {}"',
    "Log in to the router as admin with {}",
    "ssh root@10.0.4.7 and type {}",
    "sqlcmd -S sql.example.org -U sa -P {}",
    "ldapsearch -D cn=admin,dc=example,dc=org -w {} -b dc=example,dc=org",
    "lftp -u backup,{} ftp.example.org",
    "smbclient //nas/backup -U backup%{}",
    "openssl enc -d -aes-256-cbc -in dump.enc -out dump.sql -k {}",
    "echo {} | sudo -S systemctl restart app",
    "after the reset the password became {}",
    "Rotated the superuser password on Friday (now {}).",
    "bitlocker pin/password on my machine: {}",
    "new pw for the staging box -> {}",
    "Das neue WLAN-Passwort heisst {}",
    "Passwort (Testsystem): {}",
    "пароль от админки сейчас {}",
    "服务器的root密码改成了{}",
    "本番DBのパスワードを{}に変更しました",
    "관리자 비밀번호를 {}로 변경했습니다",
    'driver.findElement(By.id("password")).sendKeys("{}");',
    'mail.login("bot@example.org", "{}")',
    'expect "password:" ; send "{}\\r"',
    "redis-server --requirepass {}",
    "net user marta {} /add",
    "I logged in using {}.",
    "Grafana admin pass is {}",
)


# Hyphenated words count only near the name of a password.
NAMED = [
    carrier for carrier in CARRIERS if any(word in carrier for word in ("assw", "ennwort", "passe ", "senha", "密码"))
]


def cases() -> Iterator[tuple[str, str]]:
    """Each carrier with a password of each kind."""
    for carrier in CARRIERS:
        yield from ((carrier, make()) for make in (chosen, plain, generated))
    for carrier in NAMED:
        yield (carrier, passphrase())


@pytest.mark.parametrize(("carrier", "password"), list(cases()))
def test_whole_password_is_refused(carrier: str, password: str) -> None:
    text = carrier.format(password)
    spans = [(one.start, one.end) for one in scan(text)]
    start = text.index(password)
    end = start + len(password)
    assert any(one <= start and end - 1 <= other for one, other in spans)


HARMLESS = """\
Use password hashing with SHA512 and a salt of 16 bytes
the password is hashed by Argon2id, before it was PBKDF2
the password of Debian12 images is empty
password reset fails since keycloak#1234 and next-auth@4.24
sign in with OAuth2 or with Office365
log in with your account, then open Settings2024
the password is case-sensitive and must have 12 characters
the password is required by PostgreSQL-15.2 and above
Forgot your password?\nUse version 2.0.1 of the app
what's the password policy?\nsee docs/policy-2024.md
tests pass on python3.11 and pass 214 of 220
first pass: tokenize the input, second pass: normalise
Credentials: admin / see 1Password
account / billing2 / invoices
the passphrase is required when the key is encrypted
recovery phrase is shown only once and not kept
PASSWORD_RESET_TIMEOUT=259200
Das Passwort ist in 1Password abgelegt
Das Passwort lautet anders als 2023
Der Schlüssel steht im Tresor, Fach 12
Пароль хранится в Vault 2023 года
密码请联系管理员获取,见 wiki
パスワードは環境変数 DB_PASSWORD から読み込む
비밀번호는 최소 8자 이상이어야 합니다
La clave primaria es user_id2
echo hello2world | grep hello
docker run -p 8080:80 -u 1000 app2024
Password-protected PKCS#8 files, see ITS#9625
ServiceAccountCredential from decodeBase64
ColorPass = AdaptiveColor(Light: "#86b300")
"(api[_-]?key|password|secret|token).{0,20}[A-Za-z0-9]"
FunctionPass *createX86LowerAMXIntrinsicsPass
password hash $2b$12$ and password123 in the documents
password policy of end-to-end-encrypted-storage-systems since 2024
proxy='socks5://user:pass@host:port'
PASS: gdb.base/align-c++.exp: print alignment\
""".split("\n")


@pytest.mark.parametrize("text", HARMLESS)
def test_sentence_about_passwords_passes(text: str) -> None:
    assert scan(text) == []


@pytest.mark.parametrize("kind", ["passphrase", "seed phrase", "recovery phrase"])
def test_words_called_a_phrase_are_refused(kind: str) -> None:
    assert scan(f"The {kind} is {' '.join(RNG.sample(WORDS, 6))}")


def test_words_of_a_wallet_are_refused_in_quotes() -> None:
    assert scan(f'mnemonic phrase: "{" ".join(WORDS + WORDS[:4])}"')


def test_password_file_of_postgresql_is_refused() -> None:
    assert scan(f"~/.pgpass has db.example.org:5432:app:reporting:{chosen()}")


def test_login_of_a_registry_is_refused() -> None:
    encoded = "c3ZjOkZhbGNvbjc3" + "ITEy"
    assert scan('{"auths": {"registry.example.org": {"auth": "' + encoded + '"}}}')


def test_cookie_of_a_session_is_refused() -> None:
    value = "".join(RNG.choices("0123456789abcdef", k=32))
    assert scan(f"Cookie: theme=dark; sessionid={value}")
