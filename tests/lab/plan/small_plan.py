"""A plan of two mailbox servers, an external one and whatever faults a test wants."""

from collections.abc import Sequence

from lab.plan.faults import Fault
from lab.plan.links import mesh
from lab.plan.parts import Clock, Expect, Settings
from lab.plan.plan import Plan
from lab.plan.topology import Database, DatabaseCopy, LinkName, Mailbox, PlanTopology, Server, Site

A_TO_B = LinkName("a", "b", "smtp")
B_TO_A = LinkName("b", "a", "smtp")
WORKLOAD_TO_A = LinkName("workload", "a", "smtp")

SERVERS = (
    Server("a", "a.shadowlab.example", "mailbox", "paris", None, None),
    Server("b", "b.shadowlab.example", "mailbox", "paris", None, None),
    Server("x", "x.shadowlab.example", "external", "internet", None, "partner.example"),
)


def small_plan(faults: Sequence[Fault] = (), duration_ms: int = 6000, speed: float = 60.0) -> Plan:
    """The plan; at speed 60 its 6 s of lab time take 0.1 s."""
    topology = PlanTopology(
        "small",
        "shadowlab.example",
        (Site("paris", False), Site("internet", True)),
        (),
        SERVERS,
        (),
        (Database("DB1", (DatabaseCopy("b", 1, 0),)),),
        (Mailbox("db1-user01@shadowlab.example", "DB1"),),
    )
    return Plan(
        version=1,
        scenario="small",
        summary="a small one",
        proves=(),
        tags=(),
        seed=7,
        seed_from="argument",
        clock=Clock("2026-01-05T08:00:00Z", speed),
        duration_ms=duration_ms,
        workload_end_ms=0,
        last_heal_ms=max((fault.end_ms for fault in faults), default=None),
        settle_ms=0,
        topology=topology,
        settings=Settings({}, {}),
        links=mesh(topology),
        messages=(),
        faults=tuple(faults),
        operations=(),
        expect=Expect(None, None, None, "pass"),
    )
