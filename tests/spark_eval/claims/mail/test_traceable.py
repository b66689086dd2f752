from __future__ import annotations

from dataclasses import replace

import pytest

from spark_eval.claims.mail.traceable import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.faulty_runs import new_database
from tests.spark_eval.runs.run_builder import MINUTE, Run, empty, healthy, made, user

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


def _reply(message_id: str = MESSAGE, host: str = "par-mbx1.shadowlab.example") -> str:
    return f"250 2.6.0 {message_id} [InternalId=1, Hostname={host}] Queued mail for delivery"


def _dsn_received_anew() -> Run:
    """In another boundary, under a network message id of its own."""
    run = healthy()
    message = run.deliver(5 * MINUTE, [user(1)])
    report = replace(message, message_id="<dsn@lab>", internal_id=run.next_id(), network_id="made")
    run.log("par-mbx1", "DSN", "DSN", 6 * MINUTE, report)
    run.log("par-mbx1", "SEND", "SMTP", 6 * MINUTE + 2, report)
    anew = replace(report, internal_id=run.next_id(), network_id="anew")
    run.log("lyo-mbx2", "RECEIVE", "SMTP", 6 * MINUTE + 1, anew)
    return run


SOUND = {
    "dsn-received-anew": _dsn_received_anew(),
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
