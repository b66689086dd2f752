from __future__ import annotations

import pytest

from spark_eval.as_tables.claims.shadow.redundant_before_ack import REJECTION
from spark_eval.as_tables.claims.shadow.shadow_placement import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.faulty_runs import new_database
from tests.spark_eval.runs.run_builder import (
    MINUTE,
    SECOND,
    Run,
    empty,
    healthy,
    user,
)


def _shadowed_by(shadow: str, attempts: int = 1, at_ms: int = MINUTE, **config: object) -> Run:
    run = empty()
    run.plan["settings"]["TransportConfig"].update(config)
    run.deliver(at_ms, [user(1)], shadow=shadow)
    run.rows("par-mbx1", "HAREDIRECT")[0]["custom"]["Attempts"] = attempts
    return run


def _of_its_own(shadow: str, own: str, of_all: str = "PreferRemote") -> Run:
    """par-mbx1 has a preference of its own."""
    run = _shadowed_by(shadow, ShadowMessagePreferenceSetting=of_all)
    run.plan["settings"]["servers"]["par-mbx1"]["TransportService"]["ShadowMessagePreference"] = own
    return run


def _without_attempts(*, made_by_the_lab: bool) -> Run:
    run = _shadowed_by("lyo-mbx1")
    del run.rows("par-mbx1", "HAREDIRECT")[0]["custom"]["Attempts"]
    if made_by_the_lab:
        run.plan["messages"] = [{"message_id": run.ledger[0]["message_id"]}]
    return run


def _outside_the_boundary() -> Run:
    run = _shadowed_by("lyo-mbx1")
    for server in run.plan["topology"]["servers"]:
        if server["name"] == "lyo-mbx1":
            server["dag"] = "DAG2"
    return run


def _no_dag(shadow: str, preference: str = "PreferRemote") -> Run:
    run = _shadowed_by(shadow, ShadowMessagePreferenceSetting=preference)
    for server in run.plan["topology"]["servers"]:
        server["dag"] = None
    return run


def _failed(names: str, attempts: int, reason: str = "refused") -> Run:
    run = empty()
    run.accept(20 * MINUTE, [user(1)], shadow=None)
    row = run.rows("par-mbx1", "HAREDIRECTFAIL")[0]
    row["source-context"] = "; ".join(
        f"{name}.shadowlab.example: {reason}" for name in names.split()
    )
    row["custom"]["Attempts"] = attempts
    return run


def _not_shadowed_again() -> Run:
    run = new_database().run
    run.remove("lyo-mbx1", "HAREDIRECT")
    return run


def _killed_while_trying(*, in_vain: bool) -> Run:
    """lyo-mbx1 is killed 14 min after it promoted, its attempts hanging or not."""
    run = _not_shadowed_again()
    run.kill("lyo-mbx1", 30 * MINUTE, 35 * MINUTE, fault="f2")
    if in_vain:
        run.cut("lyo-mbx1", "lyo-mbx2", 14 * MINUTE, 40 * MINUTE, kind="stall", fault="f3")
    return run


def _behind_cuts(run: Run, *names: str, end: int = 30 * MINUTE) -> Run:
    """The ways of par-mbx1 to these are cut almost from the beginning."""
    for number, name in enumerate(names):
        run.cut("par-mbx1", name, SECOND, end, fault=f"f{number}")
    return run


def _local_last_after_the_heal(minutes: int) -> Run:
    """Each attempt may take a minute; so many before the fifth came off, remote servers could be
    reached again.
    """
    run = _shadowed_by("par-mbx2", attempts=5, at_ms=20 * MINUTE)
    of_server = run.plan["settings"]["servers"]["par-mbx1"]
    of_server["SendConnector"]["ConnectionInactivityTimeOut"] = MINUTE
    return _behind_cuts(run, *REMOTE, end=(20 - minutes) * MINUTE)


