"""The settings of Keepmum, with the source of each value.

Precedence: environment, then the project's `.keepmum.toml` (the nearest one at or above the working folder), then the
user's `<home>/config.toml`, then the default.

A project file comes with a repository, so a stranger may have written it: it cannot contain a key, name a server that
the user did not approve, choose where memories are stored, or change the scanner.
"""

from __future__ import annotations

from keepmum.workspace.settings.checks import origin_of, project_name
from keepmum.workspace.settings.declared import SETTINGS, Scanner, Settings
from keepmum.workspace.settings.loading import (
    PROJECT_FILE_NAME,
    find_project_file,
    is_approved,
    load,
    unset_user_setting,
    write_user_setting,
)

__all__ = [
    "PROJECT_FILE_NAME",
    "SETTINGS",
    "Scanner",
    "Settings",
    "find_project_file",
    "is_approved",
    "load",
    "origin_of",
    "project_name",
    "unset_user_setting",
    "write_user_setting",
]
