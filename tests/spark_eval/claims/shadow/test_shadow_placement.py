from __future__ import annotations

import pytest

from spark_eval.claims.shadow.shadow_placement import CLAIM
from spark_eval.expected.mail.rejection import REJECTION
from tests.spark_eval.claims.conftest import Ask, Results
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


def _single_copy() -> Run:
    """Not a word about an attempt: the database that held the shadow message is gone (SM-17)."""
    run = empty()
    message = run.deliver(MINUTE, [user(1)])
    row = run.log("par-mbx1", "HAREDIRECTFAIL", "SMTP", 7 * MINUTE, message)
    row["source-context"] = "lyo-mbx1: the queue database that held the shadow message is gone"
    row["custom"]["Outcome"] = "single-copy"
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
        "single-copy": _single_copy(),
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
        "remote-only-of-others",
        "no-dag-same-site",
        "no-dag-remote-only",
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
    ],
)
def test_is_violated_where_a_rule_was_broken(results: Results, run: str, says: str) -> None:
    result = results[run]
    assert result.status == "violated"
    assert any(says in example.detail for example in result.examples)


def test_is_unknown_where_no_shadow_was_due(results: Results) -> None:
    assert (results["empty"].status, results["empty"].asked) == ("unknown", 0)
