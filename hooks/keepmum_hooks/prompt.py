"""What the model is asked to do at a due turn.

One line, since the client shows it to the user as well; the procedure is in the skill. A module and not a text
file, because it comes from the bytecode cache while a file would be one more to find and to read.
"""

from __future__ import annotations

__all__ = ["CAPTURE"]

CAPTURE = (
    "Keepmum: use its memory skill (keepmum:memory) to capture what the latest turns taught that will still matter, "
    "then stop; if nothing will, just stop."
)
