"""What all verbs between servers are made of: single words of printable ASCII, and decimal numbers
without sign. Functions give None for what is neither.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

WORD = re.compile(r"[!-~]{1,128}")
NUMBER = re.compile(r"[0-9]{1,18}", re.ASCII)


def words_of(text: str, *counts: int) -> list[str] | None:
    """Words with one space between, as many as one of `counts`."""
    words = text.split(" ")
    fits = len(words) in counts and all(WORD.fullmatch(word) for word in words)
    return words if fits else None


def numbers_of(words: Sequence[str], count: int) -> list[int] | None:
    """So many numbers."""
    fits = len(words) == count and all(NUMBER.fullmatch(word) for word in words)
    return [int(word) for word in words] if fits else None
