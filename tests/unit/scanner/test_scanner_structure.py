"""Every structural rule matches its examples; they are assembled, so that the repository contains no secret."""

import pytest

from keepmum_scanner import scan
from keepmum_scanner.structure import RULES

HEX = "0a1b2c3d"
WORD = "a1B2c3D4"
UUID = "2ec8128b-ee80-4222-b58a-570990994454"

HITS = {
    "url.password": ["amqps://svc:" + "S3cr3t%21@mq.internal:5671/", "redis://:" + "hunter2@cache:6379/0"],
    "jwt": ["eyJhbGciOi" + "JIUzI1NiJ9.eyJzdWIiOiIxMjM0In0." + WORD * 4],
    "slack.webhook": ["https://hooks.slack.com/services/" + "T0A1B2C3D/B0A1B2C3D/" + WORD * 3],
    "discord.webhook": ["https://discord.com/api/webhooks/" + "823971286308356157/" + WORD * 8],
    "microsoft.webhook": ["https://x.webhook.office.com/webhookb2/u/IncomingWebhook/" + HEX * 4 + "/" + UUID],
    "azure.account-key": ["AccountName=x;AccountKey=" + WORD * 10 + "abcdef==;EndpointSuffix=core"],
    "azure.shared-access-key": ["Endpoint=sb://x/;SharedAccessKeyName=n;SharedAccessKey=" + WORD * 5 + "abc="],
    "azure.sas": ["https://x.blob.core.windows.net/c?sv=2024-01-01&sig=" + WORD * 5 + "%3D"],
    "airtable.token": ["pat" + "a1B2c3D4e5F6g7." + HEX * 8],
    "harness.token": ["pat." + WORD * 2 + "a1B2c3." + WORD * 3 + "." + WORD * 2 + "a1B2"],
    "terraform.token": ["a1B2c3D4e5F6g7" + ".atlasv1." + WORD * 8],
    "azure.client-secret": ["secret: abc8Q~" + WORD * 4],
    "http.basic": ["-H 'Authorization: Basic " + "dXNlcjpwYXNzd29yZA=='"],
    "asana.token": ["asana 1/1248440223456784:" + HEX * 4, "0/" + HEX * 4],
    "clickup.token": ["pk" + "_20424973_" + "0A1B2C3D" * 4],
    "honeycomb.key": ["hcx" + "ik_" + "0a1b2c3d4e" * 5 + "5f6a7b8c", "hca" + "mk_" + "01hq" + WORD * 3],
    "maxmind.license-key": ["a1B2c3_" + WORD * 3 + "a1B2c" + "_mmk"],
    "sidekiq.secret": ["BUNDLE_GEMS__CONTRIBSYS__COM=" + "cafebabe:deadbeef"],
    "pgpass.password": ["db.internal:5432:shop:ada:" + "Sommer24", "*:5433:*:ada:" + "Sommer24"],
    "pgpass.any-port": ["*:*:*:ada:" + "Sommer24"],
    "oracle.password": ["jdbc:oracle:thin:scott/" + "Sommer24@//db:1521/shop"],
    "odbc.password": ["Driver={SQL};Uid=sa;" + "Pwd=Sommer;Database=x"],
    "session.cookie": ["Cookie: theme=dark; sessionid=" + HEX * 5, "Set-Cookie: PHPSESSID=" + WORD * 4 + "; Path=/"],
    "webhook.url": ["https://x.tines.com/webhook/" + "4j55coiu" * 4 + "/" + "u37txygi" * 4],
    "url.token": ["https://x/v1?access_token=" + HEX * 5, "GET /v1?a=1&token=" + WORD * 4],
    "braintree.token": ["access_token$" + "production$0a1b2c3d4e5f6g7h$" + HEX * 4],
    "telegram.bot-token": ["bot 110201543:AA" + WORD * 4 + "a"],
    "wifi.password": ["WIFI:T:WPA;S:office;P:" + "Sommer24;;", "WIFI:S:a\\;b;H:true;P:" + "ridge-tulip;T:WPA;;"],
    "jwk.private-key": [f'{{"kty": "EC", "crv": "P-256", "d": "{WORD * 6}"}}'],
    "password-hash": ["$2b$12$" + WORD * 6 + "abcde", "root:$6$rounds=5000$salt$" + WORD * 8],
    "private-key": ["-----BEGIN OPENSSH PRIVATE KEY-----\\n" + WORD * 8 + "\\n-----END OPENSSH PRIVATE KEY-----\\n"],
}
MISSES = {
    "url.password": ["http://localhost:8000/@me", "https://${USER}:${PASS}@host", "http://<user>:<password>@proxy"],
    "jwt": ["eyJhbGciOi", "eyJ.eyJ.", "keyJhbGciOiJIUzI1NiJ9.eyJzdWIi"],
    "slack.webhook": ["https://hooks.slack.com/services/T000/B000/XXXX"],
    "discord.webhook": ["https://discord.com/api/webhooks/ID/TOKEN"],
    "microsoft.webhook": ["https://x.webhook.office.com/webhookb2/u/IncomingWebhook/id"],
    "azure.account-key": ["AccountKey=<key>", "AccountKey=${KEY}"],
    "azure.shared-access-key": ["SharedAccessKey=<key>"],
    "azure.sas": ["https://x.blob.core.windows.net/c?sv=2024-01-01&sig=<signature>"],
    "airtable.token": ["pattern.matching", "path.to.file"],
    "harness.token": ["look at. it", "pat.name"],
    "terraform.token": ["a.atlasv1.b"],
    "azure.client-secret": ["FAQ~about"],
    "http.basic": ["Authorization: Basic credentials", "Authorization: Basic <base64>", "basic authorization"],
    "asana.token": ["1/12:ab", "src/0/file"],
    "clickup.token": ["pk_id", "pk_20424973"],
    "honeycomb.key": ["hcxik_", "task_id"],
    "maxmind.license-key": ["file_mmk"],
    "sidekiq.secret": ["BUNDLE_GEMS__CONTRIBSYS__COM=$SECRET"],
    "pgpass.password": ["ports: 127.0.0.1:5432:5432", "db:5432:shop:ada:${PGPASSWORD}", "at 12:543"],
    "pgpass.any-port": ["*:*:*:ada:<password>", "cron 0:*:0"],
    "oracle.password": ["jdbc:oracle:thin:@//db:1521/shop", "jdbc:oracle:thin:scott/${PASS}@db"],
    "odbc.password": ["Uid=sa;Pwd={0};", "a=1; password=%s"],
    "session.cookie": ["Set-Cookie: session=; Path=/", "Cookie: sessionid=<id>", "the cookie: session=permanent"],
    "webhook.url": ["https://x/webhook/deploy", "POST /webhook/" + UUID],
    "url.token": ["/list?page_token=" + WORD * 4, "?token=put_your_personal_token_here", "?access_token=abc123"],
    "wifi.password": ["WIFI:T:nopass;S:guests;;", "WIFI:S:x;P:<password>;;", "WIFI: slow"],
    "braintree.token": ["access_token$production$id$key"],
    "telegram.bot-token": ["12:AA", "at 10:AA"],
    "jwk.private-key": [f'{{"kty": "EC", "x": "{"word" * 12}"}}', '{"d": "M 0 0 L 10 10"}', '{"d": "draft"}'],
    "password-hash": ["$2b$12$", "costs $5$ or $6$"],
    "private-key": [
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PUBLIC KEY-----\n" + WORD * 8 + "\n-----END PUBLIC KEY-----",
    ],
}


