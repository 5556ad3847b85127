"""Shapes that look random and are not secret: names of things, digests, places, placeholders.

Most guards let a token pass whatever stands beside it. An identity passes only while no credential word governs it: a
UUID may well be a key when the text says that it is one.
"""

from __future__ import annotations

from keepmum_scanner.expressions import compiled
from keepmum_scanner.surprise import surprise

_UUID = compiled(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}")
_DIGITS = r"(?:0x)?(?:[0-9a-f]{7,}|[0-9A-F]{7,})"
_MOMENT = r"[12][0-9]{3}-?[0-9]{2}-?[0-9]{2}[Tt_-]?[0-9:.-]{0,12}Z?"  # 20251121T093000Z and its kin
_POD = "[a-z][a-z0-9-]{1,40}-(?:[0-9a-f]|[bcdf-hj-np-tv-xz2456789]){8,10}-[a-z0-9]{5}"
_NAMES = (
    # Papers of arXiv.
    r"[0-9]{4}\.[0-9]{4,5}v[0-9]{1,2}",
    # Source: https://docs.rs/rusty_ulid/0.2.0/x86_64-unknown-linux-gnu/rusty_ulid/index.html, read 2026-11-21
    # Of 48 bits of milliseconds the first digit stays 0 until the year 3084. In front may stand what it names: "mem_".
    r"(?:[A-Za-z]{2,16}[_-])?(?:0[0-9A-HJKMNP-TV-Z]{25}|0[0-9a-hjkmnp-tv-z]{25})",
    # Public addresses: Ethereum, Bitcoin, Tron, IPFS.
    (
        r"0x[0-9a-fA-F]{40}|bc1[02-9ac-hj-np-z]{25,59}|[13T][1-9A-HJ-NP-Za-km-z]{33}|Qm[1-9A-HJ-NP-Za-km-z]{44}|"
        r"12D3KooW[1-9A-HJ-NP-Za-km-z]{44}"
    ),
    # Keys and notes of Nostr, and what IPFS stores.
    # Source: https://raw.githubusercontent.com/nostr-protocol/nips/master/19.md, read 2026-11-21
    r"n(?:pub|ote)1[02-9ac-hj-np-z]{58}|age1[02-9ac-hj-np-z]{58}|baf[a-z2-7]{56}|[a-z2-7]{56}(?:\.onion)?",
    # Source: https://www.w3.org/TR/trace-context/, read 2026-11-21
    (
        r"00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}|[0-9a-f]{32}/[0-9]{1,20}|1-[0-9a-f]{8}-[0-9a-f]{24}|"
        r"[0-9a-f]{16}-[A-Z]{3}|(?:CA|MM|PN|RE|SM)[0-9a-f]{32}|[0-9a-f]{2}/(?:[0-9a-f]{30}|[0-9a-f]{38}|[0-9a-f]{62})"
    ),
    # A thing and the commit or the digest it comes from: "ninja-…", "commit…", "worktree-a1b2c3d4".
    # A change as Gerrit names it, and what a store of builds holds.
    (
        r"commit[0-9a-f]{40}|(?:(?:[a-z]{3,16}[_-]|v[0-9]-)){1,4}(?:[0-9a-f]{40}|[0-9a-f]{64})|"
        r"[a-z]{4,16}[_-][0-9a-f]{6,8}|I[0-9a-f]{40}|[0-9a-df-np-sv-z]{32}-[a-z][a-z0-9.+_-]{1,60}"
    ),
    # What clouds and clusters run: "vpc-0a1b…", and a pod with the hashes of its set and of itself, which are spelled
    # without vowels. Source: https://pkg.go.dev/k8s.io/apimachinery/pkg/util/rand#SafeEncodeString, read 2026-11-21
    (
        rf"(?:[a-z]{{1,12}}-){{1,4}}[0-9a-f]{{8,17}}|{_POD}|"
        r"mrk-[0-9a-f]{32}|"
        r"ocid1\.[a-z0-9.-]{8,120}|[a-z]{2}-[a-z]{4,9}-[0-9]_[A-Za-z0-9]{9}|ou-[0-9a-z]{4,32}-[0-9a-z]{8,32}"
    ),
    # Roles, users, groups and profiles of AWS; keys are AKIA and ASIA.
    # Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html, read 2026-11-21
    r"A(?:GPA|IDA|IPA|NPA|NVA|PKA|ROA|SCA)[A-Z0-9]{16,17}",
    # Bases, tables and records of Airtable; a parcel of UPS; the key of a chemical structure.
    # Source: https://docs.workato.com/connectors/airtable/get-record-action.html, read 2026-11-21
    r"(?:app|fld|rec|sel|tbl|viw)[A-Za-z0-9]{14}|1Z[0-9A-Z]{16}|[A-Z]{14}-[A-Z]{10}-[A-Z]",
    # A number in C; a position in chess; a strand of DNA, a protein; a duration.
    (
        r"0x[0-9a-fA-F]{4,16}[uUlL]{1,3}|(?:[bknpqrBKNPQR1-8]{1,8}/){7}[bknpqrBKNPQR1-8]{1,8}|[ACGTUN]{12,}|[ACDEFGHIKLMNPQRSTVWY]{28,}|"
        r"[acgtun]{12,}|P(?:[0-9]{1,4}[YMWD]){0,4}(?:T(?:[0-9]{1,4}[HMS]){1,3})?"
    ),
)
_HEX = compiled(_DIGITS)
_PODS = compiled(_POD)
_TIME = compiled(_MOMENT)
_IDENTITY = compiled("|".join((_DIGITS, _MOMENT, *_NAMES)))
# Objects of web services are named like keys, their kind in front: a tool call, a customer, a deployment.
_OBJECT = compiled(r"(?P<kind>[a-z]{2,10})[_-][A-Za-z0-9]{12,40}")
_KINDS = frozenset(
    "acct asst batch bld build call ch charge chatcmpl cmpl conv conversation cus customer deploy deployment dpl "
    "event evt file in inv invoice item job mem memory message msg order org page payment pi pm price prj prod product "
    "project req request resp response run seti session srvtoolu step sub subscription task team thread toolu tool "
    "trace txn user usr wf workflow wrkspc ws".split()
)
_LONGEST_NAME = 96  # characters of a UUID with the words around it
RANDOM = 6.0  # bits; a token this surprising is a key even where a word in it says "example"
WORD = 5.5  # bits; a path's part below this is a word

