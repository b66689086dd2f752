"""Who acts on which link, now and since."""

from lab.faults.observer.standing import Standing, is_to_be_touched
from lab.plan.faults import FillDisk, Kill
from lab.plan.link_faults import Cut
from lab.plan.topology import LinkName
from tests.lab.plan.small_plan import A_TO_B, B_TO_A


def test_a_fault_that_began_and_ended_in_between_has_touched_its_link() -> None:
    standing = Standing()
    before = standing.changes()
    standing.cut("f1", [A_TO_B])
    standing.healed("f1")
    assert not standing.is_touched(A_TO_B)
    assert standing.is_touched(A_TO_B, since=before)
    assert not standing.is_touched(A_TO_B, since=standing.changes())


def test_a_fault_of_a_server_concerns_the_links_that_lead_to_it() -> None:
    standing = Standing()
    standing.down("f1", "b")
    assert standing.is_touched(A_TO_B)
    assert not standing.is_touched(B_TO_A)
    assert standing.is_down("b")


def test_a_fault_does_not_disturb_itself() -> None:
    standing = Standing()
    standing.cut("f1", [A_TO_B])
    assert not standing.is_touched(A_TO_B, but="f1", since=0)


def test_a_server_is_down_as_long_as_one_fault_holds_it_down() -> None:
    standing = Standing()
    standing.down("f1", "b")
    standing.down("f2", "b")
    standing.healed("f1")
    assert standing.is_down("b")


def test_the_plan_says_who_is_touched_when() -> None:
    cut = Cut("f1", "cut", 1000, 2000, "stall", (A_TO_B,))
    assert is_to_be_touched([cut], A_TO_B, 2000, 3000, but="f2")
    assert not is_to_be_touched([cut], A_TO_B, 2001, 3000, but="f2")
    assert not is_to_be_touched([cut], A_TO_B, 0, 3000, but="f1")
    assert not is_to_be_touched([cut], LinkName("a", "b", "replication"), 0, 3000, but="")


def test_a_machine_that_is_out_of_order_is_no_reason_to_leave_its_links_alone() -> None:
    machine = FillDisk("f1", "fill_disk", 0, 3000, "b")
    kill = Kill("f2", "kill", 0, 3000, "b", "same-queue-database")
    assert not is_to_be_touched([machine], A_TO_B, 0, 3000, but="")
    assert is_to_be_touched([machine, kill], A_TO_B, 0, 3000, but="")
