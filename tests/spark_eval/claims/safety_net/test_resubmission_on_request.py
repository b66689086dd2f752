"""resubmission_complete and resubmission_bounded of what an administrator asks for: nothing failed
over, and each database has one copy.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import pytest

from spark_eval.claims.mail.dsn_suppressed import CLAIM as SUPPRESSED
from spark_eval.claims.mail.no_visible_duplicate import CLAIM as ONCE
from spark_eval.claims.safety_net.resubmission_bounded import CLAIM as BOUNDED
from spark_eval.claims.safety_net.resubmission_complete import CLAIM as COMPLETE
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.run_builder import (
    DOMAIN,
    HOUR,
    MAILBOX_SERVERS,
    MINUTE,
    SECOND,
    Message,
    Run,
    empty,
    iso,
    user,
)

ASKED = 40 * MINUTE
START, END_OF_IT = 10 * MINUTE, 30 * MINUTE
INSIDE = (12 * MINUTE, 20 * MINUTE)
OUTSIDE = (5 * MINUTE, 32 * MINUTE)
EXPIRED = "550 4.4.7 QUEUE.Expired"


def asked_for(*, takers: Collection[str] = MAILBOX_SERVERS, dag: str | None = "DAG1") -> Run:
    """A `resubmit` of DB1, said to all; `takers` take it on."""
    run = empty()
    for server in run.plan["topology"]["servers"]:
        if server["name"] in MAILBOX_SERVERS:
            server["dag"] = dag
    run.plan["operations"] = [
        {"id": "o1", "kind": "resubmit", "at_ms": ASKED, "database": "DB1", "start_ms": START,
         "end_ms": END_OF_IT}
    ]  # fmt: skip
    for phase, at_ms, more in (
        ("intended", ASKED, {}), ("applied", ASKED, {}),
        ("evidence", ASKED + 5 * SECOND, {"took_effect": True, "reason": "250 2.0.0 running 0"}),
    ):  # fmt: skip
        run.operations.append({"operation": "o1", "phase": phase, "at_ms": at_ms, **more})
    for server in takers:
        run.life(server, "resubmit-requested", ASKED + 2 * SECOND, request_id="o1",
                 safety_net="primary", database="DB1")  # fmt: skip
    return run


def give_back(
    run: Run, message: Message, *, request_id: str = "o1", safety_net: str = "primary",
    server: str | None = None, recipients: list[str] | None = None,
) -> None:  # fmt: skip
    """A new primary message, which the mailbox has already."""
    again = replace(message, primary=server or message.primary, internal_id=run.next_id(),
                    recipients=recipients or message.recipients)  # fmt: skip
    custom = {"Destination": "DB1", "SafetyNet": safety_net, "DeliveredAt": iso(message.done_ms),
              "CopyInternalId": message.internal_id}  # fmt: skip
    at_ms = ASKED + 10 * SECOND
    run.log(again.primary, "RESUBMIT", "SAFETYNET", at_ms, again, source_context=request_id,
            custom=custom)  # fmt: skip
    run.log(again.primary, "SEND", "SMTP", at_ms + SECOND, again, custom={"Fork": "database:DB1"},
            server_hostname=f"par-mbx2.{DOMAIN}")  # fmt: skip


def answered(*, given: Collection[int] = INSIDE, dag: str | None = "DAG1") -> Run:
    """Messages delivered at these times are given back."""
    run = asked_for(dag=dag)
    for at_ms in (*INSIDE, *OUTSIDE):
        message = run.deliver(at_ms, [user(1), user(2)], shadow="par-mbx2")
        if at_ms in given:
            give_back(run, message)
    return run


def _not_taken_on(*, away: bool) -> Run:
    run = asked_for(takers=[name for name in MAILBOX_SERVERS if name != "par-mbx1"])
    run.deliver(INSIDE[0], [user(1)])
    if away:
        run.kill("par-mbx1", ASKED - MINUTE, ASKED + MINUTE)
    return run


def _in_part() -> Run:
    run = asked_for()
    give_back(run, run.deliver(INSIDE[0], [user(1), user(2)]), recipients=[user(1)])
    return run


def _of_nobodys_request() -> Run:
    run = asked_for()
    give_back(run, run.deliver(INSIDE[0], [user(1)]), request_id="o7")
    return run


def _twice() -> Run:
    run = asked_for()
    message = run.deliver(INSIDE[0], [user(1)])
    give_back(run, message)
    give_back(run, message)
    return run


def _head_from_another() -> Run:
    """Par-mbx1 has lost its queue database, and another server answers for what it lacks."""
    run = asked_for()
    message = run.deliver(INSIDE[0], [user(1)])
    run.kill("par-mbx1", 33 * MINUTE, 34 * MINUTE, new_database=True)
    give_back(run, message, request_id="o1.par-mbx1.second", safety_net="shadow", server="par-mbx2")
    return run


def _left(*, given_back: bool) -> Run:
    """A message for both sites, whose boundaries differ, was sent on to Lyon."""
    run = asked_for(dag=None, takers=[name for name in MAILBOX_SERVERS if name.startswith("par")])
    names = [user(1), user(1, "db2")]
    message = run.accept(INSIDE[0], names, shadow="par-mbx2")
    run.cross(message, INSIDE[0] + SECOND)
    if given_back:
        message.done_ms = INSIDE[0] + SECOND
        give_back(run, message)
    return run


def _asked_elsewhere() -> Run:
    """In sites without a DAG, a server of the other site takes it on."""
    return asked_for(dag=None, takers=MAILBOX_SERVERS)


def _expired(*, told: bool) -> Run:
    run = asked_for()
    message = run.deliver(INSIDE[0], [user(1)])
    for row in run.ledger:
        if row["type"] == "message":
            row["sender"] = user(3)
    mine = replace(message, internal_id=run.next_id())
    custom = {"Destination": "DB1", "SafetyNet": "primary", "DeliveredAt": iso(message.done_ms),
              "CopyInternalId": message.internal_id}  # fmt: skip
    run.log("par-mbx1", "RESUBMIT", "SAFETYNET", ASKED + 10 * SECOND, mine, source_context="o1",
            custom=custom)  # fmt: skip
    run.log("par-mbx1", "FAIL", "QUEUE", HOUR, mine, recipient_status=EXPIRED)
    if told:
        row = run.log("par-mbx1", "DSN", "DSN", HOUR, mine, internal_id=9000,
                      reference=mine.message_id)  # fmt: skip
        row["message-id"] = f"<dsn.1@par-mbx1.{DOMAIN}>"
    else:
        run.log("par-mbx1", "SUPPRESSED", "DSN", HOUR, mine, recipient_status=EXPIRED,
                source_context="o1")  # fmt: skip
    return run


def _seen_twice() -> Run:
    run = answered()
    run.mailboxes["DB1"].append(run.mailboxes["DB1"][0])
    return run


def runs() -> dict[str, Run]:
    return {
        "answered": answered(), "without-a-dag": answered(dag=None),
        "one-left-out": answered(given=INSIDE[:1]),
        "before": answered(given=(*INSIDE, OUTSIDE[0])),
        "after": answered(given=(*INSIDE, OUTSIDE[1])),
        "not-taken-on": _not_taken_on(away=False), "away": _not_taken_on(away=True),
        "in-part": _in_part(), "nobodys": _of_nobodys_request(), "twice": _twice(),
        "head": _head_from_another(), "elsewhere": _asked_elsewhere(),
        "expired": _expired(told=False), "told": _expired(told=True), "seen": _seen_twice(),
        "left": _left(given_back=False), "left-and-back": _left(given_back=True),
    }  # fmt: skip


@pytest.fixture(scope="module")
def complete(ask: Ask) -> Results:
    return ask(COMPLETE)


@pytest.fixture(scope="module")
def bounded(ask: Ask) -> Results:
    return ask(BOUNDED)


@pytest.mark.parametrize("name", ["answered", "head"])
def test_what_was_asked_for_and_came_back_is_right(
    name: str, complete: Results, bounded: Results
) -> None:
    """Nothing failed over, and nobody is accused of that."""
    for told in (complete[name], bounded[name]):
        assert (told.status, told.violations, told.unknown) == ("holds", 0, 0), told.examples
        assert "SN-8" in told.proofs


def test_servers_in_no_dag_are_asked_too(complete: Results) -> None:
    assert complete["without-a-dag"].status == "holds"
    assert "SN-3" in complete["without-a-dag"].proofs
    assert "SN-3" not in complete["answered"].proofs


def test_what_surely_lies_inside_has_to_come_back(complete: Results) -> None:
    [example] = complete["one-left-out"].examples
    assert example.detail == (
        "par-mbx1 had delivered it into DB1 at 0:20:02.000, inside of the interval of o1, and "
        "never resubmitted it"
    )


def test_it_has_to_come_back_for_all_its_recipients(complete: Results) -> None:
    [example] = complete["in-part"].examples
    assert example.detail.endswith(f"for o1 without {user(2)}")


@pytest.mark.parametrize(("name", "delivered"), [("before", "0:05:02"), ("after", "0:32:02")])
def test_what_lies_outside_stays_away(name: str, delivered: str, bounded: Results) -> None:
    [example] = bounded[name].examples
    assert example.detail == (
        f"par-mbx1: o1 resubmitted what was delivered at {delivered}.000; asked for: resubmit of "
        "DB1, 0:10:00 to 0:30:00"
    )


def test_a_server_that_was_there_takes_the_request_on(complete: Results) -> None:
    [example] = complete["not-taken-on"].examples
    assert example.detail == (
        "par-mbx1 was asked for o1 at 0:40:00.000, was there, and did not take it on"
    )


def test_a_server_that_was_away_owes_nothing(complete: Results) -> None:
    assert (complete["away"].status, complete["away"].unknown) == ("holds", 0)


def test_nothing_comes_back_twice_for_one_request(bounded: Results) -> None:
    assert "resubmitted its copy" in bounded["twice"].examples[0].detail


def test_what_nobody_asked_for_is_named(bounded: Results) -> None:
    details = [example.detail for example in bounded["nobodys"].examples]
    assert details == ["par-mbx1: o7 names no failover, and no administrator asked for it"]


def test_only_the_boundary_of_the_database_is_asked(bounded: Results) -> None:
    told = bounded["elsewhere"]
    assert told.violations == sum(name.startswith("lyo") for name in MAILBOX_SERVERS)
    assert told.examples[0].detail.endswith("asks a server outside the boundary of DB1")


def test_what_left_the_boundary_in_the_interval_stays_away(bounded: Results) -> None:
    assert bounded["left"].proofs == {"SN-8": "holds", "SN-12": "holds"}
    details = [example.detail for example in bounded["left-and-back"].examples]
    said = "par-mbx1 sent it to lyo-mbx2, outside its boundary, and resubmitted it for o1"
    assert said in details


def test_no_sender_hears_of_what_came_back_and_expired(ask: Ask) -> None:
    told = ask(SUPPRESSED)
    assert told["expired"].status == "holds", told["expired"].examples
    assert told["told"].status == "violated"


def test_what_comes_back_shows_no_second_copy(ask: Ask) -> None:
    told = ask(ONCE)
    assert (told["answered"].status, told["seen"].status) == ("holds", "violated")
    assert "SN-15" in told["answered"].proofs
