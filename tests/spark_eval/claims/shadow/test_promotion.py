"""promotion_on_time and no_early_promotion: two claims about the same promotions."""

from __future__ import annotations

import pytest

from spark_eval.claims.shadow import no_early_promotion, promotion_on_time
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.faulty_runs import Faulty, back_after_span, back_in_time, new_database
from tests.spark_eval.runs.run_builder import (
    HEARTBEAT,
    HOUR,
    MINUTE,
    SECOND,
    Run,
    healthy,
    mono,
)

LATE = 20 * MINUTE
BACK = 15 * MINUTE
DUE = 39 * MINUTE  # of the oldest that is held, which came after the last contact


def _moved(faulty: Faulty, at_ms: int) -> Run:
    """The promotion of the queued message comes at `at_ms` instead."""
    row = faulty.run.rows("lyo-mbx1", "RESUBMIT")[1]
    row["at_ms"], row["custom"]["Mono"] = at_ms, mono(at_ms)
    return faulty.run


def _missing(faulty: Faulty, *, swallowed: bool = False) -> Run:
    """The queued message is never promoted; `swallowed`: its store shows that it was."""
    run = faulty.run
    run.remove("lyo-mbx1", "RESUBMIT", faulty.queued)
    if not swallowed:
        run.remove("lyo-mbx1", "SEND", faulty.queued)
        run.queues["lyo-mbx1"] = [
            row for row in run.queues["lyo-mbx1"] if row["message_id"] != faulty.queued.message_id
        ]
    else:
        run.kill("lyo-mbx1", 16 * MINUTE + 300, 17 * MINUTE, fault="f2")
    return run


def _missing_beside_a_fork(faulty: Faulty, event: str = "RECEIVE", source: str = "SMTP") -> Run:
    """Never promoted; but its server has another one under the same network message id."""
    run, queued = _missing(faulty), faulty.queued
    other = run.next_id()
    run.log("lyo-mbx1", event, source, 12 * MINUTE, queued, internal_id=other)
    run.log("lyo-mbx1", "LOAD", "BOOTLOADER", 17 * MINUTE, queued, internal_id=other,
            source_context="delivery")  # fmt: skip
    run._own("lyo-mbx1", "primary-safety-net", queued, other)
    return run


def _stays(run: Run, at_ms: int) -> Run:
    """Shadow messages that nobody lets go stay on lyo-mbx1 for `at_ms`."""
    run.plan["settings"]["TransportConfig"]["SafetyNetHoldTime"] = MINUTE
    run.plan["settings"]["servers"]["lyo-mbx1"]["TransportService"] = {
        "MessageExpirationTimeout": at_ms - MINUTE
    }
    return run


def _let_go_unlogged(*, killed: bool) -> Run:
    """The delivered message lies in lyo-mbx1's Safety Net, and no row says how it came there."""
    faulty = new_database()
    run = faulty.run
    run.remove("lyo-mbx1", "RESUBMIT", faulty.delivered)
    run.let_go(faulty.delivered, 10 * MINUTE)
    run.remove("lyo-mbx1", "HADISCARD", faulty.delivered)
    run.queues["lyo-mbx1"] = [
        row
        for row in run.queues["lyo-mbx1"]
        if row["message_id"] != faulty.delivered.message_id or row["queue"] == "shadow-safety-net"
    ]
    if killed:
        run.kill("lyo-mbx1", 10 * MINUTE + 100, 11 * MINUTE, fault="f2")
    return run


def _spurious(cause: str) -> Run:
    run = healthy()
    message = run.accept(20 * MINUTE, ["db1-user01@shadowlab.example"])
    run.heartbeats("lyo-mbx1", "par-mbx1", 10 * MINUTE, 4 * HOUR)
    run.promote(message, 3 * HOUR, cause)
    return run


def _after_its_discard() -> Run:
    faulty = new_database()
    faulty.run.promote(faulty.told, 16 * MINUTE + 300, "database-id-changed", duplicate=True)
    return faulty.run


def _half_the_span() -> Run:
    return _moved(back_after_span(), 24 * MINUTE)


