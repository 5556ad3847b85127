"""Every setting of Keepmum, and where its value came from.

Precedence: environment → the project's `.keepmum.toml` (the nearest one, walking up) → the user's
`<home>/config.toml` → default.

A project file travels with a repository, so what a stranger could gain by it is closed here: it cannot carry a key,
name a server that the user did not approve, choose where memories are kept, or touch the scanner.
"""

from __future__ import annotations

from keepmum.workspace.settings.checks import origin_of, project_name
from keepmum.workspace.settings.declared import SETTINGS, Scanner, Settings
from keepmum.workspace.settings.files import PROJECT_FILE_NAME, find_project_file, user_file, write_user_setting
from keepmum.workspace.settings.loading import is_approved, is_listed, load

__all__ = [
    "PROJECT_FILE_NAME",
    "SETTINGS",
    "Scanner",
    "Settings",
    "find_project_file",
    "is_approved",
    "is_listed",
    "load",
    "origin_of",
    "project_name",
    "user_file",
    "write_user_setting",
]
