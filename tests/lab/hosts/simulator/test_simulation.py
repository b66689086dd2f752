"""A simulated run: the servers, the workload and the faults of a plan, in virtual time."""

import json
from dataclasses import replace
from typing import Any

import pytest

from lab.hosts.simulator.event_loop import MS, SECOND
from lab.hosts.simulator.record_in_memory import RecordInMemory
from lab.hosts.simulator.server import SimulatedServer
from lab.hosts.simulator.simulation import Simulation, simulate
from lab.plan.faults import Fault, Kill, Pause, Restart, Stop
from lab.plan.link_faults import CUTS, Cut
from lab.plan.topology import LinkName
from nodes.core.interface.inputs import DiscardAsked, Input
from nodes.core.node import Node
from tests.lab.hosts.simulator.plans import plan

MINUTE_MS = 60_000
NO_BODY = "e3b0c44298fc1c14"  # SHA-256 of nothing


def rows(record: RecordInMemory, file: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in record.file(file)]


def events(record: RecordInMemory, server: str) -> list[str]:
    return [row["event"] for row in rows(record, f"logs/{server}/lifecycle.jsonl")]


def outcomes(record: RecordInMemory) -> list[str]:
    return [row["outcome"] for row in rows(record, "ledger.jsonl") if row["type"] == "outcome"]


def with_faults(*faults: Fault) -> RecordInMemory:
    one = replace(plan("calm", 1), faults=faults)
    return simulate(one)


def test_in_a_calm_every_message_is_acknowledged_at_once_and_delivered_to_everybody() -> None:
    calm = plan("calm", 1)
    record = simulate(calm)
    assert outcomes(record) == ["ok"] * len(calm.messages)
    promised = {
        (message.message_id, recipient)
        for message in calm.messages
        for recipient in message.recipients
    }
    seen = {
        (row["message_id"], row["mailbox"])
        for database in ("DB1", "DB2")
        for row in rows(record, f"mailboxes/{database}.jsonl")
    } | {
        (row["message_id"], recipient)
        for row in rows(record, "external/ext1.jsonl")
        for recipient in row["recipients"]
    }
    assert seen == promised


def test_the_record_has_the_digest_of_what_was_sent_and_of_every_copy() -> None:
    def digest(row: dict[str, Any]) -> tuple[Any, ...]:
        return row["content_bytes"], row["header_sha256"], row["body_sha256"]

    record = simulate(plan("calm", 1))
    ledger = [row for row in rows(record, "ledger.jsonl") if row["type"] == "message"]
    sent = {row["message_id"]: digest(row) for row in ledger}
    files = [f"mailboxes/{name}.jsonl" for name in ("DB1", "DB2")] + ["external/ext1.jsonl"]
    for file in files:
        seen = [(row["message_id"], digest(row)) for row in rows(record, file)]
        assert seen
        assert seen == [(message_id, sent[message_id]) for message_id, _ in seen]
    texts = [body for _, _, body in sent.values() if body != NO_BODY]
    assert len(texts) > len(sent) // 2
    assert len(set(texts)) == len(texts)
    assert len(set(sent.values())) == len(sent)


def test_a_killed_server_comes_back_with_its_database_unless_it_shall_not() -> None:
    def ids(returns_with: Any) -> list[str]:
        kill = Kill("f1", "kill", 5 * MINUTE_MS, 6 * MINUTE_MS, "par-mbx1", returns_with)
        found = rows(with_faults(kill), "logs/par-mbx1/lifecycle.jsonl")
        return [row["database_id"] for row in found if row["event"] == "started"]

    same, new = ids("same-queue-database"), ids("new-queue-database")
    assert len(same) == len(new) == 2
    assert len(set(same)) == 1
    assert len(set(new)) == 2


