from __future__ import annotations

from dataclasses import replace

import pytest

from spark_eval.claims.mail.traceable import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.faulty_runs import new_database
from tests.spark_eval.runs.run_builder import DOMAIN, MINUTE, Run, empty, healthy, made, user

MESSAGE = "<m000001.calm.7@outside.example>"
ANOTHER = "n-another"


def _named_otherwise(server: str, event: str) -> Run:
    """One row of the first message has another network message id."""
    run = healthy()
    run.rows(server, event)[0]["network-message-id"] = ANOTHER
    return run


def _swallowed(event: str, *, killed: bool) -> Run:
    """Its primary server lacks every row but one about a message that was sent."""
    run = empty()
    message = run.deliver(5 * MINUTE, [user(1)])
    for other in {"RECEIVE", "HAREDIRECT", "SEND"} - {event}:
        run.remove(message.primary, other)
    if killed:
        run.kill(message.primary, 5 * MINUTE + 500, 6 * MINUTE)
    return run


def _answered(reply: str) -> Run:
    run = healthy()
    outcome = next(row for row in run.ledger if row["type"] == "outcome")
    outcome["reply"] = reply
    return run


def _reply(
    message_id: str = MESSAGE, host: str = "par-mbx1.shadowlab.example", number: int = 1
) -> str:
    return f"250 2.6.0 {message_id} [InternalId={number}, Hostname={host}] Queued mail for delivery"


def _sent_on(network_id: str = "made", *, later: str = "") -> Run:
    """A DSN goes on to another server, which takes it under that network message id; `later`: its
    next queue database has the same internal id for another one.
    """
    run = healthy()
    message = run.deliver(5 * MINUTE, [user(1)])
    report = replace(message, message_id="<dsn@lab>", internal_id=run.next_id(), network_id="made")
    taken = replace(report, internal_id=run.next_id(), network_id=network_id)
    run.log("par-mbx1", "DSN", "DSN", 6 * MINUTE, report)
    run.log("lyo-mbx2", "RECEIVE", "SMTP", 6 * MINUTE + 1, taken)
    run.log("par-mbx1", "SEND", "SMTP", 6 * MINUTE + 2, report,
            server_hostname=f"lyo-mbx2.{DOMAIN}",
            source_context=_reply("<dsn@lab>", number=taken.internal_id))  # fmt: skip
    if later:
        run.kill("lyo-mbx2", 7 * MINUTE, 8 * MINUTE, new_database=True)
        run.log("lyo-mbx2", "RECEIVE", "SMTP", 9 * MINUTE, replace(taken, network_id=later))
    return run


def _renamed(event: str) -> Run:
    """A promoted message, or one that Safety Net gave back, has another id than what it was; its
    server says RECEIVE of it, so that the other id is no stranger's.
    """
    run, cause = healthy(), "REDUNDANCY" if event == "promoted" else "SAFETYNET"
    message = run.deliver(5 * MINUTE, [user(1)])
    held, anew = 1000 + message.internal_id, run.next_id()
    custom = run.key(message) if event == "promoted" else {"CopyInternalId": held}
    renamed = replace(message, internal_id=anew, network_id=ANOTHER)
    run.log("lyo-mbx1", "RESUBMIT", cause, 6 * MINUTE, renamed, custom=custom)
    run.log("lyo-mbx1", "HAREDIRECT", "SMTP", 6 * MINUTE + 1, renamed,
            custom={"ShadowServer": "lyo-mbx2", "Attempts": 1})  # fmt: skip
    return run


SOUND = {
    "sent-on": _sent_on(),
    "sent-on-before-a-new-database": _sent_on(later="later"),
    "healthy": healthy(),
    "promoted": new_database().run,
    "answered": _answered(_reply()),
    "with-its-speed": _answered(_reply().replace("] ", "] 4096 bytes in 0.1, 40 KB/sec ")),
}
IDS = {
    "delivered": (_named_otherwise("par-mbx2", "DELIVER"), "by which no server received it"),
    "sent": (_named_otherwise("par-mbx1", "SEND"), "by which no server received it"),
    "received": (_named_otherwise("par-mbx1", "RECEIVE"), "under two network message ids"),
    "shadowed": (_named_otherwise("lyo-mbx1", "HARECEIVE"), "under two network message ids"),
    "let-go": (_named_otherwise("lyo-mbx1", "HADISCARD"), "by which no server received it"),
}
RENAMED = {
    "sent-on": (_sent_on("anew"), "par-mbx1 sent it as made, and lyo-mbx2 took it as anew"),
    "promoted": (_renamed("promoted"), "under two network message ids"),
    "given-back": (_renamed("given-back"), "under two network message ids"),
}
REPLIES = {
    "in-other-words": "250 2.0.0 OK",
    "for-redundancy": _reply().replace("delivery", "redundancy"),
    "of-another-message": _reply("<m000002.calm.7@outside.example>"),
    "of-another-server": _reply(host="par-mbx2.shadowlab.example"),
    "without-a-number": _reply().replace("InternalId=1", "InternalId="),
}


def runs() -> dict[str, Run]:
    asked = SOUND | {"empty": empty(), "rows-swallowed": _swallowed("RECEIVE", killed=True)}
    asked |= {f"id-{name}": run for name, (run, _) in IDS.items()}
    asked |= {f"renamed-{name}": run for name, (run, _) in RENAMED.items()}
    asked |= {f"reply-{name}": _answered(reply) for name, reply in REPLIES.items()}
    return made(asked)


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


@pytest.mark.parametrize("name", [*SOUND, "rows-swallowed"])
def test_holds(name: str, results: Results) -> None:
    assert results[name].status == "holds", results[name].examples
    assert results[name].proofs == {"TL-3": "holds", "TL-5": "holds"}


@pytest.mark.parametrize("name", IDS)
def test_is_violated_by_another_network_message_id(name: str, results: Results) -> None:
    result = results[f"id-{name}"]
    assert (result.status, result.violations) == ("violated", 1)
    assert result.examples[0].subject == MESSAGE
    assert IDS[name][1] in result.examples[0].detail
    assert result.proofs["TL-3"] == "violated"


@pytest.mark.parametrize("name", RENAMED)
def test_is_violated_by_a_fork_or_a_copy_that_becomes_another_message(
    name: str, results: Results
) -> None:
    result = results[f"renamed-{name}"]
    assert (result.status, result.violations) == ("violated", 1)
    assert RENAMED[name][1] in result.examples[0].detail
    assert result.proofs["TL-3"] == "violated"


@pytest.mark.parametrize("name", REPLIES)
def test_is_violated_by_an_answer_that_does_not_name_the_message(
    name: str, results: Results
) -> None:
    result = results[f"reply-{name}"]
    assert (result.status, result.violations) == ("violated", 1)
    assert result.examples[0].subject == f"{MESSAGE}, attempt 1"
    assert result.examples[0].detail == f"par-mbx1 accepted it and answered {REPLIES[name]}"
    assert result.proofs["TL-5"] == "violated"


def test_asks_nothing_where_nobody_sent_anything(results: Results) -> None:
    assert results["empty"].asked_nothing
