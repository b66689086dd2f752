from __future__ import annotations

from typing import Any

import pytest

from spark_eval.claims.safety_net.resubmission_bounded import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs import failover_runs as f
from tests.spark_eval.runs.run_builder import MAILBOX_SERVERS, MINUTE, SECOND, Run, healthy, user


def _with(**more: Any) -> Run:
    """What came back is right, but for one more of it."""
    told = f.lossy()
    f.resubmit(told.run, told.kept, f.MOUNTED + MINUTE, lost=False, **more)
    return told.run


def _twice() -> Run:
    told = f.lossy()
    f.resubmit(told.run, told.near, f.MOUNTED + MINUTE, lost=False)
    return told.run


def _after_lossless() -> Run:
    run = f.lossless_switchover()
    f.request(run, "par-mbx1")
    return run


def _no_failover() -> Run:
    run = f.with_two_copies()
    for server in MAILBOX_SERVERS:
        f.request(run, server)
    return run


def _expected(entries: list[dict[str, str]], run: Run) -> Run:
    run.plan["expect"]["resubmissions"] = entries
    return run


def _left(*, again: bool) -> Run:
    """par-mbx1 sent something outside inside the interval it was asked for; `again`: twice."""
    told = f.lossy()
    outside = told.run.accept(f.MOUNTED - MINUTE, ["b@partner.example"], shadow="lyo-mbx2")
    told.run.finish(outside, f.MOUNTED - MINUTE + 1000)
    told.run.rows("par-mbx1", "SEND")[-1]["server-hostname"] = "ext1"
    if again:
        f.resubmit(told.run, outside, f.MOUNTED + MINUTE, lost=False, recipients=outside.recipients)
    return told.run


def _back(*, seeded: bool) -> Run:
    """The old copy is active again later; `seeded`: it was made anew meanwhile."""
    run = _with()
    again_ms = f.MOUNTED + 10 * MINUTE
    if seeded:
        run.life(f.OLD, "copy-seeded-here", again_ms - MINUTE, database="DB1", epoch=1, last_log=9)
    run.life(f.OLD, "database-mounted", again_ms, database="DB1", epoch=2, last_log=10)
    return run


def _active_again(told: f.Failover, given_back: str) -> Run:
    """The old copy is active again, and a Safety Net is asked for what it may lack."""
    at_ms = f.MOUNTED + 20 * MINUTE
    told.run.life(f.OLD, "database-mounted", at_ms, database="DB1", epoch=2, last_log=9)
    again = getattr(told, given_back)
    f.resubmit(told.run, again, at_ms + MINUTE, lost=False, request_id="DB1:2")
    return told.run


def _went_its_own_way(given_back: str) -> Run:
    """The old copy takes mail beside the new one."""
    told = f.before()
    own = f.bring(told.run, f.MOUNTED + 10 * MINUTE)
    f.see(told.run, own, f.MOUNTED + 11 * MINUTE)
    return _active_again(told, given_back)


def _taken_by_both(given_back: str) -> Run:
    """The new copy takes what the old one has too."""
    told = f.before()
    both = f.bring(told.run, 19 * MINUTE)
    f.resubmit(told.run, both, f.MOUNTED + 5 * MINUTE, lost=True)
    f.see(told.run, both, 19 * MINUTE + SECOND)
    return _active_again(told, given_back)


def _another_boundary() -> Run:
    """par-mbx1 is in a boundary of its own, was asked, and gave back what it had sent there."""
    run = f.lossy().run
    [server] = [s for s in run.plan["topology"]["servers"] if s["name"] == "par-mbx1"]
    server["dag"] = None
    return run


def _refused(*, outside: bool) -> Run:
    """par-mbx1 refuses to be asked; `outside`: it is in a boundary of its own."""
    told = f.before()
    if outside:
        [server] = [s for s in told.run.plan["topology"]["servers"] if s["name"] == "par-mbx1"]
        server["dag"] = None
    for minutes in (1, 2):
        told.run.life(f.MANAGER, "safety-net-refused", f.MOUNTED + minutes * MINUTE,
                      request_id=f.REQUEST, database="DB1", server="par-mbx1",
                      safety_net="primary", reason="550 5.7.1")  # fmt: skip
    return told.run


def runs() -> dict[str, Run]:
    inside = f.MOUNTED - MINUTE
    primary = {"database": "DB1", "from": "primary-safety-net"}
    shadow = {"database": "DB1", "from": "shadow-safety-net"}
    return {
        "healthy": healthy(), "lossy": f.lossy().run, "twice": _twice(),
        "too-old": _with(), "back": _back(seeded=False), "back-anew": _back(seeded=True),
        "own-way": _went_its_own_way("near"), "own-way-too-old": _went_its_own_way("kept"),
        "both": _taken_by_both("near"), "both-too-old": _taken_by_both("kept"),
        "too-new": _with(delivered_ms=f.MOUNTED + 5 * MINUTE),
        "other-database": _with(delivered_ms=inside, destination="DB2", recipients=[user(1)]),
        "stranger": _with(delivered_ms=inside, recipients=[user(1), "b@partner.example"]),
        "lossless": f.lossless_switchover(), "after-lossless": _after_lossless(),
        "no-failover": _no_failover(),
        "left": _left(again=False), "left-again": _left(again=True),
        "another-boundary": _another_boundary(),
        "refused": _refused(outside=False), "refused-outside": _refused(outside=True),
        "expected": _expected([primary], f.lossy().run),
        "not-expected": _expected([], f.lossy().run),
        "missed": _expected([primary, shadow], f.lossy().run),
        "none": _expected([], f.lossless_switchover()),
        "none-of-nobody": _expected([], healthy()),
    }  # fmt: skip


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


