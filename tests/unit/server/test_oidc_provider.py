"""What a server reads of its identity provider, and what it does with a hostile or absent one (T7 of its threats)."""

from __future__ import annotations

import contextlib
import ipaddress
import ssl
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from certificates import Authority
from identity_provider import Answer, IdentityProvider, SigningKey
from keepmum.server.people.oidc import fetch
from keepmum.server.people.oidc.fetch import Fetcher, ProviderAway
from keepmum.server.people.oidc.provider import Provider

DISCOVERY = "/.well-known/openid-configuration"
HOUR = 3600.0


@pytest.fixture
def idp() -> Iterator[IdentityProvider]:
    with IdentityProvider() as running:
        yield running


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def _provider(idp: IdentityProvider, clock: Clock | None = None) -> Provider:
    return Provider(idp.issuer, Fetcher(idp.issuer), clock or Clock())


def _raw(answer: bytes) -> Answer:
    def send(request: BaseHTTPRequestHandler) -> None:
        request.close_connection = True
        request.wfile.write(answer)

    return send


def _endless(request: BaseHTTPRequestHandler) -> None:
    request.close_connection = True
    request.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
    with contextlib.suppress(OSError):
        while True:
            request.wfile.write(b"[" * 65536)


def _slow(stopped: threading.Event, head: bytes) -> Answer:
    def send(request: BaseHTTPRequestHandler) -> None:
        request.close_connection = True
        with contextlib.suppress(OSError):
            request.wfile.write(head)
            while not stopped.wait(0.05):
                request.wfile.write(b"x")

    return send


def _redirect(location: str) -> Answer:
    return _raw(f"HTTP/1.1 302 Found\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n".encode())


