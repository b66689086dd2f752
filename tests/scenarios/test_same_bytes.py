"""The same plan gives the same bytes, in any process and under any hash seed: every scenario, and
the seeds of the random ones (`make fuzz`: 100 of each).
"""

import os
import subprocess
import sys

import pytest

from lab.planning.resolve import default_seed
from tests.lab.hosts.simulator.plans import SCENARIOS
from tests.scenarios.batches import Judged
from tests.scenarios.digests import simulated
from tests.scenarios.sets import RANDOM, random_set, seeds_of_random

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]


@pytest.fixture(scope="module")
def elsewhere() -> dict[tuple[str, int], str]:
    """Digests by scenario and seed, of a process with a hash seed of its own."""
    asked = [(name, default_seed(name)) for name in SCENARIOS]
    asked += [(name, seed) for seed in seeds_of_random() for name in RANDOM]
    printed = subprocess.run(
        [sys.executable, "-m", "tests.scenarios.digests"],
        input="".join(f"{name} {seed}\n" for name, seed in asked),
        env=os.environ | {"PYTHONHASHSEED": "1"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    lines = [line.split() for line in printed.splitlines()]
    return {(name, int(seed)): found for name, seed, found in lines}


@pytest.mark.fuzz
@pytest.mark.parametrize("name", SCENARIOS)
def test_hash_seed_and_process_decide_nothing(
    name: str, judged: Judged, elsewhere: dict[tuple[str, int], str]
) -> None:
    assert judged.digests[name] == [elsewhere[name, default_seed(name)]]


@pytest.mark.fuzz
def test_nor_where_faults_are_drawn(judged: Judged, elsewhere: dict[tuple[str, int], str]) -> None:
    for seed in seeds_of_random():
        found = dict(zip(RANDOM, judged.digests[random_set(seed)], strict=True))
        assert found == {name: elsewhere[name, seed] for name in RANDOM}


def test_another_seed_gives_other_bytes() -> None:
    assert simulated("calm", 1) != simulated("calm", 2)
