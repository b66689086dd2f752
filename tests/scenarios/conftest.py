"""What is asked about simulated runs: all are simulated in this process, and judged once."""

from __future__ import annotations

import pytest

from tests.scenarios.batches import Judged, batches_in
from tests.scenarios.sets import simulate_all


@pytest.fixture(scope="session")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Judged:
    with batches_in(tmp_path_factory.mktemp("batches")) as batches:
        simulate_all(batches, tmp_path_factory.mktemp("drafts"))
        return batches.judged()
