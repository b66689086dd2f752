"""What plans may hold, by the driver and in SQL: both say the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from pyspark.sql import SparkSession
from spark_eval.read.plan import parsed_plans, runs
from spark_eval.read.scope import ANYTHING, NAMES, Scope, scope_of, together

from lab.planning.resolve import default_seed
from tests.lab.hosts.simulator.plans import SCENARIOS, plan
from tests.spark_eval.runs.run_builder import two_site_plan

Plan = dict[str, Any]
HOUR = 3_600_000


def _of_the_library(name: str) -> Plan:
    content: Plan = json.loads(plan(name, default_seed(name)).to_json())
    return content


def _with(change: Callable[[Plan], Any]) -> Plan:
    content = two_site_plan()
    change(content)
    return content


def _delaying_after(timeout_ms: int) -> Plan:
    service = {"TransportService": {"DelayNotificationTimeout": timeout_ms}}
    return _with(lambda p: p.update(duration_ms=HOUR, settings={"servers": {"par-mbx1": service}}))


THREE_COPIES = [{"server": each} for each in ("par-mbx1", "par-mbx2", "lyo-mbx1")]
SMALL = {
    "two-sites": two_site_plan(),
    "operations": _with(lambda p: p.update(operations=[{"id": "o1", "kind": "failover"}])),
    "strangers": _with(lambda p: p.update(strangers=[{"id": "s1"}])),
    "two-boundaries": _with(lambda p: p["topology"]["servers"][0].update(dag=None)),
    "three-copies": _with(lambda p: p["topology"]["databases"][0].update(copies=THREE_COPIES)),
    "delayed": _delaying_after(HOUR - 1),
    "over-before-a-delay": _delaying_after(HOUR),
}


@pytest.fixture(scope="module")
def plans() -> dict[str, Plan]:
    return SMALL | {name: _of_the_library(name) for name in SCENARIOS}


@pytest.fixture(scope="module")
def in_sql(spark: SparkSession, plans: dict[str, Plan]) -> dict[str, Scope]:
    rows = [(name, "plan.json", json.dumps(each)) for name, each in plans.items()]
    texts = spark.createDataFrame(rows, "run STRING, file STRING, value STRING")
    found = runs(parsed_plans(texts)).select("run", *NAMES).collect()
    return {row["run"]: Scope(*(row[name] for name in NAMES)) for row in found}


@pytest.mark.parametrize("name", [*SMALL, *SCENARIOS])
def test_a_plan_may_hold_the_same_in_sql(
    name: str, plans: dict[str, Plan], in_sql: dict[str, Scope]
) -> None:
    assert scope_of(plans[name]) == in_sql[name]


def test_each_of_it_is_there_and_is_not_there(plans: dict[str, Plan]) -> None:
    scopes = [scope_of(each) for each in plans.values()]
    for name in NAMES:
        assert {getattr(each, name) for each in scopes} == {True, False}, name


def test_a_plan_of_another_shape_may_hold_anything_but_strangers() -> None:
    assert scope_of({}) == Scope(has_strangers=False)


def test_together_they_may_hold_what_one_of_them_may() -> None:
    nothing = Scope(*(False for _ in NAMES))
    each = [Scope(*(name == mine for name in NAMES)) for mine in NAMES]
    assert together([nothing, nothing]) == nothing
    assert together([nothing, *each]) == ANYTHING
