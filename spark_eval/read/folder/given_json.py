"""JSON of a record that somebody else may have written, or damaged: read only where it is a file,
bounded in size, depth and numbers, and whatever is wrong with it is an OSError or a ValueError.
"""

from __future__ import annotations

import errno
import json
import math
import os
from pathlib import Path
from typing import Any

BYTES_MAX = 512 * 1024 * 1024  # a plan of 100,000 messages has a tenth of that


def read_json(path: Path) -> Any:
    """What a file of JSON holds. Raises OSError, ValueError."""
    if path.exists() and not path.is_file():  # a FIFO would not let go
        raise OSError(errno.EINVAL, "is no file", os.fspath(path))
    with path.open("rb") as file:
        if os.fstat(file.fileno()).st_size > BYTES_MAX:
            raise ValueError(f"is larger than {BYTES_MAX // 1024 // 1024} MiB")
        raw = file.read()
    return parse_json(raw.decode("utf-8"))


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
