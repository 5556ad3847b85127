"""The declaration of one setting: name, type, allowed values, and the files and variables that may set it.

Checks, docs and `keepmum status` are derived from declarations. Each is one line in a dataclass of `settings.declared`.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = [
    "PROJECT_FILE",
    "USER_FILE",
    "Setting",
    "Value",
    "declared",
    "from_text",
    "from_toml",
    "nested_group",
    "setting",
]

Value = bool | int | str | tuple[str, ...] | None
Kind = type[bool | int | str | tuple[str, ...]]
PROJECT_FILE = "project"
USER_FILE = "user"
_METADATA = "keepmum"
_KINDS: Mapping[str, Kind] = {"bool": bool, "int": int, "str": str, "str | None": str, "tuple[str, ...]": tuple}
_DIGITS = re.compile(r"[0-9]{1,18}")  # int() refuses thousands of digits
_WORDS = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One setting as declared; `kind` is the type of its value, `tuple` for a list of strings."""

    name: str = ""  # "capture.every"
    kind: Kind = str
    default: Value
    help: str
    files: tuple[str, ...] = (USER_FILE,)  # of PROJECT_FILE and USER_FILE
    variables: tuple[str, ...] = ()  # strongest first
    choices: tuple[str, ...] = ()
    between: tuple[int, int] = (0, 0)  # least and greatest integer
    check: Callable[[str], str] | None = None  # returns the value as stored; raises ValueError with what is allowed

    @property
    def allowed(self) -> str:
        """The allowed values in words: `"project", "global" or "shared"`, `a whole number from 1 to 1000`."""
        if self.choices:
            return " or ".join(", ".join(f'"{choice}"' for choice in self.choices).rsplit(", ", 1))
        if self.kind is bool:
            return "true or false"
        if self.kind is int:
            return "a whole number from {} to {}".format(*self.between)
        return "a list of texts" if self.kind is tuple else "a text"


def setting(help: str, *, default: Value, **facts: Any) -> Any:  # noqa: A002 - named like the attribute
    """A dataclass field that declares a setting; its name and type are those of the field.

    Any: a field's type is its value's, and `Setting` checks the names of the facts.
    """
    return dataclasses.field(default=default, metadata={_METADATA: Setting(help=help, default=default, **facts)})


def declared(group: type, prefix: str = "") -> dict[str, Setting]:
    """The settings declared by the fields of `group` and its nested groups, by dotted name."""
    found: dict[str, Setting] = {}
    for field in dataclasses.fields(group):
        declaration = field.metadata.get(_METADATA)
        if declaration is not None:
            name = prefix + field.name
            found[name] = dataclasses.replace(declaration, name=name, kind=_KINDS[str(field.type)])
        elif (nested := nested_group(field)) is not None:
            found |= declared(nested, f"{prefix}{field.name}.")
    return found


def nested_group(field: dataclasses.Field[object]) -> type | None:
    """The dataclass of the nested group that `field` contains; None when it contains no group."""
    factory: object = field.default_factory
    return factory if isinstance(factory, type) and dataclasses.is_dataclass(factory) else None


def from_text(declaration: Setting, text: str) -> Value:
    """The value of an environment variable.

    Raises: ValueError with the allowed values; never with the text, which may be a secret.
    """
    if declaration.kind is bool:
        return from_toml(declaration, _WORDS.get(text.strip().lower(), text))
    if declaration.kind is int:
        return from_toml(declaration, int(text) if _DIGITS.fullmatch(text.strip()) else text)
    if declaration.kind is tuple:
        return from_toml(declaration, text.replace(",", " ").split())
    return from_toml(declaration, text.strip())


def from_toml(declaration: Setting, raw: object) -> Value:
    """The value of a parsed TOML value.

    Raises: ValueError with the allowed values; never with the value, which may be a secret.
    """
    match raw:
        case bool() if declaration.kind is bool:
            return raw
        case bool():  # in Python also an int
            pass
        case int() if declaration.kind is int and declaration.between[0] <= raw <= declaration.between[1]:
            return raw
        case str() if declaration.kind is str:
            return _check(declaration, raw)
        case list() if declaration.kind is tuple and all(isinstance(item, str) for item in raw):
            return tuple(_check(declaration, item) for item in raw)
    raise ValueError(declaration.allowed)


def _check(declaration: Setting, text: str) -> str:
    if declaration.choices and text not in declaration.choices:
        raise ValueError(declaration.allowed)
    return declaration.check(text) if declaration.check else text
