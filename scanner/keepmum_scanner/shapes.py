"""Recognises tokens that look random and are not secrets: ids, digests, names, paths, placeholders.

Most shapes exclude a token in any context. An id is excluded only where no credential word names it: a UUID may be a
key when the text calls it one.
"""

from __future__ import annotations

from keepmum_scanner.expressions import compiled
from keepmum_scanner.surprise import surprise

_UUID = compiled(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}")
_DIGITS = r"(?:0x)?(?:[0-9a-f]{7,}|[0-9A-F]{7,})"
_TIME_FORM = r"[12][0-9]{3}-?[0-9]{2}-?[0-9]{2}[Tt_-]?[0-9:.-]{0,12}Z?"  # 20251121T093000Z and similar
_POD = "[a-z][a-z0-9-]{1,40}-(?:[0-9a-f]|[bcdf-hj-np-tv-xz2456789]){8,10}-[a-z0-9]{5}"
_IDS = (
    # arXiv papers.
    r"[0-9]{4}\.[0-9]{4,5}v[0-9]{1,2}",
    # Source: https://docs.rs/rusty_ulid/0.2.0/x86_64-unknown-linux-gnu/rusty_ulid/index.html, read 2026-11-21
    # ULIDs, also with their kind in front: "mem_". Their timestamp begins with 0 until the year 3084.
    r"(?:[A-Za-z]{2,16}[_-])?(?:0[0-9A-HJKMNP-TV-Z]{25}|0[0-9a-hjkmnp-tv-z]{25})",
    # Public addresses: Ethereum, Bitcoin, Tron, IPFS.
    (
        r"0x[0-9a-fA-F]{40}|bc1[02-9ac-hj-np-z]{25,59}|[13T][1-9A-HJ-NP-Za-km-z]{33}|Qm[1-9A-HJ-NP-Za-km-z]{44}|"
        r"12D3KooW[1-9A-HJ-NP-Za-km-z]{44}"
    ),
    # Public keys and notes of Nostr, recipients of age, content ids of IPFS.
    # Source: https://raw.githubusercontent.com/nostr-protocol/nips/master/19.md, read 2026-11-21
    r"n(?:pub|ote)1[02-9ac-hj-np-z]{58}|age1[02-9ac-hj-np-z]{58}|baf[a-z2-7]{56}|[a-z2-7]{56}(?:\.onion)?",
    # Source: https://www.w3.org/TR/trace-context/, read 2026-11-21
    (
        r"00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}|[0-9a-f]{32}/[0-9]{1,20}|1-[0-9a-f]{8}-[0-9a-f]{24}|"
        r"[0-9a-f]{16}-[A-Z]{3}|(?:CA|MM|PN|RE|SM)[0-9a-f]{32}|[0-9a-f]{2}/(?:[0-9a-f]{30}|[0-9a-f]{38}|[0-9a-f]{62})"
    ),
    # A name with a commit or digest: "ninja-…", "commit…", "worktree-a1b2c3d4"; changes in Gerrit; Nix store paths.
    (
        r"commit[0-9a-f]{40}|(?:(?:[a-z]{3,16}[_-]|v[0-9]-)){1,4}(?:[0-9a-f]{40}|[0-9a-f]{64})|"
        r"[a-z]{4,16}[_-][0-9a-f]{6,8}|I[0-9a-f]{40}|[0-9a-df-np-sv-z]{32}-[a-z][a-z0-9.+_-]{1,60}"
    ),
    # Cloud resources: "vpc-0a1b…"; pods of Kubernetes, named with two hashes that contain no vowels.
    # Source: https://pkg.go.dev/k8s.io/apimachinery/pkg/util/rand#SafeEncodeString, read 2026-11-21
    (
        rf"(?:[a-z]{{1,12}}-){{1,4}}[0-9a-f]{{8,17}}|{_POD}|"
        r"mrk-[0-9a-f]{32}|"
        r"ocid1\.[a-z0-9.-]{8,120}|[a-z]{2}-[a-z]{4,9}-[0-9]_[A-Za-z0-9]{9}|ou-[0-9a-z]{4,32}-[0-9a-z]{8,32}"
    ),
    # Roles, users, groups and profiles of AWS; the ids of keys begin with AKIA and ASIA.
    # Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html, read 2026-11-21
    r"A(?:GPA|IDA|IPA|NPA|NVA|PKA|ROA|SCA)[A-Z0-9]{16,17}",
    # Bases, tables and records of Airtable; UPS tracking numbers; keys of chemical structures.
    # Source: https://docs.workato.com/connectors/airtable/get-record-action.html, read 2026-11-21
    r"(?:app|fld|rec|sel|tbl|viw)[A-Za-z0-9]{14}|1Z[0-9A-Z]{16}|[A-Z]{14}-[A-Z]{10}-[A-Z]",
    # Numbers in C; chess positions; DNA, proteins; durations.
    (
        r"0x[0-9a-fA-F]{4,16}[uUlL]{1,3}|(?:[bknpqrBKNPQR1-8]{1,8}/){7}[bknpqrBKNPQR1-8]{1,8}|[ACGTUN]{12,}|[ACDEFGHIKLMNPQRSTVWY]{28,}|"
        r"[acgtun]{12,}|P(?:[0-9]{1,4}[YMWD]){0,4}(?:T(?:[0-9]{1,4}[HMS]){1,3})?"
    ),
)
_HEX = compiled(_DIGITS)
POD_NAME = compiled(_POD)  # of Kubernetes; it ends with two hashes
_TIME = compiled(_TIME_FORM)
_IDENTITY = compiled("|".join((_DIGITS, _TIME_FORM, *_IDS)))
# Ids of web services look like keys with their kind in front: a tool call, a customer, a deployment.
_OBJECT = compiled(r"(?P<kind>[a-z]{2,10})[_-][A-Za-z0-9]{12,40}")
_KINDS = frozenset(
    "acct asst batch bld build call ch charge chatcmpl cmpl conv conversation cus customer deploy deployment dpl "
    "event evt file in inv invoice item job mem memory message msg order org page payment pi pm price prj prod product "
    "project prt req request resp response run ses seti session srvtoolu step sub subscription task team thread toolu "
    "tool trace txn user usr wf workflow wrkspc ws".split()
)
_LONGEST_NAME = 96  # characters of a UUID with the words around it
RANDOM_BITS = 6.0  # a token with this surprise is a key even if it contains "example"
WORD_BITS = 5.5  # a part of a path below this surprise is a word

