"""What one setting is: its name, what it may hold, where it may stand. Data, from which checks, docs and status render.

A setting is declared as one line in the dataclasses of `settings.declared`; this module gives that line its meaning.
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
_DIGITS = re.compile(r"[0-9]{1,18}")  # Python refuses to read thousands of them
_WORDS = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One setting as declared; `kind` is the type of its value, `tuple` a list of texts."""

    name: str = ""  # "capture.every"
    kind: Kind = str
    default: Value = None
    help: str
    files: tuple[str, ...]  # of PROJECT_FILE and USER_FILE
    variables: tuple[str, ...] = ()  # strongest first
    choices: tuple[str, ...] = ()
    least: int = 0
    most: int = 0
    check: Callable[[str], str] | None = None  # gives the value as kept; raises ValueError with what is allowed

    @property
    def allowed(self) -> str:
        """What the value may be, in words: `"project", "global" or "shared"`, `a whole number from 1 to 1000`."""
        if self.choices:
            return " or ".join(", ".join(f'"{choice}"' for choice in self.choices).rsplit(", ", 1))
        if self.kind is bool:
            return "true or false"
        if self.kind is int:
            return f"a whole number from {self.least} to {self.most}"
        return "a list of texts" if self.kind is tuple else "a text"


def setting(  # noqa: PLR0913 - a declaration reads best as one line of named facts
    help: str,  # noqa: A002 - the word that docs and `--help` use
    *,
    default: Value,
    files: tuple[str, ...] = (USER_FILE,),
    variables: tuple[str, ...] = (),
    choices: tuple[str, ...] = (),
    between: tuple[int, int] = (0, 0),
    check: Callable[[str], str] | None = None,
) -> Any:
    """A dataclass field that declares a setting; its name and kind come from the field itself."""
    declaration = Setting(
        default=default,
        help=help,
        files=files,
        variables=variables,
        choices=choices,
        least=between[0],
        most=between[1],
        check=check,
    )
    return dataclasses.field(default=default, metadata={_METADATA: declaration})


def declared(group: type, prefix: str = "") -> dict[str, Setting]:
    """The settings that the fields of `group` declare, by dotted name, those of its nested groups included."""
    found: dict[str, Setting] = {}
    for field in dataclasses.fields(group):
        declaration = field.metadata.get(_METADATA)
        if declaration is not None:
            name = prefix + field.name
            found[name] = dataclasses.replace(declaration, name=name, kind=_KINDS[str(field.type)])
        elif (nested := nested_group(field)) is not None:
            found |= declared(nested, f"{prefix}{field.name}.")
    return found


def nested_group(field: dataclasses.Field[Any]) -> type | None:
    """The dataclass whose settings stand under the name of `field`, or None when `field` is no such group."""
    factory: object = field.default_factory
    return factory if isinstance(factory, type) and dataclasses.is_dataclass(factory) else None


def from_text(declaration: Setting, text: str) -> Value:
    """The value that an environment variable spells.

    Raises: ValueError saying what is allowed; never with the text itself, which may be anything.
    """
    if declaration.kind is bool:
        return from_toml(declaration, _WORDS.get(text.strip().lower(), text))
    if declaration.kind is int:
        return from_toml(declaration, int(text) if _DIGITS.fullmatch(text.strip()) else text)
    if declaration.kind is tuple:
        return from_toml(declaration, text.replace(",", " ").split())
    return from_toml(declaration, text.strip())


def from_toml(declaration: Setting, raw: object) -> Value:
    """The value that a parsed TOML value stands for.

    Raises: ValueError saying what is allowed; never with the value itself, which may be anything.
    """
    match raw:
        case bool() if declaration.kind is bool:
            return raw
        case bool():  # an int to Python, never to a user
            pass
        case int() if declaration.kind is int and declaration.least <= raw <= declaration.most:
            return raw
        case str() if declaration.kind is str:
            return _checked(declaration, raw)
        case list() if declaration.kind is tuple and all(isinstance(item, str) for item in raw):
            return tuple(_checked(declaration, item) for item in raw)
    raise ValueError(declaration.allowed)


def _checked(declaration: Setting, text: str) -> str:
    if declaration.choices and text not in declaration.choices:
        raise ValueError(declaration.allowed)
    return declaration.check(text) if declaration.check else text
