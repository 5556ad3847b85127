"""Expressions compiled when first needed: most texts meet none of the guards before them."""

from __future__ import annotations

import re
from functools import cache


@cache
def compiled(expression: str) -> re.Pattern[str]:
    """The compiled `expression`, compiled once a process."""
    return re.compile(expression)
