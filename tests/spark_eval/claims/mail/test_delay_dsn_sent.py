from __future__ import annotations

from dataclasses import replace

import pytest

from spark_eval.claims.mail.delay_dsn_sent import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs import failover_runs
from tests.spark_eval.runs.run_builder import (
    END,
    HOUR,
    MINUTE,
    SECOND,
    Message,
    Run,
    empty,
    healthy,
    user,
)

SENDER, OUTSIDE = user(1), "someone@partner.example"
SERVER = "par-mbx1"
DELAY = 40 * MINUTE
RECEIVED = MINUTE + 500
DUE = RECEIVED + DELAY
# a second, two of the wall at 60 times its speed, and the clock's resolution
SLACK = SECOND + 120 * SECOND + 900


def _waits(sender: str = SENDER, until: int | None = None) -> tuple[Run, Message]:
    """One message, which somebody outside gets at `until`."""
    run = empty()
    service = {"DelayNotificationTimeout": DELAY}
    run.plan["settings"]["servers"] = {SERVER: {"TransportService": service}}
    message = run.accept(MINUTE, [OUTSIDE], mail="outbound")
    run.ledger[0]["sender"] = sender
    if until is not None:
        run.finish(message, until)
    return run, message


def _tell(run: Run, message: Message, at_ms: int = DUE, *, seen: bool = True) -> None:
    number = run.next_id()
    report = replace(
        message, message_id=f"<dsn.{number}@lab>", recipients=[SENDER], internal_id=number
    )
    run.log(SERVER, "DSN", "DSN", at_ms, report, reference=message.message_id,
            source_context="delayed")  # fmt: skip
    if seen:
        run.show(report, at_ms + MINUTE)


def _says(*names: str, action: str = "delayed") -> Run:
    run = _told(DUE)
    said = [{"recipient": each, "action": action} for each in names]
    run.mailboxes["DB1"][-1]["reports"] = said
    return run


def _told(*at_ms: int, until: int | None = 2 * HOUR, seen: bool = True) -> Run:
    run, message = _waits(until=until)
    for each in at_ms:
        _tell(run, message, each, seen=seen)
    return run


def _early_after_attempts() -> Run:
    """Its sender is notified too early, and it was made redundant with the third attempt only,
    before it was accepted.
    """
    run = _told(DUE - SLACK - SECOND)
    run.rows(SERVER, "HAREDIRECT")[-1]["custom"]["Attempts"] = 3
    return run


def _away(back_ms: int, *, told: bool, new_database: bool = False) -> Run:
    """The server is killed ten minutes before the message is delayed."""
    run, message = _waits()
    run.kill(SERVER, DUE - 10 * MINUTE, back_ms, new_database=new_database)
    if told:
        _tell(run, message, back_ms + MINUTE)
    return run


def _resubmitted(*, told: bool) -> Run:
    run, message = _waits(until=2 * MINUTE)
    run.log(SERVER, "RESUBMIT", "SAFETYNET", HOUR, message, internal_id=run.next_id())
    if told:
        _tell(run, message, HOUR + DELAY)
    return run


def _promoted(
    *holders: str, source: str = "SAFETYNET", told: bool = False, asked: bool = False
) -> Run:
    """What the server at lyo-mbx2 resubmitted, accepted, or loaded, is promoted by one holder of
    its shadow after another. The last one is the server, where it waits, and is loaded again.
    `asked`: somebody asked a Safety Net.
    """
    run, _ = _waits(until=2 * MINUTE)
    message = run.accept(MINUTE, [OUTSIDE], mail="outbound", primary="lyo-mbx2", shadow="lyo-mbx1")
    run.finish(message, 2 * MINUTE)
    for row in run.ledger:
        row["sender"] = SENDER
    held = replace(message, internal_id=run.next_id(), at_ms=HOUR)
    event = {"SAFETYNET": "RESUBMIT", "SMTP": "RECEIVE", "BOOTLOADER": "LOAD"}[source]
    run.log("lyo-mbx2", event, source, HOUR, held, source_context="delivery")
    if asked:
        failover_runs.request(run, "par-mbx2", HOUR)
    for number, holder in enumerate(holders):
        mine, at_ms = run.next_id(), HOUR + number * MINUTE
        run.log(holder, "HARECEIVE", "SMTP", at_ms, held, internal_id=1000 + mine,
                custom=run.key(held))  # fmt: skip
        run.log(holder, "RESUBMIT", "REDUNDANCY", at_ms + SECOND, held, internal_id=mine,
                source_context="resubmit-time-span", custom=run.key(held))  # fmt: skip
        held = replace(held, primary=holder, internal_id=mine,
                       database_id=run.database_ids[holder])  # fmt: skip
    run.log(SERVER, "LOAD", "BOOTLOADER", HOUR + len(holders) * MINUTE, held,
            source_context="delivery")  # fmt: skip
    if told:
        _tell(run, held, HOUR + len(holders) * MINUTE + DELAY)
    return run


def _lost_with_a_copy(run: Run) -> Run:
    """Its DSN was in a copy of the sender's database that is lost."""
    service = {"DelayNotificationTimeout": 15 * MINUTE}
    run.plan["settings"]["servers"] = {SERVER: {"TransportService": service}}
    message = failover_runs.send_delayed(run, 2 * MINUTE)
    failover_runs.notify(run, message, 17 * MINUTE + SECOND, context="delayed")
    return run


