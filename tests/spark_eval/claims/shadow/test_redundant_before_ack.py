from __future__ import annotations

from dataclasses import replace

import pytest

from spark_eval.claims.shadow.redundant_before_ack import CLAIM
from spark_eval.expected.mail.rejection import REJECTION
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.run_builder import (
    DOMAIN,
    MINUTE,
    SECOND,
    Row,
    Run,
    apart,
    empty,
    healthy,
    mono,
    user,
)


def _delayed(server: str, event: str, by_ms: int) -> Run:
    """The event of the second message comes later than it was logged in a healthy run."""
    run = healthy()
    row = run.rows(server, event)[1]
    _move(row, row["at_ms"] + by_ms)
    return run


def _move(row: Row, at_ms: int) -> None:
    row["at_ms"] = at_ms
    row["custom"]["Mono"] = mono(at_ms)


def _without(server: str, event: str) -> Run:
    run = healthy()
    run.tracking[server].remove(run.rows(server, event)[1])
    return run


def _forgotten(server: str, *, evidence: bool) -> Run:
    """The shadow server logged nothing of the second message; `evidence`: its store has it."""
    run = healthy()
    second = run.rows("par-mbx1", "RECEIVE")[1]["message-id"]
    run.tracking[server] = [row for row in run.tracking[server] if row["message-id"] != second]
    if not evidence:
        run.queues[server] = []
    return run


def _swallowed_by_a_kill(*, evidence: bool) -> Run:
    """lyo-mbx1 dies right after it took the second message, before it could log that."""
    run = _forgotten("lyo-mbx1", evidence=evidence)
    run.kill("lyo-mbx1", 2 * MINUTE + 1000, 2 * MINUTE + 30 * SECOND)
    return run


def _unprotected(*, reject: bool) -> Run:
    run = healthy()
    run.plan["settings"]["TransportConfig"]["RejectMessageOnShadowFailure"] = reject
    message = run.accept(20 * MINUTE, [user(1)], shadow=None)
    run.finish(message, 20 * MINUTE + 2000)
    return run


def _rejected(reply: str, *, kept: bool = False) -> Run:
    run = empty()
    run.plan["settings"]["TransportConfig"]["RejectMessageOnShadowFailure"] = True
    at_ms = 20 * MINUTE
    message = run.accept(at_ms, [user(1)], shadow=None)
    run.ledger = run.ledger[:1]
    run.rows("par-mbx1", "HAREDIRECTFAIL")[0]["custom"]["Outcome"] = "rejected"
    if not kept:
        run.remove("par-mbx1", "RECEIVE")
    run.attempt(message.message_id, "par-mbx1", at_ms, "failed", reply, at_ms + SECOND)
    return run


def _refused_after_one_left_open(*, left_open: bool) -> Run:
    """The row of a rejection falls into an attempt that a full disk refused; `left_open`: the
    sender had gone away from an earlier one, which is what the row is of.
    """
    run = empty()
    run.plan["settings"]["TransportConfig"]["RejectMessageOnShadowFailure"] = left_open
    at_ms = 20 * MINUTE
    message = run.accept(at_ms, [user(1)], shadow=None)
    run.ledger = run.ledger[:1]
    run.rows("par-mbx1", "HAREDIRECTFAIL")[0]["custom"]["Outcome"] = "rejected"
    run.remove("par-mbx1", "RECEIVE")
    if left_open:
        earlier_ms = at_ms - 2 * MINUTE
        run.attempt(message.message_id, "par-mbx1", earlier_ms, "failed", None, at_ms - MINUTE)
    reply = "451 4.3.0 Message could not be stored"
    run.attempt(message.message_id, "par-mbx1", at_ms, "failed", reply, at_ms + SECOND, 2)
    return run


def _rejected_in_nobodys_hearing(*, reject: bool) -> Run:
    """Its sender was lost before, and never heard of it."""
    run = _rejected(REJECTION)
    run.plan["settings"]["TransportConfig"]["RejectMessageOnShadowFailure"] = reject
    run.ledger = run.ledger[:1]
    (message_id,) = (row["message_id"] for row in run.ledger)
    run.attempt(message_id, "par-mbx1", 18 * MINUTE, "failed", None, 19 * MINUTE)
    return run


