"""What each fault does to a lab, and what it takes for evidence."""

from dataclasses import replace

import pytest

from lab.faults import KINDS
from lab.faults.calm import Calm
from lab.faults.corrupt import Corrupt
from lab.faults.kill import Kill
from lab.faults.links import OnLinks
from lab.faults.machine import FillDisk, SkewClock, UseDisk
from lab.faults.observer.target import RunningLab
from lab.faults.pause import Pause
from lab.faults.restart import Restart
from lab.faults.stop import Stop
from lab.plan.effects import Direction
from lab.plan.faults import LINK_KINDS, Fault, ReturnsWith
from lab.plan.faults import Corrupt as PlannedCorrupt
from lab.plan.faults import DiskUse as PlannedDiskUse
from lab.plan.faults import FillDisk as PlannedFillDisk
from lab.plan.faults import Kill as PlannedKill
from lab.plan.faults import Pause as PlannedPause
from lab.plan.faults import PowerLoss as PlannedPowerLoss
from lab.plan.faults import Restart as PlannedRestart
from lab.plan.faults import SkewClock as PlannedSkewClock
from lab.plan.faults import Stop as PlannedStop
from lab.plan.link_faults import CUTS, CutKind, LinkFault
from lab.plan.link_faults import Cut as PlannedCut
from lab.plan.link_faults import Drip as PlannedDrip
from lab.plan.link_faults import LimitData as PlannedLimitData
from lab.plan.link_faults import ResetAfter as PlannedResetAfter
from lab.plan.link_faults import Slice as PlannedSlice
from lab.plan.link_faults import Slow as PlannedSlow
from lab.plan.link_faults import SlowClose as PlannedSlowClose
from lab.plan.link_faults import Throttle as PlannedThrottle
from lab.plan.topology import LinkName
from lab.program.errors import GroundError
from lab.workload.probe import Seen
from tests.lab.faults.fake_target import LOOKS, FakeGround
from tests.lab.plan.small_plan import A_TO_B, B_TO_A, WORKLOAD_TO_A, small_plan


def cut(kind: CutKind = "stall", links: tuple[LinkName, ...] = (A_TO_B,)) -> PlannedCut:
    return PlannedCut("f1", "cut", 1000, 4000, kind, links)


def kill(returns_with: ReturnsWith = "same-queue-database") -> PlannedKill:
    return PlannedKill("f2", "kill", 1000, 4000, "a", returns_with)


def slow(direction: Direction = "both", latency_ms: int = 1200) -> PlannedSlow:
    return PlannedSlow("f1", "slow", 0, 240_000, latency_ms, 200, (A_TO_B, B_TO_A), direction)


def throttle(direction: Direction = "both") -> PlannedThrottle:
    return PlannedThrottle("f1", "throttle", 0, 240_000, 50, (A_TO_B, B_TO_A), direction)


def limit_data() -> PlannedLimitData:
    return PlannedLimitData("f1", "limit_data", 0, 240_000, 16_384, (A_TO_B, B_TO_A))


def slice_() -> PlannedSlice:
    return PlannedSlice("f1", "slice", 0, 240_000, 256, 10, (A_TO_B, B_TO_A))


def drip(direction: Direction = "both") -> PlannedDrip:
    return PlannedDrip("f1", "drip", 0, 240_000, 1200, 50, (A_TO_B, B_TO_A), direction)


def reset_after(after_ms: int = 30_000) -> PlannedResetAfter:
    links = (A_TO_B, B_TO_A)
    return PlannedResetAfter("f1", "reset_after", 0, 240_000, after_ms, links)


def slow_close() -> PlannedSlowClose:
    return PlannedSlowClose("f1", "slow_close", 0, 240_000, 30_000, (A_TO_B, B_TO_A))


def lab_of(ground: FakeGround) -> RunningLab:
    return ground.running_lab()


@pytest.fixture
def ground() -> FakeGround:
    return FakeGround(small_plan())


@pytest.mark.parametrize("kind", LOOKS)
def test_a_cut_is_evident_when_probes_see_what_it_expects(
    kind: CutKind, ground: FakeGround
) -> None:
    fault = OnLinks(cut(kind), lab_of(ground))
    fault.start()
    assert fault.evidence().took_effect is True