_VERSION = compiled(
    r"(?:[A-Z][a-z]{2,15}-)?v?[0-9]{1,5}(?:\.[0-9]{1,9}){1,3}(?:\.?(?:rc|post|dev|alpha|beta|a|b)[0-9]{1,4}){0,3}[+-]"
)
# Integrity strings of lock files. Alternatives begin with a letter here and below, which `re` finds fast.
_DIGEST = compiled(
    r"(?:sha(?<![^\W_]sha)-?(?:1|224|256|384|512)|SHA(?<![^\W_]SHA)-?(?:1|224|256|384|512)|md5(?<![^\W_]md5)|"
    r"MD5(?<![^\W_]MD5)|h1(?<![^\W_]h1)|blake2b(?<![^\W_]blake2b))[.:=-][A-Za-z0-9+/=]{20}"
)
_LONGEST_SHAPE = 256  # characters that are examined; names and paths are shorter
_LONGEST_CUT = 40  # characters of a key that was shortened with two dots
_LONGEST_PLACEHOLDER = 128  # characters
# Marks example keys in the documentation of clouds; seven random characters spell it once in 62 ** 7.
# Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html, read 2026-11-21
_EXAMPLE = "EXAMPLE"
_PLACEHOLDER = compiled(
    r"xxxx|\*\*\*|___|<[^>]*>|your|example|placeholder|change[-_]?me|redacted|dummy|insert|replace|"
    r"sample|fake|todo|some[-_]?(?:token|key|secret|value)|"
    r"my(?<=\bmy)[-_]?(?:api[-_]?)?(?:token|key|secret|password)(?:[-_]?(?:here|key|value))?$|here$"
)
_NAME = compiled(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
_LONG_NAME = compiled(r"[A-Za-z_.]{1,64}(?:[0-9]{1,4}[A-Za-z_.]{1,64}){0,16}[0-9]{0,4}")
SWITCH = compiled(r"[A-Za-z](?=[0-9])|[0-9](?=[A-Za-z])")  # a change between letters and digits, frequent in keys
# Sizes within names in code: "base64", "Uint8Array", "ipv6only", "sha256sum".
SIZE = compiled(r"(?:(?<=[A-Za-z]{3})(?:8|16|32|58|64|85|128|256|384|512|1024)|(?<=[Ii][Pp]v)[46])(?![0-9])")
CAMEL_WORD = compiled(r"[A-Z][a-z]{2,}|^[a-z]{3,}(?=[A-Z0-9])")
_CAMEL = 0.75  # share of letters in camelCase words; in random letters it is a fifth
_CLEAR_CAMEL = 0.85  # share that suffices however short the words are
_RELEASE = compiled(r"[Vv][0-9]{1,2}(?:(?:alpha|beta|rc|p)[0-9]{1,2})?")  # "V1beta1CronJob", "SigV4"
_CAPITALISED = compiled(r"[A-Z][a-z]{4,}")
_SHORT_CAMEL_WORD = compiled(r"(?:To|Of|In|By|At|As|Is|On|Up|IP)(?=[A-Zv])")
_CAMEL_WORD_LENGTH = 3.75  # mean characters; in random letters the mean is three
_NAME_SWITCHES = 2  # "pbkdf2_hmac" has one; a key with dots has many
# Public keys, images, fonts and archives in base64, and C++ symbols begin with fixed characters.
# (An ssh key begins with the length of its type, RFC 4253 section 6.6.)
_PUBLIC_STARTS = (
    "WebKitFormBoundary",
    "xn--",
    "XN--",
    "z6Mk",  # an Ed25519 key in a decentralised identifier
    "MIGfMA0GCSqGSIb3DQEBAQUAA4GN",  # RSA of 1,024 bits, as in DKIM
    "nonce-",  # in a content security policy
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
    """Whether `token` is a hexadecimal number in one case, as digests and object ids are."""
    return _HEX.fullmatch(token) is not None


def is_time(token: str) -> bool:
    """Whether `token` is a date or a time."""
    return token[0] in "12" and _TIME.fullmatch(token) is not None


def is_identity(token: str) -> bool:
    """Whether `token` is an id, also with its kind in front: UUID, ULID, ObjectId, commit, digest, time."""
    if _IDENTITY.fullmatch(token):
        return True
    if token.isalnum():
        return False
    if _is_object(token):
        return True
    uuid = _UUID.search(token) if token.count("-") >= 4 and len(token) <= _LONGEST_NAME else None
    return uuid is not None and surprise(token[: uuid.start()] + token[uuid.end() :]) < WORD_BITS


def _is_object(token: str) -> bool:
    match = _OBJECT.fullmatch(token) if "_" in token or "-" in token else None
    return match is not None and match["kind"] in _KINDS


def is_integrity(token: str) -> bool:
    """Whether `token` is a digest after the name of its algorithm, or a version with a commit."""
    return _DIGEST.search(token) is not None or _VERSION.match(token) is not None


def is_format_string(token: str) -> bool:
    """Whether `token` is a format string: "4sHHI16s" for Python's `struct`, "%02x%02x" for `printf`."""
    return _FORMAT_STRING.fullmatch(token) is not None


# Source: https://docs.python.org/3/library/struct.html#format-characters, read 2026-11-21
# Contains a letter that is not a hexadecimal digit, unlike keys of digits and few letters.
_FORMAT_STRING = compiled(
    r"(?=[0-9a-fA-F]*[g-zG-Z])(?:[0-9]{0,3}[xcbBhHiIlLqQnNefdspP]){5,}[0-9]{0,3}|"
    r"%?(?:[0-9.+-]{0,6}[diouxXeEfgGcrs]%){2,}[0-9.+-]{0,6}[diouxXeEfgGcrs]?"
)


def is_public(token: str) -> bool:
    """Whether `token` begins like a public key or an embedded file."""
    return token.startswith(_PUBLIC_STARTS)


def is_repeated(token: str) -> bool:
    """Whether `token` is "xxxx…", or shortened with dots."""
    return len(set(token)) <= 3 or "..." in token or (".." in token and len(token) < _LONGEST_CUT)


def is_example(token: str) -> bool:
    """Whether `token` is marked as an example, like keys in the documentation of clouds."""
    return _EXAMPLE in token


def is_placeholder(token: str, bits: float) -> bool:
    """Whether `token`, with a surprise of `bits`, is a placeholder for a secret."""
    if is_repeated(token):
        return True
    if "xxxxxx" in token and len(token) < _LONGEST_CUT:  # a high surprise, but not random
        return True
    if bits >= RANDOM_BITS or len(token) > _LONGEST_PLACEHOLDER:
        return False
    return _PLACEHOLDER.search(token.lower()) is not None


# An OpenPGP fingerprint or key id: 8, 16 or 40 digits in upper case, or after "0x".
# Source: https://www.rfc-editor.org/rfc/rfc4880#section-12.2, read 2026-11-21
OPENPGP_ID = compiled(r"(?:0x)?(?:[0-9A-F]{40}|[0-9A-F]{16}|[0-9A-F]{8})|0x(?:[0-9a-f]{40}|[0-9a-f]{16}|[0-9a-f]{8})")


_PARTS = 4  # of a path, from which on a single letter counts too: base64 has one slash in sixty characters
_SHORT_PART = 10  # characters; with no longer part there are too many slashes for base64: "JPEG/JPEG2000/GIF/TIFF"
_DOMAINS = "ai|app|aws|cloud|co|com|de|dev|edu|eu|gov|info|internal|io|local|me|net|org|ru|uk|us"
_PATH_PART = compiled(rf"(?:[a-z0-9_-]{{1,63}}\.){{1,8}}(?:{_DOMAINS})|v[0-9]{{1,2}}(?:(?:alpha|beta)[0-9]{{1,2}})?")
_HOST = compiled(rf"[a-z0-9-]{{1,40}}\.cloudfront\.net|(?:[a-z0-9_-]{{1,40}}\.){{3,8}}(?:{_DOMAINS})")


def is_host(token: str) -> bool:
    """Whether `token` is a host name, which in clouds contains ids of accounts and clusters."""
    return "." in token and _HOST.fullmatch(token) is not None


def is_path(token: str) -> bool:
    """Whether `token` is a path or a link without its scheme: words between slashes."""
    if "/" not in token:
        return False
    if _HOSTED.match(token):
        return True
    parts = token[:_LONGEST_SHAPE].split("/")
    if len(parts) > 1 and _EXTENSION.search(parts[-1]):
        return True
    words_missing = len(parts) // 2
    if len(parts) >= _PARTS and max(map(len, parts)) <= _SHORT_PART:
        return True
    short = len(token) <= _LONGEST_NAME
    for part in parts:
        if (part.isalpha() and (len(part) > 1 or len(parts) > _PARTS) and surprise(part) < WORD_BITS) or (
            short and _PATH_PART.fullmatch(part)
        ):
            words_missing -= 1
            if words_missing <= 0:
                return True
    return False


def is_name(token: str) -> bool:
    """Whether `token` is a name in code: `hashlib.pbkdf2_hmac`, `AZURE_API_KEY`."""
    if "." not in token and "_" not in token:
        return False
    switches = len(SWITCH.findall(token))
    if switches > _NAME_SWITCHES:
        token = SIZE.sub("", token)
        switches = len(SWITCH.findall(token))
    if switches <= _NAME_SWITCHES and _NAME.fullmatch(token):
        return True
    parts = token.count(".") + token.count("_")
    return (
        switches <= _NAME_SWITCHES * parts and _LONG_NAME.fullmatch(token) is not None and surprise(token) < WORD_BITS
    )


def is_camel(token: str) -> bool:
    """Whether `token` consists of camelCase words, with numbers between them: `Ed25519PublicKey`."""
    token = token[:_LONGEST_SHAPE].lstrip("_")
    words = CAMEL_WORD.findall(token)
    if not words or 2 * sum(map(len, words)) < sum(map(str.isalpha, token)):
        return False
    token = SIZE.sub("", token)
    plain = _RELEASE.sub("", token)
    if plain != token and _CAPITALISED.fullmatch(plain) and surprise(plain) < RANDOM_BITS:
        return True
    token = plain
    words = CAMEL_WORD.findall(token)
    covered = sum(map(len, words))
    share = (covered + 2 * len(_SHORT_CAMEL_WORD.findall(token))) / max(1, sum(map(str.isalpha, token)))
    if len(words) < 2 or share < (_CAMEL if covered >= _CAMEL_WORD_LENGTH * len(words) else _CLEAR_CAMEL):
        return False
    return surprise("".join(words).lower()) < WORD_BITS  # random letters contain capitals, but no words


def is_slug(token: str) -> bool:
    """Whether `token` is words and short parts (a model, a table), a file name, or part of the alphabet."""
    if token.isalnum():
        return token.lower() in _ALPHABET
    if token.lower() in _ALPHABET or _ADVISORY.match(token) or _FILE.search(token) or _PARTED.fullmatch(token):
        return True
    parts = _JOINTS.split(SIZE.sub("", token))
    if len(token) > _LONGEST_SHAPE or not all(len(part) <= _SHORT_SLUG_PART or part.isalpha() for part in parts[:-1]):
        return False
    letters = [part for part in parts if part.isalpha() and len(part) > 2]
    return len(letters) > 1 and _ends_slug(parts[-1]) and sum(surprise(part) < WORD_BITS for part in letters) > 1


def _ends_slug(part: str) -> bool:
    return (
        len(part) <= _SHORT_SLUG_PART
        or (part.isalpha() and surprise(part) < WORD_BITS)
        or (is_hex(part) and len(part) <= _CUT)
    )


def is_alphabet(token: str) -> bool:
    """Whether `token` is an alphabet, as encoders contain it, or the character classes of an expression."""
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
_SHORT_SLUG_PART = 6  # characters of a version, a size, a counter
_CUT = 12  # hexadecimal digits of an abbreviated digest

_REFERENCE = compiled(
    r"\$\w+|\$?\{\{?[^{}]*\}?\}|\$\([^()]*\)|%\w+%|%\(\w+\)s|%[sdr]|<[^<>]*>|\[[^\[\]]*\]|:[A-Za-z_]\w*|@\w+@|[*•.…_xX#-]+"
)


def is_reference(value: str) -> bool:
    """Whether `value` refers to a secret: `${VAR}`, `$VAR`, `<password>`, `{{ name }}`, `****`."""
    return _REFERENCE.fullmatch(value) is not None