def _accepted_twice() -> Run:
    """The first 250 is lost on its way; the sender tries again and has it accepted again."""
    run = empty()
    message = run.accept(MINUTE, [user(1)])
    run.ledger = run.ledger[:1]
    run.attempt(message.message_id, "par-mbx1", MINUTE, "unknown", None, MINUTE + 900)
    again = run.accept(2 * MINUTE, [user(1)])
    run.ledger = [row for row in run.ledger if row["message_id"] == message.message_id]
    for server in ("par-mbx1", "lyo-mbx1"):
        for row in run.tracking[server]:
            row["message-id"] = message.message_id
    reply = f"250 2.6.0 {message.message_id} [InternalId={again.internal_id}, Hostname=x] Queued"
    run.attempt(message.message_id, "par-mbx1", 2 * MINUTE, "ok", reply, 2 * MINUTE + 900, number=2)
    _move(run.rows("lyo-mbx1", "HARECEIVE")[0], 3 * MINUTE)
    return run


def _damaged_log(*, evidence: bool) -> Run:
    """A line that cannot be read stands where the second message would be."""
    run = _forgotten("lyo-mbx1", evidence=evidence)
    row = dict(run.rows("lyo-mbx1", "HARECEIVE")[0])
    run.tracking["lyo-mbx1"].append({**row, "at_ms": 2 * MINUTE + 300, "torn": True})
    return run


def _id_given_again() -> Run:
    """par-mbx1 got a new queue database and promotes the message under the id it had before."""
    run = empty()
    message = run.accept(MINUTE, [user(1)])
    run.kill("par-mbx1", 10 * MINUTE, 15 * MINUTE, new_database=True)
    held = replace(
        message, primary="lyo-mbx1", shadow="par-mbx1", internal_id=77,
        database_id=run.database_ids["lyo-mbx1"],
    )  # fmt: skip
    run.last_id = message.internal_id - 1
    run.promote(held, 30 * MINUTE, "database-id-changed")
    return run


def _crossing(spoil: str = "") -> Run:
    """From a DAG in Paris to servers in no DAG in Lyon, which receive it anew; `spoil`: an event
    that is missing there, or late.
    """
    run = empty()
    apart(run)
    message = run.accept(MINUTE, [user(1, "db2")], shadow="par-mbx2")
    again = run.cross(message, 2 * MINUTE)
    if spoil == "late":
        _move(run.rows("lyo-mbx1", "HARECEIVE")[0], 3 * MINUTE)
    elif spoil == "XDELIVER":
        for event in ("HAREDIRECT", "RECEIVE"):
            run.remove("lyo-mbx2", event)
    elif spoil == "two hops":
        run.log("lyo-mbx2", "SEND", "SMTP", 3 * MINUTE, again, server_hostname=f"lyo-mbx1.{DOMAIN}",
                source_context="250 2.6.0 <x> [InternalId=77, Hostname=x] ok")  # fmt: skip
        run.log("lyo-mbx1", "RECEIVE", "SMTP", 3 * MINUTE, again, internal_id=77)
    elif spoil:
        run.remove("lyo-mbx2", spoil)
    return run


def runs() -> dict[str, Run]:
    return {
        "id-given-again": _id_given_again(),
        "healthy": healthy(),
        "empty": empty(),
        "shadow-late": _delayed("lyo-mbx1", "HARECEIVE", 5000),
        "redirect-late": _delayed("par-mbx1", "HAREDIRECT", 5000),
        "redirect-after-receive": _delayed("par-mbx1", "HAREDIRECT", 200),
        "no-shadow": _without("lyo-mbx1", "HARECEIVE"),
        "no-redirect": _without("par-mbx1", "HAREDIRECT"),
        "no-receive": _without("par-mbx1", "RECEIVE"),
        "swallowed": _swallowed_by_a_kill(evidence=True),
        "swallowed-without-trace": _swallowed_by_a_kill(evidence=False),
        "unprotected": _unprotected(reject=False),
        "unprotected-forbidden": _unprotected(reject=True),
        "rejected": _rejected(REJECTION),
        "rejected-otherwise": _rejected("451 4.4.0 try later"),
        "refused": _refused_after_one_left_open(left_open=False),
        "refused-after-an-open-one": _refused_after_one_left_open(left_open=True),
        "rejected-unheard": _rejected_in_nobodys_hearing(reject=False),
        "rejected-unheard-as-set": _rejected_in_nobodys_hearing(reject=True),
        "rejected-and-kept": _rejected(REJECTION, kept=True),
        "accepted-twice": _accepted_twice(),
        "damaged": _damaged_log(evidence=True),
        "damaged-without-trace": _damaged_log(evidence=False),
        "crossing": _crossing(),
        "crossing-by-xdeliver": _crossing("XDELIVER"),
        "crossing-without-redirect": _crossing("HAREDIRECT"),
        "crossing-shadow-late": _crossing("late"),
        "two-hops": _crossing("two hops"),
    }


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


