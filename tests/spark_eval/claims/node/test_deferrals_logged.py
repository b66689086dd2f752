from __future__ import annotations

import pytest

from spark_eval.claims.node.deferrals_logged import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.run_builder import (
    DOMAIN,
    MINUTE,
    SECOND,
    Message,
    Run,
    apart,
    empty,
    healthy,
    user,
)

SERVER, PEER = "par-mbx1", "par-mbx2"
LOG = f"logs/{SERVER}/CONNECTLOG20260105-1.LOG"
BEGAN, SENT = 20 * MINUTE, 30 * MINUTE
ENDED = BEGAN + 100
# a quarter of a wall second at 60 times its speed, and five times the clock's resolution of 900 ms
VAGUE = 15 * SECOND + 4_500
OUTSIDE = "someone@partner.example"


def _accepted(run: Run, recipient: str = user(1)) -> Message:
    return run.accept(BEGAN - SECOND, [recipient])


def _fails(
    run: Run, began_ms: int = BEGAN, *, peer: str = PEER, purpose: str = "delivery",
    stands: bool = False,
) -> None:  # fmt: skip
    """A session is opened and given up."""
    refused = "Messages: 0 (Retry : connection refused)"
    rows = [(began_ms, "+", purpose), (began_ms + 100, "-", refused)]
    if stands:
        rows.insert(1, (began_ms + 10, ">", "Established connection"))
    for at_ms, direction, text in rows:
        run.contacts.setdefault(SERVER, []).append(
            {"at_ms": at_ms, "session": f"out-{began_ms}", "source": "SMTP",
             "destination": peer, "direction": direction, "description": text}
        )  # fmt: skip


def _put_off(run: Run, message: Message, at_ms: int, server: str = SERVER) -> None:
    run.log(server, "DEFER", "QUEUE", at_ms, message, source_context="connection refused",
            custom={"Fork": "database:DB1"})  # fmt: skip


def _sent(run: Run, message: Message, at_ms: int = SENT, peer: str = PEER) -> Run:
    fqdn = f"{peer}.{DOMAIN}" if peer != "ext1" else "ext1.partner.example"
    run.log(SERVER, "SEND", "SMTP", at_ms, message, server_hostname=fqdn,
            custom={"Fork": "database:DB1"})  # fmt: skip
    return run


def _tried(*put_off_ms: int, times: int = 1, every_ms: int = MINUTE) -> Run:
    """A message whose deliveries fail before it is sent, and what DEFER rows there are of it."""
    run = empty()
    message = _accepted(run)
    for number in range(times):
        _fails(run, BEGAN + number * every_ms)
    for at_ms in put_off_ms:
        _put_off(run, message, at_ms)
    return _sent(run, message)


def _another_was_put_off() -> Run:
    """Of two that wait, the one that was tried."""
    run = _tried()
    _put_off(run, _accepted(run), ENDED)
    return run


def _put_off_elsewhere() -> Run:
    run = empty()
    message = _accepted(run)
    _fails(run)
    _put_off(run, message, ENDED, "lyo-mbx1")
    return _sent(run, message)


def _to(peer: str, *, recipient: str = user(1, "db2")) -> Run:
    run = empty()
    message = _accepted(run, recipient)
    _fails(run, peer=peer)
    return _sent(run, message, peer=peer)


def _other_boundary() -> Run:
    run = _to("lyo-mbx2")
    apart(run)
    return run


def _two_for_a_domain() -> Run:
    run = _to("ext1", recipient=OUTSIDE)
    servers = run.plan["topology"]["servers"]
    servers.append({**servers[-1], "name": "ext2", "fqdn": "ext2.partner.example"})
    return run


def _several_copies() -> Run:
    run = _tried()
    (first, *_) = (each for each in run.plan["topology"]["databases"] if each["name"] == "DB1")
    first["copies"].append({"server": "lyo-mbx2"})
    return run


def _loaded_only() -> Run:
    """Its RECEIVE was swallowed."""
    run = _tried()
    run.remove(SERVER, "RECEIVE")
    message = Message("<m000001.calm.7@outside.example>", "n-<m000001.calm.7@outside.example>",
                      [user(1)], 0, SERVER, "", 1, run.database_ids[SERVER])  # fmt: skip
    run.log(SERVER, "LOAD", "BOOTLOADER", BEGAN - SECOND, message, source_context="delivery")
    return run


def _nobody_waited(*, came: bool) -> Run:
    """It was sent before, or came afterwards."""
    run = empty()
    _fails(run)
    if came:
        return _sent(run, _accepted(run), BEGAN - 1)
    return _sent(run, run.accept(BEGAN + MINUTE, [user(1)]))


