"""The prompts as data, with the capture procedure that the stop hook refers to."""

from __future__ import annotations

from keepmum.mcp.surface import Prompt, PromptArgument

__all__ = ["BRIEFING", "CAPTURE", "PROMPTS"]

CAPTURE = """\
Look back over this conversation for what will still matter in a later session:
decisions and the reason for them, preferences and corrections of the user, conventions of this codebase, \
fixes that worked for problems that may return, how things are built, run and deployed.

For each, one at a time:
1. `recall` it: is it known already?
2. Known and still true: leave it. Known and changed: `remember` under the same `key`, or with `supersedes`. \
New: `remember` it, one concept a memory, with `why` where there is a reason.
3. Leave out what the code or git says by itself, passing state, guesses, and every secret: \
say where a secret is kept, never what it is.

Then say in one line what you kept, or that there was nothing to keep, and go on with what you were doing."""

BRIEFING = (
    "Here is what the shared memory holds for this project. Use it as background; check it before you rely on it."
)

PROMPTS = (
    Prompt("capture", "Keep what this conversation taught"),
    Prompt(
        "session-briefing",
        "What the memory holds about this project",
        (PromptArgument("focus", "A topic to look up as well"),),
    ),
)
