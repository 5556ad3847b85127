"""Draw docs/main-job.svg: two agents and a secret as a terminal shows them, from a real run in a temporary home.

    python3 docs/picture.py [--check]     needs Python 3.11, git and nothing else

Ids, commits, fingerprints and dates are replaced, so that the picture is reproducible.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from xml.sax.saxutils import escape

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TARGET = os.path.join(ROOT, "docs", "main-job.svg")
# Assembled here so that no file contains a key; the picture shows dots instead.
TOKEN = "gh" + "p_" + "4fQ9" + "zR7k" * 7 + "Xb21"
CODE = "def order():\n    return {}\n\n\ndef pools():\n    return [*order()]\n"
# Each with the agent that runs it; git changes the code that the memory mentions.
COMMANDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "codex",
        (
            "keepmum", "remember", "--key", "deploy.order",
            "Deploys go through the green pool first: `order` in deploy.py",
        ),
    ),
    (
        "claude-code",
        (
            "keepmum", "remember", "--key", "deploy.order", "--source-kind", "user",
            "Deploys go through the blue pool first: `order` in deploy.py",
        ),
    ),
    ("", ("git", "commit", "-qam", "Deploy to both pools at once")),
    ("codex", ("keepmum", "recall", "which pool gets a deploy first?")),
    ("codex", ("keepmum", "load", "deploy.order")),
    ("codex", ("keepmum", "remember", f"The release job signs in with {TOKEN}")),
)  # fmt: skip
_LINE = 104  # characters
_COLOURS = {"command": "#e6edf3", "plain": "#9fb0c0", "found": "#7ee787", "refused": "#ff938a"}


def main(argv: list[str]) -> int:
    """Write the picture; with `--check`, compare it with the file."""
    drawn = draw(record())
    if argv == ["--check"]:
        with open(TARGET, encoding="utf-8") as file:
            return 0 if file.read() == drawn else 1
    with open(TARGET, "w", encoding="utf-8", newline="\n") as file:
        file.write(drawn)
    return 0


def record() -> list[tuple[str, str]]:
    """`(style, line)` for each line of the terminal."""
    shown: list[tuple[str, str]] = []
    with tempfile.TemporaryDirectory() as home:
        environ = {
            "PATH": os.environ["PATH"], "HOME": home, "KEEPMUM_HOME": os.path.join(home, ".keepmum"),
            "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "ada",
            "GIT_AUTHOR_EMAIL": "ada@localhost", "GIT_COMMITTER_NAME": "ada", "GIT_COMMITTER_EMAIL": "ada@localhost",
        }  # fmt: skip
        project = os.path.join(home, "shop")
        _write(os.path.join(project, "deploy.py"), CODE.format('["green", "blue"]'))
        for arguments in (
            ("init", "-q", "-b", "main"),
            ("add", "."),
            ("commit", "-qm", "Deploy one pool after another"),
        ):
            subprocess.run(["git", *arguments], cwd=project, env=environ, check=True)  # noqa: S607 - the user's git
        for agent, words in COMMANDS:
            if words[0] == "git":
                _write(os.path.join(project, "deploy.py"), CODE.format('["green, blue"]'))
            program = [sys.executable, "-I", "-S", os.path.join(ROOT, "plugin", "launch.py")]
            command = [*program, *words[1:]] if words[0] == "keepmum" else list(words)
            variables = environ | ({"KEEPMUM_AGENT": agent} if agent else {})
            done = subprocess.run(command, cwd=project, env=variables, capture_output=True, text=True, check=False)
            quoted = " ".join(word if re.fullmatch(r"[\w.-]+", word) else f'"{word}"' for word in words)
            shown += [("command", line) for line in _wrapped(f"$ {quoted.replace(TOKEN, '••••••••')}")]
            style = "refused" if done.returncode else "found" if words[1] in {"recall", "load"} else "plain"
            for text in filter(None, _steady(done.stdout + done.stderr).split("\n")):
                shown += [(style, line) for line in _wrapped(text)]
            shown.append(("plain", ""))
    return shown[:-1]


def _write(path: str, text: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)


def draw(lines: list[tuple[str, str]]) -> str:
    """The lines as an SVG terminal."""
    height = 40 + 20 * len(lines)
    rows = "\n".join(
        f'  <text x="20" y="{40 + 20 * number}" fill="{_COLOURS[style]}">{escape(line)}</text>'
        for number, (style, line) in enumerate(lines)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="900" height="{height}" viewBox="0 0 900 {height}"'
        ' role="img" aria-label="Each line says who said it, what it replaced and what changed since;'
        ' a secret is refused">\n'
        f'  <rect width="900" height="{height}" rx="10" fill="#0d1117"/>\n'
        '  <g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="13.5"'
        ' xml:space="preserve">\n'
        f"{rows}\n  </g>\n</svg>\n"
    )


def _steady(text: str) -> str:
    text = re.sub(r"mem_[0-9a-z]{12,26}", "mem_01k9…", text)
    text = re.sub(r"(since |@)[0-9a-f]{7,40}\b", r"\g<1>9f3c1ab", text)
    text = re.sub(r"\b[0-9a-f]{32}\b", "5e1f…", text)  # a fingerprint, under a key that is new in each home
    return re.sub(r"\d{4}-\d{2}-\d{2}", "2026-11-21", text)


def _wrapped(line: str) -> list[str]:
    lines: list[str] = []
    for word in line.split(" "):
        if lines and len(lines[-1]) + 1 + len(word) <= _LINE:
            lines[-1] += f" {word}"
        else:
            lines.append(("    " if lines else "") + word)
    return lines


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