def test_a_fault_leaves_its_journal_with_evidence() -> None:
    links = (LinkName("par-mbx1", "par-mbx2", "smtp"),)
    cut = Cut("f1", "cut", 5 * MINUTE_MS, 9 * MINUTE_MS, "stall", links)
    found = rows(with_faults(cut), "faults.jsonl")
    assert [(row["phase"], row["at_ms"] // MINUTE_MS) for row in found] == [
        ("intended", 5),
        ("applied", 5),
        ("evidence", 5),
        ("heal-intended", 9),
        ("healed", 9),
        ("evidence-healed", 9),
    ]
    assert [row["took_effect"] for row in found if "took_effect" in row] == [True, True]


def test_a_server_that_is_killed_again_before_it_was_back_is_waited_for_as_on_containers() -> None:
    """It takes half a second and more to come up."""
    first = Kill("f1", "kill", 5 * MINUTE_MS, 6 * MINUTE_MS, "par-mbx1", "same-queue-database")
    again_ms = first.end_ms + 200
    again = replace(first, id="f2", start_ms=again_ms, end_ms=again_ms + MINUTE_MS)
    found = rows(with_faults(first, again), "faults.jsonl")
    assert [row["phase"] for row in found if row["fault"] == "f1"][-2:] == [
        "healed",
        "evidence-healed",
    ]
    assert [row["took_effect"] for row in found if "took_effect" in row] == [True] * 4
    assert all(row["banner_ms"] > again.end_ms for row in found if row["phase"] == "healed")


def test_a_paused_server_does_nothing_and_then_goes_on() -> None:
    pause = Pause("f1", "pause", 5 * MINUTE_MS, 25 * MINUTE_MS, "par-mbx1")
    inputs = rows(with_faults(pause), "logs/par-mbx1/inputs.jsonl")
    origin_ms = inputs[0]["now_ms"]
    minutes = [(row["now_ms"] - origin_ms) / MINUTE_MS for row in inputs]
    assert not [minute for minute in minutes if 5.01 < minute < 25]
    assert [minute for minute in minutes if 25 <= minute < 25.01]


@pytest.mark.parametrize("kind", ["stop", "restart"])
def test_a_server_that_is_stopped_ends_in_good_order_and_starts_again(kind: str) -> None:
    fault = (
        Stop("f1", "stop", 5 * MINUTE_MS, 8 * MINUTE_MS, "par-mbx1")
        if kind == "stop"
        else Restart("f1", "restart", 5 * MINUTE_MS, 5 * MINUTE_MS, "par-mbx1")
    )
    found = [e for e in events(with_faults(fault), "par-mbx1") if e in ("started", "stopped")]
    assert found == ["started", "stopped", "started", "stopped"]


def test_a_node_that_makes_a_mistake_crashes_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its process is gone, its disk is not; the others go on."""
    handle = Node.handle

    def stumbles(self: Node, happened: Input, now_ms: int) -> Any:
        if isinstance(happened, DiscardAsked) and happened.asking_server == "lyo-mbx3":
            raise AssertionError("a mistake")
        return handle(self, happened, now_ms)

    monkeypatch.setattr(Node, "handle", stumbles)
    record = simulate(plan("calm", 1))
    assert record.crashes
    for server, said in record.crashes.items():
        assert record.exit_codes[server] == 70
        assert "a mistake" in said[0]
        assert "crashed" in events(record, server)
    assert record.exit_codes["lyo-mbx3"] == 0


def test_a_server_that_crashes_while_it_is_paused_is_not_waited_for() -> None:
    pause = Pause("f1", "pause", 5 * MINUTE_MS, 25 * MINUTE_MS, "par-mbx1")
    simulation = Simulation(replace(plan("calm", 1), faults=(pause,)))
    server = simulation.servers["par-mbx1"]
    assert isinstance(server, SimulatedServer)
    simulation.world.at(24 * MINUTE_MS * MS, server.crash, "a mistake")
    record = simulation.run()
    [end] = [row for row in rows(record, "faults.jsonl") if row["phase"] == "evidence-healed"]
    assert end["took_effect"] is False
    assert end["reason"] == "the run ended before par-mbx1 was back"


def test_a_sender_gives_up_on_a_silent_server_and_comes_again() -> None:
    """Five minutes for a step (RFC 5321, 4.5.3.2), then the next server of `via`."""
    links = (LinkName("workload", "par-mbx1", "smtp"),)
    cut = Cut("f1", "cut", 2 * MINUTE_MS, 40 * MINUTE_MS, "blackhole", links)
    found = rows(with_faults(cut), "ledger.jsonl")
    ended = {(r["message_id"], r["attempt"]): r for r in found if r["type"] == "outcome"}
    started = {(r["message_id"], r["attempt"]): r for r in found if r["type"] == "attempt"}
    timed_out = [key for key, row in ended.items() if row["reason"] == "connect: timed out"]
    assert timed_out
    for key in timed_out:
        assert ended[key]["outcome"] == "failed"
        waited_ms = ended[key]["ended_ms"] - started[key]["started_ms"]
        assert abs(waited_ms - 5 * MINUTE_MS) <= 1
        assert started[(key[0], key[1] + 1)]["server"] != "par-mbx1"


def test_an_acknowledgement_that_is_lost_leaves_the_sender_in_doubt() -> None:
    links = (LinkName("workload", "par-mbx1", "smtp"),)
    simulation = Simulation(plan("calm", 1))
    link = next(each for each in simulation.links.values() if each.name == links[0])
    for server in simulation.servers.values():
        server.start_at_once()
    world, ledger = simulation.world, simulation.record.file("ledger.jsonl")
    while not any("par-mbx1" in line and "attempt" in line for line in ledger):
        world.run_until(world.now_us + MS)
    while not simulation.record.file("logs/par-mbx1/inputs.jsonl")[-1].count("MessageOffered"):
        world.run_until(world.now_us + 100)
    link.apply(CUTS["ack-lost"])
    world.run_until(world.now_us + 20 * 60 * SECOND)
    assert "unknown" in outcomes(simulation.record)
