from __future__ import annotations

import pytest

from spark_eval.claims.safety_net.copies_logged import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.failover_runs import (
    MANAGER,
    MOUNTED,
    NEW,
    OLD,
    activate,
    bring,
    give_way,
    lossless_switchover,
    lossy,
    said_by_another,
    with_two_copies,
)
from tests.spark_eval.runs.run_builder import END, MINUTE, SECOND, Row, Run, healthy, iso, mono

LOG = f"logs/{OLD}/lifecycle.jsonl"
BACK = 40 * MINUTE
# what a disk may take, a late timer, and a late row, with a clock of 900 ms
LATE = 30 * SECOND + (121 * SECOND + 900) + (15 * SECOND + 4_500)
# the server of the old copy is told two seconds after the mount
TOLD = MOUNTED + 2 * SECOND


def _words(run: Run, server: str, event: str) -> list[Row]:
    return [row for row in run.lifecycle[server] if row["event"] == event]


def _without(run: Run, server: str, event: str) -> Run:
    for row in _words(run, server, event):
        run.lifecycle[server].remove(row)
    return run


def _at(row: Row, at_ms: int) -> None:
    row.update(at_ms=at_ms, date=iso(at_ms), mono_ns=mono(at_ms))


def _says(run: Run, event: str, at_ms: int, *, server: str = OLD, epoch: int = 0) -> Run:
    run.life(server, event, at_ms, database="DB1", epoch=epoch, last_log=0)
    return run


def _again(*events: str, at_ms: int = BACK, run: Run | None = None) -> Run:
    """The server of the active copy starts a second time; `events` are what it says of its copy."""
    run = run or with_two_copies()
    run.life(OLD, "started", at_ms, database_id=f"{OLD}-first")
    for event in events:
        _says(run, event, at_ms + SECOND)
    return run


def _takes(run: Run, at_ms: int) -> Run:
    """The old copy does, at that time."""
    bring(run, at_ms - 2 * SECOND + 50)
    return run


def _configured() -> Run:
    """Its second life begins with `configured`, and opens the copy before it has started."""
    run = with_two_copies()
    run.lifecycle[OLD].insert(0, {**_words(run, OLD, "started")[0], "event": "configured"})
    run.life(OLD, "configured", BACK)
    return _again(run=_says(run, "copy-opened", BACK), at_ms=BACK + SECOND)


def _killed(*, after_ms: int, back_ms: int = 60 * MINUTE) -> Run:
    """So long after a start of which nothing is said."""
    run = _again()
    run.kill(OLD, BACK + after_ms, back_ms)
    return _says(run, "copy-opened", back_ms + 3 * SECOND)


def _away(kind: str, start: int, end: int, run: Run | None = None) -> Run:
    run = run or _again()
    run.away(kind, OLD, start, end)
    return run


def _ended(event: str, at_ms: int) -> Run:
    run = _again()
    run.life(OLD, event, at_ms)
    return run


def _torn(run: Run) -> Run:
    run.tail[LOG] = '{"event": "copy-o'
    return run


def _failed_over(*, given_way_ms: int | None = MOUNTED + 3 * SECOND) -> Run:
    run = with_two_copies()
    activate(run)
    if given_way_ms is not None:
        give_way(run, given_way_ms)
    return run


def _activated(*, epoch: int = 1) -> Run:
    """Active Manager says so; the new copy says that it is mounted under `epoch`."""
    run = _failed_over()
    _words(run, NEW, "database-mounted")[0]["epoch"] = epoch
    run.life(MANAGER, "failover-decided", MOUNTED - SECOND, database="DB1", epoch=epoch)
    run.life(MANAGER, "failover-mounted", MOUNTED + SECOND, database="DB1", epoch=1, to=NEW,
             kind="failover")  # fmt: skip
    return run


def _killed_while_activated(*, killed_ms: int) -> Run:
    run = _without(_activated(), NEW, "database-mounted")
    run.kill(NEW, killed_ms, killed_ms + 10 * MINUTE)
    return _says(run, "copy-opened", killed_ms + 10 * MINUTE + 3 * SECOND, server=NEW)


def _moves_on() -> Run:
    """The same copy is activated again; one that follows already says nothing of that."""
    run = _failed_over()
    _says(run, "failover-decided", BACK - SECOND, server=MANAGER, epoch=2)
    _says(run, "database-mounted", BACK, server=NEW, epoch=2)
    for server in (OLD, NEW):
        run.life(server, "active-copy", BACK + SECOND, database="DB1", epoch=2, server=NEW)
    return run


