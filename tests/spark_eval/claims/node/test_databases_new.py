from __future__ import annotations

import pytest

from spark_eval.claims.node.databases_new import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.run_builder import MINUTE, Run, empty


def _made(server: str, database_id: str) -> Run:
    run = empty()
    run.replace("par-mbx1", 30 * MINUTE, 36 * MINUTE)
    run.life(server, "database-created", 40 * MINUTE, database_id=database_id)
    return run


def runs() -> dict[str, Run]:
    known = empty().database_ids["par-mbx1"]
    return {
        "new": _made("par-mbx2", "another"),
        "its-own-again": _made("par-mbx1", known),
        "that-of-another": _made("par-mbx2", known),
    }


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


def test_holds_where_every_database_has_an_id_of_its_own(results: Results) -> None:
    assert results["new"].status == "holds"


@pytest.mark.parametrize("name", ["its-own-again", "that-of-another"])
def test_is_violated_by_an_id_that_was_there_before(name: str, results: Results) -> None:
    result = results[name]
    assert (result.status, result.violations) == ("violated", 1), result
    assert "already" in result.examples[0].detail
