"""That an attempt of its own failed when the span was over obliges a server to promote, whatever a
fault's evidence says of the link (SM-6).
"""

from __future__ import annotations

import pytest

from spark_eval.claims.shadow.promotion_on_time import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.claims.test_fault_kinds import LIMIT, _span_runs_out_over_a_link
from tests.spark_eval.runs.run_builder import Run


def runs() -> dict[str, Run]:
    return {"limited": _span_runs_out_over_a_link({"kind": "limit_data", **LIMIT})}


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


def test_a_server_whose_attempts_failed_is_to_promote(results: Results) -> None:
    result = results["limited"]
    assert (result.status, result.violations) == ("violated", 1)
    assert "never promoted it" in result.examples[0].detail
