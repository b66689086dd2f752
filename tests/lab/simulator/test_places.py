"""Faults at a place in the protocol, simulated: each place, each kind, and none at all."""

from dataclasses import replace
from typing import Any

import pytest

from lab.hosts.simulator.record import Record
from lab.hosts.simulator.simulation import simulate
from lab.plan_parts import Cut, Fault, Kill, LinkName, Pause, Restart, Stop, When
from lab.plan_values import Plan
from nodes.shell.places import PLACES, Place
from tests.lab.simulator.plans import plan
from tests.lab.simulator.test_simulation import MINUTE_MS, events, outcomes, rows

pytestmark = pytest.mark.slow

UNTIL_MS, FOR_MS = 30 * MINUTE_MS, 5 * MINUTE_MS
TIMES = (5 * MINUTE_MS, UNTIL_MS + FOR_MS)
TO_PARIS = (LinkName("workload", "par-mbx1", "smtp"),)


def when(place: Place, nth: int = 2, server: str = "par-mbx1", for_ms: int = FOR_MS) -> When:
    return When(server, place, nth, UNTIL_MS, for_ms)


def cut(place: Place, nth: int = 2) -> Cut:
    return Cut("f1", "cut", *TIMES, "ack-lost", TO_PARIS, when(place, nth))


def calm_with(*faults: Fault) -> Plan:
    return replace(plan("calm", 1), faults=faults)


def phases(record: Record) -> list[str]:
    return [row["phase"] for row in rows(record, "faults.jsonl")]


def phase(record: Record, name: str) -> dict[str, Any]:
    [row] = [row for row in rows(record, "faults.jsonl") if row["phase"] == name]
    return row


WHOLE = [
    "armed",
    "reached",
    "intended",
    "applied",
    "evidence",
    "heal-intended",
    "healed",
    "evidence-healed",
]


@pytest.mark.parametrize("place", PLACES)
def test_a_fault_begins_at_every_place_and_lasts_from_then(place: Place) -> None:
    server = "lyo-mbx1" if place == "before-shadow-250" else "par-mbx1"
    fault = Cut("f1", "cut", *TIMES, "stall", TO_PARIS, when(place, 1, server))
    record = simulate(calm_with(fault))
    assert phases(record) == WHOLE
    assert phase(record, "evidence")["took_effect"] is True
    applied, healing = phase(record, "applied"), phase(record, "heal-intended")
    assert healing["at_ms"] == applied["at_ms"] + FOR_MS
    assert 5 * MINUTE_MS <= phase(record, "reached")["reached_at_ms"] <= applied["at_ms"]


def test_the_acknowledgement_that_is_held_is_the_one_that_is_lost() -> None:
    record = simulate(calm_with(cut("after-data-before-250")))
    assert outcomes(record).count("unknown") == 1
    [lost] = [row for row in rows(record, "ledger.jsonl") if row.get("outcome") == "unknown"]
    started = next(
        row
        for row in rows(record, "ledger.jsonl")
        if row["type"] == "attempt" and row["message_id"] == lost["message_id"]
    )
    assert started["server"] == "par-mbx1"
    assert started["started_ms"] <= phase(record, "reached")["reached_at_ms"]


def test_a_primary_killed_before_its_commit_has_nothing_of_the_message() -> None:
    there = when("after-shadow-250-before-250")
    kill = Kill("f1", "kill", *TIMES, "par-mbx1", "same-queue-database", there)
    record = simulate(calm_with(kill))
    [lost] = [row for row in rows(record, "ledger.jsonl") if row.get("outcome") == "unknown"]
    log = "".join(
        line
        for name, lines in record.files.items()
        if name.startswith("logs/par-mbx1/MSGTRK")
        for line in lines
        if lost["message_id"] in line
    )
    assert ",RECEIVE," not in log.split("HADISCARD")[0]
    assert phases(record) == WHOLE


@pytest.mark.parametrize("kind", ["pause", "stop", "restart"])
def test_every_kind_of_fault_of_a_server_can_begin_at_a_place(kind: str) -> None:
    at_place = when("after-data-before-250", for_ms=0 if kind == "restart" else FOR_MS)
    fault: Fault
    match kind:
        case "pause":
            fault = Pause("f1", "pause", *TIMES, "par-mbx1", at_place)
        case "stop":
            fault = Stop("f1", "stop", *TIMES, "par-mbx1", at_place)
        case _:
            fault = Restart("f1", "restart", 5 * MINUTE_MS, UNTIL_MS, "par-mbx1", at_place)
    record = simulate(calm_with(fault))
    assert phases(record)[:4] == WHOLE[:4]
    assert phase(record, "evidence")["took_effect"] is True
    assert phase(record, "evidence-healed")["took_effect"] is True
    assert events(record, "par-mbx1").count("started") == (1 if kind == "pause" else 2)


def test_a_server_that_is_told_to_stop_while_it_is_held_answers_first() -> None:
    there = when("after-data-before-250")
    record = simulate(calm_with(Stop("f1", "stop", *TIMES, "par-mbx1", there)))
    assert "unknown" not in outcomes(record)
    stopped = [row for row in rows(record, "logs/par-mbx1/lifecycle.jsonl") if "stop" in str(row)]
    assert stopped[0]["at_ms"] - phase(record, "applied")["at_ms"] < 1000


def test_a_place_that_is_never_reached_leaves_everything_as_it_would_be() -> None:
    never = cut("after-data-before-250", nth=10_000)
    record = simulate(calm_with(never))
    assert phases(record) == ["armed", "evidence", "healed", "evidence-healed"]
    assert phase(record, "evidence")["took_effect"] is None
    calm = simulate(calm_with())
    assert record.file("ledger.jsonl") == calm.file("ledger.jsonl")
    assert record.file("mailboxes/DB1.jsonl") == calm.file("mailboxes/DB1.jsonl")


def test_the_same_plan_with_a_place_gives_the_same_bytes() -> None:
    one, two = (simulate(calm_with(cut("after-data-before-250"))) for _ in range(2))
    assert one.files == two.files
