"""No settings file and no variable of a cloned repository can send a key to another server.

KEEPMUM_TEST_FULL=1 tries ten thousand examples.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contract.stores import wanted
from keepmum.core.errors import SettingsError
from keepmum.stores import RestSpec, SqliteSpec, sqlite
from keepmum.stores.base import LocalStore
from keepmum.stores.outbox import Outbox, SendLock
from keepmum.stores.rest.api import Api
from keepmum.stores.rest.http_client import HttpClient
from keepmum.stores.rest.store import RestStore
from keepmum.workspace import credentials
from keepmum.workspace.resolve import backend_kind, server_of
from keepmum.workspace.settings import load

APPROVED = "https://good.example"
STORED, IN_VARIABLE, SHARED = "k-stored", "k-variable", "k-shared"
THIS_MACHINE = {"localhost", "127.0.0.1", "::1"}

ORIGINS = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["https://", "http://", "HTTPS://", "//", "", "https:/", "file://", " https://", "https://\t"]),
    st.sampled_from([
        "", "good.example@", "me:word@", "%67ood.example", "good.example.", "good.example/", "good.example\\",
    ]),
    st.sampled_from([
        "good.example", "evil.example", "GOOD.example", "127.0.0.1", "[::1]", "169.254.169.254", "localhost",
        "localhost.evil.example", "good.example.evil.example", "2130706433", "0x7f.1", "[::ffff:10.0.0.1]",
        "xn--god-1na",
    ]),
    st.sampled_from([
        "", "/", ":443", ":8443", "/path", "?x", "#x", "\n", "\x00", "@evil.example", ":443@evil.example",
    ]),
)  # fmt: skip
KEYS = st.sampled_from(["origin", "approved", "ca_file", "kind", "v1_trailer", "key", "redirect", "proxy"])
VALUES = st.one_of(ORIGINS, st.sampled_from(["rest", "sqlite", "true", "/etc/passwd"]))
LINES = st.builds(
    "backend.{} = {}".format,
    KEYS,
    VALUES.map(lambda text: '"' + "".join(f"\\u{ord(letter):04x}" for letter in text) + '"'),
)
FILES = st.lists(LINES, max_size=3, unique_by=lambda line: line.split(" =")[0]).map("\n".join)
SHARED_KEYS = st.builds("{}{}{}".format, ORIGINS, st.sampled_from([" ", "", "  ", "\t"]), st.just(SHARED)).filter(
    lambda text: "\0" not in text
)
VARIABLES = st.dictionaries(
    st.sampled_from([
        "MEMORY_API_URL", "MEMORY_API_BASE_URL", "SHARED_MEMORY_API_URL", "KEEPMUM_BACKEND", "HTTPS_PROXY",
        "SSL_CERT_FILE",
    ]),
    ORIGINS.filter(lambda text: "\0" not in text),
    max_size=2,
)  # fmt: skip

Sent = list[tuple[str, str]]
Place = tuple[Path, Path, LocalStore, Outbox, SendLock]


class Recorder:
    """Records URL and authorization of every request, and answers with a redirect to another server."""

    def __init__(self) -> None:
        self.sent: Sent = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.sent.append((str(request.url.copy_with(raw_path=b"/")), request.headers.get("authorization", "")))
        return httpx.Response(307, headers={"Location": "https://evil.example/"}, content=iter([b""]))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A user who trusts one server, a clone of a repository, and the parts of a REST store."""
    home, clone = tmp_path_factory.mktemp("state"), tmp_path_factory.mktemp("clone")
    (home / "config.toml").write_text(f"backend.approved = ['{APPROVED}']", encoding="utf-8")
    credentials.store(str(home), APPROVED, STORED)
    mirror, outbox = sqlite.SqliteStore(str(home / "mirror.db")), Outbox(str(home / "outbox.db"))
    lock = SendLock(str(home / "turn"))
    yield home, clone, mirror, outbox, lock
    lock.close()
    mirror.close()
    outbox.close()


def requests(place: Place, text: str, variables: Mapping[str, str]) -> Sent:
    """The requests of a recall in the clone."""
    home, clone, mirror, outbox, lock = place
    (clone / ".keepmum.toml").write_text(text, encoding="utf-8")
    environ = {"KEEPMUM_HOME": str(home), "MEMORY_API_KEY": IN_VARIABLE, **variables}
    try:
        chosen = load(environ, str(clone))
        if backend_kind(chosen) != "rest":
            return []
        server = server_of(chosen, environ)
    except SettingsError:
        return []
    recorder = Recorder()

    with contextlib.ExitStack() as stack:

        def connect(named: credentials.Server) -> Api:
            api = Api(HttpClient(named, transport=httpx.MockTransport(recorder)))
            stack.callback(api.close)
            return api

        spec = RestSpec(server, SqliteSpec(str(home / "mirror.db")), str(home))
        RestStore(spec, mirror, outbox, lock, connect=connect).search(["words"], wanted(), 5)
    return recorder.sent


@settings(
    max_examples=10_000 if os.environ.get("KEEPMUM_TEST_FULL") else 300,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(text=FILES, variables=VARIABLES, shared=SHARED_KEYS)
def test_no_key_is_sent_to_a_server_that_the_user_did_not_approve(
    place: Place, text: str, variables: dict[str, str], shared: str
) -> None:
    for address, authorization in requests(place, text, {**variables, credentials.SHARED: shared}):
        url = httpx.URL(address)
        if url.host == "good.example":
            assert url.scheme == "https"
            assert url.port in {None, 443}
            assert authorization in {f"Bearer {STORED}", f"Bearer {IN_VARIABLE}"}
        else:
            assert url.host in THIS_MACHINE
            assert authorization == f"Bearer {IN_VARIABLE}", "a stored key is sent only to its server"


def test_the_recorder_sees_the_key_of_an_approved_server(place: Place) -> None:
    assert requests(place, f"backend.origin = '{APPROVED}'", {}) == [(f"{APPROVED}/", f"Bearer {STORED}")]


def test_the_recorder_sees_the_key_of_a_variable_on_this_machine(place: Place) -> None:
    sent = requests(place, "", {"MEMORY_API_URL": "http://localhost:3100"})
    assert sent == [("http://localhost:3100/", f"Bearer {IN_VARIABLE}")]
