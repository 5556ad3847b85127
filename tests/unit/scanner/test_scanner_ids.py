"""Public ids of services: they look random, but grant no access."""

import random
import string

import pytest

from keepmum_scanner import scan

RNG = random.Random(20261121)
HEX = "0123456789abcdef"
ALNUM = string.ascii_letters + string.digits
BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
BASE32 = string.ascii_lowercase + "234567"


def pick(alphabet: str, length: int) -> str:
    return "".join(RNG.choices(alphabet, k=length))


PUBLIC = {
    "badge of a README": f"[![](https://codecov.io/gh/me/app/graph/badge.svg?token={pick(ALNUM, 10)})](https://codecov.io/gh/me)",
    "badge by shields": f"https://img.shields.io/codecov/c/github/me/app?style=flat&token={pick(ALNUM, 10)}",
    "cursor of a listing": f'"NextToken": "{pick(ALNUM, 48)}"',
    "cursor of a log": f'"nextForwardToken": "{pick(ALNUM, 48)}"',
    "lock of a rule": f'"LockToken": "{pick(HEX, 8)}-0000-0000-0000-{pick(HEX, 12)}"',
    "step of a group": f"--lifecycle-action-token {pick(HEX, 8)}-9a78-44d3-8a7a-{pick(HEX, 12)}",
    "subnet": f'--subnet-ids "subnet-0{pick(HEX, 16)}"',
    "endpoint service": f"--service-ids vpce-svc-0{pick(HEX, 16)}",
    "role": f"{'ARO' + 'A' + pick(string.ascii_uppercase + string.digits, 17)}:session is who called",
    "tenancy of Oracle": f"tenancy ocid1.tenancy.oc1..{pick(string.ascii_lowercase + string.digits, 60)}",
    "host of a database": f"acme-prod.{pick(BASE32, 12)}.eu-central-1.rds.amazonaws.com is reachable",
    "change in Gerrit": f"Change-Id: I{pick(HEX, 40)}",
    "key of a cache": f"cacheKey: v1-node-{pick(HEX, 64)}",
    "path in a store of builds": f"nix path-info says {pick('0123456789abcdfghijklmnpqrsvwxyz', 32)}-glibc-2.38",
    "trace of a cloud": f"X-Cloud-Trace-Context: {pick(HEX, 32)}/{pick('123456789', 19)};o=1",
    "trace in X-Ray": f"--trace-ids 1-{pick(HEX, 8)}-{pick(HEX, 24)}",
    "public key of Nostr": f"follow npub1{pick(BECH32, 58)}",
    "content id": f"pinned bafybei{pick(BASE32, 52)}",
    "public key of a peer": f"PublicKey = {pick(ALNUM, 42)}8=",
    "answer of a web socket": f"Sec-WebSocket-Accept: {pick(ALNUM, 26)}w=",
    "nonce of a page": f"script-src 'nonce-{pick(ALNUM, 22)}=='",
    "base and table": f"base app{pick(ALNUM, 14)}, table tbl{pick(ALNUM, 14)}",
    "workspace": f"wrkspc_{pick(ALNUM, 24)} has two members",
    "parcel": f"tracking no. 1Z{pick(string.ascii_uppercase + string.digits, 16)}",
    "chess": "r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4",
    "DNA": f"primer {pick('ACGT', 24)}",
    "duration": "parse_duration('P3Y6M4DT12H30M5S')",
    "molecule": "InChIKey BSYNRYMUTXBXSQ-UHFFFAOYSA-N",
    "number in C": f"h1 *= 0x{pick(HEX, 16)}ull",
    "index of a pack": f"pack-{pick(HEX, 40)}.idx is missing",
    "example of a cloud": f"the revision 9f29d167EXAMPLE of {pick(ALNUM, 24)}EXAMPLE",
    "classes of a cluster": "isinstance(other, V1beta1CronJobSpec), CrtS3SigV4AsymAuth, AutoModelForSeq2SeqLM",
    "group of an API": "apiVersion: events.cloud.google.com/v1beta1",
    "lower version": "returns V1beta1Webhook, see v1beta1",
    "called name": "glProgramUniform1i64NV(program, location)",
    "defined name": "class PublicRSASHA1NSEC3SHA1: the signer",
    "constants": "cv2.COLOR_HLS2BGR, UC_CPU_S390X_Z9EC_3 and float8_e4m3b11fnuz",
    "message": f"Message-ID: <{pick(ALNUM, 24)}7a@mail.example.org>",
    "tag of a cache": f'etag W/"{pick(HEX, 20)}-{pick(ALNUM, 25)}2c"',
    "cursor of a table": f"cursor eyJpZCI6{pick(ALNUM, 30)}",
    "pool of users": f"Cognito pool eu-central-1_{pick(ALNUM, 7)}2c",
    "name of a secret": f"arn:aws:secretsmanager:eu-central-1:123456789012:secret:prod/db-{pick(ALNUM, 4)}7c",
    "map of sources": f"sourceMappingURL=data:application/json;base64,eyJ2ZXJzaW9uIjozLCJ{pick(ALNUM, 60)}",
    "advisories": "fixes GHSA-24qx-w28j-9m6p/CVE-2026-40110",
    "version with a commit": "it says v1.15.1rc1-37-g9bd1298-dirty or 0.34.0.post1.dev44+gf5e415b6",
    "protein": f"chain MKV{pick('ACDEFGHIKLMNPQRSTVWY', 40)}",
    "alphabet of a salt": f'SALT_CHARS = "{string.ascii_lowercase}{string.ascii_uppercase}{string.digits}"',
    "another option": "forgot-password --client-id 3n4b5urk1ft4fl3mg5e62d9ado --username=ada",
    "release": 'install "Miniconda3-py38_23.3.1-0-MacOSX-arm64" and Miniforge3-4.9.2-7-Linux-ppc64le',
    "dotted names": "pyasn1.type.base.PyAsn1Item, PySide6.QtGui.QVector3D, httpx_aiohttp.httpx2.Httpx2AiohttpClient",
    "recipient of age": f"age recipient age1{pick(BECH32, 58)}",
    "service in Tor": f"reach it at {pick(BASE32, 56)}.onion",
    "key of a mail server": f"DKIM p=MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQ{pick(ALNUM, 90)}",
    "key of an identifier": f"did:key:z6Mk{pick('123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijk', 44)}",
    "call": f"call CA{pick(HEX, 32)}, message SM{pick(HEX, 32)}",
    "digest of a body": f"Content-MD5: {pick(ALNUM, 20)}2Q==",
    "pinned key": f'pin-sha256="{pick(ALNUM, 42)}8="',
    "proof of a site": f"google-site-verification={pick(ALNUM, 41)}7c",
    "ray": f"CF-Ray: {pick(HEX, 16)}-FRA",
    "object of a cache": f"ccache {pick(HEX, 2)}/{pick(HEX, 30)}",
    "host of a network": f"d{pick(BASE32, 10)}7c5.cloudfront.net",
    "names between slashes": "reads BMP/PNG/JPEG/JPEG2000/GIF/TIFF and Ed25519/Ed448/Curve25519/Curve448",
}


@pytest.mark.parametrize("text", PUBLIC.values(), ids=PUBLIC)
def test_public_id_passes(text: str) -> None:
    assert scan(text) == []


SECRET = {
    "upload token of the same service": f"CODECOV_TOKEN={pick(HEX, 8)}-1a2b-4c3d-9e8f-{pick(HEX, 12)}",
    "token of an API": f"https://api.example.org/v1?token={pick(ALNUM, 32)}",
    "private key of a peer": f"PrivateKey = {pick(ALNUM, 42)}8=",
    "private key of Nostr": f"my secret key is nsec1{pick(BECH32, 58)}",
    "key of a cloud": f"aws_access_key_id = {'AK' + 'IA' + pick(string.ascii_uppercase, 16)}",
}


@pytest.mark.parametrize("text", SECRET.values(), ids=SECRET)
def test_secret_with_the_same_name_is_refused(text: str) -> None:
    assert scan(text)