def _decided_by(event: str | None, *, killed_ms: int | None = None) -> Run:
    """Active Manager says that, or nothing, of the new copy that is mounted."""
    run = _without(_failed_over(), MANAGER, "failover-decided")
    if event is not None:
        _says(run, event, MOUNTED - SECOND, server=MANAGER, epoch=1)
    if killed_ms is not None:
        run.kill(MANAGER, killed_ms, killed_ms + MINUTE)
    return run


def _killed_while_it_gives_way(*, killed_ms: int) -> Run:
    run = _failed_over(given_way_ms=None)
    run.kill(OLD, killed_ms, killed_ms + 10 * MINUTE)
    return _says(run, "copy-opened", killed_ms + 10 * MINUTE + 3 * SECOND)


def _gives_way_at_the_end() -> Run:
    run = with_two_copies()
    activate(run, END - LATE)
    return run


def _returned() -> Run:
    """From a kill, and says nothing of its copy. Its start lies before its banner is seen."""
    run = with_two_copies()
    run.kill(OLD, BACK - 10 * MINUTE, BACK - 2 * SECOND)
    return run


def _no_logs() -> Run:
    run = lossy().run
    run.lifecycle.clear()
    return run


# the two starts, and of a failover its decision and the two that learn of it
STARTS, CHANGED = 2, 3
# with how many cases
HOLDS = {
    "failover": (lossy().run, STARTS + 5 + CHANGED),
    "switchover": (lossless_switchover(), STARTS + 1 + CHANGED),
    "started-again": (_again("copy-opened"), STARTS + 1),
    "opened-late": (_again(run=_says(_again(), "copy-opened", BACK + 50 * MINUTE), at_ms=END),
                    STARTS + 1),
    "copy-failed": (_again("copy-failed"), STARTS + 1),
    "configured": (_configured(), STARTS + 1),
    "killed-after-the-start": (_killed(after_ms=LATE), STARTS + 1),
    "paused-after-the-start": (_away("pause", BACK + MINUTE, BACK + 9 * MINUTE), STARTS),
    "disk-full": (_away("fill_disk", BACK - MINUTE, BACK + 9 * MINUTE), STARTS),
    "stopped-after-the-start": (_ended("stopped", BACK + LATE - 1), STARTS),
    "crashed-after-the-start": (_ended("crashed", BACK + LATE - 1), STARTS),
    "at-the-end": (_again(at_ms=END - LATE + 1), STARTS),
    "torn-log": (_torn(_again()), STARTS),
    "mounted-then-taken": (
        _takes(_again("copy-opened", "database-mounted"), BACK + MINUTE), STARTS + 2),
    "torn-log-at-a-delivery": (
        _torn(_takes(_again("copy-opened"), BACK + MINUTE)), STARTS + 1),
    "activated": (_activated(), STARTS + 1 + CHANGED),
    "killed-as-it-was-activated": (
        _killed_while_activated(killed_ms=MOUNTED + 2 * SECOND), STARTS + 1 + 1),
    "gave-way-late": (_failed_over(given_way_ms=TOLD + LATE), STARTS + CHANGED),
    "gave-way-before-it-learnt": (_failed_over(given_way_ms=TOLD - SECOND), STARTS + CHANGED),
    "killed-as-it-gave-way": (
        _killed_while_it_gives_way(killed_ms=MOUNTED + MINUTE), STARTS + 1 + CHANGED - 1),
    "failed-instead": (
        _says(_failed_over(given_way_ms=None), "copy-failed", TOLD + SECOND), STARTS + CHANGED - 1),
    "at-the-end-of-the-run": (_gives_way_at_the_end(), STARTS + CHANGED - 1),
    "paused-as-it-gave-way": (
        _away("pause", TOLD + MINUTE, BACK, _failed_over(given_way_ms=None)), STARTS + CHANGED - 1),
    "torn-log-as-it-gave-way": (
        _torn(_failed_over(given_way_ms=None)), STARTS + CHANGED - 1),
    "disk-full-at-a-delivery": (
        _away("fill_disk", BACK, BACK + MINUTE,
              _takes(_again("copy-opened"), BACK + 2 * MINUTE)), STARTS + 1),
    "follows-already": (_moves_on(), STARTS + CHANGED + 2),
    "taken-up": (_decided_by("failover-taken-up"), STARTS + CHANGED),
    "killed-as-it-decided": (
        _decided_by(None, killed_ms=MOUNTED - 2 * MINUTE), STARTS + CHANGED - 1),
}  # fmt: skip
OPENED = (
    "par-mbx2 started at 0:40:00.000; its lifecycle log does not say in that life that its copy of "
    "DB1 was opened"
)
TAKEN = "its lifecycle log does not say between"
NOT_FOLLOWED = "par-mbx2 learnt of DB1:1 at 0:20:02.000; of its own copy its lifecycle log says "
VIOLATED = {
    "no-opening": (_again(), OPENED),
    "mounted-not-opened": (_again("database-mounted"), OPENED),
    # of the last quarter of a wall second before a kill nobody knows what is missing
    "killed-later": (_killed(after_ms=LATE + 15 * SECOND), OPENED),
    "returned-from-a-kill": (_returned(), OPENED),
    "paused-long-before": (_away("pause", MINUTE, 2 * MINUTE), OPENED),
    "just-in-time-for-the-end": (_again(at_ms=END - LATE), "started at 3:57:08.600"),
    "stopped-in-time": (_ended("stopped", BACK + LATE), OPENED),
    "no-mount": (
        _takes(_without(with_two_copies(), OLD, "database-mounted"), BACK),
        f"par-mbx2 took it into its copy of DB1 at 0:40:00.000; {TAKEN} 0:00:00.000 and then that "
        "it was mounted",
    ),
    "mounted-in-the-life-before": (
        _takes(_again("copy-opened"), BACK + MINUTE),
        f"par-mbx2 took it into its copy of DB1 at 0:41:00.000; {TAKEN} 0:40:00.000 and then",
    ),
    "mounted-after-it": (
        _takes(_again("copy-opened", "database-mounted"), BACK + SECOND // 2), TAKEN),
    "activated-and-not-mounted": (
        _without(_activated(), NEW, "database-mounted"),
        "Active Manager says at 0:20:01.000 that DB1:1 is mounted on lyo-mbx1; there its lifecycle "
        "log does not say so",
    ),
    "mounted-under-another-epoch": (_activated(epoch=2), "that DB1:1 is mounted on lyo-mbx1"),
    "killed-long-after-it-was-activated": (
        _killed_while_activated(killed_ms=MOUNTED + 10 * MINUTE), "that DB1:1 is mounted"),
    "not-decided": (
        _decided_by(None),
        "lyo-mbx1 mounted DB1:1 at 0:20:00.000; the lifecycle log of am1 does not say that it "
        "decided so",
    ),
    "another-dag-s-manager-decided": (
        said_by_another(_failed_over(), "failover-decided"),
        "the lifecycle log of am1 does not say that it decided so",
    ),
    "killed-long-before-it-decided": (
        _decided_by(None, killed_ms=MINUTE), "the lifecycle log of am1 does not say"),
    "does-not-follow": (
        _failed_over(given_way_ms=None),
        f"{NOT_FOLLOWED}database-mounted under 0 at 0:00:00.000, and not that it follows",
    ),
    "follows-too-late": (_failed_over(given_way_ms=TOLD + LATE + 1), NOT_FOLLOWED),
    "dismounted-and-does-not-follow": (
        _without(lossless_switchover(), OLD, "copy-passive"),
        f"{NOT_FOLLOWED}database-dismounted under 0 at 0:19:59.500",
    ),
    "killed-long-after-it-learnt": (
        _killed_while_it_gives_way(killed_ms=MOUNTED + 10 * MINUTE), NOT_FOLLOWED),
}  # fmt: skip


def runs() -> dict[str, Run]:
    asked = {f"holds-{name}": run for name, (run, _) in HOLDS.items()}
    asked |= {f"violated-{name}": run for name, (run, _) in VIOLATED.items()}
    return asked | {"one-copy": healthy(), "no-logs": _no_logs()}


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


@pytest.mark.parametrize("name", HOLDS)
def test_holds_and_asks_no_more_than_can_be_known(name: str, results: Results) -> None:
    result = results[f"holds-{name}"]
    assert (result.status, result.asked) == ("holds", HOLDS[name][1]), result.examples
    assert result.proofs == {"TL-4": "holds"}


@pytest.mark.parametrize("name", VIOLATED)
def test_is_violated(name: str, results: Results) -> None:
    result = results[f"violated-{name}"]
    assert (result.status, result.violations) == ("violated", 1), result.examples
    (example, *_) = result.examples
    assert VIOLATED[name][1] in example.detail
    assert example.refs
    assert result.proofs == {"TL-4": "violated"}


def test_names_the_copy_and_shows_what_its_server_said_last(results: Results) -> None:
    (example, *_) = results["violated-does-not-follow"].examples
    assert example.subject == "DB1:1 at par-mbx2"
    # mounted, and then that it learnt of the other one
    assert example.refs == ((LOG, 4), (LOG, 5))


@pytest.mark.parametrize("name", ["one-copy", "no-logs"])
def test_asks_nothing_where_there_is_one_copy_or_no_such_log(name: str, results: Results) -> None:
    assert results[name].asked_nothing