def _sessions_lost(minutes: int) -> Run:
    """The heal was six minutes before the fifth came off, at 20 min: it may have waited since those
    before it lost a session. From 21 min on remote servers cannot be reached again.
    """
    run = _local_last_after_the_heal(6)
    for name in REMOTE:
        run.cut("par-mbx1", name, 21 * MINUTE, 30 * MINUTE, fault=f"again-{name}")
        row = {
            "at_ms": minutes * MINUTE, "session": f"to-{name}", "source": "SMTP",
            "destination": name, "direction": "-",
            "description": "Messages: 0 (Retry : connection refused)",
        }  # fmt: skip
        run.contacts.setdefault("par-mbx1", []).append(row)
    return run


def _refused(*cut_off: str, reason: str = "451 4.3.2 Not now") -> Run:
    """Nobody takes a copy; the ways to some are cut."""
    return _behind_cuts(_failed(ALL_TRIED, 6, reason), *cut_off)


def _rejected(*cut_off: str) -> Run:
    """The same, and the message is rejected for it."""
    run = _refused(*cut_off)
    run.rows("par-mbx1", "HAREDIRECTFAIL")[0]["custom"]["Outcome"] = "rejected"
    run.remove("par-mbx1", "RECEIVE")
    run.ledger[-1] |= {"outcome": "failed", "reply": REJECTION}
    return run


def _promoted_and_never_held() -> Run:
    """Its new primary names a shadow server that never wrote a word of it."""
    run = new_database().run
    for event in ("HARECEIVE", "HADISCARD"):
        run.remove("par-mbx2", event)
    run.queues["par-mbx2"] = []
    return run


REMOTE = ("lyo-mbx1", "lyo-mbx2")
ALL = (*REMOTE, "par-mbx2")
ALL_TRIED = "lyo-mbx1 lyo-mbx2 lyo-mbx1 lyo-mbx2 par-mbx2 par-mbx2"


FOR_NOTHING = ", and no fault was in the way"


def _single_copy() -> Run:
    """Not a word about an attempt: the database that held the shadow message is gone (SM-17)."""
    run = empty()
    message = run.deliver(MINUTE, [user(1)])
    row = run.log("par-mbx1", "HAREDIRECTFAIL", "SMTP", 7 * MINUTE, message)
    row["source-context"] = "lyo-mbx1: the queue database that held the shadow message is gone"
    row["custom"]["Outcome"] = "single-copy"
    return run


def _killed_and_nobody_has_a_copy(*, delivered: bool) -> Run:
    """What was tried before the kill is forgotten after it, or has not been tried again yet."""
    run = _killed_while_trying(in_vain=True)
    run.remove("par-mbx2", "HARECEIVE")
    run.remove("par-mbx2", "HADISCARD")
    if not delivered:
        run.remove("lyo-mbx1", "SEND")
    return run


def _switched_off(reply: str) -> Run:
    """One message accepted without a shadow, and one refused with that."""
    run = empty()
    config = {"ShadowRedundancyEnabled": False, "RejectMessageOnShadowFailure": True}
    run.plan["settings"]["TransportConfig"].update(config)
    run.accept(MINUTE, [user(1)], shadow=None)
    refused = run.submit(2 * MINUTE, [user(2)])
    run.attempt(refused, "par-mbx1", 2 * MINUTE, "failed", reply, 2 * MINUTE + SECOND)
    return run


