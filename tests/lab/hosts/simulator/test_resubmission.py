"""Safety Nets of simulated servers, asked over simulated links: XRESUBMIT goes the whole way."""

import csv
from dataclasses import replace
from typing import Any

from lab.hosts.simulator.event_loop import MS
from lab.hosts.simulator.network import Link
from lab.hosts.simulator.record_in_memory import RecordInMemory
from lab.hosts.simulator.simulation import Simulation
from lab.hosts.simulator.smtp.steps import Answer, Banner, Demand, Greeting, Hello
from lab.plan.faults import Kill
from nodes.core.interface.replies import Reply
from nodes.core.model.resubmit_request import ResubmitDemand, SafetyNetSource
from nodes.shell.logs.exchange import TRACKING_FIELDS
from tests.lab.hosts.simulator.plans import plan

MINUTE_MS = 60_000
ASKED_MS = 15 * MINUTE_MS


class Asker:
    """A server of the organisation that says XRESUBMIT ADD and nothing else."""

    def __init__(self, link: Link, demand: ResubmitDemand) -> None:
        self.replies: list[Reply] = []
        self._link, self._demand = link, demand

    def call(self) -> None:
        self._connection = self._link.connect(self)

    def received(self, said: Any) -> None:
        match said:
            case Banner():
                self._connection.say(Hello("par-mbx2"), forward=True)
            case Greeting():
                self._connection.say(Demand(self._demand), forward=True)
            case Answer(reply):
                self.replies.append(reply)

    def closed(self, _reason: str) -> None:
        pass


def tracking(record: RecordInMemory, server: str) -> list[dict[str, str]]:
    found = []
    for name, lines in record.files.items():
        if name.startswith(f"logs/{server}/MSGTRK"):
            rows = [line for line in lines if not line.startswith("#")]
            found += list(csv.DictReader(rows, TRACKING_FIELDS.split(",")))
    return found


def sent_to_db1(record: RecordInMemory) -> set[str]:
    """Message-Ids that par-mbx1 brought to DB1, but for those around the kill."""
    origin = plan("calm", 1).clock.origin
    killed = f"{origin[:14]}05", f"{origin[:14]}06"
    return {
        row["message-id"]
        for row in tracking(record, "par-mbx1")
        if row["event-id"] in ("SEND", "DELIVER")
        and "db1-" in row["recipient-address"]
        and row["date-time"][:16] not in killed
        and row["date-time"] < f"{origin[:14]}15"
    }


def anew(record: RecordInMemory, server: str, source: str) -> list[str]:
    """Message-Ids that a server resubmitted from there."""
    return [
        row["message-id"]
        for row in tracking(record, server)
        if (row["event-id"], row["source"]) == ("RESUBMIT", source)
    ]


def test_a_young_server_and_its_shadow_servers_resubmit_the_interval_together() -> None:
    kill = Kill("f1", "kill", 5 * MINUTE_MS, 6 * MINUTE_MS, "par-mbx1", "new-queue-database")
    simulation = Simulation(replace(plan("calm", 1), faults=(kill,)))
    start_ms = simulation.world.origin_ms
    demand = ResubmitDemand("am:1", SafetyNetSource.PRIMARY, "DB1", start_ms, start_ms + ASKED_MS)
    (link,) = (
        link
        for link in simulation.links.values()
        if (link.name.source, link.name.target) == ("par-mbx2", "par-mbx1")
    )
    asker = Asker(link, demand)
    simulation.world.at(ASKED_MS * MS, asker.call)
    record = simulation.run()
    assert record.crashes == {}
    assert [reply.lines for reply in asker.replies] == [("2.0.0 running 0",)]
    by_server = {server: anew(record, server, "SAFETYNET") for server in simulation.servers}
    promoted = {mid for server in simulation.servers for mid in anew(record, server, "REDUNDANCY")}
    resubmitted = [message_id for found in by_server.values() for message_id in found]
    assert by_server["par-mbx1"]
    assert len(resubmitted) > len(by_server["par-mbx1"])
    assert len(resubmitted) == len(set(resubmitted))
    assert sent_to_db1(record) - promoted <= set(resubmitted)
