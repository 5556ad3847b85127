"""The settings of this dialect, which an agent may change: one JSON file in Keepmum's home."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from keepmum.core import validation
from keepmum.core.errors import InvalidInput, SettingsError
from keepmum.core.memory import JsonValue
from keepmum.system.private_files import replace_file
from keepmum.workspace import allowlist

__all__ = ["DEFAULTS", "PROFILES", "Options"]

_FILE = "token-saver.json"

DEFAULTS: Mapping[str, Any] = {
    "defaultImportance": 3,
    "defaultVerbosity": 2,
    "autoExportEnabled": False,
    "autoExportPath": "auto",
    "autoExportFrequency": 24,  # hours
    "smartResumeMaxTokens": 2000,
    "smartResumeMinImportance": 3,
    "smartResumeMaxVerbosity": 2,
    "ttlDefault": 0,  # seconds; 0: never expires
    "patternPrefixes": {
        "architecture.": {"importance": 5, "verbosity": 2},
        "decision.": {"importance": 4, "verbosity": 3},
        "todo.": {"importance": 3, "verbosity": 1},
        "error.": {"importance": 4, "verbosity": 4},
        "debug.": {"importance": 2, "verbosity": 4},
        "temp.": {"importance": 1, "verbosity": 1},
    },
}
_RANGES: Mapping[str, tuple[int, int]] = {
    "defaultImportance": (1, 5),
    "defaultVerbosity": (1, 4),
    "autoExportFrequency": (1, 8760),
    "smartResumeMaxTokens": (50, 200_000),
    "smartResumeMinImportance": (1, 5),
    "smartResumeMaxVerbosity": (1, 4),
    "ttlDefault": (0, 3_000_000_000),
}
_LEVELS = {"importance": (1, 5), "verbosity": (1, 4)}
_BY_PROFILE = (
    "defaultImportance", "defaultVerbosity",
    "smartResumeMinImportance", "smartResumeMaxVerbosity", "smartResumeMaxTokens",
)  # fmt: skip
PROFILES: Mapping[str, Mapping[str, int]] = {
    name: dict(zip(_BY_PROFILE, values, strict=True))
    for name, values in {
        "minimal": (4, 1, 4, 1, 500),
        "standard": (3, 2, 3, 2, 2000),
        "detailed": (2, 3, 2, 3, 5000),
        "comprehensive": (1, 4, 1, 4, 10_000),
    }.items()
}


class Options:
    """The settings, read from the file each time, because another session may have changed them."""

    def __init__(self, home: str | None) -> None:
        """`home` is None where there is no file; the settings are then the defaults."""
        self.path = None if home is None else os.path.join(home, _FILE)

    def all(self) -> dict[str, Any]:
        """Every setting by name.

        Raises: SettingsError when the file cannot be read or is invalid.
        """
        if self.path is None:
            return dict(DEFAULTS)
        try:
            with open(self.path, encoding="utf-8") as file:
                stored = json.load(file)
        except FileNotFoundError:
            return dict(DEFAULTS)
        except (OSError, ValueError) as error:
            raise SettingsError(f"{self.path} cannot be read; fix or delete it") from error
        try:
            return {**DEFAULTS, **{name: _checked(name, value) for name, value in dict(stored).items()}}
        except (InvalidInput, TypeError, ValueError) as error:
            raise SettingsError(f"{self.path}: {error}; fix or delete it") from None

    def set(self, name: str, value: JsonValue) -> tuple[JsonValue, JsonValue]:
        """Change one setting; return the old and the new value.

        Raises: InvalidInput when the setting does not exist or the value is invalid; SecretFound; SettingsError.
        """
        options = self.all()
        new = _checked(name, value)
        validation.refuse_secrets({"value": new}, allowlist.AllowlistScanner(None))
        self._write({**options, name: new})
        return options[name], new

    def apply(self, profile: str) -> dict[str, Any]:
        """Apply a profile; return all settings."""
        options = {**self.all(), **PROFILES[profile]}
        self._write(options)
        return options

    def reset(self) -> dict[str, Any]:
        """Restore the defaults; return all settings."""
        self._write({})
        return dict(DEFAULTS)

    def levels(self, key: str) -> tuple[int, int]:
        """Default importance and verbosity for a key, from its longest configured prefix."""
        options = self.all()
        prefixes = [prefix for prefix in options["patternPrefixes"] if key.startswith(prefix)]
        levels = options["patternPrefixes"][max(prefixes, key=len)] if prefixes else {}
        return (
            levels.get("importance", options["defaultImportance"]),
            levels.get("verbosity", options["defaultVerbosity"]),
        )

    def _write(self, options: Mapping[str, Any]) -> None:
        if self.path is None:
            raise SettingsError("these settings are fixed here; nothing was changed")
        changed = {name: value for name, value in options.items() if value != DEFAULTS[name]}
        try:
            replace_file(self.path, json.dumps(changed, indent=2) + "\n")
        except OSError as error:
            raise SettingsError(f"{self.path} cannot be written ({error.strerror}); nothing was changed") from error


def _checked(name: str, value: Any) -> Any:
    """The value, validated for the setting.

    Raises: InvalidInput.
    """
    if name not in DEFAULTS:
        raise InvalidInput("setting", f"must be one of {', '.join(DEFAULTS)}")
    if name in _RANGES:
        return _within(name, value, *_RANGES[name])
    if name == "autoExportEnabled":
        if not isinstance(value, bool):
            raise InvalidInput("value", f"{name} must be true or false")
        return value
    if name == "autoExportPath":
        if not isinstance(value, str) or not value.strip():
            raise InvalidInput("value", f"{name} must be a path or auto")
        return value
    if not isinstance(value, Mapping) or not all(isinstance(levels, Mapping) for levels in value.values()):
        raise InvalidInput(
            "value", f'{name} must be an object such as {{"todo.": {{"importance": 3, "verbosity": 1}}}}'
        )
    if any(level not in _LEVELS for levels in value.values() for level in levels):
        raise InvalidInput("value", f"{name} may contain only importance and verbosity")
    return {
        str(prefix): {level: _within(level, number, *_LEVELS[level]) for level, number in levels.items()}
        for prefix, levels in value.items()
    }


def _within(name: str, value: Any, least: int, most: int) -> int:
    number = float(value) if isinstance(value, str) and value.strip().isdigit() else value
    if isinstance(number, bool) or not isinstance(number, (int, float)) or number != int(number):
        raise InvalidInput("value", f"{name} must be a whole number")
    if not least <= number <= most:
        raise InvalidInput("value", f"{name} must be between {least} and {most}")
    return int(number)