def test_the_evidence_holds_a_link_that_is_not_concerned(ground: FakeGround) -> None:
    fault = OnLinks(cut(), lab_of(ground))
    fault.start()
    other = [each for each in fault.evidence().observations if not each.concerned]
    assert [each.seen for each in other] == [Seen.BANNER]


def test_a_cut_that_lets_a_probe_through_did_not_take_effect(ground: FakeGround) -> None:
    ground.works = False
    fault = OnLinks(cut(), lab_of(ground))
    fault.start()
    assert fault.evidence().took_effect is False


def test_a_cut_that_hurts_another_link_is_not_clear(ground: FakeGround) -> None:
    fault = OnLinks(cut(), lab_of(ground))
    fault.start()
    ground.effects.update(dict.fromkeys((link.proxy for link in ground.plan.links), CUTS["stall"]))
    assert fault.evidence().took_effect is None


def test_every_kind_of_link_concerned_is_probed(ground: FakeGround) -> None:
    links = (A_TO_B, B_TO_A, WORKLOAD_TO_A, LinkName("a", "x", "smtp"))
    lab = lab_of(ground)
    fault = OnLinks(cut(links=links), lab)
    fault.start()
    concerned = [each.link for each in fault.evidence().observations if each.concerned]
    assert {lab.kind_of_link(link) for link in concerned} == {
        ("mailbox", "mailbox"),
        ("workload", "mailbox"),
        ("mailbox", "external"),
    }


def test_a_cut_towards_a_server_that_is_down_is_evident_by_what_its_proxies_say(
    ground: FakeGround,
) -> None:
    lab = lab_of(ground)
    Kill(kill(), lab).start()
    fault = OnLinks(cut(links=(B_TO_A,)), lab)
    fault.start()
    evidence = fault.evidence()
    assert evidence.took_effect is True
    assert "its proxies say" in evidence.reason
    fault.stop()
    assert "its proxies say" in fault.evidence_healed().reason


def test_proxies_that_have_changed_their_word_are_no_evidence(ground: FakeGround) -> None:
    lab = lab_of(ground)
    Kill(kill(), lab).start()
    fault = OnLinks(cut(links=(B_TO_A,)), lab)
    fault.start()
    ground.effects.clear()
    assert fault.evidence().took_effect is None


def test_a_healed_cut_shows_banners_again(ground: FakeGround) -> None:
    fault = OnLinks(cut(), lab_of(ground))
    fault.start()
    fault.stop()
    assert fault.evidence_healed().took_effect is True


def test_a_kill_is_evident_by_exit_code_137_and_no_banner(ground: FakeGround) -> None:
    fault = Kill(kill(), lab_of(ground))
    assert fault.start() == {"exit_code": 137}
    assert fault.evidence().took_effect is True


def test_of_a_server_that_never_returns_nothing_is_left(ground: FakeGround) -> None:
    fault = Kill(kill("never"), lab_of(ground))
    assert fault.is_for_good
    fault.start()
    assert ground.deeds[-2:] == ["kill a", "lose a"]
    assert fault.evidence().took_effect is True


def test_a_new_server_is_made_while_the_place_of_the_old_one_is_empty_and_started_at_the_end(
    ground: FakeGround,
) -> None:
    fault = Kill(kill("new-server"), lab_of(ground))
    fault.start()
    assert ground.deeds[-3:] == ["kill a", "lose a", "new a with "]
    fault.stop()
    assert ground.deeds[-1] == "start a"


def test_a_server_that_ended_otherwise_was_not_killed(ground: FakeGround) -> None:
    ground.exit_code = 0
    fault = Kill(kill(), lab_of(ground))
    fault.start()
    assert fault.evidence().took_effect is False


def test_a_server_that_no_link_leads_to_is_looked_for_from_inside(ground: FakeGround) -> None:
    """As to Active Manager, which talks and is not talked to."""
    running = ground.running_lab()
    lab = replace(
        running, links={link: w for link, w in running.links.items() if link.target != "a"}
    )
    fault = Kill(kill(), lab)
    fault.start()
    assert fault.evidence().took_effect is True
    ground.down.clear()
    assert fault.evidence().took_effect is False