def _only(**how: object) -> Run:
    run = empty()
    message = _accepted(run)
    _fails(run, **how)  # type: ignore[arg-type]
    return _sent(run, message)


def _killed(start: int) -> Run:
    run = _tried()
    run.kill(SERVER, start, start + MINUTE)
    return run


def _away(kind: str) -> Run:
    run = _tried()
    run.away(kind, SERVER, BEGAN - MINUTE, BEGAN + 5 * MINUTE)
    return run


def _torn_log() -> Run:
    run = _tried()
    run.tail[LOG] = "2026-01-05T0"
    return run


HOLDS = {
    "said-at-once": (_tried(ENDED), 1),
    "said-as-late-as-may-be": (_tried(ENDED + VAGUE), 1),
    "said-as-early-as-may-be": (_tried(ENDED - 2 * VAGUE), 1),
    "each-of-three": (_tried(ENDED, ENDED + MINUTE, ENDED + 2 * MINUTE, times=3), 3),
    "two-together": (_tried(ENDED, ENDED + 1, times=2, every_ms=1), 2),
    "another-of-its-queue": (_another_was_put_off(), 1),
}
VIOLATED = {
    "never-said": (_tried(), 1),
    "said-too-late": (_tried(ENDED + VAGUE + 1), 1),
    "said-too-early": (_tried(ENDED - 2 * VAGUE - 1), 1),
    "one-of-three": (_tried(ENDED, ENDED + 2 * MINUTE, times=3), 1),
    "one-of-two-together": (_tried(ENDED, times=2, every_ms=1), 1),
    "said-by-another-server": (_put_off_elsewhere(), 1),
    "outside": (_to("ext1", recipient=OUTSIDE), 1),
    "other-site": (_to("lyo-mbx2"), 1),
    "loaded": (_loaded_only(), 1),
    "killed-long-after": (_killed(BEGAN + 5 * MINUTE), 1),
}
NOT_ASKED = {
    "all-was-well": healthy(),
    "nothing-sent": empty(),
    "heartbeat-failed": _only(purpose="heartbeat"),
    "session-stood": _only(stands=True),
    "tried-elsewhere": _only(peer="lyo-mbx2"),
    "sent-before": _nobody_waited(came=True),
    "came-afterwards": _nobody_waited(came=False),
    "other-boundary": _other_boundary(),
    "two-for-a-domain": _two_for_a_domain(),
    "several-copies": _several_copies(),
    "killed": _killed(BEGAN + SECOND),
    "paused": _away("pause"),
    "stopped": _away("stop"),
    "restarted": _away("restart"),
    "disk-full": _away("fill_disk"),
    "torn-log": _torn_log(),
}


def runs() -> dict[str, Run]:
    asked = {f"holds-{name}": run for name, (run, _) in HOLDS.items()}
    asked |= {f"violated-{name}": run for name, (run, _) in VIOLATED.items()}
    return asked | NOT_ASKED


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


@pytest.mark.parametrize("name", HOLDS)
def test_holds(name: str, results: Results) -> None:
    result = results[f"holds-{name}"]
    assert (result.status, result.asked) == ("holds", HOLDS[name][1]), result.examples
    assert result.proofs == {"TL-2": "holds"}


@pytest.mark.parametrize("name", VIOLATED)
def test_is_violated(name: str, results: Results) -> None:
    result = results[f"violated-{name}"]
    assert (result.status, result.violations) == ("violated", VIOLATED[name][1]), result
    (example, *_) = result.examples
    assert example.refs[0][0] == LOG
    assert {file.rpartition("/")[2][:6] for file, _ in example.refs[1:]} == {"MSGTRK"}
    assert result.proofs == {"TL-2": "violated"}


def test_says_what_waited_and_what_the_logs_have(results: Results) -> None:
    (example, *_) = results["violated-never-said"].examples
    assert example.subject == "out-1200000 of par-mbx1"
    assert example.detail == (
        "par-mbx1 called par-mbx2 for a delivery at 0:20:00.000 and gave up at 0:20:00.100 "
        "(connection refused), <m000001.calm.7@outside.example> waited for it from 0:19:59.500 to "
        "0:30:00.000; DEFER rows about then: 0, sessions given up: 1"
    )


@pytest.mark.parametrize("name", NOT_ASKED)
def test_asks_nothing_where_nothing_was_surely_put_off(name: str, results: Results) -> None:
    assert results[name].asked_nothing
