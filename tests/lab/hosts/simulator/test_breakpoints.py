"""Faults at a place in the protocol, simulated: each place, each kind, and none at all."""

import csv
import re
from dataclasses import replace
from typing import Any

import pytest

from lab.hosts.simulator.record_in_memory import RecordInMemory
from lab.hosts.simulator.simulation import simulate
from lab.plan.faults import Corrupt, Fault, Kill, Pause, PowerLoss, Restart, Stop
from lab.plan.link_faults import Cut
from lab.plan.plan import Plan
from lab.plan.topology import LinkName
from lab.plan.when import When
from nodes.core.config.parameters import find
from nodes.shell.chaos.places import PLACES, Place
from nodes.shell.logs.exchange import TRACKING_FIELDS
from tests.lab.hosts.simulator.plans import plan
from tests.lab.hosts.simulator.test_simulation import MINUTE_MS, events, outcomes, rows

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


def phases(record: RecordInMemory) -> list[str]:
    return [row["phase"] for row in rows(record, "faults.jsonl")]


def phase(record: RecordInMemory, name: str) -> dict[str, Any]:
    [row] = [row for row in rows(record, "faults.jsonl") if row["phase"] == name]
    return row


FIELDS = TRACKING_FIELDS.split(",")
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


IN_A_CALM: dict[Place, str] = {
    "after-data-before-250": "par-mbx1",
    "before-shadow-250": "lyo-mbx1",
    "after-shadow-250-before-250": "par-mbx1",
    "after-xqdiscard-before-reply": "par-mbx1",
    "after-data-before-commit": "par-mbx1",
    "before-shadow-commit": "lyo-mbx1",
}
ELSEWHERE: dict[Place, tuple[str, str]] = {
    "in-group-commit": ("power-fails", "par-mbx1"),
    "between-promotion-pages": ("killed-in-a-promotion", "lyo-mbx1"),
    "between-resubmission-pages": ("killed-between-pages", "lyo-mbx1"),
    "before-seed-commit": ("lossy-failover", "par-mbx2"),
    "before-seed-250": ("lossy-failover", "par-mbx2"),
}


BEFORE_A_COMMIT: tuple[Place, ...] = (
    "after-data-before-commit",
    "before-shadow-commit",
    "in-group-commit",
)


def struck(place: Place, kind: str = "kill") -> Plan:
    """The plan in which its server is at that place, with that fault there."""
    name, server = ELSEWHERE.get(place) or ("calm", IN_A_CALM[place])
    found = plan(name, 1)
    others = tuple(fault for fault in found.faults if fault.when is None)
    there = When(server, place, 1, 50 * MINUTE_MS, FOR_MS)
    return replace(found, faults=(*others, fault_of(kind, server, there)))


def fault_of(kind: str, server: str, there: When) -> Fault:
    times = (3 * MINUTE_MS, there.until_ms + there.for_ms)
    match kind:
        case "power_loss":
            return PowerLoss("there", "power_loss", *times, server, there)
        case "corrupt":
            return Corrupt("there", "corrupt", *times, server, there)
        case _:
            return Kill("there", "kill", *times, server, "same-queue-database", there)


def test_every_place_is_tried() -> None:
    assert {*IN_A_CALM, *ELSEWHERE} == {*PLACES}


WAYS = [
    *((place, "kill") for place in PLACES),
    *((place, kind) for place in BEFORE_A_COMMIT for kind in ("power_loss", "corrupt")),
]


@pytest.mark.parametrize(("place", "kind"), WAYS)
def test_a_server_can_die_in_any_way_at_every_place_and_comes_back(place: Place, kind: str) -> None:
    struck_plan = struck(place, kind)
    record = simulate(struck_plan)
    found = of_the_place(record)
    assert [row["phase"] for row in found] == WHOLE
    assert [row["took_effect"] for row in found if "took_effect" in row] == [True, True]
    at_ms = {row["phase"]: row["at_ms"] for row in found}
    assert at_ms["applied"] == at_ms["reached"]
    assert at_ms["heal-intended"] == at_ms["applied"] + FOR_MS
    assert record.crashes == {}


@pytest.mark.parametrize("place", IN_A_CALM)
def test_a_cut_begins_at_every_place_and_lasts_from_then(place: Place) -> None:
    fault = Cut("f1", "cut", *TIMES, "stall", TO_PARIS, when(place, 1, IN_A_CALM[place]))
    record = simulate(calm_with(fault))
    assert phases(record) == WHOLE
    assert phase(record, "evidence")["took_effect"] is True
    applied, healing = phase(record, "applied"), phase(record, "heal-intended")
    assert healing["at_ms"] == applied["at_ms"] + FOR_MS
    assert 5 * MINUTE_MS <= phase(record, "reached")["reached_at_ms"] <= applied["at_ms"]


