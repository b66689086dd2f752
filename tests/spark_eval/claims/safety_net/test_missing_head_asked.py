from __future__ import annotations

import pytest

from spark_eval.claims.safety_net.missing_head_asked import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.failover_runs import MOUNTED, REQUEST, activate, with_two_copies
from tests.spark_eval.runs.run_builder import HOUR, MAILBOX_SERVERS, MINUTE, SECOND, Run, iso

YOUNG, ID = "par-mbx1", "par-mbx1-second"
OTHERS = tuple(name for name in MAILBOX_SERVERS if name != YOUNG)
START, MADE, END = MINUTE, 10 * MINUTE, MOUNTED
ASKED = MOUNTED + 10 * SECOND


def _young(
    *, made_ms: int = MADE, takers: tuple[str, ...] = OTHERS, start_ms: int = START,
    end_ms: int = MADE, at_ms: int = ASKED + SECOND, head: str = f"{YOUNG}.{ID}",
) -> Run:  # fmt: skip
    """A queue database made at `MADE`, a request from `START` on, and who answers for its head."""
    run = with_two_copies()
    activate(run)
    run.life(YOUNG, "database-created", made_ms, database_id=ID)
    run.life(YOUNG, "resubmit-requested", ASKED, request_id=REQUEST, safety_net="primary",
             database="DB1", start=iso(START), end=iso(END))  # fmt: skip
    for server in takers:
        run.life(server, "resubmit-requested", at_ms, request_id=f"{REQUEST}.{head}",
                 safety_net="shadow", database="DB1", start=iso(start_ms),
                 end=iso(end_ms))  # fmt: skip
    return run


def _cut_off(server: str) -> Run:
    run = _young(takers=tuple(name for name in OTHERS if name != server))
    run.cut(YOUNG, server, MOUNTED - MINUTE, HOUR)
    return run


HOLDS = _young()
VIOLATED = {
    "nobody-asked": (_young(takers=()), len(OTHERS)),
    "one-not-asked": (_young(takers=OTHERS[1:]), 1),
    "asked-after-twelve-hours": (_young(at_ms=ASKED + 12 * HOUR), len(OTHERS)),
    "for-all-of-it": (_young(end_ms=END), len(OTHERS)),
    "for-too-little": (_young(end_ms=MADE - 2 * MINUTE), len(OTHERS)),
    "from-later-on": (_young(start_ms=START + MINUTE), len(OTHERS)),
    "of-another-queue-database": (_young(head=f"{YOUNG}.another"), len(OTHERS)),
}
NOT_ASKED = {"old-enough": _young(made_ms=START, takers=()), "no-request": with_two_copies()}


def runs() -> dict[str, Run]:
    violated = {f"violated-{name}": run for name, (run, _) in VIOLATED.items()}
    return {"holds": HOLDS, "cut-off": _cut_off(OTHERS[0])} | violated | NOT_ASKED


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


def test_asks_whom_of_what(results: Results) -> None:
    result = results["holds"]
    assert (result.status, result.asked) == ("holds", 2 * len(OTHERS)), result.examples
    assert result.proofs == {"SN-9": "holds"}


@pytest.mark.parametrize("name", VIOLATED)
def test_is_violated(name: str, results: Results) -> None:
    result = results[f"violated-{name}"]
    assert (result.status, result.violations) == ("violated", VIOLATED[name][1]), result


def test_asks_nothing_of_a_way_in_trouble(results: Results) -> None:
    result = results["cut-off"]
    assert (result.status, result.asked) == ("holds", 2 * (len(OTHERS) - 1))


@pytest.mark.parametrize("name", NOT_ASKED)
def test_asks_nothing_where_nothing_is_lacking(name: str, results: Results) -> None:
    assert results[name].asked_nothing