def test_holds_where_what_came_back_belongs_to_the_failover(
    results: Results,
) -> None:
    told = results["lossy"]
    assert (told.status, told.asked) == ("holds", 6)
    assert told.proofs["SN-8"] == "holds"


def test_a_copy_that_is_active_again_does_not_show_what_the_other_one_had(
    results: Results,
) -> None:
    assert results["back"].violations == 0
    assert "not older than 0:16:01.950" in results["back-anew"].examples[0].detail


def test_what_a_copy_took_by_itself_does_not_show_what_the_other_one_took(
    results: Results,
) -> None:
    assert results["own-way"].violations == 0
    assert "not older than 0:16:01.950" in results["own-way-too-old"].examples[0].detail


def test_what_both_copies_took_does_not_show_what_else_the_later_one_took(
    results: Results,
) -> None:
    assert results["both"].violations == 0
    assert "not older than 0:19:01.950" in results["both-too-old"].examples[0].detail


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("twice", "resubmitted its copy 2 2 times"),
        ("too-old", "the last log that lyo-mbx1 replayed is not older than 0:16:01.950"),
        ("too-new", "resubmitted what it delivered at 0:25:00.000, and knew of lyo-mbx1"),
        ("other-database", "resubmitted to DB2"),
        ("stranger", "resubmitted for b@partner.example, no mailbox of DB1"),
    ],
)
def test_what_nothing_called_for_is_violated(results: Results, name: str, said: str) -> None:
    told = results[name]
    assert (told.status, told.violations) == ("violated", 1)
    assert said in told.examples[0].detail
    assert told.examples[0].refs[0][0].startswith("logs/par-mbx1/MSGTRK")


def test_a_recipient_outside_is_a_matter_of_the_boundary_too(
    results: Results,
) -> None:
    assert results["stranger"].proofs["SN-12"] == "violated"


def test_that_what_left_the_boundary_stayed_away_is_a_case_that_holds(
    results: Results,
) -> None:
    assert "SN-12" not in results["lossy"].proofs
    told = results["left"]
    assert (told.status, told.asked, told.proofs["SN-12"]) == ("holds", 7, "holds")
    again = results["left-again"]
    assert again.proofs["SN-12"] == "violated"
    said = [example.detail for example in again.examples]
    assert any("sent it to ext1, outside its boundary, and resubmitted it" in each for each in said)


def test_a_server_of_another_boundary_is_not_asked_and_gives_nothing_back(
    results: Results,
) -> None:
    told = results["another-boundary"]
    assert (told.status, told.violations, told.proofs["SN-12"]) == ("violated", 3, "violated")
    said = {example.detail for example in told.examples}
    assert "par-mbx1: DB1:1 resubmitted to DB1, which is in another boundary" in said


def test_a_server_of_another_boundary_is_not_asked_though_it_refuses(results: Results) -> None:
    told = results["refused-outside"]
    assert (told.violations, told.proofs["SN-12"]) == (1, "violated")
    assert told.examples[0].detail == "am1 asked par-mbx1 for DB1, which is in another boundary"
    assert "SN-12" not in results["refused"].proofs


def test_that_nobody_is_asked_after_a_lossless_switchover_is_a_case_that_holds(
    results: Results,
) -> None:
    told = results["lossless"]
    assert (told.status, told.asked, told.proofs["SN-4"]) == ("holds", 1, "holds")
    asked = results["after-lossless"]
    assert asked.status == "violated"
    assert "a switchover" in asked.examples[0].detail


def test_a_request_without_a_failover_is_violated(results: Results) -> None:
    told = results["no-failover"]
    assert (told.status, told.violations) == ("violated", len(MAILBOX_SERVERS))
    assert told.examples[0].detail.endswith("DB1:1 belongs to no failover")


def test_expect_resubmissions_narrows(results: Results) -> None:
    assert results["expected"].status == "holds"
    assert results["none"].status == results["none-of-nobody"].status == "holds"
    assert "no entry names them" in results["not-expected"].examples[0].detail
    assert "at least one is expected" in results["missed"].examples[0].detail
    assert results["expected"].surprises == results["too-old"].surprises == ()
    for name, said in (("not-expected", "DB1 primary: 2"), ("missed", "DB1 shadow: 0")):
        [surprise] = results[name].surprises
        assert surprise.startswith(f"expect.resubmissions {said} resubmissions"), surprise


def test_nothing_to_ask_where_nothing_failed_over(results: Results) -> None:
    assert (results["healthy"].status, results["healthy"].asked) == ("unknown", 0)
