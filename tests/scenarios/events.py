"""`python -m tests.scenarios.events EVENT …`: how many rows of each event the message tracking logs
of every scenario have, simulated under seed 1; a scenario with none of them is left out.
"""

from __future__ import annotations

import csv
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from tests.lab.hosts.simulator.plans import SCENARIOS
from tests.scenarios.recorded import Files, recorded

EVENT = "event-id"


def main(events: Sequence[str]) -> int:
    if not events:
        print(__doc__, file=sys.stderr)
        return 2
    for name in SCENARIOS:
        found = Counter(of_tracking_logs(recorded(name, 1)))
        if any(map(found.get, events)):
            print(f"{name:40}", *(f"{event} {found[event]}" for event in events))
    return 0


def of_tracking_logs(files: Files) -> Iterator[str]:
    """The event of each row."""
    for file, lines in files.items():
        if "/MSGTRK" in file:
            yield from _events(lines)


def _events(lines: Iterable[str]) -> Iterator[str]:
    place = -1
    for row in csv.reader(lines):
        if row[0].startswith("#Fields: "):
            place = row.index(EVENT)
        elif not row[0].startswith("#"):
            yield row[place]


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
