"""Two runs of one plan whose messages part in one way each, beside a fault and far from it.

The fault cuts lyo-mbx1, which holds all shadow messages, from par-mbx1 between 10 and 45 minutes.
An undisturbed delivery takes 2 s and the clock resolves 900 ms, so that near is within 4.5 s.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.spark_eval.runs.run_builder import HEARTBEAT, MINUTE, SECOND, Message, Run, empty, user

CUT, HEAL = 10 * MINUTE, 45 * MINUTE
FAR, NEAR, WITHIN = 5 * MINUTE, CUT - SECOND, 25 * MINUTE
NEAR_HEAL = HEAL + SECOND
ROOM = ["someone@partner.example"]

Life = Callable[[Run, int], object]


@dataclass(frozen=True)
class Parting:
    """What one message lives through at `at` in the first run and in the second; a field and its
    expected status and rule."""

    name: str
    at: int
    a: Life
    b: Life
    field: str
    status: str
    rule: str = ""


def healthy(run: Run, at: int) -> Message:
    return run.deliver(at, [user(1)])


def outside(run: Run, at: int) -> Message:
    return run.deliver(at, ROOM, mail="outbound")


def outside_twice(run: Run, at: int) -> None:
    run.show(outside(run, at), at + 5 * SECOND)


def twice(run: Run, at: int) -> None:
    run.show(healthy(run, at), at + 5 * SECOND)


def refused(run: Run, at: int) -> None:
    run.attempt(run.submit(at, [user(1)]), "par-mbx1", at, "failed", "451 4.4.0 no", at + 900)


def in_doubt(run: Run, at: int) -> None:
    run.attempt(run.submit(at, [user(1)]), "par-mbx1", at, "unknown", None, at + 900)


def unprotected(run: Run, at: int) -> None:
    run.finish(run.accept(at, [user(1)], shadow=None), at + 2 * SECOND)


def lost(run: Run, at: int) -> None:
    run.accept(at, [user(1)])


def elsewhere(run: Run, at: int) -> Message:
    return run.deliver(at, [user(1, "db2")])


def not_collected(run: Run, at: int) -> None:
    run.accept(at, [user(1, "db2")])
    run.drop.add("mailboxes/DB2.jsonl")


def told_at_once(run: Run, at: int) -> None:
    message = run.accept(at, [user(1)])
    run.finish(message, at + 2 * SECOND)
    run.let_go(message, at + 10 * SECOND)


def promoted(run: Run, at: int) -> None:
    """Delivered, its shadow kept, and promoted when the span was over."""
    message = run.accept(at, [user(1)])
    run.finish(message, at + 2 * SECOND)
    run.promote(message, 40 * MINUTE + 30 * SECOND, "resubmit-time-span", duplicate=True)


def promoted_in_the_cut(run: Run, at: int) -> None:
    """Accepted during the cut, so due with all that is held; the cut ends before it is overdue."""
    message = run.accept(at, [user(1)])
    run.finish(message, at + MINUTE)
    run.promote(message, HEAL - 30 * SECOND, "resubmit-time-span", duplicate=True)


def told_after(ms: int) -> Life:
    """Accepted during the cut, and its shadow let go so long after delivery."""

    def life(run: Run, at: int) -> None:
        message = run.accept(at, [user(1)])
        run.finish(message, at + MINUTE)
        run.let_go(message, at + MINUTE + ms)

    return life


def promoted_for(cause: str) -> Life:
    def life(run: Run, at: int) -> None:
        message = run.accept(at, [user(1)])
        run.finish(message, at + 2 * SECOND)
        run.promote(message, 25 * MINUTE, cause, duplicate=True)

    return life


PARTINGS = (
    Parting("nothing", FAR, healthy, healthy, "", "same"),
    Parting("nothing-near", NEAR, healthy, healthy, "", "same"),
    Parting("both-lost", FAR, lost, lost, "", "same"),
    Parting("refused", FAR, healthy, refused, "sending", "disagrees"),
    Parting("refused-near", NEAR, healthy, refused, "sending", "open", "sent_at_edge"),
    Parting("refused-near-heal", NEAR_HEAL, refused, healthy, "sending", "open", "sent_at_edge"),
    Parting("invisible-near", NEAR, healthy, refused, "inside", "open", "sent_at_edge"),
    Parting("in-doubt", FAR, healthy, in_doubt, "sending", "open", "in_doubt"),
    Parting("unprotected", FAR, unprotected, healthy, "protection", "disagrees"),
    Parting("unprotected-near", NEAR, unprotected, healthy, "protection", "open", "sent_at_edge"),
    Parting("twice-near", NEAR, healthy, twice, "inside", "disagrees"),
    Parting("outside-twice", FAR, outside, outside_twice, "outside", "disagrees"),
    Parting("outside-twice-near", NEAR, outside, outside_twice, "outside", "open", "sent_at_edge"),
    Parting("lost-near", NEAR, healthy, lost, "loss", "disagrees"),
    Parting("not-collected", FAR, elsewhere, not_collected, "loss", "unknown"),
    Parting("promoted", FAR, told_at_once, promoted, "promotion", "disagrees"),
    Parting("between", CUT - 90 * SECOND, told_at_once, promoted, "promotion", "open",
            "between_heartbeats"),
    Parting("before", CUT - HEARTBEAT - 10 * SECOND, told_at_once, promoted, "promotion",
            "disagrees"),
    Parting("deadline", WITHIN, promoted_in_the_cut, told_after(36 * MINUTE), "promotion", "open",
            "before_deadline"),
    Parting("no-deadline", WITHIN, promoted_in_the_cut, told_after(MINUTE), "promotion",
            "disagrees"),
    Parting("causes", FAR, promoted_for("resubmit-time-span"), promoted_for("database-id-changed"),
            "promotion", "disagrees"),
)  # fmt: skip


def runs(partings: tuple[Parting, ...] = PARTINGS) -> tuple[Run, Run]:
    """One message a parting, in order, so that both runs know it by the same Message-Id; at the end
    one that the first run alone sent."""
    a, b = empty(), empty()
    a.name, b.name = "one-run", "another-run"
    for run in (a, b):
        run.heartbeats("lyo-mbx1", "par-mbx1", 2 * MINUTE, CUT)
        run.cut("lyo-mbx1", "par-mbx1", CUT, HEAL)
        for number in range(1, 4):
            run.deliver(number * MINUTE, [user(number)])
    for parting in partings:
        parting.a(a, parting.at)
        parting.b(b, parting.at)
    healthy(a, FAR)
    return a, b
