"""Runs with a fault in which the servers did all that they promise. Tests spoil one thing each."""

from __future__ import annotations

from dataclasses import dataclass

from tests.spark_eval.runs.run_builder import MINUTE, SECOND, Message, Run, empty, user

KILL = 10 * MINUTE
LAST_CONTACT = 8 * MINUTE


@dataclass
class Faulty:
    """`told` was let go before the fault, `delivered` was not, `queued` was not even delivered."""

    run: Run
    told: Message
    delivered: Message
    queued: Message


def _before_the_kill() -> Faulty:
    run = empty()
    told = run.deliver(5 * MINUTE, [user(1)])
    delivered = run.accept(9 * MINUTE, [user(2)])
    run.finish(delivered, 9 * MINUTE + 2 * SECOND)
    queued = run.accept(9 * MINUTE + 30 * SECOND, [user(3)])
    run.heartbeats("lyo-mbx1", "par-mbx1", 6 * MINUTE, KILL)
    return Faulty(run, told, delivered, queued)


def new_database() -> Faulty:
    """par-mbx1 dies at 10 min and is back at 15 min with a new queue database; asked at 16 min."""
    faulty = _before_the_kill()
    run, back = faulty.run, 16 * MINUTE
    run.heartbeats("lyo-mbx1", "par-mbx1", KILL, 15 * MINUTE, failed=True)
    run.kill("par-mbx1", KILL, 15 * MINUTE, new_database=True)
    run.contact("lyo-mbx1", "par-mbx1", back)
    _promote_both(faulty, back + 200, "database-id-changed")
    return faulty


def back_in_time() -> Faulty:
    """par-mbx1 is back at 20 min with its database, delivers, and tells: nothing is promoted."""
    faulty = _before_the_kill()
    run, back = faulty.run, 22 * MINUTE
    run.heartbeats("lyo-mbx1", "par-mbx1", KILL, 20 * MINUTE, failed=True)
    run.kill("par-mbx1", KILL, 20 * MINUTE)
    run.log("par-mbx1", "LOAD", "BOOTLOADER", 20 * MINUTE + 2 * SECOND, faulty.queued,
            source_context="delivery")  # fmt: skip
    run.finish(faulty.queued, 20 * MINUTE + 5 * SECOND)
    run.heartbeats("lyo-mbx1", "par-mbx1", back, back + 10 * MINUTE)
    run.let_go(faulty.delivered, back + 100)
    run.let_go(faulty.queued, back + 100)
    return faulty


def back_after_span() -> Faulty:
    """par-mbx1 is away for an hour: last contact 8 min, span 30 min, promoted after 38 min. It is
    back with its queue and delivers it as well; the mailbox hides that.
    """
    faulty = _before_the_kill()
    run, due = faulty.run, 38 * MINUTE
    run.heartbeats("lyo-mbx1", "par-mbx1", KILL, 70 * MINUTE, failed=True)
    run.kill("par-mbx1", KILL, 70 * MINUTE)
    _promote_both(faulty, due + 300, "resubmit-time-span")
    again = faulty.queued
    run.log("par-mbx1", "LOAD", "BOOTLOADER", 70 * MINUTE + 2 * SECOND, again,
            source_context="delivery")  # fmt: skip
    run.finish(again, 70 * MINUTE + 5 * SECOND, visible=False)
    run.log("par-mbx2", "DUPLICATEDELIVER", "STOREDRIVER", 70 * MINUTE + 5 * SECOND - 50, again,
            internal_id=5000 + again.internal_id, source_context="MDB:DB1")  # fmt: skip
    return faulty


def _promote_both(faulty: Faulty, at_ms: int, cause: str) -> None:
    run = faulty.run
    run.life("lyo-mbx1", "promotion-begun", at_ms, primary="par-mbx1", cause=cause, count=2)
    run.promote(faulty.delivered, at_ms, cause, duplicate=True)
    run.promote(faulty.queued, at_ms, cause)
