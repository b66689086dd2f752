"""no_loss of what a client put into an Outbox whose copy is not, or is no more, the active one."""

from __future__ import annotations

import pytest

from spark_eval.claims.mail.no_loss import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs import failover_runs as f
from tests.spark_eval.runs.run_builder import DOMAIN, MINUTE, SECOND, Message, Run, made, user

FIRST_LOST_LOG = 8


def in_outbox(at_ms: int, *, log: int) -> Run:
    """An item that the old copy takes as its log; the new copy has what came before log 8."""
    run = f.with_two_copies()
    run.plan["expect"] = {"lost": 0, "unprotected_loss": [0, 1]}
    f.activate(run)
    message_id = run.submit(at_ms, [user(1)], mail="internal")
    run.ledger[-1]["sender"] = user(2)
    item = Message(message_id, "n-1", [user(1)], at_ms, f.OLD, "", 0, run.database_ids[f.OLD])
    run.log(
        f.OLD, "NOTIFYMAPI", "STOREDRIVER", at_ms + 300, item,
        source_context=f"MDB:DB1, Item:i-1, Log:{log}", internal_id="", sender_address=user(2),
    )  # fmt: skip
    reply = f"250 2.6.0 {message_id} [ItemId=i-1, Hostname={f.OLD}.{DOMAIN}] Queued in Outbox"
    run.attempt(message_id, f.OLD, at_ms, "ok", reply, at_ms + 900)
    return run


EXCUSED = {
    "before-the-mount": in_outbox(f.MOUNTED - MINUTE, log=FIRST_LOST_LOG),
    "by-a-copy-that-did-not-know": in_outbox(f.MOUNTED + SECOND // 2, log=FIRST_LOST_LOG),
}
LOST = {"the-new-copy-has-it": in_outbox(f.MOUNTED - MINUTE, log=FIRST_LOST_LOG - 1)}


def runs() -> dict[str, Run]:
    return made({**EXCUSED, **LOST})


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


@pytest.mark.parametrize("name", EXCUSED)
def test_what_the_new_copy_never_had_is_excused(name: str, results: Results) -> None:
    assert results[name].violations == 0, results[name].examples


@pytest.mark.parametrize("name", LOST)
def test_what_the_new_copy_has_is_lost(name: str, results: Results) -> None:
    assert results[name].violations == 1
