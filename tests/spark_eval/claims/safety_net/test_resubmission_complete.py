from __future__ import annotations

import pytest

from spark_eval.claims.safety_net.resubmission_complete import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs import failover_runs as f
from tests.spark_eval.runs.run_builder import (
    DOMAIN,
    HOUR,
    MAILBOX_SERVERS,
    MINUTE,
    SECOND,
    Run,
    healthy,
    iso,
    mono,
)


def _never_given_back() -> Run:
    told = f.before()
    for server in MAILBOX_SERVERS:
        f.request(told.run, server)
    f.resubmit(told.run, told.near, lost=False)
    return told.run


def _inside_left_out() -> Run:
    told = f.before()
    for server in MAILBOX_SERVERS:
        f.request(told.run, server)
    f.resubmit(told.run, told.lost, lost=True)
    f.see(told.run, told.lost, f.MOUNTED + MINUTE)
    return told.run


def _nobody_asked() -> Run:
    return f.before().run


def _one_not_asked() -> Run:
    run = f.lossy().run
    run.lifecycle["lyo-mbx2"] = [
        row for row in run.lifecycle["lyo-mbx2"] if row["event"] != "resubmit-requested"
    ]
    return run


def _a_recipient_left_out() -> Run:
    told = f.before()
    for server in MAILBOX_SERVERS:
        f.request(told.run, server)
    f.resubmit(told.run, told.near, lost=False)
    f.resubmit(told.run, told.lost, lost=True, recipients=f.INSIDE[:1])
    f.see(told.run, told.lost, f.MOUNTED + MINUTE)
    return told.run


def _brought_in_parts() -> Run:
    """One recipient had it from the old copy, and gets it back; the other one has it from the new
    copy alone, which took it before the first had it again.
    """
    run = _a_recipient_left_out()
    name = run.rows(f.OLD, "DELIVER")[-1]["message-id"]
    places = ("par-mbx1", "SEND", "par-mbx1"), (f.OLD, "DELIVER", f.NEW)
    for server, event, by in places:
        row = next(each for each in run.rows(server, event) if each["message-id"] == name)
        later = row | {"at_ms": f.MOUNTED + 15 * SECOND, "recipient-address": f.INSIDE[1]}
        row["recipient-address"] = f.INSIDE[0]
        if event == "SEND":
            later["server-hostname"] = f"{f.NEW}.{DOMAIN}"
        later["custom"] = row["custom"] | {"Mono": mono(later["at_ms"])}
        later["custom"]["DatabaseId"] = run.database_ids[by]
        run.tracking[by].append(later)
    return run


def _manager_away_until_the_end(manager: str = f.MANAGER) -> Run:
    run = f.with_another_dag(_never_given_back())
    run.kill(manager, f.MOUNTED + MINUTE, 4 * HOUR)
    for server in MAILBOX_SERVERS:
        rows = run.lifecycle[server]
        run.lifecycle[server] = [row for row in rows if row["event"] != "resubmit-requested"]
    return run


def _taken_again_and_seen_twice() -> Run:
    """The copies have both: the window of duplicates was over when the second one came."""
    run, mounted = f.with_two_copies(), f.MOUNTED
    near = f.bring(run, mounted - 4 * MINUTE)
    f.see(run, near, mounted - 4 * MINUTE + 1000)
    long_ago = f.bring(run, mounted - 9 * MINUTE)
    f.see(run, long_ago, mounted - 9 * MINUTE + 1000)
    old = f.bring(run, mounted - 12 * MINUTE)
    f.see(run, old, mounted - 12 * MINUTE + 1000)
    f.activate(run)
    for server in MAILBOX_SERVERS:
        f.request(run, server)
    f.resubmit(run, near, lost=False)
    f.resubmit(run, old, mounted + 30 * 1000, lost=True)
    f.see(run, old, mounted + 31 * 1000)
    return run


def _taken_twice_before(window_ms: int) -> Run:
    """The same, and the copy that was lost had taken the second one too, a minute before."""
    run = _taken_again_and_seen_twice()
    run.plan["topology"]["databases"][0]["duplicate_detection_window_ms"] = window_ms
    [*_, taken] = run.rows(f.OLD, "DELIVER")
    at_ms = f.MOUNTED - MINUTE
    placed = {"at_ms": at_ms, "date-time": iso(at_ms)}
    custom = taken["custom"] | {"Mono": mono(at_ms)}
    run.tracking[f.OLD].append(taken | placed | {"custom": custom})
    return run