def runs() -> dict[str, Run]:
    return {
        "healthy": healthy(),
        "empty": empty(),
        "promoted": new_database().run,
        "local-last": _behind_cuts(_shadowed_by("par-mbx2", attempts=5), *REMOTE),
        "local-last-for-nothing": _shadowed_by("par-mbx2", attempts=5),
        "local-last-soon-after-the-heal": _local_last_after_the_heal(minutes=3),
        "local-last-long-after-the-heal": _local_last_after_the_heal(minutes=6),
        "sessions-lost": _sessions_lost(13),
        "sessions-lost-long-before": _sessions_lost(9),
        "sessions-lost-after-the-heal": _sessions_lost(16),
        "sessions-lost-afterwards": _sessions_lost(22),
        "second-attempt": _behind_cuts(_shadowed_by("lyo-mbx1", attempts=2), "lyo-mbx2"),
        "second-attempt-for-nothing": _shadowed_by("lyo-mbx1", attempts=2),
        "local-first": _shadowed_by("par-mbx2", attempts=1),
        "without-attempts": _without_attempts(made_by_the_lab=True),
        "of-other-servers": _without_attempts(made_by_the_lab=False),
        "too-many": _shadowed_by("lyo-mbx1", attempts=5),
        "local-only": _shadowed_by("lyo-mbx1", ShadowMessagePreferenceSetting="LocalOnly",
                                   MaxRetriesForRemoteSiteShadow=0),
        "remote-only": _shadowed_by("par-mbx2", ShadowMessagePreferenceSetting="RemoteOnly"),
        "remote-only-of-its-own": _of_its_own("par-mbx2", "RemoteOnly"),
        "remote-only-of-others": _of_its_own("par-mbx2", "LocalOnly", "RemoteOnly"),
        "outside": _outside_the_boundary(),
        "no-dag-same-site": _no_dag("par-mbx2"),
        "no-dag-other-site": _no_dag("lyo-mbx1"),
        "no-dag-remote-only": _no_dag("par-mbx2", "RemoteOnly"),
        "disabled": _shadowed_by("lyo-mbx1", ShadowRedundancyEnabled=False),
        "disabled-and-refused": _switched_off(REJECTION),
        "disabled-and-busy": _switched_off("452 4.3.1 Insufficient system resources"),
        "gave-up-for-nothing": _failed(ALL_TRIED, 6),
        "gave-up-long-after": _behind_cuts(_failed(ALL_TRIED, 6), *ALL, end=9 * MINUTE),
        "single-copy": _single_copy(),
        "failed-one-twice": _failed("lyo-mbx1 lyo-mbx1", 2),
        "failed-too-often": _failed(f"{ALL_TRIED} par-mbx2", 7),
        "failed-too-soon": _failed("lyo-mbx1", 1),
        "refused-by-all": _refused(),
        "refused-by-some": _refused("lyo-mbx1", "par-mbx2"),
        "all-cut-off": _refused(*ALL),
        "all-silent": _refused(*ALL, reason="no answer in its share of the session"),
        "rejected": _rejected(*ALL),
        "rejected-for-nothing": _rejected(*REMOTE),
        "never-held": _promoted_and_never_held(),
        "not-again": _not_shadowed_again(),
        "killed-while-trying": _killed_while_trying(in_vain=True),
        "killed-too-late": _killed_while_trying(in_vain=False),
        "killed-and-delivered": _killed_and_nobody_has_a_copy(delivered=True),
        "killed-and-waiting": _killed_and_nobody_has_a_copy(delivered=False),
    }  # fmt: skip


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


def test_holds_where_shadows_stand_in_the_remote_site(results: Results) -> None:
    result = results["healthy"]
    assert (result.status, result.asked) == ("holds", 10)
    assert set(result.proofs) == {"SR-2", "SR-3", "SR-11"}


@pytest.mark.parametrize(
    "run",
    [
        "local-last",
        "local-last-soon-after-the-heal",
        "sessions-lost",
        "second-attempt",
        "remote-only-of-others",
        "no-dag-same-site",
        "no-dag-remote-only",
        "all-cut-off",
        "all-silent",
        "rejected",
        "single-copy",
    ],
)
def test_holds_where_the_rules_were_followed(results: Results, run: str) -> None:
    assert results[run].status == "holds"


