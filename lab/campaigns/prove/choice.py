"""Which defects a proof tries, and under which seeds.

Containers take minutes for what the simulator does in a second, so a night tries a tenth of the
catalogue there, each night the next one.
"""

from collections.abc import Sequence
from datetime import date

from defects.defect import ONE_OF_RARE, Defect
from lab.program.errors import ScenarioError

TENTHS = 10
TODAY = "today"


def seeds_of(defect: Defect, seeds: int) -> range:
    """`seeds` of them, as many times as much as it takes where the defect is rare."""
    count = ONE_OF_RARE * seeds if defect.is_rare else seeds
    return range(defect.first_seed, defect.first_seed + count)


def tenth_of(text: str, today: date) -> int:
    """Which tenth the words of a call mean, from 1 on; each day has its own. Raises
    ScenarioError.
    """
    if text == TODAY:
        return today.toordinal() % TENTHS + 1
    number = int(text) if text.isascii() and text.isdecimal() and len(text) < 4 else 0
    if not 1 <= number <= TENTHS:
        raise ScenarioError(f"--tenth: {text!r} is no tenth", f"1 to {TENTHS}, or {TODAY}")
    return number


def part_of(defects: Sequence[Defect], tenth: int) -> tuple[Defect, ...]:
    """Every tenth defect, so that each part has some of everything."""
    return tuple(defects[tenth - 1 :: TENTHS])
