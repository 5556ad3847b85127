"""The values that `--source` accepts and refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from hidden import assert_hidden
from keepmum_installers.errors import InstallError
from keepmum_installers.source import Source, parse_source


@pytest.mark.parametrize(
    ("text", "source"),
    [
        pytest.param("team/keepmum", Source("github", "team/keepmum"), id="owner and repository"),
        pytest.param("https://github.com/team/keepmum.git", Source("github", "team/keepmum"), id="its address"),
        pytest.param("https://host/team/keepmum.git", Source("git", "https://host/team/keepmum.git"), id="elsewhere"),
        pytest.param("git@host:team/keepmum.git", Source("git", "git@host:team/keepmum.git"), id="by ssh"),
        pytest.param("ssh://git@host/team/keepmum", Source("git", "ssh://git@host/team/keepmum"), id="by ssh address"),
    ],
)
def test_address_is_parsed(tmp_path: Path, text: str, source: Source) -> None:
    assert parse_source(text, str(tmp_path)) == source


def test_folder_takes_precedence_over_a_repository_name(clone: Path) -> None:
    assert parse_source(clone.name, str(clone.parent)) == Source("directory", str(clone.resolve()))


def test_folder_without_a_bundle_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InstallError, match="has no Keepmum"):
        parse_source(".", str(tmp_path))


@pytest.mark.parametrize(
    "text", ["", "./missing", "file:///srv/keepmum", "keepmum", "https:///x", "-h", "a b/c", "https://[::1"]
)
def test_anything_else_is_refused_with_an_example(tmp_path: Path, text: str) -> None:
    with pytest.raises(InstallError) as caught:
        parse_source(text, str(tmp_path / "nowhere"))
    assert "--source" in caught.value.next_step


@pytest.mark.parametrize("user", ["me:{secret}@", "{secret}@", ":{secret}@"])
def test_password_in_an_address_is_refused_and_not_repeated(tmp_path: Path, user: str) -> None:
    secret = "correct-" + "horse-9"
    with pytest.raises(InstallError, match="password") as caught:
        parse_source(f"https://{user.format(secret=secret)}host/team/keepmum.git", str(tmp_path))
    assert_hidden(secret, f"{caught.value} {caught.value.next_step}")


@pytest.mark.parametrize("rest", ["?access_token={secret}", "#{secret}"])
def test_query_of_an_address_is_refused_and_not_repeated(tmp_path: Path, rest: str) -> None:
    secret = "correct-" + "horse-9"
    with pytest.raises(InstallError, match="keys") as caught:
        parse_source(f"https://host/team/keepmum.git{rest.format(secret=secret)}", str(tmp_path))
    assert_hidden(secret, f"{caught.value} {caught.value.next_step}")
