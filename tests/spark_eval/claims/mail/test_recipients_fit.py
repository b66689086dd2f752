from __future__ import annotations

import pytest

from spark_eval.claims.mail.recipients_fit import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.run_builder import (
    MINUTE,
    Message,
    Row,
    Run,
    empty,
    healthy,
    made,
    mono,
    user,
)

ONE, TWO, OTHER = user(1), user(2), user(1, "db2")
OUTSIDE = "someone@partner.example"
SERVER = "par-mbx1"
FORK = "database:DB1"


def _accepted(*recipients: str) -> tuple[Run, Message]:
    run = empty()
    return run, run.accept(MINUTE, list(recipients))


def _step(
    run: Run, message: Message, event: str, minute: int, *recipients: str, fork: str = FORK
) -> Row:
    source = "QUEUE" if event in ("DEFER", "FAIL") else "SMTP"
    return run.log(SERVER, event, source, minute * MINUTE, message, recipients=list(recipients),
                   custom={"Fork": fork} if fork else {})  # fmt: skip


def _put_off(*named: str, to: tuple[str, ...] = (ONE, TWO, OTHER), fork: str = FORK) -> Run:
    run, message = _accepted(*to)
    _step(run, message, "DEFER", 3, *named, fork=fork)
    return run


def _after(event: str, *named: str, then: str = "DEFER") -> Run:
    """The first recipient is done, and another step follows."""
    run, message = _accepted(ONE, TWO)
    _step(run, message, event, 3, ONE)
    _step(run, message, then, 5, *named, fork="" if then == "FAIL" else FORK)
    return run


def _loaded_between() -> Run:
    run = _after("SEND", ONE, TWO)
    sent, load = run.rows(SERVER, "SEND")[0], {"Mono": mono(4 * MINUTE)}
    custom = {"DatabaseId": run.database_ids[SERVER], **load}
    row = {"event-id": "LOAD", "source-context": "delivery", "at_ms": 4 * MINUTE}
    run.tracking[SERVER].append({**sent, **row, "custom": custom})
    return run


def _full_between() -> Run:
    run = _put_off(ONE)
    run.away("fill_disk", SERVER, 2 * MINUTE, 2 * MINUTE + 10_000)
    return run


HOLDS = {
    "all-of-a-next-hop": _put_off(ONE, TWO),
    "of-another-database": _put_off(OTHER, fork="database:DB2"),
    "outside": _put_off(OUTSIDE, to=(ONE, OUTSIDE), fork="external:ext1"),
    "those-who-are-left": _after("SEND", TWO),
    "given-up": _after("SEND", TWO, then="FAIL"),
    "loaded-between": _loaded_between(),
    "may-be-missing": _full_between(),
    "all-was-well": healthy(),
}
VIOLATED = {
    "of-several-next-hops": (_put_off(ONE, TWO, OTHER), "names recipients of several next hops"),
    "of-another-next-hop": (_put_off(OTHER), "who has another next hop than database:DB1"),
    "not-all": (_put_off(ONE), f"does not name {TWO}"),
    "sent-before": (_after("SEND", ONE, TWO), f"names {ONE}, with whom SEND had done at 0:03:00"),
    "given-up-before": (_after("FAIL", ONE, TWO), f"names {ONE}, with whom FAIL had done"),
    "given-up-after-all": (_after("SEND", ONE, TWO, then="FAIL"), f"names {ONE}, with whom SEND"),
}


def runs() -> dict[str, Run]:
    return made({**HOLDS, **{name: run for name, (run, _) in VIOLATED.items()}, "nothing": empty()})


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


@pytest.mark.parametrize("name", HOLDS)
def test_holds(name: str, results: Results) -> None:
    assert results[name].status == "holds", results[name].examples
    assert results[name].proofs == {"TL-1": "holds"}


@pytest.mark.parametrize("name", VIOLATED)
def test_is_violated(name: str, results: Results) -> None:
    result = results[name]
    assert (result.status, result.violations) == ("violated", 1), result.examples
    assert VIOLATED[name][1] in result.examples[0].detail


def test_asks_nothing_where_nothing_was_passed_on(results: Results) -> None:
    assert results["nothing"].asked_nothing
