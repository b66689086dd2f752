"""Operations on a running lab: asked of Active Manager, and evident by its answer."""

from lab.plan.parts import Operation
from lab.schedule.operations import Asked
from tests.lab.faults.fake_target import FakeGround
from tests.lab.faults.test_faults import lab_of
from tests.lab.plan.small_plan import small_plan

FAILOVER = Operation("o1", "failover", 1000, "DB1", None)


def asked(ground: FakeGround) -> Asked:
    return Asked(FAILOVER, "a", lab_of(ground))


def test_an_operation_took_effect_when_active_manager_decided_on_it() -> None:
    ground = FakeGround(small_plan())
    operation = asked(ground)
    assert operation.intent() == {"kind": "failover", "database": "DB1", "to": None}
    operation.start()
    seen = operation.evidence()
    assert (seen.took_effect, seen.reason) == (True, "250 2.0.0 1 b")
    assert "ask a for failover of DB1" in ground.deeds


def test_an_operation_that_is_refused_or_not_answered_took_none() -> None:
    ground = FakeGround(small_plan())
    ground.works = False
    operation = asked(ground)
    operation.start()
    assert operation.evidence().took_effect is False
    assert operation.evidence().reason == "a did not answer"
