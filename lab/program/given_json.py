"""JSON that somebody else may have written, or damaged.

A record is read again long after it was made, on another machine, out of an archive. So its file
is asked what it is before it is opened, and its text is bounded in size, depth and numbers.
Whatever is wrong is a ValueError that says so.
"""

import json
import math
from pathlib import Path
from typing import Any

from lab.program.given_file import UnreadableFile, read_given

BYTES_MAX = 512 * 1024 * 1024  # a plan of 100,000 messages has a tenth of that


def read_text(path: Path, most_bytes: int = BYTES_MAX, errors: str = "strict") -> str:
    """The text of a file. Raises ValueError, or GroundError where the machine cannot read."""
    try:
        raw = read_given(path, most_bytes + 1)
    except UnreadableFile as error:
        raise ValueError(f"{path.name} {error}") from error
    if len(raw) > most_bytes:
        raise ValueError(f"{path.name} is larger than {most_bytes // 1024 // 1024} MiB")
    return raw.decode("utf-8", errors)


def read_json(path: Path) -> Any:
    """What a file of JSON holds. Raises as `read_text`."""
    return parse_json(read_text(path))


def parse_json(text: str) -> Any:
    """What a JSON text says; numbers that are none are refused, as RFC 8259 does."""
    try:
        return json.loads(text, parse_constant=_refuse, parse_float=_finite)
    except RecursionError:
        raise ValueError("is nested too deep") from None


def _refuse(word: str) -> float:
    raise ValueError(f"{word} is no number")


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _refuse(text[:40])
