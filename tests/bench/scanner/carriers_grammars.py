"""Grammars of generated texts that rules and models may be made with.

In a template "[v]" is the credential; "[sys]", "[user]", "[host]", "[env]", "[date]" and "[time]" are drawn from lists,
and names of `carriers_values.HARMLESS` stand for values that are none.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["GRAMMARS", "Grammar"]


class Grammar(NamedTuple):
    """Sentences of one register and language that carry a credential, and others of the same words that carry none."""

    name: str
    kind: str  # of value: "password", "token", "pin", "phrase" or "codes"
    secrets: tuple[str, ...]
    twins: tuple[str, ...]
    context: str = "keyword"
    joint: str = " "  # between the codes of a list


GRAMMARS: tuple[Grammar, ...] = (
    Grammar(
        "en-prose",
        "password",
        (
            "The [sys] password is [v].",
            "Password for [user] on [host] was changed to [v] on [date].",
            "The [env] password of [sys] changed: it is [v] now.",
            "To get into [sys] use [user] and the password [v].",
            "We set the root password of [host] back to [v].",
        ),
        (
            "The [sys] password is stored in [place].",
            "Password for [user] on [host] was changed on [date] by the vault.",
            "The [env] password of [sys] expired; ask [user].",
            "The password must have [number] characters and one digit.",
            "The password is hashed with [algorithm], see [ticket].",
        ),
    ),
    Grammar(
        "en-token",
        "token",
        (
            "[sys]'s API key is [v], rotate it before [date].",
            "Send the access token `[v]` in the X-Auth header.",
            "**[sys] auth token** — `[v]` — [env] only",
            "We authenticate against [sys] with [v] as API token.",
            "The webhook secret of [sys] in [env] is [v].",
        ),
        (
            "[sys]'s API key is read from [variable].",
            "The access token expires after [number] minutes.",
            "**[sys] auth token** — `[placeholder]` — [env] only",
            "We authenticate against [sys] with OAuth, the token lives in [place].",
            "The token budget of the summary is [number] per page.",
            "The key of the cache entry is [identifier].",
        ),
    ),
    Grammar(
        "en-chat",
        "password",
        (
            "<[user]> what's the [sys] password again?\n<kolja> [v]",
            "kolja: sent you the token for [sys]\nkolja: [v]\nkolja: delete it after",
            "[user]  [time]\nanyone got the [sys] pw?\nops-bot  [time]\n[v]",
            "mika: wifi is guest, pass is [v]",
            "[user]: creds for [host]: [user] / [v]",
        ),
        (
            "<[user]> what's the [sys] password again?\n<kolja> it is in [place]",
            "kolja: sent you the token for [sys]\nkolja: by mail\nkolja: delete it after",
            "[user]  [time]\nanyone got the [sys] pw?\nops-bot  [time]\nsee [ticket]",
            "mika: the tests pass on [env] since [version]",
            "[user]: login page of [host] returns 401",
        ),
    ),
    Grammar(
        "log-and-trace",
        "token",
        (
            "[date] [time] ERROR [sys] login failed for [user] with password '[v]'",
            "thread 'main' panicked at 'bad api token [v]', src/main.rs:26:9",
            "config: { headers: { 'X-Api-Key': '[v]' }, url: '/v1/jobs' }",
            "[time] DEBUG request form={'username': '[user]', 'password': '[v]'}",
        ),
        (
            "[date] [time] ERROR [sys] login failed for [user]: password expired",
            "thread 'main' panicked at 'bad api token length [number]', src/main.rs:26:9",
            "config: { headers: { 'X-Request-Id': '[uuid]' }, url: '/v1/jobs' }",
            "[time] DEBUG request form={'username': '[user]', 'password': '[placeholder]'}",
            "[time] INFO token refreshed for [uuid], commit [digest]",
        ),
    ),
    Grammar(
        "commit",
        "token",
        (
            "chore: bump [sys] client, new access key [v]",
            "fix([sys]): use password [v] until the vault works",
            '-password = "[v]"\n+password = os.environ["DB_PASSWORD"]',
            'Revert "set [sys] password to [v]"',
        ),
        (
            "chore: bump [sys] client, new access key rotation in [version]",
            "fix([sys]): read password from [variable]",
            '-password = ""\n+password = os.environ["DB_PASSWORD"]',
            'Revert "set [sys] password policy to [number] days"\n\nThis reverts commit [digest].',
        ),
    ),
    Grammar(
        "tables",
        "password",
        (
            "| system | user | password |\n|---|---|---|\n| [sys] | [user] | [v] |\n| intern | root | n/a |",
            "service,username,password\n[sys],[user],[v]\n",
            "+------+-------+\n| name | token |\n+------+-------+\n| [sys] | [v] |\n+------+-------+",
            "| 环境 | 账号 | 密码 |\n|---|---|---|\n| [env] | [user] | [v] |",
            "<table><tr><th>User</th><th>Password</th></tr><tr><td>[user]</td><td>[v]</td></tr></table>",
        ),
        (
            "| system | user | password |\n|---|---|---|\n| [sys] | [user] | [placeholder] |",
            "service,username,password\n[sys],[user],[variable]\n",
            "+------+-------+\n| name | token |\n+------+-------+\n| eos | end_of_text |\n+------+-------+",
            "| 环境 | 账号 | 密码 |\n|---|---|---|\n| [env] | [user] | 见保险库 |",
            "| model | context | tokens |\n|---|---|---|\n| [sys] | [number]k | [number] |",
        ),
    ),
    Grammar(
        "config",
        "password",
        (
            "[[sys]]\nhost = [host]\npassword = [v]",
            "db:\n  user: [user]\n  password: [v]\n",
            "db:\n  password: |-\n    [v]\n  user: [user]\n",
            "apiVersion: v1\nkind: Secret\nstringData:\n  username: [user]\n  password: [v]\n",
            "spring.datasource.url=jdbc:postgresql://[host]/shop\nspring.datasource.password=[v]",
            "<server><id>[sys]</id><password>[v]</password></server>",
        ),
        (
            "[[sys]]\nhost = [host]\npassword = [variable]",
            "db:\n  user: [user]\n  password: [placeholder]\n",
            "db:\n  passwordFrom: [resource]\n  user: [user]\n",
            "apiVersion: v1\nkind: Secret\nstringData:\n  username: [user]\n",
            "spring.datasource.url=jdbc:postgresql://[host]/shop\nspring.datasource.hikari.maximum-pool-size=[number]",
            "key: [resource]\nsecretName: [resource]-credentials\n",
        ),
    ),
    Grammar(
        "shell",
        "password",
        (
            "$ mysql -u [user] -p[v] -h [host] orders",
            "$ keytool -list -keystore [sys].jks -storepass [v]",
            "$ curl -u [user]:[v] https://[sys].example.org/",
            "$ sshpass -p '[v]' ssh [user]@[host]",
            "snmp-server community [v] RO",
        ),
        (
            "$ mysql -u [user] -p -h [host] orders",
            '$ keytool -list -keystore [sys].jks -storepass "$STOREPASS"',
            '$ curl -u "$USER:$PASS" https://[sys].example.org/',
            "$ docker run -u 1000:1000 -p 8080:80 [sys]:[version]",
            "snmp-server community public RO",
        ),
    ),
    Grammar(
        "de",
        "password",
        (
            "Das Passwort für [sys] ([env]) lautet jetzt [v].",
            "Anmeldung an [host] als [user] klappt nur mit dem Passwort „[v]“.",
            "Der API-Schlüssel von [sys] ist [v], bitte nicht verlieren.",
            "Zugangsdaten [host]: [user] / [v]",
        ),
        (
            "Das Passwort für [sys] liegt in [place].",
            "Anmeldung an [host] als [user] klappt nicht, das Passwort ist abgelaufen.",
            "Der API-Schlüssel von [sys] wird alle [number] Tage erneuert.",
            "Passwort vergessen? Siehe [ticket].",
        ),
    ),
    Grammar(
        "fr",
        "password",
        (
            "Le mot de passe de [sys] en [env] est « [v] ».",
            "La clé d'API [sys] vaut [v], elle expire fin mars.",
            "Jeton d'accès [sys] : `[v]`",
        ),
        (
            "Le mot de passe de [sys] est stocké dans [place].",
            "La clé d'API [sys] est lue dans [variable].",
            "Le jeton d'accès expire après [number] minutes.",
        ),
    ),
    Grammar(
        "es-it-pt",
        "password",
        (
            "La contraseña de [sys] en [env] es [v].",
            "La chiave API di [sys] è [v]",
            "A senha do [sys] em [env] é [v].",
            "Segredo do webhook [sys]: [v]",
            "Para entrar en [host] como [user] la clave es [v]",
        ),
        (
            "La contraseña de [sys] está en [place].",
            "La chiave API di [sys] è scaduta il [date].",
            "A senha do [sys] precisa de [number] caracteres.",
            "Segredo do webhook [sys]: ver [ticket]",
            "La clave primaria de la tabla es [identifier]",
        ),
    ),
    Grammar(
        "zh-ja-ko-ru",
        "password",
        (
            "[sys] 的密码是 [v]\uff0c请勿外传。",
            "[sys] の [env] 環境のパスワードは [v] です。",
            "[sys] [env] 비밀번호는 [v] 입니다.",
            "Пароль от [sys] на [env]: [v]",
            "Ключ API [sys] теперь [v].",
            "[sys] のシークレットは「[v]」",
        ),
        (
            "[sys] 的密码是必填项\uff0c见 [ticket]。",
            "[sys] の [env] 環境のパスワードは [place] にあります。",
            "[sys] [env] 비밀번호는 [number]자 이상입니다.",
            "Пароль от [sys] хранится в [place].",
            "Ключ API [sys] читается из [variable].",
        ),
    ),
    Grammar(
        "pins",
        "pin",
        (
            "The PIN of the [sys] card is [v].",
            "SIM PIN: [v]",
            "door code for the lab is [v]",
            "Die PIN der Firmenkarte ist [v].",
            "Le code PIN de la carte [sys] est [v]",
            "El PIN de la alarma es [v]",
        ),
        (
            "The PIN must have [number] digits.",
            "Pin [sys] to version [version].",
            "door sensor reports code 4[number]0 every hour",
            "Die PIN wurde am [date] geändert.",
            "Le code d'erreur est 50[number]",
            "GPIO pin 10[number] is free",
        ),
    ),
    Grammar(
        "phrases",
        "phrase",
        (
            "Treasury wallet seed phrase: [v]",
            "recovery phrase for the [sys] ledger is\n[v]",
            "Words on the steel plate, in order: [v]",
            "助记词\uff1a[v]",
        ),
        (
            "The seed phrase has 12 or 24 words and is in [place].",
            "Write the recovery phrase of the wallet on paper and keep it offline.",
            "Words on the poster, in order: welcome, coffee, lunch, talks and a walk home",
            "Never type a seed phrase into a web page, whoever asks for it.",
        ),
    ),
    Grammar(
        "codes",
        "codes",
        ("GitHub recovery codes:\n\n[v]", "2FA backup codes of [user]:\n[v]\n", "Wiederherstellungscodes:\n[v]"),
        (
            "GitHub recovery codes are in [place].",
            "2FA backup codes: [number] per user, see [ticket]",
            "Wiederherstellungscodes drucken und im Tresor ablegen.",
        ),
        joint="\n",
    ),
)
