"""Grammars of generated texts that are held back: they judge rules and models, and nothing may be made with them."""

from __future__ import annotations

from bench.scanner.carriers_grammars import Grammar

__all__ = ["HELD"]

HELD: tuple[Grammar, ...] = (
    Grammar(
        "held-minutes",
        "password",
        (
            "Minutes [date]: [user] reported that [host] accepts the new admin password, [v], since Tuesday.",
            "Action: everybody updates their password manager, the shared [sys] password becomes [v] tonight.",
            "Decision: until SSO works the team password stays [v].",
        ),
        (
            "Minutes [date]: [user] reported that [host] rejects the new admin password since Tuesday.",
            "Action: everybody updates their password manager before the shared [sys] password expires.",
            "Decision: until SSO works the team password stays in [place].",
        ),
    ),
    Grammar(
        "held-ticket",
        "token",
        (
            "[ticket] / Description\nSteps: open [sys], enter [user] and [v] as password, save.",
            "*Workaround:* set {{API_TOKEN}} to {{[v]}} in the job of [sys].",
            "Customer wrote that their client secret ([v]) is refused by [env].",
            "Login data for the test tenant\nUser: [user]\nPassword: [v]\nValid until [date]",
        ),
        (
            "[ticket] / Description\nSteps: open [sys], enter user and password, save twice.",
            "*Workaround:* set {{API_TOKEN}} in the job of [sys], see {{[setting]}}.",
            "Customer wrote that their client secret is refused by [env].",
            "Login data for the test tenant\nUser: [user]\nPassword: ask the owner\nValid until [date]",
        ),
    ),
    Grammar(
        "held-mail",
        "password",
        (
            "Subject: access to [sys]\n\nHi Kolja,\nyour temporary password is [v] - please change it.\n-- \nOps",
            "Subject: Re: VPN\n\n> which password?\nTry [v], that is the one from last week.",
            "Hello,\n\nthe credentials are [user] with [v].\n\nRegards",
        ),
        (
            "Subject: access to [sys]\n\nHi Kolja,\nyour temporary password was sent by phone.\n-- \nOps",
            "Subject: Re: VPN\n\n> which password?\nThe one from last week, see [place].",
            "Hello,\n\nthe credentials are in [place], item [sys].\n\nRegards",
        ),
    ),
    Grammar(
        "held-infrastructure",
        "password",
        (
            'variable "db_password" {\n  type    = string\n  default = "[v]"\n}',
            "services:\n  db:\n    image: postgres:16\n    environment:\n      - POSTGRES_PASSWORD=[v]\n",
            'Environment="SMTP_PASSWORD=[v]"\nExecStart=/usr/bin/[sys]',
            "- name: set password\n  ansible.builtin.user:\n    password: \"{{ '[v]' | password_hash }}\"",
            "server:\n  ssl:\n    key-store-password: '[v]'\n",
            "$cred = New-Object PSCredential('[user]', (ConvertTo-SecureString '[v]' -AsPlainText -Force))",
        ),
        (
            'variable "db_password" {\n  type      = string\n  sensitive = true\n}',
            "services:\n  db:\n    image: postgres:16\n    environment:\n      - POSTGRES_PASSWORD=[variable]\n",
            "EnvironmentFile=/etc/[sys]/secrets.env\nExecStart=/usr/bin/[sys]",
            '- name: set password\n  ansible.builtin.user:\n    password: "{{ vault_password | password_hash }}"',
            "server:\n  ssl:\n    key-store-password: [variable]\n",
            "$cred = Get-Credential -UserName '[user]' -Message 'password for [sys]'",
        ),
    ),
    Grammar(
        "held-de-chat",
        "password",
        (
            "lena: weiß jemand das WLAN-Passwort im Büro?\njan: [v], hängt auch am Router",
            "kurz notiert: Kennwort von [host] wieder auf [v] gesetzt",
            "Zugang [sys]: Benutzer [user], Kennwort [v]",
        ),
        (
            "lena: weiß jemand das WLAN-Passwort im Büro?\njan: hängt am Router",
            "kurz notiert: Kennwort von [host] am [date] zurückgesetzt",
            "Zugang [sys]: Benutzer [user], Kennwort siehe [ticket]",
        ),
    ),
    Grammar(
        "held-romance",
        "password",
        (
            "Identifiants de [host] : [user], mot de passe [v]",
            "Le mdp du wifi, c'est [v] (bureau du fond)",
            "Ojo: la contraseña nueva de [sys] quedó en [v].",
            "Nota: per il NAS la password rimane [v], utente [user].",
            "Lembrete: palavra-passe do [sys] = [v]",
        ),
        (
            "Identifiants de [host] : demander à [user], mot de passe expiré",
            "Le mdp du wifi est affiché dans le bureau du fond",
            "Ojo: la contraseña nueva de [sys] no funciona.",
            "Nota: per il NAS la password va cambiata ogni [number] giorni.",
            "Lembrete: palavra-passe do [sys] em [place]",
        ),
    ),
    Grammar(
        "held-north-east",
        "password",
        (
            "Wachtwoord voor [sys] staat op [v].",
            "Nowe hasło do [sys]: [v] (od [date])",
            "Lösenordet till [host] har ändrats till [v].",
            "[sys] sunucusunun yeni şifresi [v] oldu.",
            "Новый пароль администратора [host] — [v].",
        ),
        (
            "Wachtwoord voor [sys] staat in [place].",
            "Nowe hasło do [sys]: zgłoś się do [user]",
            "Lösenordet till [host] har ändrats i går.",
            "[sys] sunucusunun yeni şifresi kasada.",
            "Новый пароль администратора [host] — в сейфе.",
        ),
    ),
    Grammar(
        "held-east-asia",
        "password",
        (
            "登录 [host]\uff1a用户名 [user]\uff0c密码 [v]",
            "[sys] 的新密码改为「[v]」了。",
            "[host] のログイン: [user]、パスワード: [v]",
            "新しいパスワードは『[v]』に変更しました。",
            "[sys] 계정: [user], 비밀번호: [v]",
        ),
        (
            "登录 [host]\uff1a用户名 [user]\uff0c密码请联系管理员",
            "[sys] 的密码已经改了。",
            "[host] のログイン: [user]、パスワード: 金庫を参照",
            "新しいパスワードは来月変更します。",
            "[sys] 계정: [user], 비밀번호: 볼트 참고",
        ),
    ),
    Grammar(
        "held-tables",
        "password",
        (
            "Host        Login      Kennwort\n[host]      [user]      [v]\n",
            "| Dienst | Konto | Passwort |\n|:--|:--|:--|\n| [sys] | [user] | `[v]` |",
            "| サービス | ユーザー | パスワード |\n|---|---|---|\n| [sys] | [user] | [v] |",
            "сервер;логин;пароль\n[host];[user];[v]\n",
            "| What | Value |\n|---|---|\n| user | [user] |\n| password | [v] |",
        ),
        (
            "Host        Login      Kennwort\n[host]      [user]      [placeholder]\n",
            "| Dienst | Konto | Passwort |\n|:--|:--|:--|\n| [sys] | [user] | im Tresor |",
            "| サービス | ユーザー | パスワード |\n|---|---|---|\n| [sys] | [user] | 別途連絡 |",
            "сервер;логин;пароль\n[host];[user];в сейфе\n",
            "| What | Value |\n|---|---|\n| user | [user] |\n| password | required |",
        ),
    ),
    Grammar(
        "held-pins",
        "pin",
        (
            "Alarm at the office: disarm code [v], then hash.",
            "My voicemail PIN got changed to [v] yesterday.",
            "PUK der neuen SIM: [v]",
            "Código de la puerta del garaje: [v]",
            "Kod do bramy to [v]",
            "Tiefgarage: Code [v]",
            "会议室门锁密码\uff1a[v]",
            "金庫の暗証番号\uff1a[v]",
        ),
        (
            "Alarm at the office: disarm code is with [user], then hash.",
            "My voicemail PIN got changed on [date] after [number] attempts.",
            "PUK der neuen SIM: im Ordner",
            "Código de error del garaje: 40[number]",
            "Kod błędu to 50[number]",
            "Tiefgarage: Stellplatz 10[number]",
            "会议室门锁密码\uff1a问管理员",
            "金庫の暗証番号\uff1a総務に確認",
        ),
    ),
    Grammar(
        "held-phrases",
        "phrase",
        (
            "Backup of the hardware device (do not lose): [v]",
            'mnemonic="[v]"',
            "Frase de recuperación: [v]",
            "seed words for [sys] as told by [user]\n\n    [v]\n",
        ),
        (
            "Backup of the hardware device (do not lose): two steel plates in the safe",
            'mnemonic="$MNEMONIC"',
            "Frase de recuperación: pregunta a [user]",
            "seed words for [sys] are split between [user] and the notary",
        ),
    ),
    Grammar(
        "held-codes",
        "codes",
        ("Scratch codes for the registry account: [v]", "emergency codes ([user]): [v]", "Резервные коды: [v]"),
        (
            "Scratch codes for the registry account: printed on [date]",
            "emergency codes ([user]): four left",
            "Резервные коды: в сейфе компании",
        ),
        joint=", ",
    ),
)
