"""Evidence for one fault where others begin or end at the same moment."""

from collections.abc import Callable
from dataclasses import replace
from math import inf

import pytest

from lab.faults.kill import Kill
from lab.faults.links import OnLinks
from lab.faults.observer.evidence import LOOKS, look
from lab.faults.observer.target import RunningLab
from lab.plan.faults import Fault
from lab.plan.faults import Kill as PlannedKill
from lab.plan.link_faults import CUTS
from lab.plan.link_faults import Cut as PlannedCut
from lab.plan.topology import LinkName
from lab.workload.agent import AgentError
from lab.workload.probe import Probe, Seen
from tests.lab.faults.fake_target import FakeGround
from tests.lab.plan.small_plan import A_TO_B, B_TO_A, WORKLOAD_TO_A, small_plan

WORKLOAD_TO_B, B_TO_X = LinkName("workload", "b", "smtp"), LinkName("b", "x", "smtp")
LONG_MS = 600_000


def cut(fault_id: str, *links: LinkName, start_ms: int = 0) -> PlannedCut:
    return PlannedCut(fault_id, "cut", start_ms, start_ms + LONG_MS, "stall", links)


class ProbesInTurn:
    """Does something at the first probe of a link, then lets it look."""

    def __init__(self, ground: FakeGround, link: LinkName, act: Callable[[], object]) -> None:
        self._ground, self._address = ground, ground.links()[link].address
        self._act: Callable[[], object] | None = act

    def probe(self, address: str, wait_seconds: float) -> Probe:
        if address == self._address and self._act is not None:
            act, self._act = self._act, None
            act()
        return self._ground.probe(address, wait_seconds)


def lab_of(*faults: Fault) -> tuple[FakeGround, RunningLab]:
    ground = FakeGround(small_plan(faults, duration_ms=2 * LONG_MS))
    return ground, ground.running_lab()


def disturbed(
    ground: FakeGround, lab: RunningLab, link: LinkName, by: OnLinks | Kill
) -> RunningLab:
    """The lab, where `by` begins while the link is probed for the first time."""
    return replace(lab, prober=ProbesInTurn(ground, link, by.start))


def compared(lab: RunningLab, fault: PlannedCut) -> LinkName:
    """The link that it is compared with."""
    acting = OnLinks(fault, lab)
    acting.start()
    (other,) = [each.link for each in acting.evidence().observations if not each.concerned]
    return other


@pytest.mark.parametrize("start_ms", [0, 500, 20_000])
def test_a_link_that_is_cut_in_a_moment_is_not_compared_with(start_ms: int) -> None:
    alone = cut("f1", A_TO_B)
    _, lab = lab_of(alone)
    first_choice = compared(lab, alone)
    _, lab = lab_of(alone, cut("f2", first_choice, start_ms=start_ms))
    assert compared(lab, alone) != first_choice


def test_a_link_to_a_server_that_dies_in_a_moment_is_not_compared_with() -> None:
    one = cut("f1", A_TO_B)
    _, lab = lab_of(one, PlannedKill("f2", "kill", 500, LONG_MS, "a", "same-queue-database"))
    assert compared(lab, one).target != "a"


def test_a_probe_that_another_fault_disturbed_is_made_again() -> None:
    """The other one is in no plan, so nothing said beforehand that it would begin."""
    ground, lab = lab_of()
    first = OnLinks(cut("f1", A_TO_B), lab)
    first.start()
    other = first.evidence().observations[-1].link
    first.stop()
    by = OnLinks(cut("f2", other), lab)
    again = OnLinks(cut("f3", A_TO_B), disturbed(ground, lab, other, by))
    again.start()
    evidence = again.evidence()
    assert evidence.took_effect is True
    assert other not in [each.link for each in evidence.observations]


def test_a_server_that_dies_under_a_cut_does_not_spoil_its_evidence() -> None:
    """What the link shows is no longer what the cut alone would show."""
    ground, lab = lab_of()
    by = Kill(PlannedKill("f2", "kill", 0, LONG_MS, "b", "same-queue-database"), lab)
    lab = disturbed(ground, lab, A_TO_B, by)
    fault = OnLinks(cut("f1", A_TO_B), lab)
    fault.start()
    evidence = fault.evidence()
    assert evidence.took_effect is True
    assert "its proxies say" in evidence.reason


def test_a_link_that_is_cut_while_it_is_seen_to_be_healed_is_not_held_against_it() -> None:
    ground, lab = lab_of()
    by = OnLinks(cut("f2", A_TO_B), lab)
    fault = OnLinks(cut("f1", A_TO_B, B_TO_A), disturbed(ground, lab, A_TO_B, by))
    fault.start()
    fault.stop()
    evidence = fault.evidence_healed()
    assert evidence.took_effect is True
    assert [each.link for each in evidence.observations] == [B_TO_A]


def test_a_server_is_looked_for_over_links_that_others_leave_alone() -> None:
    """A link that is cut shows no banner, whether its server is there or not."""
    ground, lab = lab_of()
    OnLinks(cut("f1", B_TO_A), lab).start()
    ground.works = False
    fault = Kill(PlannedKill("f2", "kill", 0, LONG_MS, "a", "same-queue-database"), lab)
    fault.start()
    probed = [each.link for each in fault.evidence().observations if each.concerned]
    assert probed == [WORKLOAD_TO_A]


def test_a_cut_of_every_link_to_a_server_proves_no_kill() -> None:
    ground, lab = lab_of()
    OnLinks(cut("f1", *lab.links_to("a")), lab).start()
    fault = Kill(PlannedKill("f2", "kill", 0, LONG_MS, "a", "same-queue-database"), lab)
    fault.start()
    ground.down.clear()
    assert fault.evidence().took_effect is False


@pytest.mark.parametrize("silent_looks", [1, LOOKS - 1])
def test_a_prober_that_does_not_answer_is_asked_again(silent_looks: int) -> None:
    ground, lab = lab_of()
    left = [silent_looks]

    class SilentAtFirst:
        def probe(self, address: str, wait_seconds: float) -> Probe:
            if left[0]:
                left[0] -= 1
                raise AgentError("timed out")
            return ground.probe(address, wait_seconds)

    lab = replace(lab, prober=SilentAtFirst())
    assert look(lab, "f1", [A_TO_B], {Seen.BANNER}, 0.1, compares=False).took_effect is True


@pytest.mark.parametrize(("until_ms", "looks"), [(inf, LOOKS), (0, 1)])
def test_a_prober_that_never_answers_is_asked_a_few_times_while_there_is_time(
    until_ms: float, looks: int
) -> None:
    _, lab = lab_of()
    asked: list[str] = []

    class Silent:
        def probe(self, address: str, wait_seconds: float) -> Probe:
            asked.append(address)
            raise AgentError("timed out")

    lab = replace(lab, prober=Silent())
    with pytest.raises(AgentError):
        look(lab, "f1", [A_TO_B], {Seen.BANNER}, 0.1, until_ms=until_ms, compares=False)
    assert len(asked) == looks


def test_what_stays_unclear_is_looked_at_a_few_times_only() -> None:
    ground, lab = lab_of()
    ground.effects.update(dict.fromkeys((link.proxy for link in ground.plan.links), CUTS["reset"]))
    looks: list[str] = []

    class Counting:
        def probe(self, address: str, wait_seconds: float) -> Probe:
            looks.append(address)
            return ground.probe(address, wait_seconds)

    lab = replace(lab, prober=Counting())
    seen = look(lab, "f1", [A_TO_B], {Seen.SILENT}, 0.1, compares=False)
    assert seen.took_effect is None
    assert len(looks) == LOOKS
