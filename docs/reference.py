"""Write docs/reference.md from the program itself: commands, tools, resources, prompts, dialects, settings.

python3 docs/reference.py [--check]     needs Python 3.11 and nothing else
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Mapping

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TARGET = os.path.join(ROOT, "docs", "reference.md")
sys.path[:0] = [os.path.join(ROOT, name) for name in ("plugin", "scanner", "hooks", "installers")]


def main(argv: list[str]) -> int:
    """Write the page; with `--check`, compare it with the file."""
    page = render()
    if argv == ["--check"]:
        with open(TARGET, encoding="utf-8") as file:
            return 0 if file.read() == page else 1
    with open(TARGET, "w", encoding="utf-8", newline="\n") as file:
        file.write(page)
    return 0


def render() -> str:
    """The whole page."""
    parts = [
        "# Reference",
        "Rendered by `python3 docs/reference.py` from the program; a test fails when they differ.",
        "## Commands",
        *_commands(),
        "## Tools",
        *_tools(),
        "## Resources and prompts",
        *_resources(),
        "## Dialects",
        *_dialects(),
        "## Settings",
        *_settings(),
    ]
    return "\n\n".join(parts) + "\n"


def _commands() -> Iterator[str]:
    from keepmum.cli import parser as command_line

    return _below("keepmum", command_line.build_parser())


def _below(words: str, parser: argparse.ArgumentParser) -> Iterator[str]:
    """The commands of a parser, and theirs."""
    for subparsers in parser._actions:  # noqa: SLF001 - argparse shows them in no other way
        if not isinstance(subparsers, argparse._SubParsersAction):  # noqa: SLF001 - as above
            continue
        helps = {action.dest: action.help for action in subparsers._choices_actions}  # noqa: SLF001 - as above
        for name, command in subparsers.choices.items():
            yield f"### `{words} {name}`"
            yield _sentence(helps[name] or "")
            actions = [action for action in command._actions if action.dest != "help"]  # noqa: SLF001 - as above
            if actions:
                yield "\n".join(_table(("argument", "what it does"), ((_spelled(a), _explained(a)) for a in actions)))
            yield from _below(f"{words} {name}", command)


def _spelled(action: argparse.Action) -> str:
    if not action.option_strings:
        return f"`{action.metavar or action.dest}`"
    value = "" if action.nargs == 0 else f" {action.metavar or action.dest.upper()}"
    return f"`{action.option_strings[-1]}{value}`"


def _explained(action: argparse.Action) -> str:
    choices = f"one of {', '.join(str(choice) for choice in action.choices)}" if action.choices else ""
    return "; ".join(part for part in (action.help or "", choices) if part)


def _tools() -> Iterator[str]:
    from keepmum.mcp.dialects.keepmum.tools import INSTRUCTIONS, TOOLS

    yield "What a client reads about the server:"
    yield "\n".join(f"> {line}" for line in INSTRUCTIONS.splitlines())
    for tool in TOOLS:
        yield f"### `{tool.name}`"
        yield tool.description
        schema = tool.to_wire()["inputSchema"]
        assert isinstance(schema, dict)
        required = schema.get("required", [])
        rows = (
            (f"`{name}`" + (" (required)" if name in required else ""), _kind(field), field.get("description", ""))
            for name, field in schema["properties"].items()
        )
        yield "\n".join(_table(("argument", "type", "what it is"), rows))


def _kind(field: dict[str, object]) -> str:
    if "enum" in field:
        choices = field["enum"]
        assert isinstance(choices, list)
        return "one of " + ", ".join(str(choice) for choice in choices)
    limits = [f"{word} {field[key]}" for key, word in _LIMITS if key in field]
    return ", ".join([str(field.get("type", "any")), *limits])


_LIMITS = (("minimum", "from"), ("maximum", "to"), ("maxLength", "up to"), ("maxItems", "at most"))


def _resources() -> Iterator[str]:
    from keepmum.mcp.dialects.keepmum.prompts import PROMPTS
    from keepmum.mcp.dialects.keepmum.resources import RESOURCES, TEMPLATES

    rows = [(f"`{resource.uri}`", resource.description) for resource in RESOURCES]
    rows += [(f"`{template.uri}`", template.description) for template in TEMPLATES]
    rows += [(f"prompt `{prompt.name}`", prompt.description) for prompt in PROMPTS]
    yield "\n".join(_table(("name", "what it gives"), rows))


def _dialects() -> Iterator[str]:
    from keepmum.mcp.dialects import DEFAULT, DIALECTS

    yield "Other sets of tools over the same memory, one at a time: `--dialect NAME`, or the setting `dialect`."
    for dialect in DIALECTS:
        if dialect == DEFAULT:
            continue
        surface = DIALECTS[dialect][0]
        yield f"### `{dialect}`"
        rows = [(f"`{tool.name}`", _parameters(tool.parameters), tool.description) for tool in surface.tools]
        rows += [(f"`{one.uri}`", "", one.description) for one in surface.resources]
        rows += [(f"`{one.uri}`", "", one.description) for one in surface.templates]
        rows += [(f"prompt `{one.name}`", "", one.description) for one in surface.prompts]
        yield "\n".join(_table(("name", "arguments", "what it does"), rows))


def _parameters(schema: Mapping[str, object]) -> str:
    """The names of the arguments, with a star on those that are required."""
    properties, required = schema["properties"], schema.get("required", [])
    assert isinstance(properties, dict)
    assert isinstance(required, list)
    return ", ".join(f"`{name}`" + ("*" if name in required else "") for name in properties)


def _settings() -> Iterator[str]:
    from keepmum.workspace.settings import SETTINGS

    yield (
        "Each from the first place that says it: environment, the project's `.keepmum.toml`, "
        "`~/.keepmum/config.toml`, default. `keepmum status` shows what holds, and where from."
    )
    rows = (
        (f"`{name}`", setting.help, f"`{_shown(setting.default)}`", ", ".join(f"`{v}`" for v in setting.variables))
        for name, setting in SETTINGS.items()
    )
    yield "\n".join(_table(("setting", "what it does", "default", "environment"), rows))


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return {None: "not set", (): "none"}.get(value, str(value))  # type: ignore[call-overload, no-any-return]


def _table(heads: tuple[str, ...], rows: object) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for row in rows:  # type: ignore[attr-defined]
        yield f"| {' | '.join(str(cell).replace('|', chr(92) + '|') for cell in row)} |"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
