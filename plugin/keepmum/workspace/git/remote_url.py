"""The id of a repository from the URL of its remote, without any credentials.

Every spelling of a remote (scp-like, ssh, https, git; with or without user, token or port) gives the same id,
`host/owner/repo`. The id of a remote on this machine or on a network drive is made from its path.
Source: https://git-scm.com/docs/git-clone ("GIT URLS"), read 2026-11-21.
"""

from __future__ import annotations

import hashlib
import os
import re

__all__ = ["folder_id", "remote_id"]

# Hosts where owner and repository are case-insensitive; on other hosts case may matter.
_CASE_INSENSITIVE = frozenset({"bitbucket.org", "codeberg.org", "dev.azure.com", "github.com", "gitlab.com"})
# Alternative SSH host names, mostly for networks that allow only port 443. Sources, read 2026-11-21:
# https://docs.github.com/en/authentication/troubleshooting-ssh/using-ssh-over-the-https-port
# https://docs.gitlab.com/user/gitlab_com/
# https://support.atlassian.com/bitbucket-cloud/docs/set-up-personal-ssh-keys-on-linux/
# https://learn.microsoft.com/azure/devops/repos/git/use-ssh-keys-to-authenticate
_SSH_ALIASES = {
    "altssh.bitbucket.org": "bitbucket.org",
    "altssh.gitlab.com": "gitlab.com",
    "ssh.dev.azure.com": "dev.azure.com",
    "ssh.github.com": "github.com",
}
_SCHEME = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]*)://(?P<authority>[^/]*)(?P<path>.*)", re.IGNORECASE)
_SCP_LIKE = re.compile(r"(?P<authority>[^/:\[]*|[^/\[]*\[[^/\]]+\]):(?P<path>.*)")
_WINDOWS = re.compile(r"[a-z]:[\\/]|\\\\|//", re.IGNORECASE)  # a drive, or a network share in either slash
_HELPER = re.compile(r"[a-z][a-z0-9+.-]*::", re.IGNORECASE)
_HOST = re.compile(r"(?P<name>[a-z0-9_.-]+|\[[0-9a-f:.%]+\]):?[0-9]*", re.IGNORECASE)
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")  # control characters, and bytes that are not UTF-8


def remote_id(url: str, base: str) -> str | None:
    """The id of the repository at `url`; None when other clones could not have the same id.

    The id never contains user, password, token, port, query or fragment.

    Args:
        url: as configured, after `insteadOf`.
        base: the folder to which a relative path refers.
    """
    # Only a remote helper (`helper::address`) can interpret its address.
    if not url or _UNPRINTABLE.search(url) or _HELPER.match(url):
        return None
    if _WINDOWS.match(url):
        return folder_id(url)
    if with_scheme := _SCHEME.fullmatch(url):
        if with_scheme["scheme"].lower() == "file":
            return _file_id(with_scheme["authority"], with_scheme["path"])
        return _hosted_id(with_scheme["authority"], with_scheme["path"])
    if scp_like := _SCP_LIKE.fullmatch(url):
        return _hosted_id(_scp_authority(scp_like["authority"]), scp_like["path"])
    return folder_id(os.path.realpath(os.path.join(base, os.path.expanduser(url))))


def folder_id(path: str) -> str:
    """The id of a folder: `path:` and 16 hexadecimal digits of a hash; a final `/.git` is ignored.

    The id does not reveal the path, since it is stored and may be sent to a team's server.
    """
    plain = path.replace("\\", "/").casefold() if _WINDOWS.match(path) else path
    plain = plain.rstrip("/").removesuffix("/.git").rstrip("/")
    return "path:" + hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _file_id(authority: str, path: str) -> str | None:
    """The id for a `file:` URL; a host in it is a Windows network share."""
    from urllib.parse import unquote

    host, place = authority.rpartition("@")[2].lower(), unquote(path)
    if _UNPRINTABLE.search(place):
        return None
    if host not in {"", "localhost"}:
        return folder_id(f"//{host}{place}")
    return folder_id(place[1:] if _WINDOWS.match(place[1:]) else os.path.realpath(place))


def _hosted_id(authority: str, path: str) -> str | None:
    """`host/owner/repo`; None when the parts are ambiguous.

    An `@` after the host means that a password contains an unescaped `/`, `?` or `#`; then there is no id, since it
    could contain the rest of the password.
    """
    from urllib.parse import unquote

    host = _HOST.fullmatch(authority.rpartition("@")[2])
    if host is None or "@" in unquote(path):
        return None
    place = unquote(re.split(r"[?#]", path, maxsplit=1)[0])
    segments = [segment for segment in place.split("/") if segment not in {"", "."}]
    written = host["name"].lower().rstrip(".")
    name = _SSH_ALIASES.get(written, written)
    if name == "dev.azure.com":
        segments = _azure(segments)
    if name in _CASE_INSENSITIVE:
        segments = [segment.lower() for segment in segments]
    if segments:
        segments[-1] = segments[-1].removesuffix(".git")
    if not name or not segments or not segments[-1] or ".." in segments or _UNPRINTABLE.search(place):
        return None
    return "/".join([name, *segments])


def _azure(segments: list[str]) -> list[str]:
    """Organisation, project and repository: HTTPS paths also contain `_git`, SSH paths start with a version."""
    bare = [segment for segment in segments if segment.lower() != "_git"]
    return bare[1:] if bare[:1] == ["v3"] else bare


def _scp_authority(text: str) -> str:
    """`user@host:port` of an scp-like address, without the brackets that separate the port from the path."""
    inner = text.rpartition("@")[2].strip("[]")
    return f"[{inner}]" if inner.count(":") > 1 else inner
