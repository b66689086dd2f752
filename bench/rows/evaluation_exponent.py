"""How the time of an evaluation grows with the rows of its tracking logs: the exponent.

Both sizes are judged by a program of their own, start included.
"""

import math

from bench.multiplied_run import LARGEST_ROWS, SMALLEST_ROWS, multiplied_run
from bench.result import Result, alone
from bench.rows.evaluate_seconds import seconds_to_judge


def measure() -> Result:
    """Aim: 1.05. Raises GroundError where a verdict is not reached."""
    small, large = _seconds(SMALLEST_ROWS), _seconds(LARGEST_ROWS)
    exponent = math.log(large / small) / math.log(LARGEST_ROWS / SMALLEST_ROWS)
    sizes = f"{SMALLEST_ROWS:,} rows in {small:.0f} s, {LARGEST_ROWS:,} in {large:.0f} s"
    return alone("evaluation_exponent", exponent, "power of the rows", f"{sizes}; aim 1.05")


def _seconds(rows: int) -> float:
    with multiplied_run(rows) as folder:
        return seconds_to_judge(folder)
