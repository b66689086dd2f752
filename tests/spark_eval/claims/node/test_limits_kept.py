from __future__ import annotations

from typing import Any

import pytest

from spark_eval.claims.node.limits_kept import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.run_builder import MINUTE, SECOND, Run, empty, healthy, mono, user

SERVER = "par-mbx1"
CALLED = 3 * MINUTE
OK, TOO_MANY, NO_COMMAND = "250 2.1.5 Recipient OK", "452 4.5.3 Too many recipients", "500 5.3.3 ?"
TOO_LARGE = "552 5.3.4 Message size exceeds fixed maximum message size"
LOOP = "554 5.4.6 Hop count exceeded - possible mail loop"
ERRORS = "421 4.7.0 Too many errors on this connection, closing transmission channel"


def _note(run: Run, kind: str, at_ms: int, **said: object) -> None:
    row = {"type": kind, "stranger": "s1", "server": SERVER, **said}
    run.strangers.append({**row, "at_ms": at_ms, "mono_ns": mono(at_ms)})


def _calls(kind: str, *heard: tuple[str, str], end: str = "done", reply: str | None = None) -> Run:
    """Of MaxRecipientsPerMessage 2 and MaxProtocolErrors 2."""
    run = healthy()
    run.plan["strangers"] = [
        {"id": "s1", "kind": kind, "at_ms": CALLED, "server": SERVER, "certificate": None,
         "commands": [], "trickle": None}
    ]  # fmt: skip
    servers = run.plan["settings"].setdefault("servers", {})
    limits = {"MaxRecipientsPerMessage": 2, "MaxProtocolErrors": 2}
    servers.setdefault(SERVER, {})["ReceiveConnector"] = limits
    for number, (command, said) in enumerate((("banner", "220"), *heard)):
        _note(run, "reply", CALLED + number * SECOND, command=command, reply=said)
    _note(run, "end", CALLED + MINUTE, outcome=end, reply=reply, sent_bytes=0)
    return run


def _recipients(*replies: str) -> Run:
    return _calls("too-many-recipients", *(("RCPT TO:<a@b>", said) for said in replies))


def _lines(count: int, end: str = "refused", reply: str | None = ERRORS) -> Run:
    said = [("NONSENSE 1", NO_COMMAND)] * count
    return _calls("no-commands", *said, end=end, reply=reply)


def _message(kind: str, reply: str) -> Run:
    return _calls(kind, (".", reply))


def _killed(run: Run) -> Run:
    run.kill(SERVER, CALLED + SECOND, CALLED + MINUTE)
    return run


def _offered(reply: str | None, outcome: str, *, size: int = 2000, hops: int = 0) -> Run:
    """One message of the workload, of MaxReceiveSize 1000 and MaxHopCount 60."""
    run = empty()
    run.plan["settings"]["TransportConfig"]["MaxReceiveSize"] = 1000
    message_id = run.submit(CALLED, [user(1)])
    run.ledger[-1] |= {"content_bytes": size, "hops": hops}
    run.attempt(message_id, SERVER, CALLED, outcome, reply, CALLED + SECOND)
    return run


def _limited(event: str, status: str | None, **settings: Any) -> Run:
    """What becomes of a message of 2000 octets from a colleague to two."""
    run = empty()
    run.plan["settings"]["TransportConfig"] |= settings
    message = run.accept(CALLED, [user(1), user(2)])
    run.ledger[0] |= {"sender": user(3), "content_bytes": 2000}
    source = "QUEUE" if event == "FAIL" else "STOREDRIVER"
    more = {} if status is None else {"recipient_status": f"{status};{status}"}
    run.log(SERVER, event, source, CALLED + SECOND, message, recipients=[user(1), user(2)], **more)
    return run


