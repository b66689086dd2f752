"""queues_shown: what a server shows of its queues is what its tracking log says."""

from __future__ import annotations

import pytest

from spark_eval.claims.node.queues_shown import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.claims.pressure.pressed_runs import operation, used
from tests.spark_eval.runs.run_builder import MINUTE, Message, Run, empty, made, user

SERVER, HOLDER, LOOKED = "par-mbx1", "lyo-mbx1", 15 * MINUTE


def said(messages: int, kept: int, *more: str, submission: int = 0) -> str:
    lines = (
        f"queue messages - {messages} -",
        f"queue submission - {submission} -",
        *((f"queue delivery database:DB1 {messages} - refused",) if messages else ()),
        f"queue primary-safety-net - {kept} -",
        "queue shadow-safety-net - 0 -",
        *more,
    )
    return " ".join(("250", *(f"{line} |" for line in lines), "Done 5"))


def looked(answer: str, *, at: str = SERVER, waiting: int = 2, run: Run | None = None) -> Run:
    """Three messages are delivered when somebody looks, and some wait."""
    run = run or empty()
    for number in range(3):
        run.deliver((2 + number) * MINUTE, [user(1)])
    for number in range(waiting):
        run.accept((6 + number) * MINUTE, [user(1)])
    operation(run, "o1", "show_queues", LOOKED, answer, server=at)
    return run


def probed() -> Run:
    """The lab had a probe taken before the run began."""
    run = empty()
    probe = Message(
        "<probe.0001.calm@outside.example>", "n-probe", [user(1)], 0, SERVER, HOLDER,
        run.next_id(), run.database_ids[SERVER],
    )  # fmt: skip
    run.protect(probe, HOLDER)
    run.log(SERVER, "RECEIVE", "SMTP", 500, probe)
    run.finish(probe, 600, visible=False)
    return run


def asking(*lines: str, at: list[int], failed: list[int] | None = None) -> Run:
    """What is shown of the holder, which asked at those times, and was not heard at others."""
    run = looked(said(2, 3, *lines))
    for server in (SERVER, HOLDER):
        run.life(server, "started", 0)
    for at_ms in at:
        run.contact(HOLDER, SERVER, at_ms)
    for at_ms in failed or ():
        run.contact(HOLDER, SERVER, at_ms, failed=True)
    return run


def emptied(*more: str, idle: int = 5 * MINUTE, ago: int = 4 * MINUTE, kept: int = 1) -> Run:
    """The last message of a queue went so long before somebody looks."""
    run = empty()
    settings = run.plan["settings"].setdefault("servers", {}).setdefault(SERVER, {})
    settings["TransportService"] = {"QueueMaxIdleTime": idle}
    run.deliver(LOOKED - ago, [user(1)])
    operation(run, "o1", "show_queues", LOOKED, said(0, kept, *more), server=SERVER)
    return run


def given_up() -> Run:
    """Its message was: which queue it was in, nobody can say."""
    run = emptied("queue delivery external:ext1 0 -", EMPTY, kept=2)
    message = run.accept(MINUTE, [user(2)])
    run.log(SERVER, "FAIL", "QUEUE", LOOKED - 2 * MINUTE, message)
    return run


EMPTY = "queue delivery database:DB1 0 -"
ASKED = "queue shadowed-by lyo-mbx1 {} - {}"
SHADOWS = "queue shadow par-mbx1 {} -"
HOLDS = {
    "as-it-is": looked(said(2, 3)),
    "nothing-waits": looked(said(0, 3), waiting=0),
    "counters": looked(said(2, 3, "figure HAREDIRECT 5")),
    "probes": looked(said(2, 4, "figure HAREDIRECT 6"), run=probed()),
    "shadows": looked(said(0, 0, SHADOWS.format(2)), at=HOLDER),
    "asked": asking(ASKED.format(2, 5 * MINUTE), at=[4 * MINUTE, 10 * MINUTE]),
    "asked-and-perhaps-not-heard": asking(
        ASKED.format(2, 5 * MINUTE), at=[4 * MINUTE], failed=[10 * MINUTE]
    ),
    "was-not-heard": asking(ASKED.format(2, 11 * MINUTE), at=[4 * MINUTE], failed=[10 * MINUTE]),
    "an-empty-queue": emptied(EMPTY),
    "an-empty-queue-that-may-be-gone": emptied(ago=5 * MINUTE),
    "an-empty-queue-that-may-be-there": emptied(EMPTY, ago=5 * MINUTE),
    "a-queue-that-is-gone": emptied(ago=6 * MINUTE),
    "a-queue-of-what-was-given-up": given_up(),
    "in-lines": looked(said(2, 3).replace("| ", "|\n")),
    "a-level": looked(said(2, 3, "figure DatabaseUsedSpace medium"), run=used()),
}
VIOLATED = {
    "fewer": (looked(said(1, 3)), "showed 1 of messages"),
    "more": (looked(said(3, 3)), "showed 3 of messages"),
    "kept-fewer": (looked(said(2, 2)), "showed 2 of primary-safety-net"),
    "counts-too-few": (looked(said(2, 3, "figure HAREDIRECT 4")), "showed 4 of figure HAREDIRECT"),
    "no-shadows": (looked(said(0, 0), at=HOLDER), "showed 0 of shadow par-mbx1"),
    "more-shadows-than-messages": (
        asking(ASKED.format(3, "-"), at=[]), "showed 3 of shadowed-by lyo-mbx1",
    ),
    "asked-again-since": (
        asking(ASKED.format(2, 11 * MINUTE), at=[4 * MINUTE, 10 * MINUTE]), "asked last before",
    ),
    "asked-at-no-such-time": (
        asking(ASKED.format(2, 2 * MINUTE), at=[4 * MINUTE]), "when it did not",
    ),
    "asked-and-not-known": (
        asking(ASKED.format(2, "-"), at=[4 * MINUTE]), "has not asked; it asked at",
    ),
    "no-safety-net": (looked(said(2, 3).replace("primary-safety-net", "other")), "no primary-safe"),
    "no-empty-queue": (emptied(), "did not show database:DB1"),
    "a-queue-that-was-gone": (emptied(EMPTY, ago=6 * MINUTE), "was not there any more"),
    "a-queue-of-nothing": (
        emptied(EMPTY, "queue delivery external:ext1 0 -"), "showed external:ext1",
    ),
    "unreadable": (looked("250 something | Done"), "what nobody can read"),
    "another-level": (
        looked(said(2, 3, "figure DatabaseUsedSpace high"), run=used()), "at the level high",
    ),
    "a-level-too-low": (
        looked(said(2, 3, "figure DatabaseUsedSpace normal"), run=used()), "at the level normal",
    ),
}  # fmt: skip


def runs() -> dict[str, Run]:
    refused = looked("502 5.3.3 Command not implemented")
    return made({**HOLDS, **{n: run for n, (run, _) in VIOLATED.items()}, "refused": refused})


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


@pytest.mark.parametrize("name", HOLDS)
def test_holds(name: str, results: Results) -> None:
    assert results[name].status == "holds", results[name].examples


@pytest.mark.parametrize("name", VIOLATED)
def test_is_violated(name: str, results: Results) -> None:
    assert results[name].status == "violated", results[name]
    assert any(VIOLATED[name][1] in each.detail for each in results[name].examples), results[name]


def test_what_was_not_answered_is_not_asked(results: Results) -> None:
    assert results["refused"].asked_nothing
