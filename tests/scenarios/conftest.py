"""What is asked about simulated runs: all are simulated in this process, and judged once."""

from __future__ import annotations

import pytest

from tests.scenarios.batches import Batches, Judged
from tests.scenarios.sets import simulate_all


@pytest.fixture(scope="session")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Judged:
    batches = Batches(tmp_path_factory.mktemp("batches"))
    simulate_all(batches, tmp_path_factory.mktemp("drafts"))
    return batches.judge()
