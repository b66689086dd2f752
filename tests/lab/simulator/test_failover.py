"""Mailbox databases fail over in the simulator: Active Manager, replication and Safety Nets over
simulated links (TP-4, TP-6, SN-4).
"""

import json
from dataclasses import replace

from lab.hosts.simulator.record import Record
from lab.hosts.simulator.simulation import Simulation
from lab.plan import Plan
from lab.plan_parts import Database, DatabaseCopy, Kill, Link, Server
from tests.lab.simulator.plans import plan

MINUTE_MS = 60_000
ACTIVE, PASSIVE, MANAGER = "par-mbx2", "lyo-mbx1", "am1"


def with_copies(made: Plan) -> Plan:
    """DB1 on two servers of the DAG, and Active Manager, with links of their own."""
    topology = made.topology
    copies = (DatabaseCopy(ACTIVE, 1, 0), DatabaseCopy(PASSIVE, 2, 0))
    databases = tuple(
        Database(each.name, copies) if each.name == "DB1" else each for each in topology.databases
    )
    manager = Server(MANAGER, f"{MANAGER}.shadowlab.example", "active_manager", "lyon", None, None)
    mailbox = [server.name for server in topology.servers if server.role == "mailbox"]
    ends = [(a, b, "replication") for a in mailbox for b in mailbox if a != b]
    ends += [(MANAGER, name, "management") for name in mailbox]
    links = tuple(
        Link(a, b, service, f"{a}--{b}--{service}", 31_000 + n)
        for n, (a, b, service) in enumerate(ends)
    )
    servers = (*topology.servers, manager)
    topology = replace(topology, databases=databases, servers=servers)
    return replace(made, topology=topology, links=made.links + links)


def run(seed: int) -> Record:
    kill = Kill("f1", "kill", 5 * MINUTE_MS, 15 * MINUTE_MS, ACTIVE, "same-queue-database")
    return Simulation(replace(with_copies(plan("calm", seed)), faults=(kill,))).run()


def lines(record: Record, name: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in record.files[name]]


def acknowledged(record: Record) -> set[tuple[object, object]]:
    """Mailbox of DB1 and Message-Id of every message that a server accepted."""
    ledger = lines(record, "ledger.jsonl")
    accepted = {row["message_id"] for row in ledger if row.get("outcome") == "ok"}
    return {
        (recipient, row["message_id"])
        for row in ledger
        if row["type"] == "message" and row["message_id"] in accepted
        for recipient in row["recipients"]  # type: ignore[attr-defined]
        if str(recipient).startswith("db1-")
    }


def test_a_killed_servers_database_fails_over_and_every_acknowledged_message_is_there_once() -> (
    None
):
    record = run(1)
    assert record.crashes == {}
    events = [str(row["event"]) for row in lines(record, f"logs/{MANAGER}/lifecycle.jsonl")]
    assert events.index("failover-decided") < events.index("failover-mounted")
    shown = [(row["mailbox"], row["message_id"]) for row in lines(record, "mailboxes/DB1.jsonl")]
    assert len(shown) == len(set(shown))
    assert {row["server"] for row in lines(record, "mailboxes/DB1.jsonl")} == {PASSIVE}
    expected = acknowledged(record)
    assert expected
    assert expected <= set(shown)


def test_the_same_seed_gives_the_same_bytes() -> None:
    assert run(2).files == run(2).files
