from __future__ import annotations

import pytest

from spark_eval.claims.node.lifecycle_logged import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.faulty_runs import new_database
from tests.spark_eval.runs.run_builder import (
    MAILBOX_SERVERS,
    MINUTE,
    SECOND,
    Run,
    empty,
    healthy,
)

SERVER, MANAGER = "par-mbx1", "am1"
LOG = f"logs/{SERVER}/lifecycle.jsonl"
ALL = len(MAILBOX_SERVERS)
BEGAN, BACK = 20 * MINUTE, 30 * MINUTE
ID = f"{SERVER}-first"
# a quarter of a wall second, and five times the clock's resolution of 900 ms
VAGUE = 15 * SECOND + 4_500
# a stop is over when a banner is seen
BANNER = BACK + 3 * SECOND


def _start(
    run: Run, at_ms: int, *, opened: str | None = ID, started: str | None = ID, server: str = SERVER
) -> Run:
    """A life of its own: configured, a database opened, started."""
    run.life(server, "configured", at_ms)
    if opened is not None:
        run.life(server, "database-opened", at_ms, database_id=opened)
    named = {} if started is None else {"database_id": started}
    run.life(server, "started", at_ms, **named)
    return run


def _stopped(
    at_ms: int | None = BEGAN + 100, *, kind: str = "stop", then: str = "", run: Run | None = None
) -> Run:
    """par-mbx1 is away from `BEGAN` to `BACK`; `then` is what it logs after `stopped`."""
    run = run or empty()
    run.away(kind, SERVER, BEGAN, BACK)
    if at_ms is not None:
        run.life(SERVER, "stopped", at_ms)
    if then:
        run.life(SERVER, then, BEGAN + SECOND)
    return _start(run, BACK)


def _never_back(at_ms: int) -> Run:
    run = empty()
    run.away("stop", SERVER, BEGAN, BACK)
    run.life(SERVER, "stopped", at_ms)
    return run


def _started_without_configured() -> Run:
    """After a stop; as a server that logs nothing else at its start."""
    run = empty()
    run.away("stop", SERVER, BEGAN, BACK)
    run.life(SERVER, "stopped", BEGAN + 100)
    run.life(SERVER, "database-opened", BACK, database_id=ID)
    run.life(SERVER, "started", BACK, database_id=ID)
    return run


def _with_manager(run: Run, *, opened: str | None = "am1-first") -> Run:
    """Active Manager, which has a database of its own."""
    run.plan["topology"]["servers"].append(
        {"name": MANAGER, "fqdn": "am1.shadowlab.example", "role": "active_manager",
         "site": "paris", "dag": None, "domain": None}
    )  # fmt: skip
    return _start(run, 0, opened=opened, started="am1-first", server=MANAGER)


def _of_a_server_outside() -> Run:
    run = empty()
    run.life("ext1", "started", 0, port=25)
    return run


def _without_effect(took: bool | None) -> Run:
    run = _stopped(None)
    for row in run.faults:
        if row["phase"] == "evidence":
            row["took_effect"] = took
    return run


def _fault_meanwhile(kind: str, start: int, end: int) -> Run:
    run = _stopped(None)
    if kind == "kill":
        run.kill(SERVER, start, end, fault="f2")
    else:
        run.away(kind, SERVER, start, end, fault="f2")
    return run


def _torn_log(run: Run) -> Run:
    run.tail[LOG] = '{"event": "sto'
    return run


def _stopped_before() -> Run:
    """By a fault that is not over when this one begins: the process was gone already."""
    run = _fault_meanwhile("stop", BEGAN - MINUTE, BEGAN + MINUTE)
    run.life(SERVER, "stopped", BEGAN - MINUTE)
    return run


def _killed_before_it_could_say() -> Run:
    """Of the life that begins then it says no more than its start."""
    run = empty()
    run.kill(SERVER, BEGAN, BEGAN + MINUTE)
    return run


def _disk_full_at_start() -> Run:
    run = empty()
    run.away("fill_disk", SERVER, BEGAN, BACK)
    return _start(run, BEGAN + MINUTE, opened=None)


def _dates_apart() -> Run:
    """Rows go by the monotonic clock; no date is off by more than the clock's resolution."""
    run = _start(empty(), BACK)
    run.lifecycle[SERVER][-2]["at_ms"] += 800
    return run


def _no_logs() -> Run:
    run = empty()
    run.away("stop", SERVER, BEGAN, BACK)
    run.lifecycle.clear()
    return run