def test_holds_where_the_shadow_is_there_before_the_250(results: Results) -> None:
    result = results["healthy"]
    assert (result.status, result.asked, result.proofs) == ("holds", 5, {"SR-1": "holds"})


def test_is_violated_by_a_shadow_that_comes_after_the_250(results: Results) -> None:
    result = results["shadow-late"]
    assert (result.status, result.violations) == ("violated", 1)
    example = result.examples[0]
    assert example.subject == "<m000002.calm.7@outside.example>"
    assert "lyo-mbx1 logged HARECEIVE" in example.detail
    files = [file for file, _ in example.refs]
    assert files[0] == "ledger.jsonl"
    assert "logs/lyo-mbx1/MSGTRK2026010508-1.LOG" in files


@pytest.mark.parametrize(
    ("run", "says"),
    [
        ("redirect-late", "HAREDIRECT after the sender had its 250"),
        ("redirect-after-receive", "RECEIVE before its HAREDIRECT"),
        ("no-shadow", "named lyo-mbx1, which logged no HARECEIVE"),
        ("no-redirect", "neither HAREDIRECT nor HAREDIRECTFAIL"),
        ("no-receive", "which logged no RECEIVE"),
        ("crossing-by-xdeliver", "acknowledged by lyo-mbx2, which logged no RECEIVE"),
        ("crossing-without-redirect", "lyo-mbx2 logged neither HAREDIRECT nor HAREDIRECTFAIL"),
        ("crossing-shadow-late", "lyo-mbx1 logged HARECEIVE"),
        ("two-hops", "lyo-mbx2 sent it to lyo-mbx1 in its own boundary, which received it anew"),
    ],
)
def test_is_violated_where_a_step_is_missing_or_late(results: Results, run: str, says: str) -> None:
    assert says in results[run].examples[0].detail


def test_asks_of_mail_that_crosses_what_it_asks_of_mail_from_outside(
    results: Results,
) -> None:
    result = results["crossing"]
    assert (result.status, result.asked) == ("holds", 2)
    assert result.proofs == {"SR-1": "holds", "SR-10": "holds"}
    assert results["crossing-by-xdeliver"].proofs["SR-10"] == "violated"
    assert results["two-hops"].proofs["SR-12"] == "violated"


def test_takes_the_store_as_evidence_for_a_row_that_a_kill_swallowed(
    results: Results,
) -> None:
    assert results["swallowed"].violations == 0


def test_does_not_judge_what_a_kill_may_have_swallowed(results: Results) -> None:
    result = results["swallowed-without-trace"]
    assert (result.status, result.violations, result.unknown) == ("unknown", 0, 1)


def test_permits_unprotected_mail_only_where_it_is_not_to_be_rejected(
    results: Results,
) -> None:
    assert results["unprotected"].proofs["SR-5"] == "holds"
    assert results["unprotected-forbidden"].proofs["SR-5"] == "violated"


def test_asks_a_rejection_for_its_words_and_for_keeping_nothing(
    results: Results,
) -> None:
    assert results["rejected"].proofs == {"SR-5": "holds"}
    assert "try later" in results["rejected-otherwise"].examples[0].detail
    assert "rejected it and kept it" in results["rejected-and-kept"].examples[0].detail


def test_a_message_is_rejected_in_nobodys_hearing_only_where_it_is_to_be(
    results: Results,
) -> None:
    assert results["rejected-unheard"].proofs["SR-6"] == "violated"
    assert results["rejected-unheard-as-set"].violations == 0


def test_a_row_of_an_attempt_that_was_left_open_is_not_held_against_the_next_one(
    results: Results,
) -> None:
    assert results["refused-after-an-open-one"].violations == 0
    assert "par-mbx1 rejected it" in results["refused"].examples[0].detail


def test_judges_each_acceptance_of_a_message_id_by_itself(results: Results) -> None:
    result = results["accepted-twice"]
    assert (result.status, result.asked) == ("holds", 1)


def test_does_not_judge_what_damage_may_have_hidden(results: Results) -> None:
    assert results["damaged"].violations == 0
    result = results["damaged-without-trace"]
    assert (result.status, result.violations, result.unknown) == ("unknown", 0, 1)
    assert "hole" in result.reason


def test_is_unknown_where_nothing_was_acknowledged(results: Results) -> None:
    assert (results["empty"].status, results["empty"].asked) == ("unknown", 0)


def test_a_promoted_message_is_not_taken_for_the_acknowledged_one(
    results: Results,
) -> None:
    assert results["id-given-again"].status == "holds"