def tracked(record: RecordInMemory, server: str, event: str) -> tuple[list[str], list[str]]:
    """Message-Ids of a server's tracking rows with that event: before its death, and after."""
    [death_ns] = [row["mono_ns"] for row in of_the_place(record) if row["phase"] == "applied"]
    before, after = list[str](), list[str]()
    for name, lines in record.files.items():
        for line in lines if name.startswith(f"logs/{server}/MSGTRK") else ():
            written = re.search(r"S:Mono=([0-9]+)", line)
            if written is None:
                continue  # the header
            row = dict(zip(FIELDS, next(csv.reader([line])), strict=True))
            if row["event-id"] == event:
                (before if int(written[1]) <= death_ns else after).append(row["message-id"])
    return before, after


def of_the_place(record: RecordInMemory) -> list[dict[str, Any]]:
    return [row for row in rows(record, "faults.jsonl") if row["fault"] == "there"]


def last_offered(record: RecordInMemory, server: str) -> str:
    """The Message-Id of what a server was given last before its death."""
    [death_ms] = [row["at_ms"] for row in of_the_place(record) if row["phase"] == "applied"]
    inputs = rows(record, f"logs/{server}/inputs.jsonl")
    origin_ms = inputs[0]["now_ms"]
    offered = [row for row in inputs if row["input"] == "MessageOffered"]
    return str(
        [r for r in offered if r["now_ms"] - origin_ms <= death_ms][-1]["header"]["message_id"]
    )


def test_a_primary_that_dies_before_its_commit_has_a_shadow_and_nothing_of_its_own() -> None:
    record = simulate(struck("after-data-before-commit"))
    [lost] = [row for row in rows(record, "ledger.jsonl") if row.get("outcome") == "unknown"]
    shadowed, _ = tracked(record, "par-mbx1", "HAREDIRECT")
    received, _ = tracked(record, "par-mbx1", "RECEIVE")
    loaded = [each for part in tracked(record, "par-mbx1", "LOAD") for each in part]
    assert shadowed[-1] == lost["message_id"]
    assert lost["message_id"] not in (*received, *loaded)


def test_a_shadow_server_that_dies_before_its_commit_has_nothing_and_another_one_has_it() -> None:
    record = simulate(struck("before-shadow-commit"))
    message_id = last_offered(record, "lyo-mbx1")
    held = [each for part in tracked(record, "lyo-mbx1", "HARECEIVE") for each in part]
    assert message_id not in held
    assert "unknown" not in outcomes(record)
    others = ("lyo-mbx2", "lyo-mbx3", "par-mbx2", "par-mbx3")
    assert message_id in [
        each for server in others for part in tracked(record, server, "HARECEIVE") for each in part
    ]


def page_size(parameter: str) -> int:
    return int(find("TransportService", parameter).default)


def test_a_shadow_server_that_dies_between_two_pages_has_promoted_the_first_and_then_the_rest() -> (
    None
):
    record = simulate(struck("between-promotion-pages"))
    before, after = tracked(record, "lyo-mbx1", "RESUBMIT")
    lifecycle = rows(record, "logs/lyo-mbx1/lifecycle.jsonl")
    begun = [row["count"] for row in lifecycle if row["event"] == "promotion-begun"]
    promoted_at_once = page_size("PromotionPageSize")
    assert (len(before), len(after)) == (promoted_at_once, begun[0] - promoted_at_once)
    assert begun == [begun[0], len(after)]
    assert len({*before, *after}) == begun[0]


def test_a_server_that_dies_between_two_pages_of_a_resubmission_goes_on_behind_the_first() -> None:
    record = simulate(struck("between-resubmission-pages"))
    before, after = tracked(record, "lyo-mbx1", "RESUBMIT")
    assert len(before) == page_size("SafetyNetPageSize")
    assert after
    assert not {*before} & {*after}


@pytest.mark.parametrize(
    ("place", "seeded"), [("before-seed-commit", [0, 1]), ("before-seed-250", [1, 1])]
)
def test_a_seed_is_there_whole_or_not_at_all_when_its_copy_dies_and_comes_again(
    place: Place, seeded: list[int]
) -> None:
    record = simulate(struck(place))
    lives: list[int] = []
    for event in events(record, "par-mbx2"):
        if event == "started":
            lives.append(0)
        elif event == "copy-seeded-here":
            lives[-1] += 1
    assert lives[-2:] == seeded


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
