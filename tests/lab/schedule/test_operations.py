"""Operations on a running lab: asked of whom they concern, and evident by the answers."""

from dataclasses import replace

import pytest

from lab.hosts.simulator.smtp.verbs import parse_command
from lab.plan.operations import (
    ActivateLagged,
    ChangeRequest,
    Failover,
    Operation,
    RedirectMessages,
    Resubmit,
    ShowQueues,
    Switchover,
)
from lab.plan.plan import Plan
from lab.plan.topology import Server
from lab.schedule.operations import Asked, line_of
from tests.lab.faults.fake_target import FakeGround
from tests.lab.faults.test_faults import lab_of
from tests.lab.plan.small_plan import small_plan

FAILOVER = Failover("o1", "failover", 1000, "DB1", None)


def with_active_manager() -> Plan:
    """`b`, with the copy of DB1, in a DAG of which `am1` is Active Manager, beside one of DAG2."""
    plan = small_plan()
    a, b, external = plan.topology.servers
    am1 = Server("am1", "am1.shadowlab.example", "active_manager", "paris", "DAG1", None)
    others = replace(am1, name="am2", dag="DAG2")
    servers = (a, replace(b, dag="DAG1"), external, others, am1)
    return replace(plan, topology=replace(plan.topology, servers=servers))


def asked(ground: FakeGround, what: Operation = FAILOVER) -> Asked:
    return Asked(what, lab_of(ground))


def test_an_operation_took_effect_when_active_manager_decided_on_it() -> None:
    ground = FakeGround(with_active_manager())
    operation = asked(ground)
    assert operation.intent() == {"kind": "failover", "database": "DB1", "to": None}
    operation.start()
    seen = operation.evidence()
    assert (seen.took_effect, seen.reason) == (True, "250 2.0.0 1 b")
    assert "ask am1: XFAILOVER DB1" in ground.deeds


def test_an_operation_that_is_refused_or_not_answered_took_none() -> None:
    ground = FakeGround(with_active_manager())
    ground.works = False
    operation = asked(ground)
    operation.start()
    assert operation.evidence().took_effect is False
    assert operation.evidence().reason == "am1 did not answer"


RESUBMIT = Resubmit("o1", "resubmit", 3000, "DB1", 1000, 2000)
ACTIVATE = ActivateLagged("o1", "activate_lagged", 3000, "DB1", "a", None)
ORIGIN_MS = 1_767_600_000_000
LINES = {
    "XFAILOVER DB1": FAILOVER,
    "XFAILOVER DB1 a": replace(FAILOVER, to="a"),
    "XSWITCHOVER DB1 a": Switchover("o1", "switchover", 1000, "DB1", "a"),
    "XACTIVATELAGGED DB1 a": ACTIVATE,
    f"XACTIVATELAGGED DB1 a {ORIGIN_MS + 2000}": replace(ACTIVATE, before_ms=2000),
    f"XRESUBMIT ADD o1 primary DB1 {ORIGIN_MS + 1000} {ORIGIN_MS + 2000} -": RESUBMIT,
    "XRESUBMIT REMOVE o1": ChangeRequest("o2", "remove_resubmit", 1000, "DB1", "o1"),
    "XQUEUES": ShowQueues("o1", "show_queues", 1000, "a"),
    "XREDIRECT b": RedirectMessages("o1", "redirect_messages", 1000, "a", "b"),
}


@pytest.mark.parametrize(("line", "operation"), LINES.items())
def test_each_kind_is_said_in_words_that_a_node_reads(line: str, operation: Operation) -> None:
    assert line_of(operation, with_active_manager()) == line
    assert parse_command("session", line) is not None


def test_a_server_is_asked_itself_to_redirect_its_messages() -> None:
    ground = FakeGround(small_plan())
    operation = asked(ground, RedirectMessages("o1", "redirect_messages", 1000, "a", "b"))
    assert operation.start() == {"asked": ["a"]}
    assert operation.evidence().took_effect is True
    assert "ask a: XREDIRECT b" in ground.deeds


def test_a_resubmit_takes_effect_where_somebody_takes_it_on() -> None:
    plan = small_plan()  # `a` and `b` in one site, and no DAG
    ground = FakeGround(plan)
    ground.down.add("a")
    operation = asked(ground, RESUBMIT)
    assert operation.start() == {"asked": ["a", "b"]}
    seen = operation.evidence()
    assert (seen.took_effect, seen.reason) == (True, "a: no answer; b: 250 2.0.0 1 b")
    ground.down.add("b")
    assert operation.evidence().took_effect is False
