from __future__ import annotations

import pytest

from spark_eval.claims.safety_net.one_active_copy import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.failover_runs import (
    MANAGER,
    MOUNTED,
    NEW,
    OLD,
    activate,
    bring,
    lossless_switchover,
    lossy,
    with_two_copies,
)
from tests.spark_eval.runs.run_builder import HOUR, MINUTE, SECOND, Row, Run, healthy, iso, mono

# Active Manager's two tries and a silence, and what an exchange may take
NEED = 3 * MINUTE + 30 * SECOND + 900
DAMAGED = "the record of par-mbx2 is damaged where it says whether its copy of DB1 is mounted"


def _failed_over(*, old_takes_ms: int, new_takes_ms: int | None = None) -> Run:
    """The old copy took a message at that time, and the new one, if at all, at the other."""
    run = with_two_copies()
    activate(run)
    bring(run, old_takes_ms - 2 * SECOND + 50)
    if new_takes_ms is not None:
        bring(run, new_takes_ms, copy=NEW)
    return run


def _word(run: Run, server: str, event: str) -> Row:
    [row] = [row for row in run.lifecycle[server] if row["event"] == event]
    return row


def _learns(run: Run, at_ms: int) -> Run:
    """The server of the old copy says that it knows of the new one only then."""
    _word(run, OLD, "active-copy").update(at_ms=at_ms, date=iso(at_ms), mono_ns=mono(at_ms))
    return run


def _cut(run: Run, source: str, service: str, *, fault: str) -> Run:
    """From a server to that of the old copy, for an hour from before the mount on."""
    run.cut(source, OLD, MOUNTED - 5 * MINUTE, HOUR, fault=fault)
    run.plan["faults"][-1]["links"][0]["service"] = service
    return run


def _cut_off() -> Run:
    """Nobody can tell the old copy of the new one, which takes mail beside it."""
    run = _learns(_failed_over(old_takes_ms=50 * MINUTE, new_takes_ms=22 * MINUTE), 61 * MINUTE)
    _cut(run, MANAGER, "management", fault="f1")
    return _cut(run, NEW, "replication", fault="f2")


def _reached_by_logs() -> Run:
    """Active Manager cannot tell it, and the new copy's logs could."""
    run = _learns(_failed_over(old_takes_ms=33 * MINUTE, new_takes_ms=22 * MINUTE), 61 * MINUTE)
    return _cut(run, MANAGER, "management", fault="f1")


def _never_gives_way() -> Run:
    run = _failed_over(old_takes_ms=15 * MINUTE)
    run.lifecycle[OLD].remove(_word(run, OLD, "active-copy"))
    return run


def _switched_over(*, dismounted: bool) -> Run:
    run = with_two_copies()
    bring(run, 18 * MINUTE)
    activate(run, orderly=dismounted, kind="switchover")
    return run


def _taken_after_a_dismount() -> Run:
    run = lossless_switchover()
    bring(run, MOUNTED - 250 - 2 * SECOND + 50)
    return run


def _damaged() -> Run:
    run = _failed_over(old_takes_ms=40 * MINUTE)
    run.tail[f"logs/{OLD}/lifecycle.jsonl"] = "{\n"
    return run


def runs() -> dict[str, Run]:
    return {
        "one-copy": healthy(),
        "failover": lossy().run,
        "switchover": lossless_switchover(),
        "not-known-yet": _failed_over(old_takes_ms=MOUNTED + MINUTE),
        "just-known": _failed_over(old_takes_ms=MOUNTED + NEED),
        "known": _failed_over(old_takes_ms=MOUNTED + NEED + SECOND),
        "cut-off": _cut_off(),
        "reached-by-logs": _reached_by_logs(),
        "never-gives-way": _never_gives_way(),
        "side-by-side": _switched_over(dismounted=False),
        "after-a-dismount": _taken_after_a_dismount(),
        "damaged": _damaged(),
    }


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


@pytest.mark.parametrize(
    ("name", "asked"),
    [("failover", 6), ("switchover", 3), ("not-known-yet", 2), ("just-known", 2), ("cut-off", 3)],
)
def test_holds(results: Results, name: str, asked: int) -> None:
    told = results[name]
    assert (told.status, told.asked) == ("holds", asked), told
    assert told.proofs == {"TP-4": "holds"}


@pytest.mark.parametrize(
    ("name", "says"),
    [
        (
            "known",
            "taken into the copy of DB1 on par-mbx2, active under 0; that on lyo-mbx1 was mounted "
            "at 0:20:00.000, and this server knew by 0:23:30.900",
        ),
        (
            "reached-by-logs",
            "taken into the copy of DB1 on par-mbx2, active under 0; that on lyo-mbx1 was mounted "
            "at 0:20:00.000, and this server knew by 0:25:32.850",
        ),
        (
            "never-gives-way",
            "the copy on par-mbx2 is still active under 0 at 0:23:30.900; that on lyo-mbx1 was "
            "mounted at 0:20:00.000",
        ),
        (
            "side-by-side",
            "switched over to lyo-mbx1 at 0:20:00.000, and the copy on par-mbx2 was not dismounted "
            "before: database-mounted at 0:00:00.000",
        ),
        (
            "after-a-dismount",
            "taken into the copy of DB1 on par-mbx2, which was not mounted: database-dismounted at "
            "0:19:59.500",
        ),
    ],
)
def test_is_violated(results: Results, name: str, says: str) -> None:
    assert says in [example.detail for example in results[name].examples]
    assert results[name].proofs == {"TP-4": "violated"}


def test_is_unknown_where_nothing_was_asked(results: Results) -> None:
    told = results["one-copy"]
    assert (told.status, told.asked, told.reason) == ("unknown", 0, "nothing was asked")


def test_is_unknown_where_the_record_may_lack_the_copy_s_own_word(
    results: Results,
) -> None:
    told = results["damaged"]
    assert (told.status, told.violations) == ("unknown", 0)
    assert told.reason.endswith(DAMAGED)
