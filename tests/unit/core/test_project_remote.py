"""Which repository a remote's URL names."""

from __future__ import annotations

import pytest

from keepmum.workspace.git.remote_url import folder_id, remote_id


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/acme/api.git",
        "https://github.com/acme/api",
        "https://github.com/acme/api/",
        "https://github.com//acme/api.git/",
        "HTTPS://GitHub.COM/Acme/API.git",
        "https://github.com:443/acme/api",
        "https://github.com./acme/api",
        "https://me@github.com/acme/api",
        "https://me:word@github.com/acme/api",
        "https://me:w@rd@github.com/acme/api",
        "https://github.com/acme/api?x=y#z",
        "https://github.com/acme/%61pi",
        "http://github.com/acme/api",
        "git://github.com/acme/api.git",
        "ssh://git@github.com/acme/api.git",
        "ssh://git@github.com:22/acme/api.git",
        "ssh://git@ssh.github.com:443/acme/api.git",
        "git+ssh://git@github.com/acme/api.git",
        "git@github.com:acme/api.git",
        "git@github.com:/acme/api",
        "github.com:acme/api",
        "[git@github.com:22]:acme/api.git",
        "[github.com:22]:acme/api.git",
    ],
)
def test_every_spelling_of_a_remote_gives_one_id(url: str) -> None:
    assert remote_id(url, "/shop") == "github.com/acme/api"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://git.corp.example/Team/Api.git", "git.corp.example/Team/Api"),
        ("git@gitlab.com:group/sub/api.git", "gitlab.com/group/sub/api"),
        ("ssh://git@git.corp.example:2222/~me/api", "git.corp.example/~me/api"),
        ("host:api", "host/api"),
        ("ssh://[::1]:22/api", "[::1]/api"),
        ("me@[::1]:api", "[::1]/api"),
        ("[::1]:api", "[::1]/api"),
        ("https://me@dev.azure.com/org/team/_git/api", "dev.azure.com/org/team/api"),
        ("git@ssh.dev.azure.com:v3/org/team/api", "dev.azure.com/org/team/api"),
        ("https://host/.git", None),
    ],
)
def test_an_id_is_host_and_path(url: str, expected: str | None) -> None:
    assert remote_id(url, "/shop") == expected


def test_case_matters_where_the_host_may_care() -> None:
    assert remote_id("https://git.corp.example/A/b", "/") != remote_id("https://git.corp.example/a/b", "/")


@pytest.mark.parametrize(
    "url",
    [
        pytest.param("", id="empty"),
        pytest.param("https://github.com", id="no path"),
        pytest.param("https:///acme/api", id="no host"),
        pytest.param("https://./acme/api", id="a dot for a host"),
        pytest.param("file:///srv/a%00b", id="escaped NUL in a file"),
        pytest.param("ext::sh -c true", id="remote helper"),
        pytest.param("gcrypt::rsync://host/api", id="remote helper around a URL"),
        pytest.param("https://me:wo/rd@github.com/acme/api", id="slash in the password"),
        pytest.param("https://me:12/rd@github.com/acme/api", id="slash in the password, after digits"),
        pytest.param("me:word@github.com:acme/api", id="password where scp takes none"),
        pytest.param("https:/me:word@github.com/acme/api", id="one slash"),
        pytest.param("https://me%3Aword%40github.com/acme/api", id="escaped user"),
        pytest.param("https://github.com/x%40y/api", id="escaped at sign"),
        pytest.param("https://github.com/a/../../b", id="dots"),
        pytest.param("https://github.com/a\nb", id="line end"),
        pytest.param("https://github.com/a%0ab", id="escaped line end"),
        pytest.param("https://github.com/\udcff", id="bytes that are no text"),
    ],
)
def test_an_ambiguous_url_has_no_id(url: str) -> None:
    assert remote_id(url, "/shop") is None


@pytest.mark.parametrize(
    "url",
    [
        "/srv/git/api",
        "/srv/git/api/",
        "/srv/git/api/.git",
        "../srv/git/api",
        "file:///srv/git/api",
        "file://localhost/srv/git/api",
    ],
)
def test_every_spelling_of_a_local_remote_gives_one_id(url: str) -> None:
    assert remote_id(url, "/shop") == folder_id("/srv/git/api")


@pytest.mark.parametrize(
    "url", ["C:\\git\\api", "c:/git/api", "C:/Git/API/", "C:\\git\\api\\.git", "file:///C:/git/api"]
)
def test_every_spelling_of_a_windows_path_gives_one_id(url: str) -> None:
    assert remote_id(url, "/shop") == folder_id("c:/git/api")


@pytest.mark.parametrize(
    "url",
    ["\\\\Server\\share\\api", "//server/share/api", "file://server/share/api", "file://me:word@SERVER/share/api"],
)
def test_every_spelling_of_a_network_share_gives_one_id(url: str) -> None:
    assert remote_id(url, "/shop") == folder_id("//server/share/api")


def test_a_path_does_not_show_in_an_id() -> None:
    assert "api" not in folder_id("/srv/git/api")