def _no_contact_rows(at_ms: int) -> Run:
    run = back_after_span().run
    for row in run.rows("lyo-mbx1", "RESUBMIT"):
        row["at_ms"], row["custom"]["Mono"] = at_ms, mono(at_ms)
    run.contacts, run.logs_answers = {}, False
    return run


def _span_after_the_first_row(off_ms: int) -> Run:
    """Nothing but failed questions, and a promotion that long off the first shadow's row + span."""
    run = _questions_failed(0)
    first = min(row["at_ms"] for row in run.rows("lyo-mbx1", "HARECEIVE"))
    for row in run.rows("lyo-mbx1", "RESUBMIT"):
        row["at_ms"] = first + 30 * MINUTE + off_ms
        row["custom"]["Mono"] = mono(row["at_ms"])
    return run


def _first_contact_after_the_return(at_ms: int) -> Run:
    """lyo-mbx1 had its shadows for less than a heartbeat when par-mbx1 went away."""
    run = _no_contact_rows(at_ms)
    run.heartbeats("lyo-mbx1", "par-mbx1", 75 * MINUTE, 77 * MINUTE)
    return run


def _questions_failed(at_ms: int) -> Run:
    """par-mbx1 was asked before it went away and answered nothing; later questions failed, too."""
    run = _no_contact_rows(at_ms)
    for asked in (9, 20, 30):
        run.contact("lyo-mbx1", "par-mbx1", asked * MINUTE, failed=True)
    return run


def _questions_failed_and_a_kill(killed_ms: int) -> Run:
    """Before the promotion at 38:30, or well after it, lyo-mbx1 is killed: its log has a hole."""
    run = _questions_failed(38 * MINUTE + 30 * SECOND)
    run.kill("lyo-mbx1", killed_ms, killed_ms + 30 * SECOND, fault="f9")
    return run


def _away_as_it_began(at_ms: int) -> Run:
    """No row names a question, and lyo-mbx1 was not there to ask when par-mbx1 went away."""
    run = _no_contact_rows(at_ms)
    run.kill("lyo-mbx1", 7 * MINUTE, 12 * MINUTE, fault="f9")
    return run


def _expected(run: Run, **entry: object) -> Run:
    run.plan["expect"]["promotions"] = [
        {"of": "par-mbx1", "cause": "database-id-changed", "after_ms": 15 * MINUTE,
         "within_ms": 3 * MINUTE, **entry}
    ]  # fmt: skip
    return run


def _waited(faulty: Faulty, begun: int, failed: int) -> Run:
    """A question was under way when par-mbx1 came back, and the next one waited for its end."""
    run = faulty.run
    run.contact("lyo-mbx1", "par-mbx1", failed, failed=True, asked_ms=begun)
    for row in run.rows("lyo-mbx1", "RESUBMIT"):
        row["at_ms"], row["custom"]["Mono"] = failed + 100, mono(failed + 100)
    return run


def _after_span(begun: int, promoted: int) -> Run:
    """An attempt that began at `begun` failed, and both messages were promoted."""
    faulty = back_after_span()
    faulty.run.contact("lyo-mbx1", "par-mbx1", promoted - 100, failed=True, asked_ms=begun)
    for row in faulty.run.rows("lyo-mbx1", "RESUBMIT"):
        row["at_ms"], row["custom"]["Mono"] = promoted, mono(promoted)
    return faulty.run


def _failed_after_the_return(begun: int, promoted: int) -> Run:
    """A question fails at 72 min; par-mbx1 is back since 70 min."""
    run = _moved(back_after_span(), promoted)
    run.contact("lyo-mbx1", "par-mbx1", 72 * MINUTE, failed=True, asked_ms=begun)
    return run


def _none_expected(run: Run) -> Run:
    run.plan["expect"]["promotions"] = []
    return run


def _clock_wrong(server: str) -> Run:
    """While par-mbx1 is away and back in time."""
    run = back_in_time().run
    run.wrong_clock(server, 12 * MINUTE, 18 * MINUTE)
    return run