# with how many cases
HOLDS = {
    "started": (healthy(), ALL),
    "returned-with-a-new-database": (new_database().run, ALL + 1),
    "started-again": (_start(empty(), BACK), ALL + 1),
    "stopped": (_stopped(), ALL + 2),
    "restarted": (_stopped(kind="restart"), ALL + 2),
    "never-back": (_never_back(BEGAN + 100), ALL + 1),
    "without-configured": (_started_without_configured(), ALL + 2),
    "logged-as-early-as-may-be": (_stopped(BEGAN - VAGUE), ALL + 2),
    "busy-for-a-while": (_stopped(BEGAN + 30 * SECOND), ALL + 2),
    "logged-as-late-as-may-be": (_never_back(BANNER), ALL + 1),
    "active-manager": (_with_manager(empty()), ALL + 1),
    "dates-apart": (_dates_apart(), ALL + 1),
    "outside": (_of_a_server_outside(), ALL),
    "stop-without-effect": (_without_effect(False), ALL + 1),
    "stop-in-doubt": (_without_effect(None), ALL + 1),
    "killed-meanwhile": (_fault_meanwhile("kill", BEGAN - MINUTE, BEGAN + MINUTE), ALL + 1),
    "paused-meanwhile": (_fault_meanwhile("pause", BEGAN - MINUTE, BEGAN + MINUTE), ALL + 1),
    "paused-at-that-moment": (_fault_meanwhile("pause", BEGAN, BEGAN + MINUTE), ALL + 1),
    "then-not-configured": (_stopped(then="configuration-refused"), ALL + 2),
    "stopped-before": (_stopped_before(), ALL + 1),
    "disk-full-meanwhile": (_fault_meanwhile("fill_disk", 0, BEGAN + MINUTE), ALL + 1),
    "torn-log": (_torn_log(_stopped(None)), ALL + 1),
    "torn-log-at-a-start": (_torn_log(_start(empty(), BACK, opened=None)), ALL),
    "killed-before-its-start": (_killed_before_it_could_say(), ALL),
    "disk-full-at-a-start": (_disk_full_at_start(), ALL),
}
STOPS = "par-mbx1 was asked to stop at 0:20:00.000 and ended; its lifecycle log"
STARTS = "par-mbx1 started at 0:30:00.000 with "
VIOLATED = {
    "no-stop": (_stopped(None), f"{STOPS} does not say that it stopped"),
    "no-stop-in-a-restart": (_stopped(None, kind="restart"), STOPS),
    "stop-too-early": (_stopped(BEGAN - VAGUE - 1), STOPS),
    "stop-too-late": (_never_back(BANNER + 1), STOPS),
    "killed-long-before": (_fault_meanwhile("kill", MINUTE, 2 * MINUTE), STOPS),
    "goes-on": (
        _stopped(then="safety-net-expired"),
        "par-mbx1 stopped at 0:20:00.100; then its lifecycle log says safety-net-expired",
    ),
    "stops-twice": (_stopped(then="stopped"), "then its lifecycle log says stopped"),
    "no-opening": (
        _start(empty(), BACK, opened=None),
        f"{STARTS}par-mbx1-first; its lifecycle log does not say before which one it opened",
    ),
    "another-opened": (
        _start(empty(), BACK, opened="another"),
        f"{STARTS}par-mbx1-first; by its lifecycle log it had opened another",
    ),
    "started-with-none": (
        _start(empty(), BACK, started=None),
        f"{STARTS}no database; by its lifecycle log it had opened par-mbx1-first",
    ),
    "active-manager-opened-none": (
        _with_manager(empty(), opened=None),
        "am1 started at 0:00:00.000 with am1-first; its lifecycle log does not",
    ),
}


def _opened_after_the_start() -> Run:
    run = _start(empty(), BACK, opened=None)
    run.life(SERVER, "database-opened", BACK + 1, database_id=ID)
    return run


def _opened_in_the_life_before() -> Run:
    """That ended before it had started."""
    run = empty()
    run.life(SERVER, "configured", BEGAN)
    run.life(SERVER, "database-opened", BEGAN, database_id=ID)
    return _start(run, BACK, opened=None)


def _first_row_is_a_start() -> Run:
    run = empty()
    run.lifecycle[SERVER].pop(0)
    return run


VIOLATED |= {
    "opened-after-the-start": (
        _opened_after_the_start(),
        "does not say before which one it opened",
    ),
    "opened-in-the-life-before": (_opened_in_the_life_before(), "does not say before which one"),
    "first-row-is-a-start": (_first_row_is_a_start(), "par-mbx1 started at 0:00:00.000 with"),
}


def runs() -> dict[str, Run]:
    asked = {f"holds-{name}": run for name, (run, _) in HOLDS.items()}
    asked |= {f"violated-{name}": run for name, (run, _) in VIOLATED.items()}
    return asked | {"no-logs": _no_logs()}


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
    assert all(file.endswith("/lifecycle.jsonl") for file, _ in example.refs)
    assert result.proofs == {"TL-4": "violated"}


def test_names_the_server_and_the_fault(results: Results) -> None:
    (example, *_) = results["violated-no-stop"].examples
    assert example.subject == "par-mbx1, f1"
    # the last that it said
    assert example.refs == ((LOG, 2),)


def test_shows_what_was_opened_and_what_was_started(results: Results) -> None:
    (example, *_) = results["violated-another-opened"].examples
    assert (example.subject, example.refs) == ("par-mbx1", ((LOG, 4), (LOG, 5)))


def test_asks_nothing_where_servers_have_no_such_log(results: Results) -> None:
    assert results["no-logs"].asked_nothing