_VERSION = compiled(
    r"(?:[A-Z][a-z]{2,15}-)?v?[0-9]{1,5}(?:\.[0-9]{1,9}){1,3}(?:\.?(?:rc|post|dev|alpha|beta|a|b)[0-9]{1,4}){0,3}[+-]"
)
# Lock-file integrity strings. Here and below each alternative begins with a letter, which `re` looks for by itself.
_DIGEST = compiled(
    r"(?:sha(?<![^\W_]sha)-?(?:1|224|256|384|512)|SHA(?<![^\W_]SHA)-?(?:1|224|256|384|512)|md5(?<![^\W_]md5)|"
    r"MD5(?<![^\W_]MD5)|h1(?<![^\W_]h1)|blake2b(?<![^\W_]blake2b))[.:=-][A-Za-z0-9+/=]{20}"
)
_LONGEST_SHAPE = 256  # characters that are looked at for a shape: names and paths are shorter
_LONGEST_CUT = 40  # characters of a key that somebody shortened by two dots
_LONGEST_PLACEHOLDER = 128  # characters
# How documents of clouds mark keys that are none; chance spells it once in 62 to the seventh.
# Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html, read 2026-11-21
_MARK = "EXAMPLE"
_PLACEHOLDER = compiled(
    r"xxxx|\*\*\*|___|<[^>]*>|your|example|placeholder|change[-_]?me|redacted|dummy|insert|replace|"
    r"sample|fake|todo|some[-_]?(?:token|key|secret|value)|"
    r"my(?<=\bmy)[-_]?(?:api[-_]?)?(?:token|key|secret|password)(?:[-_]?(?:here|key|value))?$|here$"
)
_NAME = compiled(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
_LONG_NAME = compiled(r"[A-Za-z_.]{1,64}(?:[0-9]{1,4}[A-Za-z_.]{1,64}){0,16}[0-9]{0,4}")
SWITCH = compiled(r"[A-Za-z](?=[0-9])|[0-9](?=[A-Za-z])")  # where letters and digits take turns, as in keys
# Sizes that names of programs carry: "base64", "Uint8Array", "ipv6only", "sha256sum".
_SIZE = compiled(r"(?:(?<=[A-Za-z]{3})(?:8|16|32|58|64|85|128|256|384|512|1024)|(?<=[Ii][Pp]v)[46])(?![0-9])")
_HUMP = compiled(r"[A-Z][a-z]{2,}|^[a-z]{3,}(?=[A-Z0-9])")
_CAMEL = 0.75  # share of the letters that humps make up; of random ones it is a fifth
_STATED_CAMEL = 0.85  # share that speaks for itself, however short the humps are
_RELEASE = compiled(r"[Vv][0-9]{1,2}(?:(?:alpha|beta|rc|p)[0-9]{1,2})?")  # "V1beta1CronJob", "SigV4"
_CAPITALISED = compiled(r"[A-Z][a-z]{4,}")
_SMALL_HUMP = compiled(r"(?:To|Of|In|By|At|As|Is|On|Up|IP)(?=[A-Zv])")
_HUMP_LENGTH = 3.75  # characters on average; humps found by chance have three
_NAME_SWITCHES = 2  # "pbkdf2_hmac" has one; a key with dots has many
# ssh and gpg public material, images, fonts and archives written as base64, and C++ symbols: always the same start.
# (An ssh key starts with the length of its own type, RFC 4253 section 6.6.)
_PUBLIC_STARTS = (
    "WebKitFormBoundary",
    "xn--",
    "XN--",
    "z6Mk",  # a key of Ed25519 in a decentralised identifier
    "MIGfMA0GCSqGSIb3DQEBAQUAA4GN",  # RSA of 1,024 bits, as mail signs with it
    "nonce-",  # of a content security policy
    # A public key in DER names its algorithm first (RFC 5280 section 4.1): RSA of two lengths, P-256, P-384, Ed25519.
    "MIIBIjANBgkqhkiG9w0BAQEFAAOC",
    "MIICIjANBgkqhkiG9w0BAQEFAAOC",
    "MFkwEwYHKoZIzj0CAQ",
    "MHYwEAYHKoZIzj0CAQ",
    "MCowBQYDK2VwAyEA",
    "_ZN",
    "AAAAB3NzaC1",
    "AAAAC3NzaC1",
    "AAAAE2VjZHNh",
    "iVBORw0KGgo",
    "9j/4AAQ",
    "LS0tLS1CRUdJTiBDRVJU",
    "LS0tLS1CRUdJTiBQVUJM",
    "R0lGODlh",
    "d09GMg",
    "UEsDB",
)


def is_hex(token: str) -> bool:
    """Whether `token` is one run of hexadecimal digits of one case, as digests and object ids are."""
    return _HEX.fullmatch(token) is not None


def is_time(token: str) -> bool:
    """Whether `token` is a date or a time."""
    return token[0] in "12" and _TIME.fullmatch(token) is not None


def is_identity(token: str) -> bool:
    """Whether `token` names a thing: UUID, ULID, ObjectId, commit, digest, time; also with its kind in front."""
    if _IDENTITY.fullmatch(token):
        return True
    if token.isalnum():
        return False
    if _is_object(token):
        return True
    uuid = _UUID.search(token) if token.count("-") >= 4 and len(token) <= _LONGEST_NAME else None
    return uuid is not None and surprise(token[: uuid.start()] + token[uuid.end() :]) < WORD


def _is_object(token: str) -> bool:
    match = _OBJECT.fullmatch(token) if "_" in token or "-" in token else None
    return match is not None and match["kind"] in _KINDS


def is_integrity(token: str) -> bool:
    """Whether `token` is a digest with its algorithm in front, as lock files write it, or a version with a commit."""
    return _DIGEST.search(token) is not None or _VERSION.match(token) is not None


def is_pod(token: str) -> bool:
    """Whether `token` names a pod of a cluster: its set, and two hashes."""
    return _PODS.fullmatch(token) is not None


def is_layout(token: str) -> bool:
    """Whether `token` says how values are laid out: "4sHHI16s" for Python's `struct`, "%02x%02x" for `printf`."""
    return _LAYOUT.fullmatch(token) is not None


# Source: https://docs.python.org/3/library/struct.html#format-characters, read 2026-11-21
# With a letter that is no hexadecimal digit, which keys of digits and few letters lack.
_LAYOUT = compiled(
    r"(?=[0-9a-fA-F]*[g-zG-Z])(?:[0-9]{0,3}[xcbBhHiIlLqQnNefdspP]){5,}[0-9]{0,3}|"
    r"%?(?:[0-9.+-]{0,6}[diouxXeEfgGcrs]%){2,}[0-9.+-]{0,6}[diouxXeEfgGcrs]?"
)


def is_public(token: str) -> bool:
    """Whether `token` starts like public key material or an embedded file."""
    return token.startswith(_PUBLIC_STARTS)


def is_repeated(token: str) -> bool:
    """Whether `token` is "xxxx…", or cut short by dots."""
    return len(set(token)) <= 3 or "..." in token or (".." in token and len(token) < _LONGEST_CUT)


def is_marked(token: str) -> bool:
    """Whether `token` says that it is an example, as the keys in documents of clouds do."""
    return _MARK in token


def is_placeholder(token: str, bits: float) -> bool:
    """Whether `token`, spelled at a surprise of `bits`, stands for a secret instead of being one."""
    if is_repeated(token):
        return True
    if "xxxxxx" in token and len(token) < _LONGEST_CUT:  # dear to spell, and never drawn
        return True
    if bits >= RANDOM or len(token) > _LONGEST_PLACEHOLDER:
        return False
    return _PLACEHOLDER.search(token.lower()) is not None


def is_fingerprint(token: str) -> bool:
    """Whether `token` is spelled as OpenPGP names a key: 8, 16 or 40 digits in upper case, or behind "0x"."""
    return _FINGERPRINT.fullmatch(token) is not None


# Source: https://www.rfc-editor.org/rfc/rfc4880#section-12.2, read 2026-11-21
_FINGERPRINT = compiled(r"(?:0x)?(?:[0-9A-F]{40}|[0-9A-F]{16}|[0-9A-F]{8})|0x(?:[0-9a-f]{40}|[0-9a-f]{16}|[0-9a-f]{8})")


_PARTS = 4  # of a path, from which on one letter is a name too: base64 has a slash in sixty characters


_SHORT_PART = 10  # characters; where no part is longer there are too many slashes for base64: "JPEG/JPEG2000/GIF/TIFF"
_DOMAINS = "ai|app|aws|cloud|co|com|de|dev|edu|eu|gov|info|internal|io|local|me|net|org|ru|uk|us"
_PLACE = compiled(rf"(?:[a-z0-9_-]{{1,63}}\.){{1,8}}(?:{_DOMAINS})|v[0-9]{{1,2}}(?:(?:alpha|beta)[0-9]{{1,2}})?")
_HOST = compiled(rf"[a-z0-9-]{{1,40}}\.cloudfront\.net|(?:[a-z0-9_-]{{1,40}}\.){{3,8}}(?:{_DOMAINS})")


def is_host(token: str) -> bool:
    """Whether `token` is the name of a server, which clouds spell with the ids of accounts and clusters."""
    return "." in token and _HOST.fullmatch(token) is not None


def is_path(token: str) -> bool:
    """Whether `token` is a path or a link without its scheme: parts of words between slashes."""
    if "/" not in token:
        return False
    if _HOSTED.match(token):
        return True
    parts = token[:_LONGEST_SHAPE].split("/")
    if len(parts) > 1 and _EXTENSION.search(parts[-1]):
        return True
    missing = len(parts) // 2
    if len(parts) >= _PARTS and max(map(len, parts)) <= _SHORT_PART:
        return True
    short = len(token) <= _LONGEST_NAME
    for part in parts:
        if (part.isalpha() and (len(part) > 1 or len(parts) > _PARTS) and surprise(part) < WORD) or (
            short and _PLACE.fullmatch(part)
        ):
            missing -= 1
            if missing <= 0:
                return True
    return False


def is_name(token: str) -> bool:
    """Whether `token` is a name of a program: `hashlib.pbkdf2_hmac`, `AZURE_API_KEY`."""
    if "." not in token and "_" not in token:
        return False
    switches = len(SWITCH.findall(token))
    if switches > _NAME_SWITCHES:
        token = _SIZE.sub("", token)
        switches = len(SWITCH.findall(token))
    if switches <= _NAME_SWITCHES and _NAME.fullmatch(token):
        return True
    parts = token.count(".") + token.count("_")
    return switches <= _NAME_SWITCHES * parts and _LONG_NAME.fullmatch(token) is not None and surprise(token) < WORD


def unsized(token: str) -> str:
    """`token` without the sizes that names of programs carry: "decodeBase64", "Uint8Array"."""
    return _SIZE.sub("", token)


def humps(token: str) -> int:
    """How many words in camelCase `token` has."""
    return len(_HUMP.findall(token))


def is_camel(token: str) -> bool:
    """Whether `token` is written in camelCase words, numbers between them allowed: `Ed25519PublicKey`."""
    token = token[:_LONGEST_SHAPE].lstrip("_")
    words = _HUMP.findall(token)
    if not words or 2 * sum(map(len, words)) < sum(map(str.isalpha, token)):
        return False
    token = _SIZE.sub("", token)
    plain = _RELEASE.sub("", token)
    if plain != token and _CAPITALISED.fullmatch(plain) and surprise(plain) < RANDOM:
        return True
    token = plain
    words = _HUMP.findall(token)
    spelled = sum(map(len, words))
    share = (spelled + 2 * len(_SMALL_HUMP.findall(token))) / max(1, sum(map(str.isalpha, token)))
    if len(words) < 2 or share < (_CAMEL if spelled >= _HUMP_LENGTH * len(words) else _STATED_CAMEL):
        return False
    return surprise("".join(words).lower()) < WORD  # humps are found by chance too, words are not


def is_slug(token: str) -> bool:
    """Whether `token` is words with short pieces between them: a model, a table; a file; an alphabet spelled out."""
    if token.isalnum():
        return token.lower() in _ALPHABET
    if token.lower() in _ALPHABET or _ADVISORY.match(token) or _FILE.search(token) or _PARTED.fullmatch(token):
        return True
    parts = _JOINTS.split(_SIZE.sub("", token))
    if len(token) > _LONGEST_SHAPE or not all(len(part) <= _PIECE or part.isalpha() for part in parts[:-1]):
        return False
    letters = [part for part in parts if part.isalpha() and len(part) > 2]
    return len(letters) > 1 and _ends_slug(parts[-1]) and sum(surprise(part) < WORD for part in letters) > 1


def _ends_slug(part: str) -> bool:
    return len(part) <= _PIECE or (part.isalpha() and surprise(part) < WORD) or (is_hex(part) and len(part) <= _CUT)


def is_alphabet(token: str) -> bool:
    """Whether `token` spells out an alphabet, as code that encodes has it, or the classes of an expression."""
    if "-" in token and _CLASSES.match(token):
        return True
    return len(token) >= _LEAST_ALPHABET and len(set(token)) == len(token)


_CLASSES = compiled(r"(?:A-Z|a-z|[01]-9|A-H|a-f|A-F)(?:[A-Za-z0-9]-[A-Za-z0-9]|[A-Za-z0-9_]{0,3}(?![A-Za-z0-9_])|$)")
_LEAST_ALPHABET = 50  # characters, each of them once
_ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789_-"
# "float8_e4m3b11fnuz", "cv2.COLOR_HLS2BGR", "pyasn1.type.base.PyAsn1Item", "Miniconda3-4.5.4-Linux-ppc64le"
_PARTED = compiled(
    r"_{0,2}[a-z]{3,12}[0-9]{0,3}(?:_[a-z0-9]{1,11}){1,6}|"
    r"(?:[A-Za-z][a-z0-9]{1,24}\.)?_{0,2}[A-Z]{2,12}[0-9]{0,2}(?:_[A-Z0-9]{1,8}){1,8}|"
    r"(?:_{0,2}[A-Za-z]{2,24}[0-9]{0,2}(?:_[a-z0-9]{1,12}){0,3}\.){1,8}"
    r"_{0,2}[A-Za-z]{1,24}(?:[0-9]{1,3}[A-Za-z]{1,24}){0,2}[0-9]{0,3}|"
    r"[A-Za-z]{2,24}[0-9]{0,2}(?:-py[0-9]{2,3})?[-_]v?[0-9]{1,5}(?:\.[0-9]{1,5}){1,3}(?:[-_.][A-Za-z0-9]{1,10}){0,6}"
)
# Source: https://go.googlesource.com/vulndb/, cmd/vulnreport/testdata/legacy_ghsas.txtar, read 2026-11-21
_ADVISORY = compiled(r"GHSA(?:-[0-9a-z]{4}){3}(?![0-9a-z-])")
_FILE = compiled(
    r"\.(?:[cm]?[jt]sx?|apk|css|csv|d\.ts|db|deb|drv|go|gz|html?|ico|idx|ipynb|jar|jpe?g|json|lock|log|map|md|pack|parquet|"
    r"patch|pdf|png|proto|py|rb|rpm|rs|sh|so(?:\.[0-9]{1,4}){0,4}|sql|svg|tgz|toml|txt|webp|whl|woff2?|xml|ya?ml|zip)$"
)
_HOSTED = compiled(r"(?:[a-z0-9-]{1,40}\.){1,4}[a-z]{2,6}/(?:[\w.-]{1,64}/){2}")  # "github.com/owner/name/…"
_EXTENSION = compiled(r"[\w-]\.[a-z]{1,3}[0-9]{0,2}$")
_JOINTS = compiled(r"[-_./+]")
_PIECE = 6  # characters of a version, a size, a counter
_CUT = 12  # hexadecimal digits of a cut digest

_REFERENCE = compiled(
    r"\$\w+|\$?\{\{?[^{}]*\}?\}|\$\([^()]*\)|%\w+%|%\(\w+\)s|%[sdr]|<[^<>]*>|\[[^\[\]]*\]|:[A-Za-z_]\w*|@\w+@|[*•.…_xX#-]+"
)


def is_reference(value: str) -> bool:
    """Whether `value` names where a secret would be found: `${VAR}`, `$VAR`, `<password>`, `{{ name }}`, `****`."""
    return _REFERENCE.fullmatch(value) is not None
