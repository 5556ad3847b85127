"""The prompt that asks the model to store what it learned.

It is one line because clients also show it to the user; the procedure is in the skill. It is a module rather than a
text file because modules come from the bytecode cache, while a text file would be one more file to open.
"""

from __future__ import annotations

__all__ = ["CAPTURE_PROMPT"]

CAPTURE_PROMPT = (
    "Keepmum: use its memory skill (keepmum:memory) to capture what the latest turns taught that will still matter, "
    "then stop; if nothing will, just stop."
)
