"""What claims say of messages that an administrator had redirected (SR-1, SR-12)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from spark_eval.claims.mail.deferred_for_cause import CLAIM as DEFERRED
from spark_eval.claims.mail.delivered_in_time import CLAIM as IN_TIME
from spark_eval.claims.mail.no_visible_duplicate import CLAIM as NO_DUPLICATE
from spark_eval.claims.mail.recipients_fit import CLAIM as RECIPIENTS
from spark_eval.claims.mail.refused_for_cause import CLAIM as REFUSED
from spark_eval.claims.node.intake_for_cause import CLAIM as INTAKE
from spark_eval.claims.routing.routed_as_computed import CLAIM as ROUTED
from spark_eval.claims.shadow.redundant_before_ack import CLAIM as REDUNDANT
from spark_eval.expected.mail.redirections import REFUSAL
from tests.spark_eval.claims.conftest import Ask, assert_all_hold, assert_is_violated
from tests.spark_eval.runs.run_builder import (
    DOMAIN,
    MINUTE,
    SECOND,
    Message,
    Run,
    empty,
    made,
    user,
)

FROM, TO, HOLDER = "par-mbx1", "lyo-mbx2", "lyo-mbx1"
CAME, ASKED, OVER, HEALED = 5 * MINUTE, 10 * MINUTE, 30 * MINUTE, 40 * MINUTE
WAS_THERE = ASKED + 2 * MINUTE


def asked(*, says: bool = True, to: str = TO) -> Run:
    """Mail of par-mbx1 waits for DB1 and is redirected; `says`: its lifecycle log has that."""
    run = empty()
    run.cut(FROM, "par-mbx2", 4 * MINUTE, HEALED)
    run.plan["operations"] = [
        {"id": "o1", "kind": "redirect_messages", "at_ms": ASKED, "server": FROM, "to": to}
    ]
    done = {"took_effect": True, "reason": "250 2.0.0 Messages are redirected"}
    for phase, at_ms, more in (
        ("intended", ASKED, {}), ("applied", ASKED, {}), ("evidence", ASKED + 5 * SECOND, done),
    ):  # fmt: skip
        run.operations.append({"operation": "o1", "phase": phase, "at_ms": at_ms, **more})
    if says:
        run.life(FROM, "redirection-begun", ASKED + SECOND, server=to, count=1)
        run.life(FROM, "redirection-completed", OVER, server=to, count=1)
    return run


def give(
    run: Run,
    at_ms: int = WAS_THERE,
    *,
    shadow: str | None = HOLDER,
    sent: bool = True,
    arrives_ms: int | None = None,
    recipients: tuple[str, ...] = (user(1), user(2)),
) -> Message:
    """One message waits and goes to the other server, which delivers it."""
    message = run.accept(CAME, list(recipients))
    again = replace(message, at_ms=at_ms, primary=TO, shadow=shadow or "",
                    internal_id=run.next_id(), database_id=run.database_ids[TO])  # fmt: skip
    if shadow is not None:
        run.protect(again, shadow)
    run.log(TO, "RECEIVE", "SMTP", at_ms + 500, again)
    reply = f"250 2.6.0 {message.message_id} [InternalId={again.internal_id}, Hostname=x] ok"
    if sent:
        run.log(FROM, "SEND", "SMTP", at_ms + 600, message, source_context=reply,
                server_hostname=f"{TO}.{DOMAIN}", custom={"Fork": f"redirect:{TO}"})  # fmt: skip
    arrives_ms = arrives_ms or at_ms + 5 * SECOND
    run.log(TO, "SEND", "SMTP", arrives_ms, again, custom={"Fork": "database:DB1"},
            server_hostname=f"par-mbx2.{DOMAIN}")  # fmt: skip
    run.show(again, arrives_ms - 50)
    return message


def redirected(at_ms: int = WAS_THERE, *, says: bool = True, **more: bool | str | None) -> Run:
    run = asked(says=says)
    give(run, at_ms, **more)  # type: ignore[arg-type]
    return run


def _for_one_recipient() -> Run:
    """The other recipient waits there as well, and is not named."""
    run = asked()
    message = run.accept(CAME, [user(1), user(2)])
    run.log(FROM, "DEFER", "QUEUE", WAS_THERE, message, recipients=[user(1)],
            source_context="connection refused", custom={"Fork": f"redirect:{TO}"})  # fmt: skip
    return run


def _put_off(*, is_away: bool) -> Run:
    """The other server does not take it."""
    run = asked()
    if is_away:
        run.kill(TO, ASKED, ASKED + 5 * MINUTE, fault="f2")
    message = run.accept(CAME, [user(1), user(2)])
    run.log(FROM, "DEFER", "QUEUE", WAS_THERE, message, source_context="connection refused",
            custom={"Fork": f"redirect:{TO}"})  # fmt: skip
    return run


def _unsaid() -> Run:
    """The server that gave it away died before it logged that."""
    run = redirected(sent=False)
    run.kill(FROM, WAS_THERE + 600, WAS_THERE + 2 * MINUTE, fault="f2")
    run.log(FROM, "LOAD", "BOOTLOADER", WAS_THERE + 2 * MINUTE + 2 * SECOND,
            _first(run), source_context="delivery")  # fmt: skip
    return run


def _first(run: Run) -> Message:
    row = run.rows(FROM, "RECEIVE")[0]
    recipients = [user(1), user(2)]
    return Message(row["message-id"], f"n-{row['message-id']}", recipients, CAME, FROM, HOLDER,
                   int(row["internal-message-id"]), run.database_ids[FROM])  # fmt: skip


def _offered(at_ms: int, outcome: str, reply: str) -> Run:
    """The workload has another message for the server whose messages are redirected."""
    run = redirected()
    if outcome == "ok":
        run.finish(run.accept(at_ms, [user(3)]), HEALED + MINUTE)
    else:
        run.attempt(run.submit(at_ms, [user(3)]), FROM, at_ms, outcome, reply, at_ms + SECOND)
    return run


def _arrives_late() -> Run:
    """The server that took it does not reach ext1 either; the other one does by then."""
    run = asked()
    run.cut(FROM, "ext1", 4 * MINUTE, HEALED, fault="f3")
    run.cut(TO, "ext1", 4 * MINUTE, 90 * MINUTE, fault="f2")
    give(run, arrives_ms=95 * MINUTE, recipients=("someone@partner.example",))
    return run


MEANWHILE, AFTER = 20 * MINUTE, 50 * MINUTE
RUNS = {
    "redirected": redirected(),
    "without-a-shadow": redirected(shadow=None),
    "never-asked": redirected(says=False),
    "before-it-was-asked": redirected(ASKED - 4 * MINUTE),
    "for-one-recipient": _for_one_recipient(),
    "put-off": _put_off(is_away=True),
    "put-off-for-nothing": _put_off(is_away=False),
    "unsaid": _unsaid(),
    "arrives-late": _arrives_late(),
    "refused-meanwhile": _offered(MEANWHILE, "failed", REFUSAL),
    "refused-after": _offered(AFTER, "failed", REFUSAL),
    "taken-meanwhile": _offered(MEANWHILE, "ok", ""),
    "taken-after": _offered(AFTER, "ok", ""),
}


def runs() -> dict[str, Run]:
    RUNS["never-asked"].plan["operations"], RUNS["never-asked"].operations = [], []
    return made(RUNS)


SOUND = {
    "redirected": (REDUNDANT, ROUTED, RECIPIENTS, INTAKE, IN_TIME, NO_DUPLICATE),
    "put-off": (DEFERRED, ROUTED, RECIPIENTS),
    "unsaid": (INTAKE,),
    "refused-meanwhile": (REFUSED, INTAKE),
    "taken-after": (INTAKE,),
    "arrives-late": (IN_TIME,),
}
WRONG = {
    "without-a-shadow": (REDUNDANT, "logged neither HAREDIRECT nor HAREDIRECTFAIL"),
    "never-asked": (REDUNDANT, "in its own boundary, which received it anew"),
    "before-it-was-asked": (ROUTED, "nobody had its messages redirected so then"),
    "for-one-recipient": (RECIPIENTS, "for whom the message waits there as well"),
    "put-off-for-nothing": (DEFERRED, "no fault was in the way to redirect:lyo-mbx2"),
    "refused-after": (REFUSED, "refused it, and no fault was in the way"),
    "taken-meanwhile": (INTAKE, "took it while its messages were redirected"),
}


@pytest.mark.parametrize("name", SOUND)
def test_holds(name: str, ask: Ask) -> None:
    assert_all_hold(ask, SOUND[name], name)


@pytest.mark.parametrize("name", WRONG)
def test_is_violated(name: str, ask: Ask) -> None:
    assert_is_violated(ask, *WRONG[name], name)


def test_what_was_redirected_proves_sr_1_and_sr_12(ask: Ask) -> None:
    proofs = ask(REDUNDANT)["redirected"].proofs
    assert (proofs["SR-1"], proofs["SR-12"]) == ("holds", "holds")
    assert "SR-10" not in proofs
    assert ask(ROUTED)["redirected"].proofs["SR-12"] == "holds"
    assert ask(INTAKE)["refused-meanwhile"].proofs["SR-12"] == "holds"