def test_an_engine_that_does_not_answer_is_no_evidence(
    ground: FakeGround, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The schedule takes the error for what it is: nothing could be observed."""

    def fails(server: str) -> bool:
        raise GroundError("cannot look at a")

    monkeypatch.setattr(ground, "is_running", fails)
    running = ground.running_lab()
    fault = Kill(kill(), replace(running, links={}))
    fault.start()
    with pytest.raises(GroundError):
        fault.evidence()


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
    OnLinks(cut(links=tuple(lab.links_to("a"))), lab).start()
    fault.stop()
    fault.healed()
    assert "look into a" in ground.deeds


def test_a_server_that_does_not_come_back_is_named(
    ground: FakeGround, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lab.faults.server_banner.BACK_WITHIN_SECONDS", 0.1)
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


def test_a_damaged_disk_is_damaged_while_its_server_is_down(ground: FakeGround) -> None:
    fault = Corrupt(PlannedCorrupt("f1", "corrupt", 1000, 4000, "a"), lab_of(ground))
    assert fault.start() == {"exit_code": 137, "damaged": ["queue.db"]}
    assert fault.evidence().took_effect is True
    fault.stop()
    fault.healed()
    assert fault.evidence_healed().took_effect is True
    assert ground.deeds == ["kill a", "damage a", "start a"]


def test_a_server_without_power_comes_back_when_it_is_started(ground: FakeGround) -> None:
    fault = KINDS["power_loss"](
        PlannedPowerLoss("f1", "power_loss", 1000, 4000, "a"), lab_of(ground)
    )
    assert fault.start() == {"exit_code": 137}
    assert fault.evidence().took_effect is True
    fault.stop()
    fault.healed()
    assert fault.evidence_healed().took_effect is True
    assert ground.deeds == ["lose power a", "start a"]


def test_where_there_was_nothing_to_damage_a_corruption_did_not_take_effect(
    ground: FakeGround,
) -> None:
    ground.works = False
    fault = Corrupt(PlannedCorrupt("f1", "corrupt", 1000, 4000, "a"), lab_of(ground))
    fault.start()
    assert fault.evidence().took_effect is False


MACHINE_FAULTS = {
    "fill_disk": (FillDisk, PlannedFillDisk("f1", "fill_disk", 1000, 4000, "a")),
    "disk_use": (UseDisk, PlannedDiskUse("f1", "disk_use", 1000, 4000, "a", 97)),
    "skew_clock": (SkewClock, PlannedSkewClock("f1", "skew_clock", 1000, 4000, "a", -300_000)),
}


@pytest.mark.parametrize("kind", MACHINE_FAULTS)
def test_a_server_says_how_it_finds_its_machine(kind: str, ground: FakeGround) -> None:
    make, planned = MACHINE_FAULTS[kind]
    fault = make(planned, lab_of(ground))
    fault.start()
    assert fault.evidence().took_effect is True
    fault.stop()
    fault.healed()
    assert fault.evidence_healed().took_effect is True
    done = {
        "fill_disk": ["fill a", "clear a"],
        "disk_use": ["use 97 % of a", "use 0 % of a"],
        "skew_clock": ["skew a by -300000", "skew a by 0"],
    }
    assert ground.deeds == done[kind]


@pytest.mark.parametrize("kind", MACHINE_FAULTS)
def test_a_machine_that_stays_in_order_had_no_fault(kind: str, ground: FakeGround) -> None:
    ground.works = False
    make, planned = MACHINE_FAULTS[kind]
    fault = make(planned, lab_of(ground))
    fault.start()
    assert fault.evidence().took_effect is False


@pytest.mark.parametrize("kind", MACHINE_FAULTS)
def test_a_server_that_is_down_says_nothing_of_its_machine(kind: str, ground: FakeGround) -> None:
    ground.down.add("a")
    make, planned = MACHINE_FAULTS[kind]
    lab = lab_of(ground)
    lab.ending.set()
    fault = make(planned, lab)
    fault.start()
    assert fault.evidence().took_effect is None
    fault.stop()
    assert fault.evidence_healed().took_effect is None


@pytest.mark.parametrize("kind", MACHINE_FAULTS)
def test_a_server_that_is_about_to_return_is_waited_for(kind: str, ground: FakeGround) -> None:
    """It finds its machine out of order when it starts."""
    lab = lab_of(ground)
    away = Kill(kill(), lab)
    away.start()
    make, planned = MACHINE_FAULTS[kind]
    fault = make(planned, lab)
    fault.start()
    away.stop()
    assert fault.evidence().took_effect is True


LATE = tuple(late(way) for late in (slow, throttle, drip) for way in ("both", "replies"))


@pytest.mark.parametrize("planned", LATE)
def test_a_late_link_is_evident_by_a_late_banner(planned: LinkFault, ground: FakeGround) -> None:
    fault = KINDS[planned.kind](planned, lab_of(ground))
    fault.start()
    evidence = fault.evidence()
    assert evidence.took_effect is True
    assert {each.seen for each in evidence.observations} == {Seen.BANNER}
    fault.stop()
    assert ground.deeds == ["apply f1", "undo f1"]
    assert fault.evidence_healed().took_effect is True


@pytest.mark.parametrize("planned", LATE)
def test_a_link_that_is_not_late_did_not_take_effect(
    planned: LinkFault, ground: FakeGround
) -> None:
    ground.works = False
    fault = KINDS[planned.kind](planned, lab_of(ground))
    fault.start()
    assert fault.evidence().took_effect is False


@pytest.mark.parametrize(
    ("planned", "intended"),
    [
        (limit_data(), ("limit_bytes", 16_384)),
        (slow("requests"), ("latency_ms", 1200)),
        (throttle("requests"), ("bytes_per_second", 50)),
        (drip("requests"), ("direction", "requests")),
        (slow_close(), ("delay_ms", 30_000)),
    ],
    ids=["limit_data", "slow", "throttle", "drip", "slow_close"],
)
def test_a_link_whose_banner_passes_is_evident_by_it_and_what_its_proxies_say(
    planned: LinkFault, intended: tuple[str, int | str], ground: FakeGround
) -> None:
    fault = KINDS[planned.kind](planned, lab_of(ground))
    name, value = intended
    assert fault.intent()[name] == value
    fault.start()
    evidence = fault.evidence()
    assert evidence.took_effect is True
    assert {each.seen for each in evidence.observations} == {Seen.BANNER}
    ground.effects.clear()
    assert fault.evidence().took_effect is None


def test_a_sliced_link_is_evident_by_its_banner_and_what_its_proxies_say(
    ground: FakeGround,
) -> None:
    fault = KINDS["slice"](slice_(), lab_of(ground))
    assert (fault.intent()["piece_bytes"], fault.intent()["pause_ms"]) == (256, 10)
    fault.start()
    evidence = fault.evidence()
    assert evidence.took_effect is True
    assert {each.seen for each in evidence.observations} == {Seen.BANNER}
    ground.effects.clear()
    assert fault.evidence().took_effect is None


def test_links_that_reset_are_evident_by_a_reset_in_time_and_no_sooner(
    ground: FakeGround,
) -> None:
    fault = KINDS["reset_after"](reset_after(), lab_of(ground))
    assert fault.intent()["after_ms"] == 30_000
    fault.start()
    evidence = fault.evidence()
    assert evidence.took_effect is True
    assert {each.seen for each in evidence.observations if each.concerned} == {Seen.RESET}
    ground.effects.update(dict.fromkeys(ground.effects, CUTS["reset"]))
    too_soon = fault.evidence()
    assert too_soon.took_effect is False
    assert "a reset in 0 ms of lab time" in too_soon.reason
    fault.stop()
    assert fault.evidence_healed().took_effect is True


def test_links_that_do_not_reset_did_not_take_effect(ground: FakeGround) -> None:
    ground.works = False
    fault = KINDS["reset_after"](reset_after(), lab_of(ground))
    fault.start()
    assert fault.evidence().took_effect is False


def test_a_reset_later_than_the_fault_shows_as_silence(ground: FakeGround) -> None:
    fault = KINDS["reset_after"](reset_after(after_ms=200_000), lab_of(ground))
    fault.start()
    evidence = fault.evidence()
    assert evidence.took_effect is True
    assert {each.seen for each in evidence.observations if each.concerned} == {Seen.SILENT}


def test_a_latency_longer_than_the_fault_shows_as_silence(ground: FakeGround) -> None:
    fault = OnLinks(slow(latency_ms=200_000), lab_of(ground))
    fault.start()
    evidence = fault.evidence()
    assert evidence.took_effect is True
    assert {each.seen for each in evidence.observations if each.concerned} == {Seen.SILENT}


def test_a_paused_server_is_silent_and_goes_on_where_it_was(ground: FakeGround) -> None:
    fault = Pause(PlannedPause("f1", "pause", 1000, 4000, "a"), lab_of(ground))
    fault.start()
    assert fault.evidence().took_effect is True
    fault.stop()
    assert fault.healed().keys() == {"banner_ms", "banner_mono_ns"}
    assert fault.evidence_healed().took_effect is True
    assert ground.deeds == ["pause a", "resume a"]


def test_a_server_that_runs_on_was_not_paused(ground: FakeGround) -> None:
    ground.works = False
    fault = Pause(PlannedPause("f1", "pause", 1000, 4000, "a"), lab_of(ground))
    fault.start()
    assert fault.evidence().took_effect is False
    fault.stop()
    assert "resume a" not in ground.deeds


@pytest.mark.parametrize(("exit_code", "took_effect"), [(0, True), (137, False)])
def test_a_stop_is_evident_by_exit_code_0_and_no_banner(
    exit_code: int, took_effect: bool, ground: FakeGround
) -> None:
    ground.exit_code = exit_code
    fault = Stop(PlannedStop("f1", "stop", 1000, 4000, "a"), lab_of(ground))
    assert fault.start() == {"exit_code": exit_code}
    assert fault.evidence().took_effect is took_effect
    fault.stop()
    assert ground.deeds == ["stop a", "start a"]
    assert "banner_ms" in fault.healed()


@pytest.mark.parametrize(("exit_code", "took_effect"), [(0, True), (137, False)])
def test_a_restart_starts_the_server_as_soon_as_it_has_ended(
    exit_code: int, took_effect: bool, ground: FakeGround
) -> None:
    ground.exit_code = exit_code
    lab = lab_of(ground)
    fault = Restart(PlannedRestart("f1", "restart", 1000, 1000, "a"), lab)
    fault.start()
    assert lab.standing.is_down("a")
    assert fault.evidence().took_effect is took_effect
    fault.stop()
    fault.healed()
    assert ground.deeds == ["stop a", "start a"]
    assert not lab.standing.is_down("a")


def test_a_restart_that_broke_off_is_made_good(ground: FakeGround) -> None:
    ground.exit_code = 0
    ground.fails.add("start a")
    fault = Restart(PlannedRestart("f1", "restart", 1000, 1000, "a"), lab_of(ground))
    with pytest.raises(GroundError):
        fault.start()
    ground.fails.clear()
    fault.stop()
    assert ground.deeds == ["stop a", "start a", "start a"]


OF_LINKS = (
    cut(), slow(), throttle(), limit_data(), slice_(), drip(), reset_after(), slow_close()
)  # fmt: skip


def test_every_kind_of_link_fault_is_tried() -> None:
    assert {planned.kind for planned in OF_LINKS} == set(LINK_KINDS)


@pytest.mark.parametrize(
    "planned",
    [
        *OF_LINKS,
        kill(),
        PlannedPowerLoss("f1", "power_loss", 1000, 4000, "a"),
        PlannedCorrupt("f1", "corrupt", 1000, 4000, "a"),
        PlannedPause("f1", "pause", 1000, 4000, "a"),
        *(planned for _, planned in MACHINE_FAULTS.values()),
    ],
    ids=lambda planned: str(planned.kind),
)
def test_what_was_said_when_a_fault_was_applied_remains_after_its_end(
    planned: Fault, ground: FakeGround
) -> None:
    fault = KINDS[planned.kind](planned, lab_of(ground))
    assert not fault.confirmed().took_effect
    fault.start()
    fault.stop()
    assert fault.confirmed().took_effect is True


def test_calm_does_nothing_and_finds_all_well(ground: FakeGround) -> None:
    fault = Calm(cut(), lab_of(ground))
    fault.start()
    evidence = fault.evidence()
    fault.stop()
    assert evidence.took_effect is True
    assert ground.deeds == []
