"""Whatever is in a scenario file: it is refused in so many words or it runs, and costs little.

`SHADOWLAB_FUZZ` is the number of files (some hundreds by default, for every push; thousands by
`make fuzz`). Each goes through validate and plan as a person would call them, and those accepted
that are short through the simulator. Costs are processor time of this process, not time that
passes, so that a busy machine changes nothing.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lab.cli.__main__ import main
from lab.hosts.simulator.simulation import simulate
from lab.plan.plan import Plan
from lab.planning.resolve import resolve
from lab.validation.validate import check
from tests.lab.validation.mutated import NAME, mutated

COUNT = int(os.environ.get("SHADOWLAB_FUZZ", "200"))
BLOCK = 20
CPU_SECONDS_MAX = 5.0
SIMULATED_DELIVERIES_MAX = 150
SIMULATED_HOURS_MAX = 3
SIMULATED_MIB_MAX = 128
HOUR_MS = 3_600_000

pytestmark = pytest.mark.fuzz


@contextmanager
def bounded(number: int, what: str, cpu_seconds: float = CPU_SECONDS_MAX) -> Iterator[None]:
    """Fails where the processor was busy for longer."""
    began = time.process_time()
    yield
    took = time.process_time() - began
    assert took < cpu_seconds, f"mutated({number}): {what} took {took:.1f} s"


@pytest.mark.parametrize("first", range(0, COUNT, BLOCK))
def test_a_mutated_file_is_refused_in_words_or_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], first: int
) -> None:
    path = tmp_path / f"{NAME}.yaml"
    for number in range(first, min(first + BLOCK, COUNT)):
        path.write_bytes(mutated(number))
        with bounded(number, "validate"):
            code = main(["validate", str(path)])
        said = capsys.readouterr()
        assert code in (0, 4), f"mutated({number}): {said.err}"
        unseen = [line for line in (said.out + said.err).split("\n") if not line.isprintable()]
        assert unseen == [], f"mutated({number})"
        if code == 0:
            runs(number, path)
            capsys.readouterr()


def runs(number: int, path: Path) -> None:
    """A file without a mistake is planned, can be written out, and is simulated if it is short."""
    for words in (["plan"], ["plan", "--as-scenario"]):
        with bounded(number, " ".join(words)):
            assert main([*words, str(path)]) == 0, f"mutated({number})"
    [found] = check([path]).scenarios
    plan = resolve(found.scenario, found.topology, number)
    if is_short(plan):
        with bounded(number, "simulating", CPU_SECONDS_MAX + planned_seconds(plan)):
            simulate(plan)


def is_short(plan: Plan) -> bool:
    """Whether a test has the time to simulate it."""
    hours = plan.duration_ms / HOUR_MS
    is_small = deliveries(plan) <= SIMULATED_DELIVERIES_MAX and mebibytes(plan) <= SIMULATED_MIB_MAX
    return is_small and hours <= SIMULATED_HOURS_MAX


def deliveries(plan: Plan) -> int:
    return sum(len(message.recipients) for message in plan.messages)


def mebibytes(plan: Plan) -> float:
    return sum(message.size_bytes for message in plan.messages) / 2**20


def planned_seconds(plan: Plan) -> float:
    """What its work may cost: a good deal for each delivery, and for each mebibyte, which is sent
    again and again where a link is slow; little for each link and minute.
    """
    minutes = plan.duration_ms / 60_000
    by_size = 0.05 * deliveries(plan) + 0.1 * mebibytes(plan)
    return by_size + 0.002 * len(plan.links) * minutes