def _primary_lost_its_queue_database() -> Run:
    run = _nobody_gave_back()
    run.kill("par-mbx1", 25 * MINUTE, 30 * MINUTE, new_database=True)
    return run


def _nobody_gave_back() -> Run:
    told = f.before()
    for server in MAILBOX_SERVERS:
        f.request(told.run, server)
    return told.run


def _dsn_lost(run: Run) -> Run:
    """A DSN was delivered into the old copy, too, which its server answers for."""
    f.notify(run, f.send_delayed(run, 2 * MINUTE), 18 * MINUTE, context="delayed")
    return run


def _expired(hold_ms: int) -> Run:
    """Par-mbx1 loses its queue database half a minute after it took what was lost."""
    run = _nobody_gave_back()
    run.plan["settings"]["TransportConfig"]["SafetyNetHoldTime"] = hold_ms
    lost_ms = 18 * MINUTE + 30 * SECOND
    run.kill("par-mbx1", lost_ms, lost_ms + SECOND, new_database=True)
    return run


def _mount_again(run: Run, epoch: int, copy: str, at_ms: int) -> None:
    """Everybody learns of it, and is asked for its interval."""
    run.life(copy, "database-mounted", at_ms, database="DB1", epoch=epoch, last_log=10 * epoch)
    for server in MAILBOX_SERVERS:
        learnt = {"database": "DB1", "epoch": epoch, "server": copy}
        run.life(server, "active-copy", at_ms + SECOND, **learnt)
        again = {"request_id": f"DB1:{epoch}", "safety_net": "primary", "database": "DB1"}
        run.life(server, "resubmit-requested", at_ms + 2 * SECOND, **again)


# of the mount of the new copy
BEFORE = -12 * MINUTE


def _taken_beside_the_new_copy(
    *, given_back: str | None, after_ms: int = 5 * MINUTE, copy: str = f.OLD,
    had_ms: int | None = None, recipients: list[str] | None = None,
) -> Run:  # fmt: skip
    """The old copy, or else `copy`, takes a message so long after the new one was mounted. Nobody
    sees it: what is given back for a request expires. Then the old copy, made anew, is active
    again. Another delivery of it, `had_ms` after the first mount, finds it there.
    """
    run = f.with_two_copies()
    f.see(run, f.bring(run, 2 * MINUTE), 2 * MINUTE + SECOND)
    f.activate(run)
    taken = f.bring(run, f.MOUNTED + after_ms, copy=copy)
    run.lifecycle["par-mbx1"].pop()
    learnt = {"database": "DB1", "epoch": 1, "server": f.NEW}
    run.life("par-mbx1", "active-copy", f.MOUNTED + 6 * MINUTE, **learnt)
    run.life(f.OLD, "copy-seeded-here", f.MOUNTED + 7 * MINUTE, database="DB1", epoch=1)
    for server in MAILBOX_SERVERS:
        f.request(run, server, f.MOUNTED + 8 * MINUTE)
    _mount_again(run, 2, f.OLD, f.MOUNTED + HOUR)
    if given_back is not None:
        given_ms = 9 * MINUTE if given_back == f.REQUEST else HOUR + MINUTE
        f.expire(run, taken, f.MOUNTED + given_ms, request_id=given_back, recipients=recipients)
    if had_ms is not None:
        holder = f.OLD if had_ms < 0 else f.NEW
        run.log(holder, "DUPLICATEDELIVER", "STOREDRIVER", f.MOUNTED + had_ms, taken,
                internal_id=run.next_id(), source_context="MDB:DB1")  # fmt: skip
    return run


def _another_lost_to_the_last() -> Run:
    """So its interval begins before what came back for the failover before."""
    run = _taken_beside_the_new_copy(given_back=f.REQUEST, after_ms=-90 * SECOND)
    f.bring(run, f.MOUNTED + MINUTE, copy=f.NEW)
    return run


def _three_failovers() -> Run:
    """The new copy took it, and its server, which did not know of that yet, gave it back."""
    run = _taken_beside_the_new_copy(given_back=f.REQUEST, copy=f.NEW)
    run.life(f.NEW, "copy-seeded-here", f.MOUNTED + 90 * MINUTE, database="DB1", epoch=2)
    _mount_again(run, 3, f.NEW, f.MOUNTED + 2 * HOUR)
    return run


