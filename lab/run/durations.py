"""How long steps took on this machine, and so how long they should take.

The last few durations of each step are kept beside the runs, in `.durations.json`. A file that is
missing, damaged or cannot be written costs an estimate and nothing else; where nothing is known, a
default is said. What a run means never hangs on it.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from lab.program.given_json import read_json
from lab.program.whole_file import write_whole

FILE = ".durations.json"
VERSION = 1
KEPT = 5
DEFAULTS = {
    "ground": 20.0,
    "take-down": 10.0,
    "evaluation": 8.0,
    "evaluation from the start": 12.0,
    "simulation": 2.0,
    "round a run on containers": 45.0,
    "round a run on simulator": 12.0,
    "comparison": 20.0,
    "proving a run": 0.6,
    "proving a few runs": 15.0,
}
"""Seconds, of steps that were never seen here."""


@dataclass(frozen=True, slots=True)
class Durations:
    """Of the folder of runs `runs`. A step may be divided further: by host, by scenario."""

    runs: Path

    def expected(self, step: str, *details: str) -> float:
        """Seconds: the median of the last ones, of the most particular name that has any."""
        seen = self._read()
        for count in range(len(details), -1, -1):
            if found := seen.get(_name(step, details[:count])):
                return median(found)
        return DEFAULTS[step]

    def note(self, seconds: float, step: str, *details: str) -> None:
        """A step was done in that time; it counts under each of its names."""
        seen = dict(self._read())
        for count in range(len(details) + 1):
            name = _name(step, details[:count])
            seen[name] = [*seen.get(name, []), round(max(seconds, 0.0), 3)][-KEPT:]
        with suppress(OSError):
            text = json.dumps({"version": VERSION, "seconds": seen}, indent=1) + "\n"
            write_whole(self.runs / FILE, text)

    def _read(self) -> Mapping[str, list[float]]:
        try:
            content = read_json(self.runs / FILE)
            seconds = content["seconds"].items() if content["version"] == VERSION else ()
            return {str(name): [float(each) for each in kept] for name, kept in seconds}
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
            return {}


def _name(step: str, details: tuple[str, ...]) -> str:
    return "/".join((step, *details))