RECIPIENTS, SEND_SIZE = "550 5.5.3 RESOLVER.ADR.RecipLimit", "550 5.2.3 RESOLVER.RST.SendSizeLimit"
HOLDS = {
    "recipients": _recipients(OK, OK, TOO_MANY, TOO_MANY),
    "lines": _lines(2),
    "lines-without-a-last-word": _lines(2, "closed", None),
    "too-large": _message("too-large", TOO_LARGE),
    "hops": _message("too-many-hops", LOOP),
    "local-hops": _message("too-many-local-hops", LOOP),
    "mail-too-large": _offered(TOO_LARGE, "failed"),
    "mail-with-hops": _offered(LOOP, "failed", size=100, hops=61),
    "given-up-for-recipients": _limited("FAIL", RECIPIENTS, MaxRecipientEnvelopeLimit=1),
    "given-up-for-its-size": _limited("FAIL", SEND_SIZE, MaxSendSize=1999),
}
VIOLATED = {
    "a-third-recipient": (_recipients(OK, OK, OK), "takes 3 recipients, at most 2"),
    "one-recipient": (_recipients(OK, TOO_MANY), "takes 1 recipients and no more, of 2"),
    "a-third-line": (_lines(3, "done", None), "hears 3 lines that are no commands, at most 2"),
    "one-line": (_lines(1), "ends a session after 1 lines that are no commands, not after 2"),
    "large-mail-of-a-stranger": (_message("too-large", "250 2.6.0 ok"), "says 250 2.6.0 ok"),
    "other-word": (_message("too-many-hops", TOO_LARGE), "not 554 5.4.6"),
    "mail-too-large": (_offered("250 2.6.0 ok", "ok"), "2000 bytes, and MaxReceiveSize is 1000"),
    "mail-with-hops": (
        _offered("250 2.6.0 ok", "ok", size=100, hops=61), "61 hops, and MaxHopCount is 60"
    ),
    "delivered-to-too-many": (
        _limited("DELIVER", None, MaxRecipientEnvelopeLimit=1), "give it up with 550 5.5.3"
    ),
    "given-up-for-two": (
        _limited("FAIL", RECIPIENTS, MaxRecipientEnvelopeLimit=2), "it exceeds no such limit"
    ),
    "given-up-for-the-other-limit": (
        _limited("FAIL", SEND_SIZE, MaxRecipientEnvelopeLimit=1), "it exceeds no such limit"
    ),
    "given-up-at-its-limit": (
        _limited("FAIL", SEND_SIZE, MaxSendSize=2000), "it exceeds no such limit"
    ),
}  # fmt: skip
NOT_ASKED = {
    "nobody": healthy(),
    "killed-meanwhile": _killed(_lines(1, "closed", None)),
    "stopping": _lines(1, "refused", "421 4.3.2 Service not active"),
    "short-of-memory": _message("too-large", "452 4.3.1 Insufficient system resources"),
    "nobody-answered": _offered(None, "unknown"),
    "expired": _limited("FAIL", "550 4.4.7 QUEUE.Expired"),
}  # fmt: skip


def runs() -> dict[str, Run]:
    wrong = {f"violated-{name}": run for name, (run, _) in VIOLATED.items()}
    return {**HOLDS, **wrong, **NOT_ASKED}


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


@pytest.mark.parametrize("name", HOLDS)
def test_what_is_beyond_a_limit_and_hears_so_holds(name: str, results: Results) -> None:
    assert (results[name].status, results[name].violations) == ("holds", 0)


@pytest.mark.parametrize("name", VIOLATED)
def test_a_limit_that_is_not_kept_is_a_violation(name: str, results: Results) -> None:
    result = results[f"violated-{name}"]
    assert (result.status, result.violations) == ("violated", 1)
    assert VIOLATED[name][1] in result.examples[0].detail
    assert result.proofs["TL-5"] == "violated"


@pytest.mark.parametrize("name", NOT_ASKED)
def test_what_says_nothing_of_a_limit_is_not_asked(name: str, results: Results) -> None:
    assert results[name].asked == 0
