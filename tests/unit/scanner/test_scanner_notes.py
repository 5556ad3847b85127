"""Lines of typical notes: everyday text passes, passwords are refused."""

import pytest

from keepmum_scanner import scan

HARMLESS = """\
Set API_KEY in .env before starting
token bucket algorithm: refill 100/s burst=200
primary key (id, tenant_id) and unique key on (email)
password min length 12, policy: min-12-chars+1digit
JWT_SECRET must be at least 32+ chars
use token_type=bearer and grant_type=client_credentials
secret: s3://bucket/path/to/secret.json
pass key=value pairs to the CLI
tests pass: 120/120, 3 skipped
Auth: Bearer <token>
Key insight: use WAL2 mode instead of WAL
Key decision: Python3.11 is the floor
Token usage: 12.5k in, 3.2k out
password reset flow: POST /v1/password/reset
keyboard shortcut: ctrl+shift+k
cache key: user:{id}:profile:v2
partition key: tenant_id#created_at
secret name: my-app/prod/db-credentials-AbCdEf
password hash uses argon2id m=65536,t=3,p=4
token = secrets.token_urlsafe(32)
const token = req.headers['x-auth-token']
const apiKey = process.env.OPENAI_API_KEY!
password: !vault |
export TOKEN=$(cat /run/secrets/token)
curl -u "$USER:$PASS" https://x
docker login -u user --password-stdin
token expiry: 2026-11-21T09:30:00Z
key fingerprint SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU
Fixes #1234: token refresh race (see 9f8e7d6c5b4a)
uses model claude-sonnet-4-5-20250929 with max_tokens=8192
pin: requests==2.31.0, urllib3<2
credentials: see 1Password vault "Team"
password: Optional[str] = Field(default=None, min_length=8)
license key format XXXX-XXXX-XXXX-XXXX
S3 key: uploads/2025/11/21/report_v2.pdf
node id is f81d4fae-7dec-11d0-a765-00a0c91e6bf6 in auth-service
k8s secret tls-cert-2024-06 mounted at /etc/tls
api key prefix is sk_live_
names = ["password_prod", "tokenV2", "api_key_2"]
monkeypatch.setenv("API_TOKEN", "test-token")
print(f"password={password!r}")
tool call toolu_01A09q90qw90lq917835lq9 failed
chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT answered
customer cus_NffrFeUfNV2HibQd, payment pi_3MtwBwLkdIwHu7ix28a3tqPa
claude.ai/code/session_01UnLnhsH25Nnv7LHhekUfPd
contract 0x71C7656EC7ab88b098defB751B7401B5f6d8976F
assets/index-DiwrgTda.css and chunk-YQ3ZPQ7L.js
GHSA-4gg8-gxpx-9rph and CVE-2026-21852
deployment web-5d4f8c7b9-abcde restarted
vpc-0a1b2c3d4e5f67890 in eu-west-1
https://docs.google.com/document/d/1AbCdEfGhIjKlMnOpQrStUvWxYz0123456789/edit
<!--renovate-debug:eyJjcmVhdGVkSW5WZXIiOiI0MS4xNTkuNCIsInRhcmdldEJyYW5jaCI6Im1haW4ifQ==-->
data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ
"""

# "@" is replaced by a password at run time.
WITH_PASSWORD = """\
The staging DB password is @
wifi pass = @
db creds: admin / @
login with admin:@
user=admin password=@
Passwort: @
mot de passe: @
contraseña: @
my ssh passphrase is @
DATABASE_URL=mysql://app:@@db/app
{"password": "@"}
<password>@</password>
PGPASSWORD=@ psql
--password=@
mysql -u root -p@
sshpass -p @ ssh host
redis-cli -a @
curl --user admin:'@' https://x
Use `@` as the admin password
CREATE USER app IDENTIFIED BY '@';
password: @ (the old one is gone)
"""


@pytest.mark.parametrize("line", HARMLESS.splitlines())
def test_everyday_line_passes(line: str) -> None:
    assert scan(line) == []


@pytest.mark.parametrize("line", WITH_PASSWORD.splitlines())
@pytest.mark.parametrize("password", ["Sommer" + "2024!", "tr0ub4" + "dor&3"])
def test_whole_password_is_found(line: str, password: str) -> None:
    text = line.replace("@", password, 1)
    start = text.index(password)
    assert any(found.start <= start and start + len(password) <= found.end for found in scan(text))