def runs() -> dict[str, Run]:
    lossless = f.lossless_switchover()
    return {
        "dsn": _dsn_lost(f.lossy().run), "dsn-expired": _dsn_lost(f.asked_too_late()),
        "healthy": healthy(), "lossy": f.lossy().run, "never": _never_given_back(),
        "inside": _inside_left_out(), "nobody": _nobody_asked(), "one": _one_not_asked(),
        "recipient": _a_recipient_left_out(), "parts": _brought_in_parts(),
        "manager": _manager_away_until_the_end(),
        "other-manager": _manager_away_until_the_end(f.OTHER_MANAGER),
        "twice": _taken_again_and_seen_twice(),
        "after-the-window": _taken_twice_before(window_ms=5 * MINUTE),
        "within-the-window": _taken_twice_before(window_ms=HOUR),
        "expired-and-wiped": _expired(20 * SECOND), "wiped-and-expired": _expired(MINUTE),
        "beside": _taken_beside_the_new_copy(given_back=f.REQUEST),
        "beside-never": _taken_beside_the_new_copy(given_back=None),
        "before": _taken_beside_the_new_copy(given_back=f.REQUEST, after_ms=BEFORE),
        "before-had-before": _taken_beside_the_new_copy(
            given_back=f.REQUEST, after_ms=BEFORE, had_ms=-10 * MINUTE),
        "before-had": _taken_beside_the_new_copy(
            given_back=f.REQUEST, after_ms=BEFORE, had_ms=10 * MINUTE),
        "before-never": _taken_beside_the_new_copy(given_back=None, after_ms=BEFORE),
        "before-in-part": _taken_beside_the_new_copy(
            given_back="DB1:2", after_ms=BEFORE, recipients=f.INSIDE[:1]),
        "inside-again": _another_lost_to_the_last(), "three": _three_failovers(),
        "just-then-never": _taken_beside_the_new_copy(given_back=None, after_ms=-1500),
        "new-never": _taken_beside_the_new_copy(given_back=None, copy=f.NEW),
        "wiped": _primary_lost_its_queue_database(), "lossless": lossless,
    }  # fmt: skip


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


def test_holds_where_every_primary_was_asked_and_gave_back_what_it_had(
    results: Results,
) -> None:
    told = results["lossy"]
    assert (told.status, told.asked) == ("holds", 6)
    assert {"SN-4", "SN-6", "SN-8", "TP-3"} <= set(told.proofs)


def test_what_was_lost_with_the_old_copy_and_never_came_back_is_named_with_its_server(
    results: Results,
) -> None:
    told = results["never"]
    assert (told.status, told.violations) == ("violated", 1)
    assert told.proofs["TP-3"] == "violated"
    [example] = told.examples
    assert example.subject == "<m000003.calm.7@outside.example>"
    assert example.detail == (
        "par-mbx1 had brought it into DB1 on par-mbx2 at 0:18:02.000; lost with that copy, and "
        "never resubmitted for DB1:1"
    )
    assert example.refs[0][0].startswith("logs/par-mbx1/MSGTRK")


def test_a_dsn_that_was_lost_with_the_old_copy_has_to_come_back_too(results: Results) -> None:
    (example,) = results["dsn"].examples
    assert example.subject.startswith("<dsn.")
    assert "lost with that copy, and never resubmitted for DB1:1" in example.detail
    assert (results["dsn-expired"].violations, results["dsn-expired"].unknown) == (0, 2)


def test_what_surely_lies_inside_has_to_come_back_though_the_new_copy_has_it(
    results: Results,
) -> None:
    told = results["inside"]
    assert (told.status, told.violations) == ("violated", 1)
    assert told.examples[0].subject == "<m000002.calm.7@outside.example>"
    assert "inside the interval of DB1:1" in told.examples[0].detail


def test_what_a_copy_took_beside_the_one_that_was_mounted_is_lost_to_that_one(
    results: Results,
) -> None:
    """And not to the last, though it expired and nobody ever saw it."""
    assert results["beside"].status == "holds", results["beside"].examples
    (example,) = results["beside-never"].examples
    assert example.detail.endswith("lost with that copy, and never resubmitted for DB1:1")


@pytest.mark.parametrize("name", ["before", "before-had-before"])
def test_what_came_back_for_a_failover_and_no_copy_had_was_not_lost_to_the_next(
    name: str, results: Results
) -> None:
    """It expired; the next failover has an interval that begins later."""
    assert results[name].status == "holds", results[name].examples