def runs() -> dict[str, Run]:
    return {
        "healthy": healthy(),
        "new-database": new_database().run,
        "new-database-late": _moved(new_database(), 16 * MINUTE + LATE),
        "new-database-missing": _missing(new_database()),
        "new-database-missing-beside-a-fork": _missing_beside_a_fork(new_database()),
        "new-database-missing-beside-what-came-back": _missing_beside_a_fork(
            new_database(), "RESUBMIT", "SAFETYNET"
        ),
        "new-database-stay-over": _stays(_missing(new_database()), 7 * MINUTE),
        "new-database-stay-not-over": _stays(_missing(new_database()), 20 * MINUTE),
        "after-span-stay-over": _stays(_missing(back_after_span()), 32 * MINUTE),
        "after-span-stay-not-over": _stays(_missing(back_after_span()), 50 * MINUTE),
        "new-database-swallowed": _missing(new_database(), swallowed=True),
        "let-go-before-a-kill": _let_go_unlogged(killed=True),
        "let-go-by-itself": _let_go_unlogged(killed=False),
        "new-database-prompt": _moved(new_database(), BACK + HEARTBEAT + 3 * SECOND),
        "new-database-slow": _moved(new_database(), BACK + HEARTBEAT + 30 * SECOND),
        "new-database-twice": _moved(new_database(), BACK + 2 * HEARTBEAT + MINUTE),
        "hung": _waited(new_database(), BACK - MINUTE, BACK + 8 * MINUTE),
        "span-and-two-heartbeats": _after_span(DUE + 2 * HEARTBEAT, DUE + 2 * HEARTBEAT + SECOND),
        "span-and-a-time-out": _after_span(DUE + HEARTBEAT, DUE + HEARTBEAT + 10 * MINUTE),
        "span-and-more-than-a-time-out": _after_span(DUE + HEARTBEAT, DUE + HEARTBEAT + LATE),
        "before-the-new-database": _moved(new_database(), 14 * MINUTE),
        "in-time": back_in_time().run,
        "in-time-clock-wrong": _clock_wrong("lyo-mbx1"),
        "in-time-other-clock-wrong": _clock_wrong("par-mbx1"),
        "after-span": back_after_span().run,
        "after-span-late": _moved(back_after_span(), 38 * MINUTE + LATE),
        "after-span-missing": _missing(back_after_span()),
        "half-the-span": _half_the_span(),
        "no-contact-rows-early": _no_contact_rows(37 * MINUTE),
        "no-contact-rows-unclear": _no_contact_rows(38 * MINUTE + 30 * SECOND),
        "no-contact-rows-late-enough": _no_contact_rows(40 * MINUTE + 30 * SECOND),
        "away-as-it-began-early": _away_as_it_began(20 * MINUTE),
        "away-as-it-began": _away_as_it_began(37 * MINUTE),
        "away-as-it-began-late-enough": _away_as_it_began(40 * MINUTE + 30 * SECOND),
        "only-failed-and-a-kill-long-before": _questions_failed_and_a_kill(7 * MINUTE),
        "first-contact-later": _first_contact_after_the_return(38 * MINUTE + 30 * SECOND),
        "first-contact-later-early": _first_contact_after_the_return(20 * MINUTE),
        "since-it-came": _span_after_the_first_row(-30 * SECOND),
        "before-it-came": _span_after_the_first_row(-90 * SECOND),
        "only-failed": _questions_failed(38 * MINUTE + 30 * SECOND),
        "only-failed-early": _questions_failed(20 * MINUTE),
        "only-failed-and-a-kill-before": _questions_failed_and_a_kill(25 * MINUTE),
        "only-failed-and-a-kill-after": _questions_failed_and_a_kill(80 * MINUTE),
        "same-database": _spurious("database-id-changed"),
        "failed-with-the-return": _failed_after_the_return(69 * MINUTE, 72 * MINUTE + 100),
        "asked-after-the-return": _failed_after_the_return(71 * MINUTE, 72 * MINUTE + 100),
        "not-at-once": _failed_after_the_return(69 * MINUTE, 75 * MINUTE),
        "never-away": _spurious("resubmit-time-span"),
        "after-discard": _after_its_discard(),
        "expected": _expected(new_database().run),
        "expected-earlier": _expected(new_database().run, after_ms=0),
        "expected-of-another": _expected(new_database().run, of="par-mbx2"),
        "none-expected": _none_expected(new_database().run),
        "none-expected-none-seen": _none_expected(healthy()),
    }


