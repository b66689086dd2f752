"""What claims say of a server whose component HubTransport was Inactive (TL-5), or whose Receive
connector authenticated no other server (TL-6).
"""

from __future__ import annotations

import pytest

from spark_eval.claims.mail.answered_in_time import CLAIM as ANSWERED
from spark_eval.claims.mail.refused_for_cause import CLAIM as REFUSED
from spark_eval.claims.node.intake_for_cause import CLAIM as INTAKE
from spark_eval.histories.organisation.component_states import NOT_ACCEPTING
from tests.spark_eval.claims.conftest import Ask, assert_all_hold, assert_is_violated
from tests.spark_eval.runs.run_builder import MINUTE, SECOND, Run, empty, made, user

SERVER, OTHER = "par-mbx1", "par-mbx2"
SET, BACK = 10 * MINUTE, 30 * MINUTE
BEFORE, MEANWHILE, AFTER = 5 * MINUTE, 25 * MINUTE, 40 * MINUTE
ANOTHER = "451 4.3.2 Service not active"


def inactive(*, is_back: bool = True, is_read: bool = True) -> Run:
    """par-mbx1 is set Inactive, and Active again; `is_read`: somebody saw that it read that."""
    run = empty()
    moments = [("o1", SET, "Inactive"), *([("o2", BACK, "Active")] if is_back else [])]
    run.plan["operations"] = [
        {"id": name, "kind": "set_component_state", "at_ms": at_ms, "server": SERVER,
         "state": state}
        for name, at_ms, state in moments
    ]  # fmt: skip
    seen = {"took_effect": True if is_read else None}
    for name, at_ms, _ in moments:
        for phase, phase_ms, more in (
            ("intended", at_ms, {}), ("applied", at_ms, {}), ("evidence", at_ms + SECOND, seen),
        ):  # fmt: skip
            run.operations.append({"operation": name, "phase": phase, "at_ms": phase_ms, **more})
    return run


def denying(at_ms: int, *, primary: str = OTHER) -> Run:
    """For the same time no other server can authenticate at par-mbx1, and it holds a shadow
    message.
    """
    run = inactive()
    words = {"Inactive": "Tls", "Active": "ExchangeServer"}
    run.plan["operations"] = [
        {"id": each["id"], "kind": "set_receive_connector", "at_ms": each["at_ms"],
         "server": SERVER, "auth_mechanism": words[each["state"]]}
        for each in run.plan["operations"]
    ]  # fmt: skip
    run.finish(run.accept(at_ms, [user(3)], primary=primary, shadow=SERVER), at_ms + MINUTE)
    return run


def refused(at_ms: int, reply: str = NOT_ACCEPTING, *, by: str = SERVER, back: bool = True) -> Run:
    run = inactive(is_back=back)
    message = run.submit(at_ms, [user(3)])
    run.attempt(message, by, at_ms, "failed", reply, at_ms + SECOND)
    return run


def taken(at_ms: int, *, is_read: bool = True) -> Run:
    run = inactive(is_read=is_read)
    run.finish(run.accept(at_ms, [user(3)]), at_ms + MINUTE)
    return run


def put_into_outbox(at_ms: int) -> Run:
    run = inactive()
    message = run.submit(at_ms, [user(3)], mail="internal")
    run.attempt(message, SERVER, at_ms, "ok", "250 2.6.0 Queued in Outbox", at_ms + SECOND)
    return run


def held(at_ms: int) -> Run:
    """It has a shadow message of another server's mail."""
    run = inactive()
    run.finish(run.accept(at_ms, [user(3)], primary=OTHER, shadow=SERVER), at_ms + MINUTE)
    return run


RUNS = {
    "refused-before": refused(BEFORE),
    "refused-meanwhile": refused(MEANWHILE),
    "refused-by-another": refused(MEANWHILE, by=OTHER),
    "refused-after": refused(AFTER),
    "refused-never-back": refused(AFTER, back=False),
    "refused-otherwise": refused(MEANWHILE, ANOTHER),
    "taken-before": taken(BEFORE),
    "taken-meanwhile": taken(MEANWHILE),
    "taken-unread": taken(MEANWHILE, is_read=False),
    "taken-after": taken(AFTER),
    "put-into-outbox": put_into_outbox(MEANWHILE),
    "held-meanwhile": held(MEANWHILE),
    "held-after": held(AFTER),
    "held-at-first": denying(SET + 5 * MINUTE),
    "held-unauthenticated": denying(MEANWHILE),
    "held-authenticated": denying(AFTER),
}


def runs() -> dict[str, Run]:
    return made(RUNS)


SOUND = {
    "refused-meanwhile": (REFUSED, INTAKE),
    "refused-never-back": (REFUSED, INTAKE),
    "taken-before": (INTAKE,),
    "taken-unread": (INTAKE,),
    "taken-after": (INTAKE,),
    "held-after": (INTAKE,),
    "held-at-first": (INTAKE,),
    "held-authenticated": (INTAKE,),
}
WRONG = {
    "refused-before": (REFUSED, "HubTransport of par-mbx1 was Active"),
    "refused-by-another": (REFUSED, "HubTransport of par-mbx2 was Active"),
    "refused-after": (REFUSED, "HubTransport of par-mbx1 was Active"),
    "refused-otherwise": (REFUSED, "refused it, and no fault was in the way"),
    "taken-meanwhile": (INTAKE, "took it while its HubTransport was Inactive"),
    "held-unauthenticated": (INTAKE, "no other server could authenticate there"),
    "held-meanwhile": (INTAKE, "logged HARECEIVE while its HubTransport was Inactive"),
}


@pytest.mark.parametrize("name", SOUND)
def test_holds(name: str, ask: Ask) -> None:
    assert_all_hold(ask, SOUND[name], name)


@pytest.mark.parametrize("name", WRONG)
def test_is_violated(name: str, ask: Ask) -> None:
    assert_is_violated(ask, *WRONG[name], name)


def test_an_outbox_takes_what_it_is_given(ask: Ask) -> None:
    assert ask(INTAKE)["put-into-outbox"].status != "violated"


@pytest.mark.parametrize("name", ["refused-meanwhile", "refused-never-back"])
def test_that_word_is_an_answer(name: str, ask: Ask) -> None:
    assert ask(ANSWERED)[name].status != "violated"
