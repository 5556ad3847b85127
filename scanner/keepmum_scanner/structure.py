"""Finds secrets by their structure: passwords in links, signed tokens, webhooks, shared access keys.

Each rule has an anchor, a fixed text that every match contains; its expression is compiled only for texts that contain
it. An expression begins with its anchor and looks back from there: searching for a fixed string is twenty times as
fast as trying an expression at every position.
"""

from __future__ import annotations

from keepmum_scanner.expressions import compiled
from keepmum_scanner.shapes import is_reference

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from keepmum_scanner.candidates import Candidate

_BASE64 = r"[A-Za-z0-9+/_-]"
# A link in documentation: its password is a word for a password, or the default of a broker.
_EXAMPLE = (
    r"(?i:[^\s/?#:@\"'<>`]{0,64}:(?:(?:my|your|the|some|a|db|user)?[-_]?(?:pass(?:word|wd)?|pwd|secret|token|changeme|"
    r"example)[0-9]?|(?<=guest:)guest)@)"
)
# Token parameters of a link, without cursors of a listing ("page_token=").
_NAMED = "(?:" + "|".join(f"(?<=[?&]{kind}token=)" for kind in ("", "access_", "api_", "auth_")) + ")"

# (rule, anchor, characters of the secret before the anchor, expression); the secret is the group "secret", or all.
# Lengths and prefixes, where no other source is given:
# Source: https://github.com/gitleaks/gitleaks/blob/master/config/gitleaks.toml, read 2026-11-21
RULES = (
    # The userinfo of RFC 3986, whatever the scheme.
    (
        "url.password",
        "://",
        0,
        rf"://(?<=[A-Za-z0-9]://)(?!{_EXAMPLE})[^\s/?#:@\"'<>`]{{0,128}}:(?P<secret>[^\s/?#\"'<>`]{{1,256}})@[\w\[%{{$-]",
    ),
    # Source: https://datatracker.ietf.org/doc/rfc7519/, read 2026-11-21
    (
        "jwt",
        "eyJ",
        0,
        rf"eyJ(?<![\w-]eyJ){_BASE64}{{8,4096}}\.(?:eyJ|ZXlK){_BASE64}{{8,16384}}(?:\.{_BASE64}{{0,4096}}){{0,3}}",
    ),
    (
        "slack.webhook",
        "hooks.slack.com/",
        0,
        r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[A-Za-z0-9+/]{24,128})",
    ),
    ("discord.webhook", "/api/webhooks/", 0, r"/api/webhooks/[0-9]{17,20}/(?P<secret>[\w-]{60,72})"),
    ("microsoft.webhook", "IncomingWebhook/", 0, r"IncomingWebhook/(?P<secret>[0-9a-f]{32}/[0-9a-f-]{36})"),
    ("azure.account-key", "AccountKey=", 0, r"AccountKey=(?P<secret>[A-Za-z0-9+/]{40,100}={0,2})"),
    ("azure.shared-access-key", "SharedAccessKey=", 0, r"SharedAccessKey=(?P<secret>[A-Za-z0-9+/]{40,100}={0,2})"),
    ("azure.sas", "sig=", 0, r"sig=(?<=[?&;]sig=)(?P<secret>[A-Za-z0-9%+/=]{40,120})"),
    # Source: https://github.com/mongodb/kingfisher/tree/main/crates/kingfisher-rules/data/rules, read 2026-11-21
    ("airtable.token", "pat", 0, r"pat(?<=\bpat)[A-Za-z0-9]{14}\.[a-f0-9]{64}"),
    ("asana.token", "/", 1, r"/(?:(?<=\b0/)[0-9a-f]{32}|(?<=\b[12]/)[0-9]{13,16}(?:/[0-9]{13,16})?:[0-9a-f]{32})\b"),
    ("clickup.token", "pk_", 0, r"pk_(?<=\bpk_)[0-9]{7,10}_[0-9A-Z]{32}\b"),
    ("harness.token", "at.", 1, r"at\.(?<=\b[ps]at\.)[\w-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}"),
    ("terraform.token", ".atlasv1.", 14, r"\.atlasv1\.(?<=\b[A-Za-z0-9]{14}\.atlasv1\.)[\w=-]{60,}"),
    ("azure.client-secret", "Q~", 4, r"Q~(?<=[\w~.]{3}[0-9]Q~)(?<![\w~.-].{4}Q~)[\w~.-]{31,34}(?![\w~.-])"),
    # Base64 of "user:password"; a word after "Basic" is prose.
    (
        "http.basic",
        "uthorization",
        0,
        r"uthorization[\"']?\s{0,4}[:=]\s{0,4}[\"']?[Bb]asic\s{1,4}(?P<secret>(?![A-Z]?[a-z]+\b)[A-Za-z0-9+/]{8,512}={0,2})",
    ),
    # The third letter varies.
    # Source: https://docs.honeycomb.io/api/dataset-definitions/authorization, read 2026-11-21
    ("honeycomb.key", "k_", 4, r"k_(?<=\bhc[a-z][im]k_)[0-9A-Za-z]{26,64}\b"),
    ("maxmind.license-key", "_mmk", 36, r"_mmk(?<=\b[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk)\b"),
    (
        "sidekiq.secret",
        "__CONTRIBSYS__COM",
        0,
        r"__CONTRIBSYS__COM[\"']?\s{0,4}[:=]\s{0,4}[\"']?(?P<secret>[0-9a-f]{8}:[0-9a-f]{8})\b",
    ),
    # The private part of a key as browsers and token servers store it.
    # Source: https://www.rfc-editor.org/rfc/rfc7518#section-6.2.2, read 2026-11-21
    ("jwk.private-key", '"d"', 0, r"\"d\"\s{0,8}:\s{0,8}\"(?P<secret>[\w-]{40,1400})\""),
    # A line of .pgpass: host, port, database, user, password. By convention the port begins with 543.
    # Source: https://www.postgresql.org/docs/current/libpq-pgpass.html, read 2026-11-21
    (
        "pgpass.password",
        ":543",
        0,
        r":543(?<=[\w*]:543)[0-9]:[^\s:/?]{1,64}:[^\s:/?]{1,64}:(?P<secret>[^\s:\"'`]{4,128})(?=\s|$)",
    ),
    ("pgpass.any-port", ":*:", 0, r":\*:[^\s:]{1,64}:[^\s:]{1,64}:(?P<secret>[^\s:\"'`]{4,128})(?=\s|$)"),
    # "jdbc:oracle:thin:user/password@host"
    ("oracle.password", ":thin:", 0, r":thin:[^\s:/@\"'`]{1,64}/(?P<secret>[^\s/@\"'`]{1,128})@"),
    # A part of a connection string, after another part.
    (
        "odbc.password",
        ";",
        0,
        r"(?i)=[^;=\n]{1,128};\s{0,4}(?:pwd|password)\s{0,4}=\s{0,4}(?P<secret>[^;\s\"'<>{}$%*]{3,64})(?=[;\"'\s]|$)",
    ),
    # The code of a Wi-Fi network, as telephones read it; ":" and ";" within a value are escaped.
    # Source: https://github.com/zxing/zxing/wiki/Barcode-Contents, read 2026-11-22
    (
        "wifi.password",
        "WIFI:",
        0,
        r"WIFI:(?:[A-OQ-Z][A-Z0-9]{0,3}:(?:\\.|[^;\\\n]){0,128};){0,8}P:\"?(?P<secret>(?:\\.|[^;\\\n\"]){4,128})\"?;",
    ),
    # A session cookie grants access to the session.
    (
        "session.cookie",
        "ookie: ",
        0,
        (
            r"ookie: (?:(?:[^o\n]|o(?!okie: )){0,200}[\s;])?[\w.-]{0,20}(?i:sess|sid)[\w.-]{0,20}="
            r"(?P<secret>(?=\D{0,64}\d)[\w%.+/=~-]{16,512})"
        ),
    ),
    # The URL of a webhook grants write access.
    ("webhook.url", "/webhook/", 0, r"/webhook/(?P<secret>[0-9a-z]{32}/[0-9a-z]{32,64})\b"),
    ("url.token", "token=", 0, rf"token={_NAMED}(?P<secret>(?=[A-Za-z._-]{{0,64}}[0-9])[A-Za-z0-9._-]{{24,512}})"),
    # Source: https://github.com/JSONbored/gittensory, review-enrichment/src/analyzers/secret-scan.ts, read 2026-11-21
    ("braintree.token", "access_token$", 0, r"access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}"),
    (
        "telegram.bot-token",
        ":AA",
        0,
        r":(?P<secret>AA(?:(?<=\b[0-9]{8}:AA)|(?<=\b[0-9]{9}:AA)|(?<=\b[0-9]{10}:AA))[\w-]{32,35})(?![\w-])",
    ),
    (
        "password-hash",
        "$",
        0,
        r"\$(?:2[abxy]|1|5|6|y|apr1|argon2(?:id|i|d)|krb5\w{2,8})\$(?P<secret>[\w$./=,+*@-]{20,4096})",
    ),
)


def find(text: str) -> Iterator[Candidate]:
    """Candidates of every rule whose anchor is in `text`."""
    for rule, _, before, expression in [one for one in RULES if one[1] in text]:
        for match in compiled(expression).finditer(text):
            start, end = match.span("secret") if match.re.groups else (match.start() - before, match.end())
            if not is_reference(text[start:end]):
                yield (rule, start, end, 0.95)
