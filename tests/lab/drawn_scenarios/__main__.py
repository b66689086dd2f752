"""`python -m tests.lab.drawn_scenarios COUNT [--seed N]`: scenario files that nobody has written.

Sites, servers, databases and their copies, settings, streams of mail, strangers, faults and
operations are drawn; what `shadowlab validate` refuses is drawn again. The files go into
`scenarios/` below the present folder, tagged `drawn`, so that `shadowlab sweep --tag drawn
--seeds 5` judges sound nodes by all of them: whatever is violated then is a false alarm, or a bug
of a node. The same count and seed give the same files. No claim is expected to have anything to
ask, and any loss may have an excuse.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from ruamel.yaml import YAML

from lab.validation.validate import check
from tests.lab.drawn_scenarios.chance import Chance, Section, without_empty
from tests.lab.drawn_scenarios.faults import draw_fault, draw_operations, draw_schedule
from tests.lab.drawn_scenarios.mail import draw_mail, draw_strangers
from tests.lab.drawn_scenarios.organisation import Organisation
from tests.lab.drawn_scenarios.settings import draw_settings


def draw_scenarios(folder: Path, count: int, seed: int) -> list[Path]:
    """The files that were written into `folder`: sound scenarios, each by its own name."""
    written = list[Path]()
    number = 0
    while len(written) < count:
        number += 1
        path = folder / f"drawn-{seed}-{number}.yaml"
        YAML().dump(_draw(Chance(f"{seed}-{number}"), path.stem), path)
        if check([path]).mistakes:
            path.unlink()
        else:
            written.append(path)
    return written


def _draw(chance: Chance, name: str) -> Section:
    organisation = Organisation(chance)
    faults = [draw_fault(chance, organisation) for _ in range(chance.one(0, 1, 2, 3))]
    if chance.happens(0.5):
        faults.append(draw_schedule(chance, organisation, is_alone=not faults))
    drawn = {
        "version": 1,
        "scenario": name,
        "summary": "Drawn; nobody has written it.",
        "tags": ["drawn"],
        "topology": organisation.topology(),
        "settings": draw_settings(chance, organisation),
        "workload": [draw_mail(chance, organisation) for _ in range(chance.one(1, 2, 2, 3))],
        "strangers": [draw_strangers(chance, organisation)] if chance.happens(0.15) else [],
        "faults": faults,
        "operations": list(draw_operations(chance, organisation)),
        "settle": chance.one("30m", "1h30m", "3h"),
        "expect": {"unprotected_loss": "0..9999"},
    }
    return without_empty(drawn)


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.lab.drawn_scenarios")
    parser.add_argument("count", type=int, metavar="COUNT")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    asked = parser.parse_args(words)
    folder = Path("scenarios")
    folder.mkdir(exist_ok=True)
    print(f"{len(draw_scenarios(folder, asked.count, asked.seed))} scenarios in {folder}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