def test_what_lies_inside_the_next_interval_comes_back_for_that_failover_too(
    results: Results,
) -> None:
    said = [example.detail for example in results["inside-again"].examples]
    assert ["inside the interval of DB1:2" in detail for detail in said] == [True, False], said


def test_what_came_back_for_a_copy_that_took_it_later_was_not_lost_before(
    results: Results,
) -> None:
    said = [example.detail for example in results["three"].examples]
    assert any(d.endswith("lost with that copy, and never resubmitted for DB1:3") for d in said)


def test_what_came_back_for_the_last_failover_came_back_for_all_its_recipients(
    results: Results,
) -> None:
    (example,) = results["before-in-part"].examples
    assert example.detail.endswith(f"for DB1:2 without {f.INSIDE[1]}")


@pytest.mark.parametrize("name", ["before-never", "before-had", "just-then-never", "new-never"])
def test_what_nobody_ever_took_again_is_lost_to_the_last_copy_at_the_latest(
    name: str, results: Results
) -> None:
    said = [example.detail for example in results[name].examples]
    lost = "lost with that copy, and never resubmitted for DB1:2"
    assert [detail.endswith(lost) for detail in said].count(True) == 1, said


def test_what_was_brought_long_before_is_not_asked_for(results: Results) -> None:
    subjects = {e.subject for told in results.values() for e in told.examples}
    assert "<m000001.calm.7@outside.example>" not in subjects


def test_what_is_taken_again_and_seen_as_often_was_not_lost_with_the_copy_before(
    results: Results,
) -> None:
    """Else the interval would begin before it, and what came after it would have to come back."""
    assert (results["twice"].status, results["twice"].violations) == ("holds", 0)


def test_what_is_taken_again_after_the_window_of_duplicates_was_not_lost_either(
    results: Results,
) -> None:
    assert (results["after-the-window"].status, results["after-the-window"].violations) == (
        "holds", 0,
    )  # fmt: skip
    assert results["within-the-window"].status == "violated"


def test_a_failover_after_which_nobody_was_asked_is_violated_for_every_primary(
    results: Results,
) -> None:
    told = results["nobody"]
    assert (told.status, told.violations) == ("violated", 6)


def test_a_primary_that_had_nothing_has_to_be_asked_too(results: Results) -> None:
    told = results["one"]
    assert (told.status, told.violations) == ("violated", 1)
    assert told.examples[0].subject == "DB1:1 at lyo-mbx2"


def test_a_recipient_who_is_left_out_is_named(results: Results) -> None:
    told = results["recipient"]
    assert told.status == "violated"
    assert told.examples[0].detail.endswith(f"without {f.INSIDE[1]}")


def test_who_had_it_from_the_new_copy_alone_is_not_owed_it_again(results: Results) -> None:
    assert results["parts"].status == "holds", results["parts"].examples


def test_active_manager_of_another_dag_is_no_excuse(results: Results) -> None:
    told = results["other-manager"]
    assert (told.status, told.proofs["TP-3"]) == ("violated", "violated")
    assert any("could be reached, and was not asked" in each.detail for each in told.examples)


def test_unknown_where_active_manager_had_no_chance_to_ask(
    results: Results,
) -> None:
    told = results["manager"]
    assert (told.status, told.violations) == ("unknown", 0)
    assert "the run ended before it surely could be asked" in told.reason


def test_unknown_where_the_copies_went_with_a_queue_database(
    results: Results,
) -> None:
    told = results["wiped"]
    assert (told.status, told.violations) == ("unknown", 0)
    assert "lost its queue database at" in told.reason


@pytest.mark.parametrize(
    ("name", "why"), [("expired-and-wiped", "kept it until"),
                      ("wiped-and-expired", "lost its queue database at")],
)  # fmt: skip
def test_unknown_what_safety_net_had_let_go_unless_its_database_was_lost_first(
    name: str, why: str, results: Results
) -> None:
    result = results[name]
    assert (result.status, result.violations) == ("unknown", 0)
    assert why in result.reason


def test_nothing_to_ask_without_a_failover_or_after_a_lossless_switchover(
    results: Results,
) -> None:
    assert results["healthy"].asked == 0
    assert (results["lossless"].status, results["lossless"].asked) == ("unknown", 0)