HOSTILE: dict[str, dict[str, object]] = {
    "another issuer": {"issuer": "https://evil.example"},
    "an issuer that is a list": {"issuer": ["x"]},
    "keys at another host": {"jwks_uri": "https://evil.example/keys"},
    "keys at another port": {"jwks_uri": "http://127.0.0.1:1/keys"},
    "keys at a private address": {"jwks_uri": "http://169.254.169.254/latest/meta-data"},
    "keys in a file": {"jwks_uri": "file:///etc/passwd"},
    "keys with a password": {"jwks_uri": "http://user@127.0.0.1/keys"},
    "no address of keys": {"jwks_uri": None},
    "tokens at another host": {"token_endpoint": "https://evil.example/token"},
    "a sign-in that is a script": {"authorization_endpoint": "javascript:alert(1)"},
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_document_that_leads_elsewhere_is_not_used(idp: IdentityProvider, name: str) -> None:
    idp.publish(DISCOVERY, idp.metadata(**HOSTILE[name]))
    provider = _provider(idp)
    with pytest.raises(ProviderAway):
        provider.read()
    with pytest.raises(ProviderAway):
        provider.key(idp.keys[0].ident)
    assert "/keys" not in idp.asked or name.startswith(("tokens", "a sign-in"))


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(_redirect("/elsewhere"), id="a redirect at the host"),
        pytest.param(_redirect("http://169.254.169.254/"), id="a redirect elsewhere"),
        pytest.param(_raw(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n<htm>"), id="no JSON"),
        pytest.param(_raw(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n[]"), id="no object"),
        pytest.param(
            _raw(b"HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\n" + b'{"a":1,"a":2}       '), id="a name twice"
        ),
        pytest.param(
            _raw(b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 2\r\n\r\n{}"), id="compressed"
        ),
        pytest.param(_raw(b"HTTP/1.1 500 Oh\r\ncontent-length: 2\r\n\r\n{}"), id="an error"),
        pytest.param(_raw(b""), id="nothing"),
        pytest.param(_raw(b"\x00\x01\x02"), id="no HTTP"),
        pytest.param(_endless, id="an endless body"),
    ],
)
@pytest.mark.parametrize("path", [DISCOVERY, "/keys"])
def test_an_answer_that_is_not_usable_is_refused(idp: IdentityProvider, path: str, answer: Answer) -> None:
    idp.documents[path] = answer
    with pytest.raises(ProviderAway):
        _provider(idp).read()
    assert "/elsewhere" not in idp.asked


@pytest.mark.parametrize("head", [b"HTTP/1.1 200 OK\r\nx-filler: ", b"HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n"])
def test_a_slow_answer_ends_at_the_limit(idp: IdentityProvider, head: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "SECONDS", 0.3)
    stopped = threading.Event()
    idp.documents[DISCOVERY] = _slow(stopped, head)
    with pytest.raises(ProviderAway, match="too long"):
        _provider(idp).read()
    stopped.set()


def test_a_hanging_name_lookup_ends_at_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    answered = threading.Event()
    monkeypatch.setattr(fetch, "SECONDS", 0.3)
    monkeypatch.setattr("socket.getaddrinfo", lambda *_, **__: answered.wait(60) and [])
    with pytest.raises(ProviderAway, match="too long"):
        Fetcher("https://id.example").get("https://id.example/keys")
    answered.set()


@pytest.mark.parametrize(
    "keys",
    [
        [],
        [1, None, "x"],
        [{"kty": "oct", "k": "AAAA", "kid": "a"}],
        [{"kty": "RSA", "use": "enc", "kid": "a"}],
        [{"kty": "RSA", "d": "AAAA", "kid": "a"}],
        [{"kty": "RSA"}],
        [{"kty": "RSA", "kid": "a"}] * 101,
        {"a": 1},
    ],
)
def test_a_set_without_a_usable_key_is_refused(idp: IdentityProvider, keys: object) -> None:
    idp.publish("/keys", {"keys": keys})
    with pytest.raises(ProviderAway, match="key"):
        _provider(idp).read()


# -- further hosts


def _netloc(idp: IdentityProvider) -> str:
    return urlsplit(idp.issuer).netloc


@pytest.fixture
def other() -> Iterator[IdentityProvider]:
    """Another host of the provider, with keys of its own."""
    with IdentityProvider() as running:
        yield running


def test_keys_and_tokens_at_a_listed_host_are_used(idp: IdentityProvider, other: IdentityProvider) -> None:
    idp.publish(DISCOVERY, idp.metadata(jwks_uri=f"{other.issuer}/keys", token_endpoint=f"{other.issuer}/token"))
    fetcher = Fetcher(idp.issuer, [_netloc(other)])
    provider = Provider(idp.issuer, fetcher, Clock())
    assert provider.key(other.keys[0].ident) == other.keys[0].jwk()
    assert provider.key(idp.keys[0].ident) is None
    assert fetcher.post(provider.metadata().token, {"code": "x"}, None).status == 400
    assert "/keys" not in idp.asked
    assert other.asked[-1] == "/token"


@pytest.mark.parametrize("name", ["jwks_uri", "token_endpoint", "authorization_endpoint"])
def test_a_host_that_is_not_listed_is_named_with_the_setting(
    idp: IdentityProvider, other: IdentityProvider, name: str
) -> None:
    idp.publish(DISCOVERY, idp.metadata(**{name: f"{other.issuer}/private/path?word=x"}))
    with pytest.raises(ProviderAway, match=rf"{name} at {_netloc(other)}, .*oidc\.hosts") as raised:
        Provider(idp.issuer, Fetcher(idp.issuer, ["www.id.example"]), Clock()).read()
    assert "private/path" not in str(raised.value)
    assert other.asked == []


@pytest.mark.parametrize(
    "url",
    [
        "http://keys.example/keys",
        "https://keys.example:8443/keys",
        "https://keys.example.evil.example/keys",
        "https://evil.example/keys.example",
        "https://keys.example@evil.example/keys",
        "https://evil.example@keys.example/keys",
        "https://keys.example\\@evil.example/keys",
        "https://keys.example\\.evil.example/keys",
        "https://keys.example\n.evil.example/keys",
        "https://keys.example%2eevil.example/keys",
        " https://keys.example/keys",
        "//keys.example/keys",
        "https:keys.example/keys",
        "https://[::1/keys",
        "https://keys.example:x/keys",
        "https://" + "a" * 70_000,
        "https://word word" * 100,
        "",
        7,
    ],
)
def test_an_address_that_only_looks_like_a_listed_host_is_refused(url: object) -> None:
    with pytest.raises(ProviderAway, match="names a jwks_uri") as raised:
        Fetcher("https://id.example", ["keys.example"]).check(url, "jwks_uri")
    assert len(str(raised.value)) < 400
    assert str(raised.value).isprintable()


@pytest.mark.parametrize("url", ["https://keys.example/a", "https://KEYS.example:443/a", "https://id.example/a"])
def test_a_listed_host_may_be_written_in_another_way(url: str) -> None:
    assert Fetcher("https://id.example", ["Keys.example"]).check(url, "jwks_uri") == url


def test_a_listed_host_redirects_nowhere(idp: IdentityProvider, other: IdentityProvider) -> None:
    idp.publish(DISCOVERY, idp.metadata(jwks_uri=f"{other.issuer}/keys"))
    other.documents["/keys"] = _redirect(f"{idp.issuer}/keys")
    with pytest.raises(ProviderAway, match="redirects"):
        Provider(idp.issuer, Fetcher(idp.issuer, [_netloc(other)]), Clock()).read()
    assert "/keys" not in idp.asked


@pytest.mark.parametrize("issuer", ["https://id.example", "https://10.0.0.1", "http://127.0.0.1:8080"])
def test_a_listed_name_stands_for_no_private_address(issuer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when the issuer itself is an address of a private network."""

    def resolve(*_: object, **__: object) -> object:
        return [(0, 0, 0, "", ("10.0.0.2", 443))]

    monkeypatch.setattr("socket.getaddrinfo", resolve)
    with pytest.raises(ProviderAway, match=r"keys\.example has an address of a private network"):
        Fetcher(issuer, ["keys.example"]).get(f"{urlsplit(issuer).scheme}://keys.example/keys")


# -- addresses


@pytest.mark.parametrize("address", ["10.0.0.1", "127.0.0.1", "169.254.169.254", "::1", "fd00::1", "::ffff:10.0.0.1"])
def test_a_name_that_stands_for_a_private_address_is_not_asked(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def resolve(*_: object, **__: object) -> object:
        return [(0, 0, 0, "", ("93.184.216.34", 443)), (0, 0, 0, "", (address, 443))]

    monkeypatch.setattr("socket.getaddrinfo", resolve)
    with pytest.raises(ProviderAway, match=r"set oidc\.private"):
        Fetcher("https://id.example").get("https://id.example/keys")


@pytest.mark.parametrize(
    ("issuer", "private", "address", "allowed"),
    [
        ("https://id.example", True, "10.0.0.1", True),
        ("https://id.example", True, "169.254.169.254", False),
        ("https://id.example", False, "93.184.216.34", True),
        ("https://id.example", False, "224.0.0.1", False),
        ("https://10.0.0.1", False, "10.0.0.1", True),
        ("http://localhost:8080", True, "10.0.0.1", False),
        ("http://localhost:8080", False, "127.0.0.1", True),
        ("http://[::1]:8080", False, "::1", True),
    ],
)
def test_which_addresses_are_asked(issuer: str, private: bool, address: str, allowed: bool) -> None:  # noqa: FBT001
    host = urlsplit(issuer).hostname or ""
    assert Fetcher(issuer, private=private)._is_allowed(host, ipaddress.ip_address(address)) is allowed


@pytest.mark.parametrize(
    ("name", "trusted", "problem"),
    [
        pytest.param("localhost", True, "", id="the right name and authority"),
        pytest.param("localhost", False, "ConnectError", id="an authority that nobody trusts"),
        pytest.param("id.example", True, "ConnectError", id="a certificate for the address, and not for the name"),
    ],
)
def test_a_provider_proves_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, problem: str, *, trusted: bool
) -> None:
    authority = Authority(tmp_path)
    authority.issue(tmp_path / "cert.pem", tmp_path / "key.pem")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")

    def resolve(*_: object, **__: object) -> object:
        return [(0, 0, 0, "", ("127.0.0.1", 443))]

    monkeypatch.setattr("socket.getaddrinfo", resolve)
    if trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(authority.ca))
    with IdentityProvider(tls, name) as idp:
        provider = Provider(idp.issuer, Fetcher(idp.issuer, private=True))
        if not problem:
            assert provider.read() == 1
            return
        with pytest.raises(ProviderAway, match=problem):
            provider.read()
        assert idp.asked == []


# -- keys over time


def test_a_new_key_is_found_when_it_is_first_used(idp: IdentityProvider) -> None:
    provider = _provider(idp)
    assert provider.key(idp.keys[0].ident)
    new = SigningKey()
    idp.keys.insert(0, new)
    assert provider.key(new.ident) == new.jwk()


def test_a_key_that_the_provider_withdrew_counts_no_more_after_the_next_reading(idp: IdentityProvider) -> None:
    provider, old = _provider(idp), idp.keys[0]
    assert provider.key(old.ident)
    idp.keys[:] = [SigningKey()]
    assert provider.key(idp.keys[0].ident)
    assert provider.key(old.ident) is None


def test_invented_key_ids_make_few_requests(idp: IdentityProvider) -> None:
    clock = Clock()
    provider = _provider(idp, clock)
    for number in range(50):
        assert provider.key(f"invented {number}") is None
    assert idp.asked.count("/keys") == 3
    clock.now += 30
    for number in range(50):
        provider.key(f"invented {number}")
    assert idp.asked.count("/keys") == 4


def test_known_keys_count_for_a_day_while_the_provider_is_away(idp: IdentityProvider) -> None:
    clock = Clock()
    provider, ident = _provider(idp, clock), idp.keys[0].ident
    assert provider.key(ident)
    idp.__exit__()
    clock.now += 23 * HOUR
    assert provider.key(ident)
    clock.now += 2 * HOUR
    with pytest.raises(ProviderAway):
        provider.key(ident)


def test_a_damaged_document_does_not_replace_the_keys(idp: IdentityProvider) -> None:
    clock = Clock()
    provider, ident = _provider(idp, clock), idp.keys[0].ident
    assert provider.key(ident)
    idp.publish("/keys", {"keys": []})
    assert provider.key("unknown") is None
    assert provider.key(ident)


def test_requests_with_a_known_key_do_not_wait_for_the_provider(idp: IdentityProvider) -> None:
    clock = Clock()
    provider, ident = _provider(idp, clock), idp.keys[0].ident
    assert provider.key(ident)
    stopped, begun = threading.Event(), threading.Event()

    def hang(request: BaseHTTPRequestHandler) -> None:
        request.close_connection = True
        begun.set()
        stopped.wait(60)

    idp.documents[DISCOVERY] = hang
    clock.now += HOUR
    for _ in range(3):
        assert provider.key(ident)
    assert begun.wait(60)
    assert provider.key(ident)
    stopped.set()


def test_few_requests_wait_for_a_reading_and_the_others_are_asked_to_try_again(idp: IdentityProvider) -> None:
    provider = _provider(idp)
    assert provider.key(idp.keys[0].ident)
    stopped, begun = threading.Event(), threading.Event()

    def hang(request: BaseHTTPRequestHandler) -> None:
        request.close_connection = True
        begun.set()
        stopped.wait(60)

    idp.documents[DISCOVERY] = hang
    waiting = [threading.Thread(target=provider.key, args=("unknown",)) for _ in range(4)]
    for thread in waiting:
        thread.start()
    assert begun.wait(60)
    end = time.monotonic() + 60
    while not _is_busy(provider) and time.monotonic() < end:
        time.sleep(0.01)
    assert _is_busy(provider)
    assert provider.key(idp.keys[0].ident)
    stopped.set()
    for thread in waiting:
        thread.join(60)


def _is_busy(provider: Provider) -> bool:
    """Whether a further request would not wait."""
    if provider._waiting.acquire(blocking=False):
        provider._waiting.release()
        return False
    with pytest.raises(ProviderAway, match="try again"):
        provider.key("another")
    return True
