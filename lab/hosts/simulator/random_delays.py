"""Where chance comes from: one stream of draws a source, named, from the run's seed.

A source more, or a draw more at one of them, changes the draws of no other (design decision 5).
"""

from random import Random

from lab.hosts.simulator.event_loop import MS, SECOND
from lab.planning.seeds import seed_for


class Chance:
    """The draws of one source."""

    def __init__(self, run_seed: int, *names: str | int) -> None:
        self._draw = Random(seed_for(run_seed, "simulator", *names)).random

    def up_to(self, most: int) -> int:
        """0 to `most`, every one as likely."""
        return int(self._draw() * (most + 1))

    def mostly_short(self, usual_us: int, longest_us: int) -> int:
        """A delay as machines have them: most near `usual_us`, few long, none above the longest."""
        drawn = self._draw()
        if drawn < 0.98:
            return usual_us // 2 + int(usual_us * drawn)
        return usual_us + int((longest_us - usual_us) * self._draw())

    def happens(self, share: float) -> bool:
        return self._draw() < share

    def hex(self, digits: int) -> str:
        return "".join(f"{self.up_to(15):x}" for _ in range(digits))


COMMIT_US = (4 * MS, 400 * MS)
TIMER_SLACK_US = (2 * MS, 50 * MS)
SAME_SITE_US = (400, 30 * MS)
OTHER_SITE_US = (8 * MS, 250 * MS)
BOOT_US = (800 * MS, 5 * SECOND)
DIAL_US = (600 * MS, 3 * SECOND)
CLOCK_RESOLUTION_MS = TIMER_SLACK_US[1] // MS  # nothing finer may be judged