@pytest.fixture(scope="module")
def on_time(ask: Ask) -> Results:
    return ask(promotion_on_time.CLAIM)


@pytest.fixture(scope="module")
def early(ask: Ask) -> Results:
    return ask(no_early_promotion.CLAIM)


def test_both_hold_at_a_heartbeat_after_the_new_database(on_time: Results, early: Results) -> None:
    assert (on_time["new-database"].status, on_time["new-database"].asked) == ("holds", 2)
    assert on_time["new-database"].proofs == {"SM-7": "holds"}
    assert early["new-database"].status == "holds"


def test_both_hold_once_the_span_is_over(on_time: Results, early: Results) -> None:
    assert (on_time["after-span"].status, on_time["after-span"].asked) == ("holds", 2)
    assert on_time["after-span"].proofs == {"SM-6": "holds"}
    assert early["after-span"].status == "holds"


@pytest.mark.parametrize("run", ["new-database-late", "after-span-late"])
def test_on_time_is_violated_by_a_late_promotion(on_time: Results, run: str) -> None:
    result = on_time[run]
    assert (result.status, result.violations) == ("violated", 1)
    assert "due by" in result.examples[0].detail
    assert result.examples[0].refs[0][0] == "logs/lyo-mbx1/MSGTRK2026010508-1.LOG"


def test_on_time_allows_one_heartbeat_after_the_return_and_no_attempt(on_time: Results) -> None:
    assert on_time["new-database-prompt"].status == "holds"
    slow = on_time["new-database-slow"]
    assert (slow.status, slow.violations) == ("unknown", 0)
    assert "nothing tells how long its question took" in slow.reason
    assert on_time["new-database-twice"].violations == 1


def test_on_time_waits_for_no_question_that_was_asked_before_the_return(on_time: Results) -> None:
    assert on_time["hung"].violations == 2


def test_on_time_counts_an_attempt_after_the_span_from_its_begin(on_time: Results) -> None:
    assert on_time["span-and-a-time-out"].status == "holds"
    assert on_time["span-and-two-heartbeats"].violations == 2
    assert on_time["span-and-more-than-a-time-out"].violations == 2


@pytest.mark.parametrize(
    "run",
    [
        "new-database-missing",
        "new-database-missing-beside-a-fork",
        "new-database-missing-beside-what-came-back",
        "after-span-missing",
    ],
)
def test_on_time_is_violated_by_a_missing_promotion(on_time: Results, run: str) -> None:
    result = on_time[run]
    assert (result.status, result.violations) == ("violated", 1)
    assert "never promoted it" in result.examples[0].detail
    assert result.examples[0].subject == "<m000003.calm.7@outside.example>"


@pytest.mark.parametrize("run", ["new-database", "after-span"])
def test_on_time_asks_for_none_of_what_stays_no_longer_than_until_it_is_due(
    on_time: Results, run: str
) -> None:
    over = on_time[f"{run}-stay-over"]
    assert (over.violations, over.unknown) == (0, 0)
    assert on_time[f"{run}-stay-not-over"].violations == 1


def test_on_time_takes_the_store_as_evidence(on_time: Results) -> None:
    assert on_time["new-database-swallowed"].violations == 0


def test_on_time_asks_nothing_of_what_was_let_go_before_a_kill_swallowed_the_row(
    on_time: Results,
) -> None:
    assert on_time["let-go-before-a-kill"].violations == 0
    (example,) = on_time["let-go-by-itself"].examples
    assert "lyo-mbx1 never promoted it" in example.detail


def test_early_is_violated_at_half_the_span(early: Results) -> None:
    result = early["half-the-span"]
    assert (result.status, result.violations) == ("violated", 1)
    assert "last contact 0:08:00.000, so not before 0:38:00.000" in result.examples[0].detail


def test_early_is_violated_before_the_new_database(early: Results) -> None:
    assert "the new database came at" in early["before-the-new-database"].examples[0].detail


