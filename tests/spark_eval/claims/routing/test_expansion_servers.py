"""What claims say of groups that one server alone expands (RT-3): a message that is sent there is
handed on, within a boundary as well.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from spark_eval.claims.mail.groups_expanded import CLAIM as EXPANDED
from spark_eval.claims.mail.no_loss import CLAIM as NO_LOSS
from spark_eval.claims.mail.no_phantom import CLAIM as NO_PHANTOM
from spark_eval.claims.mail.no_visible_duplicate import CLAIM as NO_DUPLICATE
from spark_eval.claims.mail.recipients_fit import CLAIM as RECIPIENTS
from spark_eval.claims.mail.rows_fit import CLAIM as ROWS_FIT
from spark_eval.claims.node.intake_for_cause import CLAIM as INTAKE
from spark_eval.claims.routing.routed_as_computed import CLAIM as ROUTED
from spark_eval.claims.shadow.redundant_before_ack import CLAIM as REDUNDANT
from spark_eval.expected.exposure.stretches import stretches
from tests.spark_eval.claims.conftest import Ask, assert_all_hold, assert_is_violated
from tests.spark_eval.results import made as read
from tests.spark_eval.runs.group_runs import (
    LEADS,
    ONE,
    PRIMARY,
    STAFF,
    THREE,
    TWO,
    Rows,
    expand,
    with_groups,
)
from tests.spark_eval.runs.group_runs import change as change_staff
from tests.spark_eval.runs.run_builder import DOMAIN, MINUTE, SPAN, Message, Run, made

EXPANDER, HOLDER = "lyo-mbx2", "lyo-mbx1"
OUTSIDE = "someone@partner.example"
CAME, SENT = MINUTE, 3 * MINUTE
ALONE: Rows = {"EXPAND": [(STAFF, [ONE, TWO])]}


def run_with(groups: dict[str, list[str]] | None = None, *, of: str = STAFF) -> Run:
    run = with_groups(groups or {STAFF: [ONE, TWO]})
    for group in run.plan["topology"]["groups"]:
        if group["address"] == of:
            group["expansion_server"] = EXPANDER
    return run


def hand_on(
    run: Run, message: Message, *, to: str = EXPANDER, shadow: str | None = HOLDER,
    group: str = STAFF, says: bool = True,
) -> Message:  # fmt: skip
    """Its server sends it on as it is; who takes it makes it redundant anew. Not delivered yet."""
    again = replace(message, at_ms=SENT, primary=to, shadow=shadow or "", recipients=[group],
                    internal_id=run.next_id(), database_id=run.database_ids[to])  # fmt: skip
    if shadow is not None:
        run.protect(again, shadow)
    run.log(to, "RECEIVE", "SMTP", SENT + 500, again)
    reply = f"250 2.6.0 {message.message_id} [InternalId={again.internal_id}, Hostname=x] ok"
    if says:
        run.log(message.primary, "SEND", "SMTP", SENT + 600, message, recipients=[group],
                source_context=reply, server_hostname=f"{to}.{DOMAIN}",
                custom={"Fork": f"servers:{EXPANDER}"})  # fmt: skip
    return again


def deliver(run: Run, message: Message, *recipients: str, at_ms: int = SENT + MINUTE) -> None:
    message = replace(message, recipients=list(recipients))
    fork = "database:DB1" if recipients[0].endswith(DOMAIN) else "external:ext1"
    peer = f"par-mbx2.{DOMAIN}" if fork.startswith("database") else "ext1.partner.example"
    run.log(message.primary, "SEND", "SMTP", at_ms, message, custom={"Fork": fork},
            server_hostname=peer)  # fmt: skip
    run.show(message, at_ms - 50)


def handed_on(
    rows: Rows = ALONE,
    *,
    shadow: str | None = HOLDER,
    whom: tuple[str, ...] = (ONE, TWO),
    says: bool = True,
) -> Run:
    run = run_with()
    again = hand_on(run, run.accept(CAME, [STAFF]), shadow=shadow, says=says)
    expand(run, again, rows, SENT + 501)
    if whom:
        deliver(run, again, *whom)
    return run


def at_once() -> Run:
    """Whoever takes it in expands it."""
    run = run_with()
    message = run.accept(CAME, [STAFF])
    expand(run, message, ALONE, CAME + 501)
    deliver(run, message, ONE, TWO)
    return run


def by_another() -> Run:
    run = run_with()
    again = hand_on(run, run.accept(CAME, [STAFF]), to="par-mbx2", shadow=HOLDER)
    expand(run, again, ALONE, SENT + 501)
    deliver(run, again, ONE, TWO)
    return run


def nested() -> Run:
    """All of staff at once, and leads among them elsewhere."""
    run = run_with({STAFF: [ONE, LEADS], LEADS: [TWO]}, of=LEADS)
    message = run.accept(CAME, [STAFF])
    expand(run, message, {"EXPAND": [(STAFF, [ONE, LEADS])]}, CAME + 501)
    deliver(run, message, ONE, at_ms=CAME + MINUTE)
    again = hand_on(run, message, group=LEADS)
    expand(run, again, {"EXPAND": [(LEADS, [TWO])]}, SENT + 501)
    deliver(run, again, TWO)
    return run


def changed_on_the_way(*also: str) -> Run:
    """ONE leaves and THREE joins, after it came in and before it is expanded."""
    run = run_with()
    change_staff(run, 2 * MINUTE, add=[THREE], remove=[ONE])
    again = hand_on(run, run.accept(CAME, [STAFF]))
    expand(run, again, {"EXPAND": [(STAFF, [TWO, THREE])]}, SENT + 501)
    deliver(run, again, TWO, THREE, *also)
    return run


def promoted(rows: Rows = ALONE) -> Run:
    """The expansion server dies for good with what it had taken."""
    run = handed_on(whom=())
    run.kill(EXPANDER, 10 * MINUTE, SPAN + 60 * MINUTE)
    row = run.rows(EXPANDER, "RECEIVE")[0]
    message = Message(row["message-id"], row["network-message-id"], [STAFF], SENT, EXPANDER, HOLDER,
                      row["internal-message-id"], run.database_ids[EXPANDER])  # fmt: skip
    at_ms = SPAN + 11 * MINUTE
    born = run.promote(message, at_ms, "resubmit-time-span", duplicate=True)
    mine = born["internal-message-id"]
    expand(run, message, rows, at_ms + 1, server=HOLDER, internal_id=mine)
    return run


def waits() -> Run:
    """Nobody has expanded it by the end, and no member has it."""
    run = run_with()
    run.accept(CAME, [STAFF])
    return run


def lost_on_the_way() -> Run:
    """One of two groups has been expanded, with ONE in both; what the other waited in is lost."""
    run = run_with({STAFF: [ONE, TWO], LEADS: [ONE]})
    for group in run.plan["topology"]["groups"]:
        group["expansion_server"] = EXPANDER
    message = run.accept(CAME, [STAFF, LEADS], shadow=None)
    again = hand_on(run, message, group=LEADS)
    expand(run, again, {"EXPAND": [(LEADS, [ONE])]}, SENT + 501)
    deliver(run, again, ONE)
    run.kill(PRIMARY, 10 * MINUTE, 20 * MINUTE, new_database=True)
    return run


def given_up(*, named: str) -> Run:
    """It waits for its expansion server for too long; the DSN names the group."""
    run = run_with()
    message = run.accept(CAME, [STAFF])
    run.log(PRIMARY, "FAIL", "QUEUE", 50 * MINUTE, message, recipients=[named],
            recipient_status="550 4.4.7 QUEUE.Expired")  # fmt: skip
    return run


def twice_outside(*, apart: bool) -> Run:
    """He is named himself as well, and two servers send it to him."""
    run = run_with({STAFF: [OUTSIDE]} if apart else {STAFF: [ONE]})
    message = run.accept(CAME, [STAFF, OUTSIDE], mail="outbound")
    deliver(run, message, OUTSIDE, at_ms=CAME + MINUTE)
    members = [OUTSIDE] if apart else [ONE]
    again = hand_on(run, message)
    expand(run, again, {"EXPAND": [(STAFF, members)]}, SENT + 501)
    deliver(run, again, *members)
    if not apart:
        run.show(replace(message, recipients=[OUTSIDE]), SENT)
    return run


RUNS = {
    "handed-on": handed_on(),
    "nested": nested(),
    "changed-on-the-way": changed_on_the_way(),
    "promoted": promoted(),
    "unsaid-and-put-off": handed_on(says=False),
    "without-a-shadow": handed_on(shadow=None),
    "not-expanded-there": handed_on({}),
    "expanded-at-once": at_once(),
    "by-another": by_another(),
    "promoted-and-not-expanded": promoted({}),
    "to-who-left-on-the-way": changed_on_the_way(ONE),
    "lost-there": handed_on(whom=(ONE,)),
    "waits": waits(),
    "given-up": given_up(named=STAFF),
    "lost-on-the-way": lost_on_the_way(),
    "twice-outside-apart": twice_outside(apart=True),
    "twice-outside": twice_outside(apart=False),
}


def runs() -> dict[str, Run]:
    run = RUNS["without-a-shadow"]
    run.remove(EXPANDER, "HAREDIRECTFAIL")
    put_off = RUNS["unsaid-and-put-off"]
    row = put_off.rows(PRIMARY, "RECEIVE")[0]
    put_off.tracking[PRIMARY].append({**row, "at_ms": 9 * MINUTE, "event-id": "DEFER",
                                      "source": "QUEUE", "source-context": "refused"})  # fmt: skip
    return made(RUNS)


SOUND = {
    "handed-on": (
        EXPANDED, ROUTED, RECIPIENTS, ROWS_FIT, REDUNDANT, INTAKE, NO_LOSS, NO_PHANTOM,
        NO_DUPLICATE,
    ),
    "nested": (EXPANDED, ROUTED, RECIPIENTS, ROWS_FIT, INTAKE, NO_LOSS, NO_PHANTOM),
    "changed-on-the-way": (EXPANDED, NO_LOSS, NO_PHANTOM, ROWS_FIT),
    "promoted": (EXPANDED,),
    "unsaid-and-put-off": (INTAKE,),
    "twice-outside-apart": (NO_DUPLICATE,),
}  # fmt: skip
WRONG = {
    "without-a-shadow": (REDUNDANT, "logged neither HAREDIRECT nor HAREDIRECTFAIL"),
    "not-expanded-there": (EXPANDED, f"expands {STAFF} not at all"),
    "expanded-at-once": (EXPANDED, f"expands {STAFF}, which {EXPANDER} expands"),
    "by-another": (EXPANDED, f"expands {STAFF}, which {EXPANDER} expands"),
    "promoted-and-not-expanded": (EXPANDED, f"expands {STAFF} not at all"),
    "to-who-left-on-the-way": (NO_PHANTOM, "not sent to this recipient"),
    "lost-there": (NO_LOSS, "never visible"),
    "waits": (NO_LOSS, "never visible"),
    "given-up": (NO_LOSS, "gave it up"),
    "twice-outside": (NO_DUPLICATE, "nothing explains them"),
}


@pytest.mark.parametrize("name", SOUND)
def test_holds(name: str, ask: Ask) -> None:
    assert_all_hold(ask, SOUND[name], name)


@pytest.mark.parametrize("name", WRONG)
def test_is_violated(name: str, ask: Ask) -> None:
    assert_is_violated(ask, *WRONG[name], name)


def test_the_server_that_stands_back_on_the_way_takes_it_only_where_something_is_in_it(
    ask: Ask,
) -> None:
    result = ask(ROUTED)["by-another"]
    assert "sent it to par-mbx2" in result.examples[0].detail, result.examples


def test_who_had_handed_it_on_for_others_is_no_custodian_for_who_is_left(ask: Ask) -> None:
    result = ask(NO_LOSS)["lost-on-the-way"]
    details = [each.detail for each in result.examples]
    assert details == ["1 messages are excused, not 0"], result.examples


def test_it_proves_rt_3_and_the_new_shadow_no_crossing(ask: Ask) -> None:
    assert ask(EXPANDED)["handed-on"].proofs["RT-3"] == "holds"
    assert ask(ROUTED)["handed-on"].proofs["RT-3"] == "holds"
    proofs = ask(REDUNDANT)["handed-on"].proofs
    assert proofs["SR-1"] == "holds"
    assert "SR-10" not in proofs


def test_whoever_has_it_for_the_group_has_it_for_its_members() -> None:
    """They had two custodians all the time: by turns for the group, then for them."""
    found = read.made(handed_on())
    (message,) = found.messages
    assert not stretches(message, found.run)
    found = read.made(handed_on(shadow=None))
    (message,) = found.messages
    assert [each.servers for each in stretches(message, found.run)] == [(EXPANDER,)]