def rules(text: str) -> list[str]:
    return [finding.rule for finding in scan(text)]


def test_every_rule_has_hits_and_misses() -> None:
    names = {rule for rule, *_ in RULES} | {"private-key"}
    assert HITS.keys() == MISSES.keys() == names


@pytest.mark.parametrize(("rule", "text"), [(rule, text) for rule, texts in HITS.items() for text in texts])
def test_rule_finds_its_hits(rule: str, text: str) -> None:
    assert rules(text) == [rule]


@pytest.mark.parametrize(("rule", "text"), [(rule, text) for rule, texts in MISSES.items() for text in texts])
def test_rule_does_not_match_its_misses(rule: str, text: str) -> None:
    assert rule not in rules(text)


@pytest.mark.parametrize(("rule", "anchor"), [rule[:2] for rule in RULES], ids=[rule[0] for rule in RULES])
def test_anchor_is_in_every_hit(rule: str, anchor: str) -> None:
    assert all(anchor in text for text in HITS[rule])


@pytest.mark.parametrize("rule", ["asana.token", "terraform.token", "maxmind.license-key", "azure.client-secret"])
def test_text_before_the_anchor_belongs_to_the_secret(rule: str) -> None:
    (text,) = HITS[rule][-1:]
    secret = text.rpartition(" ")[2]
    (finding,) = scan(text)
    assert text[finding.start : finding.end] == secret


def test_whole_key_block_is_found_in_any_quoting() -> None:
    lines = ["-----BEGIN EC PRIVATE KEY-----", WORD * 8, WORD * 3 + "==", "-----END EC PRIVATE KEY-----"]
    for joint in ("\n", "\\n", '",\n"', "\r\n", "\n> ", "\n# ", '\\n" +\n  "'):
        text = "key:\n" + joint.join(lines) + "\ndone"
        (finding,) = scan(text)
        assert text[finding.start : finding.end] == joint.join(lines)


def test_headers_inside_a_key_block_do_not_cut_it() -> None:
    block = (
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2.0.22 (GNU/Linux)\n\n"
        + WORD * 8
        + "\n=a1B2\n-----END PGP PRIVATE KEY BLOCK-----"
    )
    (finding,) = scan(f"see\n{block}\n")
    assert (finding.rule, finding.start, finding.end) == ("private-key", 4, 4 + len(block))


def test_each_of_two_key_blocks_is_found() -> None:
    block = "-----BEGIN PRIVATE " + "KEY-----\n" + WORD * 8 + "\n-----END PRIVATE KEY-----"
    assert rules(f"{block}\nand\n{block}") == ["private-key"] * 2


def test_certificate_between_keys_is_not_a_finding() -> None:
    certificate = "-----BEGIN CERTIFICATE-----\n" + WORD * 8 + "\n-----END CERTIFICATE-----"
    assert rules(f"{certificate}\n{certificate}") == []


@pytest.mark.parametrize(
    ("text", "password"),
    [
        ("postgres://app:p@REST@db", "p@REST"),
        ("use redis://:a@b@c@cache:6379/0 and write to me@example.org", "a@b@c"),
        ("(https://ada:pw@1@example.org/x@y)", "pw@1"),
    ],
)
def test_the_password_of_a_link_ends_at_the_last_at_sign(text: str, password: str) -> None:
    assert [text[finding.start : finding.end] for finding in scan(text)] == [password]
