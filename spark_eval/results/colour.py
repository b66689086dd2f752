"""The colour of a verdict on a terminal, and nowhere else (https://no-color.org); what does not
apply is grey there.
"""

from __future__ import annotations

import os
import re
from typing import TextIO

from spark_eval.judging.results import NOT_APPLICABLE

GREEN, RED, YELLOW, GREY = 32, 31, 33, 90
ASIDE = re.compile(rf"^  {NOT_APPLICABLE}: .*$", re.MULTILINE)
OF_VERDICT = {"pass": GREEN, "fail": RED, "unknown": YELLOW}


def coloured(text: str, verdict: str, stream: TextIO) -> str:
    """The text with its first `verdict` in colour, where `stream` is a terminal that has any,
    or leads to one by way of a program that says so (https://force-color.org)."""
    if not _has_colour(stream):
        return text
    told = text.replace(verdict, f"\x1b[1;{OF_VERDICT[verdict]}m{verdict}\x1b[0m", 1)
    return ASIDE.sub(f"\x1b[{GREY}m\\g<0>\x1b[0m", told)


def _has_colour(stream: TextIO) -> bool:
    is_plain = os.environ.get("NO_COLOR") or os.environ.get("TERM", "dumb") == "dumb"
    return (stream.isatty() or bool(os.environ.get("FORCE_COLOR"))) and not is_plain
