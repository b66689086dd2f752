from __future__ import annotations

import pytest

from spark_eval.claims.node.settings_shown import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.run_builder import MAILBOX_SERVERS, Run, empty

SIZE, TIME_MS = 4096, 60_000


def _shown(size: int | None = SIZE, time_ms: int | None = TIME_MS, *, planned: bool = True) -> Run:
    run = empty()
    if planned:
        run.plan["settings"]["TransportConfig"].update(
            {"MaxDumpsterSizePerDatabase": SIZE, "MaxDumpsterTime": TIME_MS}
        )
    more = {"max_dumpster_size_per_database_bytes": size, "max_dumpster_time_ms": time_ms}
    for server in MAILBOX_SERVERS:
        run.life(server, "configured", 0, **{k: v for k, v in more.items() if v is not None})
    return run


VIOLATED = {
    "another-size": _shown(SIZE + 1),
    "another-time": _shown(time_ms=TIME_MS + 1),
    "no-size": _shown(None),
    "no-time": _shown(time_ms=None),
}


def runs() -> dict[str, Run]:
    return {"holds": _shown(), "not-planned": _shown(planned=False)} | VIOLATED


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


def test_asks_each_mailbox_server(results: Results) -> None:
    result = results["holds"]
    assert (result.status, result.asked) == ("holds", len(MAILBOX_SERVERS))
    assert result.proofs == {"SN-18": "holds"}


@pytest.mark.parametrize("name", VIOLATED)
def test_is_violated(name: str, results: Results) -> None:
    assert results[name].violations == len(MAILBOX_SERVERS)


def test_asks_nothing_where_the_plan_does_not_say(results: Results) -> None:
    assert results["not-planned"].asked_nothing
