"""Every spelling of a remote gives the same id, without credentials."""

from __future__ import annotations

import string

from hypothesis import given
from hypothesis import strategies as st

from hidden import assert_hidden
from keepmum.workspace.git.config import parse
from keepmum.workspace.git.remote_url import remote_id
from keepmum.workspace.git.repository import Remote

WORDS = st.text(string.ascii_letters + string.digits + "_-", min_size=1, max_size=12)
HOSTS = st.lists(WORDS, min_size=1, max_size=3).map(".".join).filter(lambda host: len(host) > 1)  # C:/ is a drive
PATHS = st.lists(WORDS, min_size=1, max_size=4)
PORTS = st.none() | st.integers(1, 65535)
SCHEMES = st.sampled_from(["https", "http", "ssh", "git", "git+ssh", "HTTPS", "Ssh"])
SECRETS = st.text(string.ascii_letters + string.digits, min_size=8, max_size=40).map("S3cr3t".__add__)


@st.composite
def spellings(draw: st.DrawFn, host: str, path: list[str]) -> str:
    """A spelling of the remote `host/path`."""
    user = draw(st.sampled_from(["", "git@", "me@", "me:word@", "x-access-token:word@"]))
    letters = draw(st.sampled_from([str.lower, str.upper, str.title]))(host)
    slashes = draw(st.sampled_from(["/", "//"])).join(path)
    ending = draw(st.sampled_from(["", ".git", "/", ".git/"]))
    if draw(st.booleans()):
        login = draw(st.sampled_from(["", "git@"]))
        return f"{login}{letters}:{draw(st.sampled_from(['', '/']))}{slashes}{ending}"
    port = draw(PORTS)
    address = letters if port is None else f"{letters}:{port}"
    return f"{draw(SCHEMES)}://{user}{address}/{slashes}{ending}"


@given(st.data(), HOSTS, PATHS)
def test_all_spellings_of_a_remote_have_the_same_id(data: st.DataObject, host: str, path: list[str]) -> None:
    first, second = data.draw(spellings(host, path)), data.draw(spellings(host, path))
    assert remote_id(first, "/shop") == remote_id(second, "/shop")
    assert remote_id(first, "/shop") is not None


@given(st.data(), HOSTS, PATHS, PATHS)
def test_two_repositories_have_different_ids(data: st.DataObject, host: str, one: list[str], two: list[str]) -> None:
    first, second = data.draw(spellings(host, one)), data.draw(spellings(host, two))
    assert (remote_id(first, "/shop") == remote_id(second, "/shop")) == (one == two)


@given(
    SECRETS,
    st.sampled_from(["https://", "http://", "ssh://", "git://", "file://", "https:/", "https:", "ext::", "//", ""]),
    st.sampled_from(["", "me:", "me%3A", ":", "me:pre/", "me:12/", "me@", "x:y:"]),
    st.sampled_from(["", "/post", ":post", "@post", "%40post", "#post", "?post", " post"]),
    st.sampled_from(["@", "%40"]),
    st.sampled_from(["github.com/acme/api.git", "github.com:acme/api.git", "[::1]:22/api", "/srv/api", "C:\\api"]),
)
def test_an_id_contains_no_credential(  # noqa: PLR0917 - the parts of a URL, in their order
    secret: str, scheme: str, before: str, after: str, at: str, place: str
) -> None:
    url = scheme + before + secret + after + at + place
    assert_hidden(secret.lower(), (remote_id(url, "/shop") or "").lower())
    assert_hidden(secret, repr(Remote("origin", url)))


@given(st.text(), st.text())
def test_the_id_for_any_text_can_be_stored(url: str, base: str) -> None:
    found = remote_id(url, "/" + base.replace("\0", ""))
    assert found is None or (found.encode("utf-8") and min(found) >= " ")


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\r\0"), max_size=60))
def test_a_quoted_value_is_read_back(value: str) -> None:
    quoted = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    assert parse(f'[remote "origin"]\n\turl = "{quoted}"\n') == [("remote.origin.url", value)]


@given(st.text())
def test_any_text_is_parsed_as_configuration(text: str) -> None:
    assert all(key.count(".") for key, _ in parse(text))
