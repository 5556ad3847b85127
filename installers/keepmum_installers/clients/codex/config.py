"""Codex's `config.toml`, which the client's own commands write: what it says, and what they leave behind in it."""

from __future__ import annotations

import os
import re
import stat
import tomllib

from keepmum_installers import files
from keepmum_installers.errors import InstallError

__all__ = ["editable", "read"]


def read(path: str) -> dict[str, object]:
    """What the file says; nothing where there is none.

    Raises: InstallError naming line and column when it is no TOML.
    """
    content = files.read(path) or b""
    try:
        return tomllib.loads(content.decode("utf-8").removeprefix("\ufeff"))
    except UnicodeDecodeError:
        raise InstallError(f"{path} was left alone: it is not UTF-8 text", _MEND) from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        place = re.search(r"line (\d+), column (\d+)", str(error))
        where = place[0] if place else "near its end"
        raise InstallError(f"{path} was left alone: it is no TOML, at {where}", _MEND) from None


_MEND = "Mend it and run this again: Codex itself does not start with it either."


def editable(path: str) -> None:
    """Whether the client may be let at the file: it would replace one that is read-only all the same.

    Raises: InstallError when it is read-only; as `read` when it is damaged.
    """
    read(path)
    target = os.path.realpath(path)
    if os.path.exists(target) and not os.stat(target).st_mode & stat.S_IWUSR:
        raise InstallError(f"{path} was left alone: it is read-only", f"Run `chmod u+w {target}`, then try again.")
