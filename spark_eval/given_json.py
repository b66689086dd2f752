"""JSON of a record that somebody else may have written, or damaged: read only where it is a file,
and whatever is wrong with it is an OSError or a ValueError.
"""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any


def read_json(path: Path) -> Any:
    """What a file of JSON holds. Raises OSError, ValueError."""
    if path.exists() and not path.is_file():  # a FIFO would not let go
        raise OSError(errno.EINVAL, "is no file", os.fspath(path))
    return parse_json(path.read_text(encoding="utf-8"))


def parse_json(text: str) -> Any:
    """What a JSON text says; numbers that are none are refused, as RFC 8259 does."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("is nested too deep") from None


def _refuse(word: str) -> float:
    raise ValueError(f"{word} is no number")
