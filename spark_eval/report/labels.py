"""Where labels stand on a drawing, so that none lies over another one on a screen of any width."""

from __future__ import annotations

import math
from collections.abc import Sequence

# pixels: of a plot on a small screen, of a character, of a name from where it belongs
NARROWEST, CHARACTER, FARTHEST = 600, 6, 90


class Labels:
    """The labels of one drawing; they are placed from left to right."""

    def __init__(self) -> None:
        self._taken: dict[float, float] = {}

    def place(self, x: str, name: str, levels: Sequence[float]) -> tuple[float, int] | None:
        """Which of the levels has room nearest to `x` (`12.5%`), and how many pixels to the right;
        None where each is full so far that the name would seem to be of something else.
        """
        begins = float(x.removesuffix("%")) / 100 * NARROWEST
        waits = [max(0, math.ceil(self._taken.get(level, 0) - begins)) for level in levels]
        right = min(waits)
        if right > FARTHEST:
            return None
        level = levels[waits.index(right)]
        self._taken[level] = begins + right + CHARACTER * (len(name) + 1)
        return level, right
