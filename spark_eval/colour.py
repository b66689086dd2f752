"""The colour of a verdict on a terminal, and nowhere else (https://no-color.org)."""

from __future__ import annotations

import os
from typing import TextIO

GREEN, RED, YELLOW = 32, 31, 33
OF_VERDICT = {"pass": GREEN, "fail": RED, "unknown": YELLOW}


def coloured(text: str, verdict: str, stream: TextIO) -> str:
    """The text with its first `verdict` in colour, where `stream` is a terminal that has any,
    or leads to one by way of a program that says so (https://force-color.org)."""
    if not _has_colour(stream):
        return text
    return text.replace(verdict, f"\x1b[1;{OF_VERDICT[verdict]}m{verdict}\x1b[0m", 1)


def _has_colour(stream: TextIO) -> bool:
    is_plain = os.environ.get("NO_COLOR") or os.environ.get("TERM", "dumb") == "dumb"
    return (stream.isatty() or bool(os.environ.get("FORCE_COLOR"))) and not is_plain
