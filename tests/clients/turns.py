"""The turns of a person in a terminal, and those that a reminder followed."""

from __future__ import annotations

from pathlib import Path

from clients.mock_model import Call, MockModel, Say
from clients.samples import DUE, TURNS
from clients.terminal import Terminal
from keepmum_hooks.capture_prompt import CAPTURE_PROMPT

__all__ = ["type_turns"]


def type_turns(terminal: Terminal, model: MockModel, memories: Path, tool: str = "", *, press: str = "") -> list[int]:
    """Type the turns, each when the turn before it was counted; returns the turns that the model was reminded after.

    With `tool`, every third turn calls this tool, our `recall`. With `press`, these keys are sent every few seconds
    while an answer is awaited.
    """
    reminded = []
    for turn in TURNS:
        seen = len(model.requests)
        if tool and turn % 3 == 1:
            model.whenever(f"turn {turn}", Call(tool, {"query": "x"}))
            model.whenever("Nothing is remembered", Say(f"said {turn}."))
        else:
            model.whenever(f"turn {turn}", Say(f"said {turn}."))
        if turn in DUE:
            model.whenever(CAPTURE_PROMPT, Say(f"nothing to keep {turn}."))
        terminal.type(f"turn {turn}")
        terminal.wait_for(f"nothing to keep {turn}." if turn in DUE else f"said {turn}.", press=press)
        # A line that is typed while the hook of the turn before it runs may become part of that turn.
        terminal.wait_until(lambda: _counted(memories) == turn, "end of the turn")  # noqa: B023 - it is called at once
        reminded += [turn for request in model.requests[seen:] if CAPTURE_PROMPT in request.news]
    return reminded


def _counted(memories: Path) -> int:
    """The number of turns that were counted."""
    return sum(file.read_bytes().count(b"\nT ") for file in memories.glob("state/sessions/*.turns"))