def test_with_shadow_redundancy_off_any_other_refusal_is_fine(
    results: Results,
) -> None:
    result = results["disabled-and-busy"]
    assert (result.status, result.asked) == ("holds", 1)
    assert result.proofs == {"SR-9": "holds", "SR-14": "holds"}


@pytest.mark.parametrize(
    ("run", "says"),
    [
        ("local-first", "par-mbx2 in the local site after 1 attempts"),
        ("without-attempts", "par-mbx1 does not say at which attempt it was made"),
        ("too-many", "lyo-mbx1 in a remote site after 5 attempts"),
        ("local-only", "LocalOnly allows 0 there"),
        ("remote-only", "RemoteOnly allows no attempt there"),
        ("remote-only-of-its-own", "RemoteOnly allows no attempt there"),
        ("outside", "lyo-mbx1 is outside the boundary of par-mbx1"),
        ("no-dag-other-site", "outside the boundary"),
        ("disabled", "ShadowRedundancyEnabled is false"),
        ("disabled-and-refused", "refused by par-mbx1; ShadowRedundancyEnabled is false"),
        ("failed-one-twice", "tried one twice while others were untried: lyo-mbx1, lyo-mbx1"),
        ("failed-too-soon", "gave up after 1 attempts; PreferRemote allows 6"),
        ("refused-by-all", f"an attempt at lyo-mbx1, lyo-mbx2, par-mbx2 failed{FOR_NOTHING}"),
        ("refused-by-some", f"par-mbx1 says that an attempt at lyo-mbx2 failed{FOR_NOTHING}"),
        ("gave-up-for-nothing", f"lyo-mbx1, lyo-mbx2, par-mbx2 failed{FOR_NOTHING}"),
        ("gave-up-long-after", f"lyo-mbx1, lyo-mbx2, par-mbx2 failed{FOR_NOTHING}"),
        ("rejected-for-nothing", f"an attempt at par-mbx2 failed{FOR_NOTHING}"),
        ("local-last-for-nothing", "4 attempts failed, and a fault was in the way of 0 servers"),
        ("local-last-long-after-the-heal", "4 attempts failed, and a fault was in the way of 0"),
        ("sessions-lost-long-before", "4 attempts failed, and a fault was in the way of 0"),
        ("sessions-lost-after-the-heal", "4 attempts failed, and a fault was in the way of 0"),
        ("sessions-lost-afterwards", "4 attempts failed, and a fault was in the way of 0"),
        ("second-attempt-for-nothing", "1 attempts failed, and a fault was in the way of 0"),
        ("never-held", "lyo-mbx1 named par-mbx2, which logged no HARECEIVE of it"),
        ("failed-too-often", "more attempts than PreferRemote allows"),
    ],
)
def test_is_violated_where_a_rule_was_broken(results: Results, run: str, says: str) -> None:
    result = results[run]
    assert result.status == "violated"
    assert any(says in example.detail for example in result.examples)


def test_asks_promoted_messages_for_a_new_shadow(results: Results) -> None:
    assert results["promoted"].proofs["SM-13"] == "holds"
    assert results["not-again"].proofs["SM-13"] == "violated"
    assert results["not-again"].examples[0].refs[0][0] == "logs/lyo-mbx1/MSGTRK2026010508-1.LOG"


def test_allows_attempts_at_silent_servers_their_time_before_a_kill(
    results: Results,
) -> None:
    assert "SM-13" not in results["killed-while-trying"].proofs
    assert results["killed-too-late"].proofs["SM-13"] == "violated"


def test_a_kill_excuses_no_message_that_went_out_and_that_nobody_else_ever_held(
    results: Results,
) -> None:
    assert results["killed-and-delivered"].proofs["SM-13"] == "violated"
    assert "SM-13" not in results["killed-and-waiting"].proofs


def test_is_unknown_where_no_shadow_was_due(results: Results) -> None:
    assert (results["empty"].status, results["empty"].asked) == ("unknown", 0)
