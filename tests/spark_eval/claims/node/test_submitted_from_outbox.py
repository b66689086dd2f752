from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from spark_eval.claims.node.submitted_from_outbox import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.run_builder import (
    DOMAIN,
    HOUR,
    MINUTE,
    SECOND,
    Message,
    Run,
    empty,
    made,
    user,
)

SERVER = "par-mbx2"
PLACE = "MDB:DB1, Item:i-1"
REJECTED = "451 4.4.0 Message failed to be made redundant"
STORED = "451 4.3.0 Message could not be stored"


class Item:
    """One that its client had acknowledged."""

    def __init__(self, *, at_ms: int = MINUTE, logged: bool = True, rejects: bool = True) -> None:
        self.run = run = empty()
        run.plan["settings"]["TransportConfig"]["RejectMessageOnShadowFailure"] = rejects
        message_id = run.submit(at_ms, [user(1)], mail="internal")
        run.ledger[-1]["sender"] = user(2)
        self.message = Message(
            message_id, "n-1", [user(1)], at_ms, SERVER, "lyo-mbx1", 7, run.database_ids[SERVER]
        )
        if logged:
            self.say("NOTIFYMAPI", at_ms + 300, PLACE)
        reply = f"250 2.6.0 {message_id} [ItemId=i-1, Hostname={SERVER}.{DOMAIN}] Queued in Outbox"
        run.attempt(message_id, SERVER, at_ms, "ok", reply, at_ms + 900)

    def say(self, event: str, at_ms: int, context: str, **more: Any) -> Item:
        if event in ("NOTIFYMAPI", "SUBMITDEFER"):
            more["internal_id"] = ""
        self.run.log(
            SERVER, event, "STOREDRIVER", at_ms, self.message, source_context=context,
            sender_address=user(2), **more,
        )  # fmt: skip
        return self

    def submitted(self, at_ms: int) -> Item:
        return self.say("SUBMIT", at_ms, f"{PLACE}, 250 2.6.0 {self.message.message_id} ok")

    def put_off(self, at_ms: int, reply: str = REJECTED, *, tried: bool = True) -> Item:
        if tried:
            self.say("HAREDIRECTFAIL", at_ms, "lyo-mbx1: refused", custom={"Outcome": "rejected"})
        return self.say("SUBMITDEFER", at_ms, f"{PLACE}, {reply}")

    def followed(self, at_ms: int) -> Item:
        """Its copy is mounted no more."""
        self.run.life(SERVER, "copy-passive", at_ms, database="DB1", epoch=1, last_log=1)
        return self

    def killed(self, start_ms: int, end_ms: int) -> Item:
        self.run.kill(SERVER, start_ms, end_ms)
        return self


HOLDS: dict[str, Callable[[], Item]] = {
    "submitted": lambda: Item().submitted(MINUTE + SECOND),
    "put-off-and-submitted": lambda: Item().put_off(2 * MINUTE).submitted(3 * MINUTE),
    "put-off-once-it-is-mounted-no-more": lambda: Item().followed(110 * SECOND).put_off(2 * MINUTE),
    "not-stored-long-after-its-copy-was-left": lambda: (
        Item().followed(110 * SECOND).put_off(8 * MINUTE, STORED, tried=False)
    ),
    "tried-at-a-start": lambda: (
        Item().put_off(2 * MINUTE).killed(2 * MINUTE + SECOND, 2 * MINUTE + 20 * SECOND)
        .submitted(2 * MINUTE + 40 * SECOND)
    ),
    "submitted-again-after-a-kill": lambda: (
        Item().submitted(MINUTE + SECOND).killed(MINUTE + 2 * SECOND, 3 * MINUTE)
        .submitted(3 * MINUTE + 5 * SECOND)
    ),
}  # fmt: skip
VIOLATED: dict[str, Callable[[], Item]] = {
    "not-in-the-outbox": lambda: Item(logged=False).submitted(MINUTE + SECOND),
    "in-it-after-the-250": lambda: (
        Item(logged=False).say("NOTIFYMAPI", MINUTE + 2 * SECOND, PLACE).submitted(2 * MINUTE)
    ),
    "never-submitted": Item,
    "never-tried-again": lambda: Item().put_off(2 * MINUTE),
    "too-soon": lambda: Item().put_off(2 * MINUTE).submitted(2 * MINUTE + 20 * SECOND),
    "submitted-twice": lambda: Item().submitted(2 * MINUTE).submitted(HOUR // 2),
    "put-off-for-nothing": lambda: (
        Item().put_off(2 * MINUTE, tried=False).submitted(3 * MINUTE)
    ),
    "put-off-and-not-to-be-rejected": lambda: (
        Item(rejects=False).put_off(2 * MINUTE).submitted(3 * MINUTE)
    ),
    "put-off-for-a-disk-that-was-well": lambda: (
        Item().put_off(2 * MINUTE, STORED).submitted(3 * MINUTE)
    ),
}  # fmt: skip


def runs() -> dict[str, Run]:
    found = {name: make().run for name, make in {**HOLDS, **VIOLATED}.items()}
    return made({**found, "none": empty()})


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


@pytest.mark.parametrize("name", HOLDS)
def test_holds(name: str, results: Results) -> None:
    assert results[name].status == "holds", results[name].examples


@pytest.mark.parametrize("name", VIOLATED)
def test_is_violated(name: str, results: Results) -> None:
    assert results[name].status == "violated"


def test_is_not_asked_without_such_mail(results: Results) -> None:
    assert results["none"].asked == 0
