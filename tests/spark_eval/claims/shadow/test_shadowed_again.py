from __future__ import annotations

import pytest

from spark_eval.claims.shadow.shadowed_again import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.faulty_runs import new_database
from tests.spark_eval.runs.run_builder import (
    MINUTE,
    Run,
    empty,
)


def _not_shadowed_again() -> Run:
    run = new_database().run
    run.remove("lyo-mbx1", "HAREDIRECT")
    return run


def _killed_while_trying(*, in_vain: bool) -> Run:
    """lyo-mbx1 is killed 14 min after it promoted, its attempts hanging or not."""
    run = _not_shadowed_again()
    run.kill("lyo-mbx1", 30 * MINUTE, 35 * MINUTE, fault="f2")
    if in_vain:
        run.cut("lyo-mbx1", "lyo-mbx2", 14 * MINUTE, 40 * MINUTE, kind="stall", fault="f3")
    return run


def _promoted_and_never_held() -> Run:
    """Its new primary names a shadow server that never wrote a word of it."""
    run = new_database().run
    for event in ("HARECEIVE", "HADISCARD"):
        run.remove("par-mbx2", event)
    run.queues["par-mbx2"] = []
    return run


def _killed_and_nobody_has_a_copy(*, delivered: bool) -> Run:
    """What was tried before the kill is forgotten after it, or has not been tried again yet."""
    run = _killed_while_trying(in_vain=True)
    run.remove("par-mbx2", "HARECEIVE")
    run.remove("par-mbx2", "HADISCARD")
    if not delivered:
        run.remove("lyo-mbx1", "SEND")
    return run


def runs() -> dict[str, Run]:
    return {
        "empty": empty(),
        "promoted": new_database().run,
        "never-held": _promoted_and_never_held(),
        "not-again": _not_shadowed_again(),
        "killed-while-trying": _killed_while_trying(in_vain=True),
        "killed-too-late": _killed_while_trying(in_vain=False),
        "killed-and-delivered": _killed_and_nobody_has_a_copy(delivered=True),
        "killed-and-waiting": _killed_and_nobody_has_a_copy(delivered=False),
    }  # fmt: skip


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


def test_asks_promoted_messages_for_a_new_shadow(results: Results) -> None:
    assert results["promoted"].proofs["SM-13"] == "holds"
    assert results["not-again"].proofs["SM-13"] == "violated"
    assert results["not-again"].examples[0].refs[0][0] == "logs/lyo-mbx1/MSGTRK2026010508-1.LOG"


def test_allows_attempts_at_silent_servers_their_time_before_a_kill(
    results: Results,
) -> None:
    assert "SM-13" not in results["killed-while-trying"].proofs
    assert results["killed-too-late"].proofs["SM-13"] == "violated"


def test_a_kill_excuses_no_message_that_went_out_and_that_nobody_else_ever_held(
    results: Results,
) -> None:
    assert results["killed-and-delivered"].proofs["SM-13"] == "violated"
    assert "SM-13" not in results["killed-and-waiting"].proofs


def test_is_violated_where_the_server_that_is_named_never_held_it(results: Results) -> None:
    result = results["never-held"]
    assert result.status == "violated"
    says = "lyo-mbx1 named par-mbx2, which logged no HARECEIVE of it"
    assert any(says in example.detail for example in result.examples)


def test_is_unknown_where_nothing_was_promoted(results: Results) -> None:
    assert (results["empty"].status, results["empty"].asked) == ("unknown", 0)
