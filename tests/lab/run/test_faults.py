"""What each fault does to a lab, and what it takes for evidence."""

import pytest

from lab.errors import GroundError
from lab.faults.calm import Calm
from lab.faults.cut import Cut
from lab.faults.kill import Kill
from lab.plan_parts import Cut as PlannedCut
from lab.plan_parts import CutKind, LinkName, ReturnsWith
from lab.plan_parts import Kill as PlannedKill
from lab.probe import Seen
from lab.running_lab import RunningLab
from tests.lab.run.fake_lab import LOOKS, FakeGround
from tests.lab.run.small_plan import A_TO_B, B_TO_A, WORKLOAD_TO_A, small_plan


def cut(kind: CutKind = "stall", links: tuple[LinkName, ...] = (A_TO_B,)) -> PlannedCut:
    return PlannedCut("f1", "cut", 1000, 4000, kind, links)


def kill(returns_with: ReturnsWith = "same-queue-database") -> PlannedKill:
    return PlannedKill("f2", "kill", 1000, 4000, "a", returns_with)


def lab_of(ground: FakeGround) -> RunningLab:
    return ground.running_lab()


@pytest.fixture
def ground() -> FakeGround:
    return FakeGround(small_plan())


@pytest.mark.parametrize("kind", LOOKS)
def test_a_cut_is_evident_when_probes_see_what_it_foretells(
    kind: CutKind, ground: FakeGround
) -> None:
    fault = Cut(cut(kind), lab_of(ground))
    fault.start()
    assert fault.evidence().took_effect is True


def test_the_evidence_holds_a_link_that_is_not_concerned(ground: FakeGround) -> None:
    fault = Cut(cut(), lab_of(ground))
    fault.start()
    other = [each for each in fault.evidence().observations if not each.concerned]
    assert [each.seen for each in other] == [Seen.BANNER]


def test_a_cut_that_lets_a_probe_through_did_not_take_effect(ground: FakeGround) -> None:
    ground.works = False
    fault = Cut(cut(), lab_of(ground))
    fault.start()
    assert fault.evidence().took_effect is False


def test_a_cut_that_hurts_another_link_is_not_clear(ground: FakeGround) -> None:
    fault = Cut(cut(), lab_of(ground))
    fault.start()
    ground.cuts.update(dict.fromkeys((link.proxy for link in ground.plan.links), "stall"))
    assert fault.evidence().took_effect is None


def test_every_kind_of_link_concerned_is_probed(ground: FakeGround) -> None:
    links = (A_TO_B, B_TO_A, WORKLOAD_TO_A, LinkName("a", "x", "smtp"))
    lab = lab_of(ground)
    fault = Cut(cut(links=links), lab)
    fault.start()
    concerned = [each.link for each in fault.evidence().observations if each.concerned]
    assert {lab.kind_of_link(link) for link in concerned} == {
        ("mailbox", "mailbox"),
        ("workload", "mailbox"),
        ("mailbox", "external"),
    }


def test_a_cut_towards_a_server_that_is_down_cannot_be_seen(ground: FakeGround) -> None:
    lab = lab_of(ground)
    Kill(kill(), lab).start()
    fault = Cut(cut(links=(B_TO_A,)), lab)
    fault.start()
    assert fault.evidence().took_effect is None


def test_a_healed_cut_shows_banners_again(ground: FakeGround) -> None:
    fault = Cut(cut(), lab_of(ground))
    fault.start()
    fault.stop()
    assert fault.evidence_healed().took_effect is True


def test_a_kill_is_evident_by_exit_code_137_and_no_banner(ground: FakeGround) -> None:
    fault = Kill(kill(), lab_of(ground))
    assert fault.start() == {"exit_code": 137}
    assert fault.evidence().took_effect is True


def test_a_server_that_ended_otherwise_was_not_killed(ground: FakeGround) -> None:
    ground.exit_code = 0
    fault = Kill(kill(), lab_of(ground))
    fault.start()
    assert fault.evidence().took_effect is False


def test_a_killed_server_keeps_its_queue_database(ground: FakeGround) -> None:
    fault = Kill(kill(), lab_of(ground))
    fault.start()
    fault.stop()
    assert ground.deeds == ["kill a", "start a"]


def test_a_new_queue_database_means_that_the_old_one_is_set_aside(ground: FakeGround) -> None:
    fault = Kill(kill("new-queue-database"), lab_of(ground))
    fault.start()
    fault.stop()
    assert ground.deeds == ["kill a", "set aside a", "start a"]


def test_a_server_is_back_when_its_banner_is_seen(ground: FakeGround) -> None:
    fault = Kill(kill(), lab_of(ground))
    fault.start()
    fault.stop()
    healed = fault.healed()
    assert healed.keys() == {"started_mono_ns", "banner_ms", "banner_mono_ns"}
    assert int(str(healed["banner_mono_ns"])) >= int(str(healed["started_mono_ns"]))


def test_a_banner_is_looked_for_from_inside_when_every_link_is_cut(ground: FakeGround) -> None:
    lab = lab_of(ground)
    fault = Kill(kill(), lab)
    fault.start()
    Cut(cut(links=tuple(lab.links_to("a"))), lab).start()
    fault.stop()
    fault.healed()
    assert "look into a" in ground.deeds


def test_a_server_that_does_not_come_back_is_named(
    ground: FakeGround, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lab.faults.kill.BACK_WITHIN_SECONDS", 0.1)
    ground.stays_down = True
    fault = Kill(kill(), lab_of(ground))
    fault.start()
    fault.stop()
    with pytest.raises(GroundError, match="a shows no banner"):
        fault.healed()


def test_nobody_waits_for_a_banner_once_the_run_ends(ground: FakeGround) -> None:
    ground.stays_down = True
    lab = lab_of(ground)
    fault = Kill(kill(), lab)
    fault.start()
    fault.stop()
    lab.ending.set()
    with pytest.raises(GroundError, match="the run ended"):
        fault.healed()


def test_stopping_a_kill_that_never_happened_starts_nothing(ground: FakeGround) -> None:
    Kill(kill(), lab_of(ground)).stop()
    assert ground.deeds == []


def test_calm_does_nothing_and_finds_all_well(ground: FakeGround) -> None:
    fault = Calm(cut(), lab_of(ground))
    fault.start()
    evidence = fault.evidence()
    fault.stop()
    assert evidence.took_effect is True
    assert ground.deeds == []
