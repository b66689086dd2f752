"""A corruption of mailboxes is asked of every server with a copy, and evident by an answer."""

from __future__ import annotations

from lab.faults import KINDS
from lab.faults.corrupt_mailboxes import CorruptMailboxes
from lab.hosts.simulator.smtp.verbs import parse_command
from lab.plan import faults as plan_faults
from tests.lab.faults.fake_target import FakeGround
from tests.lab.faults.test_faults import lab_of
from tests.lab.plan.small_plan import small_plan

PLANNED = plan_faults.CorruptMailboxes("f1", "corrupt_mailboxes", 1000, 1000, "DB1")


def corruption(ground: FakeGround) -> CorruptMailboxes:
    fault = KINDS["corrupt_mailboxes"](PLANNED, lab_of(ground))
    assert isinstance(fault, CorruptMailboxes)
    return fault


def test_it_took_effect_when_the_server_of_the_active_copy_says_so() -> None:
    ground = FakeGround(small_plan([PLANNED]))
    fault = corruption(ground)
    assert fault.intent() == {"kind": "corrupt_mailboxes", "database": "DB1"}
    assert fault.start() == {"asked": ["b"]}
    assert "ask b: XCORRUPT DB1" in ground.deeds
    assert parse_command("session", "XCORRUPT DB1") is not None
    assert fault.evidence().took_effect is True
    assert fault.confirmed().took_effect is True
    assert fault.evidence().reason.startswith("b: 250")
    fault.stop()
    assert fault.evidence_healed().took_effect is True


def test_it_took_none_where_nobody_answers() -> None:
    ground = FakeGround(small_plan([PLANNED]))
    ground.works = False
    fault = corruption(ground)
    fault.start()
    assert (fault.evidence().took_effect, fault.evidence().reason) == (False, "b: no answer")
