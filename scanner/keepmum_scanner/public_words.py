"""Words that may be shown of a scanned text: those of the scanner's own lists, which no secret adds to.

Words of wallets and passphrases are not among them, nor are words that are also first names.
"""

from __future__ import annotations

from keepmum_scanner import assigning_words, command_values, credential_words, labels
from keepmum_scanner.expressions import compiled
from keepmum_scanner.identifier_words import IDENTIFIER_WORDS

_PIECE = compiled(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[^\W\d_a-zA-Z]+")
_RUN = compiled(r"[^\W\d_]+")
_SHORT, _LONG = 3, 4  # letters: camelCase may have one word below the first, and needs one of the second

_OWN = (
    "a i the an this that these those it its is are was were be been has have had do does did not no and or but if so "
    "as at by for from in into of off on onto out over to under up with without after before between during until "
    "he she we you they my your our his her their me us them who what when where why how which there here then than "
    "now still again always just only also both each all any some none other another same new old next last first "
    "use used uses using set sets get gets put send sends sent give gives gave given need needs needed please see "
    "say says said tell told ask asks call calls called named like such can could may might must shall should would "
    "log logs logged sign signed open opens type typed enter change changed changes add added keep kept make made "
    "remember note notes found fix fixed paste copy copied run runs ran work works "
    "account admin user username login password passwords passwd pass pwd pw passphrase passcode pin puk code codes "
    "secret secrets token tokens key keys apikey api bearer basic auth authorization oauth jwt credential credentials "
    "cred creds salt psk wifi wpa ssid door gate garage alarm sim card lock safe locker recovery backup emergency seed "
    "phrase mnemonic wallet words otp totp mfa private public signing deploy webhook cookie session sid "
    "host hostname port server service database db dsn url uri link path file folder repo project branch commit "
    "commits sha md hash digest checksum integrity etag revision version build image tag release issue pull request "
    "trace span message thread run job id ids uuid guid address fingerprint signature signer verify certificate cert "
    "nonce boundary block tx txn transaction module node cluster namespace pod label model "
    "example examples sample placeholder dummy fake test tests staging prod production dev local localhost default "
    "alg typ kid iss sub aud exp iat nbf jti scope "
    "export env environment config configuration settings const let var val def class return import print "
    "echo curl http https ftp ssh git postgres postgresql mysql redis mongodb amqp smtp jdbc s3 aws gcp azure github "
    "gitlab slack stripe npm pypi docker kubernetes kubectl helm terraform ansible nginx python java ruby go rust php "
    "bash sh json yaml yml toml xml html csv txt md env ini sql py js ts com org net io www "
    "sshpass smbclient mysqldump mongo mongosh psql ldapsearch curl wget setenv setx sudo keytool openssl rclone rsync "
    "snmp snmpwalk net wmic winexe htpasswd nmcli wpa passphrase sqlplus sqlcmd bcp cmd powershell exe srv share "
    "string str int bool true false null none nil value values name type data base text hex "
    "error warning info debug warn todo fixme "
    "der die das und ist nicht mit für ein eine von zum zur mein dein unser "
    "le la les un une des du de et est pas pour avec mon votre notre "
    "el los las una y es no con para mi su nuestro o os e do da em com para il lo gli con per "
    "het een en van voor met niet "
    "и в на не для по от к наш мой это пароль логин ключ"
)
# Heads of columns and other frequent words in scripts without spaces.
FOREIGN_WORDS = tuple(
    "环境 账号 帐号 账户 用户名 用户 名称 系统 服务器 服务 主机 密码 登录 ユーザー ユーザ アカウント "
    "名前 サーバー サーバ 環境 ホスト サービス ログイン 계정 사용자 아이디 이름 서버 서비스 환경 호스트 로그인".split()
)
_WITH_DIGITS = frozenset(
    "sha1 sha224 sha256 sha384 sha512 md5 base64 base32 base58 utf8 utf16 oauth2 http2 x509 ed25519 curve25519 p256 "
    "aes128 aes256 rs256 hs256 es256 int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 ipv4 ipv6 s3 "
    "ec2 k8s h1 h2 v1 v2 v3 wpa2 wpa3 2fa log4j".split()
)
_LETTERS = frozenset("ai")  # that are words
_FIRST_NAMES = frozenset("max mark grace will may bill rob sue art pat frank rod guy ray ivy rose jack".split())


def _all() -> frozenset[str]:
    words = {*_OWN.split(), *IDENTIFIER_WORDS, *labels.PUBLIC_WORDS}
    words.update(_RUN.findall(" ".join((*credential_words.NAMES, *command_values.ANCHORS))))
    for lists in (assigning_words.IS, assigning_words.TO, assigning_words.NOW, assigning_words.AS):
        words.update(_RUN.findall(lists))
    return frozenset(word for word in words if len(word) > 1 or word in _LETTERS) - _FIRST_NAMES


_WORDS = _all()


def is_public(run: str) -> bool:
    """Whether `run`, letters without a break, is a word of the lists, or such words in camelCase."""
    if run.lower() in _WORDS:
        return run.islower() or run.isupper() or run.istitle() or not run.isascii()
    pieces = _PIECE.findall(run)
    if not all(one.lower() in _WORDS for one in pieces) or sum(map(len, pieces)) < len(run):
        return False
    sizes = sorted(map(len, pieces))
    return len(sizes) > 1 and sizes[-1] >= _LONG and sizes[1] >= _SHORT and sizes[0] > 1


def is_public_name(chunk: str) -> bool:
    """Whether `chunk`, letters and digits without a break, is the name of an algorithm or of a format with a size."""
    return chunk.lower() in _WITH_DIGITS