def test_early_judges_an_interval_where_no_row_names_the_last_contact(early: Results) -> None:
    assert early["no-contact-rows-early"].status == "violated"
    assert early["no-contact-rows-unclear"].status == "unknown"
    assert early["no-contact-rows-late-enough"].status == "holds"


def test_early_counts_from_the_first_shadow_where_the_log_names_contacts_but_none_before(
    early: Results,
) -> None:
    assert early["first-contact-later"].status == "holds"
    assert early["first-contact-later-early"].status == "violated"


def test_early_allows_the_commit_between_the_first_shadow_and_its_row(early: Results) -> None:
    assert early["since-it-came"].status == "holds"
    assert early["before-it-came"].status == "violated"


def test_early_counts_from_the_first_shadow_where_the_log_names_failed_questions_alone(
    early: Results,
) -> None:
    assert early["only-failed"].status == "holds"
    assert early["only-failed-early"].status == "violated"


def test_early_knows_of_no_contact_in_a_hole_of_the_log_and_a_later_hole_hides_none(
    early: Results,
) -> None:
    assert early["only-failed-and-a-kill-before"].status != "holds"
    assert early["only-failed-and-a-kill-after"].status == "holds"
    assert early["only-failed-and-a-kill-long-before"].status == "holds"


def test_early_takes_no_contact_for_granted_of_a_server_that_was_away_as_the_outage_began(
    early: Results,
) -> None:
    assert early["away-as-it-began-early"].status == "violated"
    assert early["away-as-it-began"].status == "unknown"
    assert early["away-as-it-began-late-enough"].status == "holds"


def test_early_is_violated_by_a_promotion_without_a_cause(early: Results) -> None:
    assert "still had the database" in early["same-database"].examples[0].detail
    assert "so not before" in early["never-away"].examples[0].detail


def test_early_bears_with_a_question_that_was_asked_in_vain_before_the_return(
    early: Results,
) -> None:
    assert early["failed-with-the-return"].violations == 0
    for name in ("asked-after-the-return", "not-at-once"):
        assert "par-mbx1 was not out of reach" in early[name].examples[0].detail, name


def test_early_is_violated_by_a_promotion_after_the_discard(early: Results) -> None:
    result = early["after-discard"]
    assert result.violations == 1
    assert "its discard notification had come" in result.examples[0].detail


def test_early_asks_shadows_whose_primary_was_away_for_a_while(early: Results) -> None:
    result = early["in-time"]
    assert (result.status, result.asked, result.proofs) == ("holds", 2, {"SM-8": "holds"})


def test_early_asks_for_wrong_clocks_of_the_servers_that_hold_the_shadows(early: Results) -> None:
    asked = {"SM-8": "holds", "SM-18": "holds"}
    assert early["in-time-clock-wrong"].proofs == asked
    assert early["in-time-other-clock-wrong"].proofs == {"SM-8": "holds"}


def test_on_time_is_unknown_where_no_promotion_was_due(on_time: Results) -> None:
    assert (on_time["in-time"].status, on_time["in-time"].asked) == ("unknown", 0)
    assert (on_time["healthy"].status, on_time["healthy"].asked) == ("unknown", 0)


def test_early_is_unknown_where_nothing_tempted_anyone(early: Results) -> None:
    assert (early["healthy"].status, early["healthy"].asked) == ("unknown", 0)


def test_expectations_narrow_both(on_time: Results, early: Results) -> None:
    assert on_time["expected"].status == early["expected"].status == "holds"
    assert on_time["expected-earlier"].status == "violated"
    assert on_time["expected-of-another"].status == "violated"
    assert early["expected-of-another"].status == "violated"
    assert early["none-expected"].status == "violated"
    assert early["none-expected-none-seen"].status == "holds"


def test_promotions_otherwise_than_expected_are_a_surprise(
    on_time: Results, early: Results
) -> None:
    assert on_time["expected"].surprises == early["expected"].surprises == ()
    [said] = on_time["expected-of-another"].surprises
    assert said.startswith("expect.promotions of par-mbx2: 0 promotions by")
    [said] = early["none-expected"].surprises
    assert said.startswith("expect.promotions: 2 promotions that no entry names")
    assert on_time["new-database-late"].surprises == ()