def _disabled(run: Run, kind: str) -> Run:
    run.plan["settings"]["TransportConfig"][f"{kind}DelayDsnEnabled"] = False
    return run


def _from_nobody() -> Run:
    run, _ = _waits(sender="")
    return run


def _not_collected() -> Run:
    run = _told(DUE, seen=False)
    run.drop.add("mailboxes/DB1.jsonl")
    return run


HOLDS = {
    "not-told-since-colleagues-are-not-to-hear": _disabled(_told(), "Internal"),
    "told-since-only-others-are-not-to-hear": _disabled(_told(DUE), "External"),
    "told-and-delivered": _told(DUE),
    "told-and-still-there": _told(DUE, until=None),
    "told-as-early-as-may-be": _told(DUE - SLACK),
    "told-when-it-is-back": _away(HOUR, told=True),
    "says-who": _says(OUTSIDE.upper()),
    "told-of-what-may-be-back": _promoted(SERVER, source="BOOTLOADER", told=True, asked=True),
}
VIOLATED = {
    "not-told": (_told(), "it waits at par-mbx1 beyond 0:43:03.300, and no DSN notifies"),
    "told-twice": (_told(DUE, DUE + MINUTE), "2 times of a delay; 1 of it waited"),
    "told-for-nothing": (_told(HOUR, until=2 * MINUTE), "1 times of a delay; 0 of it"),
    "told-too-early": (
        _told(DUE - SLACK - SECOND),
        "a delay at 0:38:57.600, before 0:38:57.700",
    ),
    "told-too-early-after-attempts": (
        _early_after_attempts(),
        "a delay at 0:38:57.600, before 0:38:57.700",
    ),
    "never-seen": (_told(DUE, seen=False), "delayed, and db1-user01@shadowlab.example never saw"),
    "lost-and-could-have-come-back": (
        _lost_with_a_copy(failover_runs.lossy().run),
        "delayed, and db1-user01@shadowlab.example never saw",
    ),
    "not-told-when-it-is-back": (_away(HOUR, told=False), "beyond 1:02:"),
    "says-nobody": (_says(), "delayed, and the DSN to db1-user01@shadowlab.example says so of"),
    "says-that-it-failed": (_says(OUTSIDE, action="failed"), "says so of nobody"),
    "says-another": (
        _says(OUTSIDE, user(3)),
        f"is notified of a delay for {user(3)}, for whom it does not wait",
    ),
    "told-though-colleagues-are-not-to-hear": (
        _disabled(_told(DUE), "Internal"),
        "DSNs of delay to such senders are off",
    ),
    "told-of-what-came-back": (_resubmitted(told=True), "1 times of a delay; 0 of it"),
    "told-of-its-shadow": (_promoted(SERVER, told=True), "1 times of a delay; 0 of it"),
    "not-told-of-a-promoted-one": (
        _promoted(SERVER, source="SMTP"),
        f"it waits at {SERVER} beyond 1:52:",
    ),
    "not-told-of-a-promoted-one-where-a-safety-net-was-asked": (
        _promoted(SERVER, source="SMTP", asked=True),
        f"it waits at {SERVER} beyond 1:52:",
    ),
    "not-told-where-no-safety-net-was-asked": (
        _promoted(SERVER, source="BOOTLOADER"),
        f"it waits at {SERVER} beyond 1:52:",
    ),
}
NOT_ASKED = {
    "delivered-before": healthy(),
    "nothing-sent": empty(),
    "delivered-just-then": _told(until=DUE + SLACK),
    "came-back-and-waits": _resubmitted(told=False),
    "its-shadow-waits": _promoted(SERVER),
    "the-shadow-of-its-shadow-waits": _promoted("par-mbx2", SERVER),
    "may-be-back-and-waits": _promoted(SERVER, source="BOOTLOADER", asked=True),
    "lost-with-its-database": _away(HOUR, told=False, new_database=True),
    "away-until-the-end": _away(END, told=False),
    "from-nobody": _from_nobody(),
    "lost-with-a-copy": _lost_with_a_copy(failover_runs.asked_too_late()),
}


def runs() -> dict[str, Run]:
    asked = {f"holds-{name}": run for name, run in HOLDS.items()}
    asked |= {f"violated-{name}": run for name, (run, _) in VIOLATED.items()}
    return asked | NOT_ASKED | {"not-collected": _not_collected()}


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


@pytest.mark.parametrize("name", HOLDS)
def test_holds(name: str, results: Results) -> None:
    result = results[f"holds-{name}"]
    assert (result.status, result.asked) == ("holds", 1), result.reason
    assert result.proofs == {"RT-5": "holds"}


@pytest.mark.parametrize("name", VIOLATED)
def test_is_violated(name: str, results: Results) -> None:
    result = results[f"violated-{name}"]
    assert (result.status, result.violations) == ("violated", 1)
    assert VIOLATED[name][1] in result.examples[0].detail


@pytest.mark.parametrize("name", NOT_ASKED)
def test_asks_nothing_of_what_did_not_surely_wait(name: str, results: Results) -> None:
    assert results[name].asked_nothing, results[name].reason


def test_is_unknown_where_nobody_knows_what_the_sender_saw(
    results: Results,
) -> None:
    assert results["not-collected"].status == "unknown"
    assert "was not collected" in results["not-collected"].reason
