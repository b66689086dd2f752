"""One entry that stands for several faults: each time and each server is a fault of its own."""

from pathlib import Path

import pytest
from ruamel.yaml import YAML

from lab.plan.faults import MACHINE_KINDS, SERVER_KINDS, Kill
from lab.plan.link_faults import Cut
from lab.plan.plan import Plan
from lab.planning.moments import moments
from lab.planning.resolve import resolve
from lab.planning.write_out import with_plain_faults
from lab.validation.validate import check
from tests.lab.scenario.sample_scenario import (
    SCENARIO,
    TOPOLOGY,
    changed,
    checked,
    said,
    write,
)

A_CUT = "{at: 12m, for: 5m, cut: {from: site lyon, to: site paris, kind: stall}}"
A_KILL = "{at: 10m, for: 5m, kill: par-mbx1, returns_with: new-queue-database}"
MINUTE_MS = 60_000


def with_fault(fault: str) -> str:
    return changed(changed(SCENARIO, f"  - {A_CUT}\n", ""), A_KILL, fault)


def plan_of(folder: Path, fault: str) -> Plan:
    found = checked(folder, with_fault(fault))
    assert said(found) == []
    [scenario] = found.scenarios
    return resolve(scenario.scenario, scenario.topology, 1)


def times_of(plan: Plan) -> list[tuple[str, int, int]]:
    return [(f.id, f.start_ms // MINUTE_MS, f.end_ms // MINUTE_MS) for f in plan.faults]


def test_a_fault_that_repeats_is_plain_faults_with_ids_of_their_own(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, A_CUT.replace("for: 5m", "for: 1m, every: 3m, times: 3"))
    assert times_of(plan) == [("f1", 12, 13), ("f2", 15, 16), ("f3", 18, 19)]
    assert {type(fault) for fault in plan.faults} == {Cut}
    assert plan.last_heal_ms == 19 * MINUTE_MS


@pytest.mark.parametrize(("until", "times"), [("17m", 1), ("19m", 1), ("20m", 2), ("28m", 3)])
def test_until_is_the_last_moment_that_one_of_them_may_last(
    tmp_path: Path, until: str, times: int
) -> None:
    fault = f"{{at: 10m, for: 2m, every: 8m, until: {until}, stop: par-mbx1}}"
    assert len(plan_of(tmp_path, fault).faults) == times


def test_a_restart_repeats_without_a_length(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, "{at: 10m, every: 5m, times: 2, restart: par-mbx1}")
    assert times_of(plan) == [("f1", 10, 10), ("f2", 15, 15)]


@pytest.mark.parametrize("kind", [*SERVER_KINDS, *MACHINE_KINDS])
def test_a_list_and_a_site_are_one_fault_for_each_server_once(tmp_path: Path, kind: str) -> None:
    own = {"restart": "", "skew_clock": "for: 5m, by: 5m, ", "disk_use": "for: 5m, percent: 97, "}
    more = own.get(kind, "for: 5m, ")
    fault = f"{{at: 10m, {more}{kind}: [site lyon, server par-mbx2, lyo-mbx1]}}"
    plan = plan_of(tmp_path, fault)
    assert [(each.id, each.kind) for each in plan.faults] == [("f1", kind), ("f2", kind)]
    assert [getattr(each, "server", "") for each in plan.faults] == ["lyo-mbx1", "par-mbx2"]


def test_of_a_site_only_mailbox_servers_have_a_disk_and_a_clock(tmp_path: Path) -> None:
    topology = changed(TOPOLOGY, "dags: {DAG1: {}}", f"dags: {{DAG1: {A_MANAGER}}}")
    text = with_fault("{at: 10m, for: 5m, fill_disk: site lyon}")
    [found] = checked(tmp_path, text, topology).scenarios
    plan = resolve(found.scenario, found.topology, 1)
    assert [getattr(each, "server", "") for each in plan.faults] == ["lyo-mbx1"]


def test_several_servers_repeat_together(tmp_path: Path) -> None:
    fault = A_KILL.replace("par-mbx1", "site paris").replace(
        "for: 5m", "for: 2m, every: 4m, times: 2"
    )
    plan = plan_of(tmp_path, fault)
    killed = [(f.server, f.start_ms // MINUTE_MS) for f in plan.faults if isinstance(f, Kill)]
    assert killed == [("par-mbx1", 10), ("par-mbx2", 10), ("par-mbx1", 14), ("par-mbx2", 14)]
    assert {f.returns_with for f in plan.faults if isinstance(f, Kill)} == {"new-queue-database"}


def test_the_plan_shows_each_of_them(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, "{at: 10m, for: 2m, every: 4m, times: 2, pause: [par-mbx1, par-mbx2]}")
    words = [moment.what for moment in moments(plan)]
    for number, server in enumerate(["par-mbx1", "par-mbx2"] * 2, start=1):
        assert f"f{number}: pause {server}" in words
        assert f"f{number}: resume {server}" in words


A_MANAGER = "{active_manager: {name: am1, site: lyon}}"
PLACE = "{server: par-mbx1, at: before-shadow-250}"
TIMES = "for: 5m, every: 10m, times: 3"
WRONG = {
    "a length that is not shorter": (
        A_KILL.replace("for: 5m", "for: 10m, every: 10m, times: 2"),
        "15:5: faults[0], a mapping, for is not shorter than every: it would begin again before it"
        " is healed | make for shorter, or every longer",
    ),
    "neither times nor until": (
        A_KILL.replace("for: 5m", "for: 5m, every: 10m"),
        "15:5: faults[0], a mapping, every takes times or until"
        " | write one of them, such as times: 12",
    ),
    "both": (
        A_KILL.replace("for: 5m", f"{TIMES}, until: 2h"),
        "15:5: faults[0], a mapping, every takes times or until"
        " | write one of them, such as times: 12",
    ),
    "times alone": (
        A_KILL.replace("for: 5m", "for: 5m, times: 3"),
        "15:5: faults[0], a mapping, times and until belong to every | add every:",
    ),
    "until too early": (
        A_KILL.replace("for: 5m", "for: 5m, every: 10m, until: 12m"),
        "15:5: faults[0], a mapping, until comes before the first one is healed"
        " | write a later moment, or make for shorter",
    ),
    "a place that repeats": (
        A_KILL.replace(
            "at: 10m, for: 5m", f"{TIMES}, when: {{server: par-mbx1, at: before-shadow-250}}"
        ),
        "15:5: faults[0], a mapping, a fault that repeats starts at a time"
        " | write at:, or remove every:",
    ),
    "a place for two servers": (
        f"{{when: {PLACE}, for: 1m, kill: [par-mbx1, par-mbx2]}}",
        "15:5: faults[0], a mapping, a place starts a fault of one server | name one of them",
    ),
    "a schedule that repeats": (
        "{random: {during: 1m..20m, faults: [kill]}, every: 10m, times: 2}",
        "15:5: faults[0], a mapping, a random schedule has its times inside"
        " | write during: and for: inside random:",
    ),
    "a server that is not there": (
        "{at: 10m, for: 5m, kill: [par-mbx1, par-mbx9]}",
        "15:41: faults[0].kill[1], par-mbx9, is no server of the topology | did you mean par-mbx2?",
    ),
    "a site that is not there": (
        "{at: 10m, for: 5m, kill: site lion}",
        "15:30: faults[0].kill, site lion, is no site of the topology | did you mean site lyon?",
    ),
    "a site without its word": (
        "{at: 10m, for: 5m, stop: [paris]}",
        "15:31: faults[0].stop[0], paris, is no server of the topology | did you mean site paris?",
    ),
    "a full disk on an outside site": (
        "{at: 10m, for: 5m, fill_disk: site internet}",
        "15:35: faults[0].fill_disk, site internet, names no server"
        " | name a site with mailbox servers",
    ),
    "a server twice, by either word": (
        "{at: 10m, for: 5m, skew_clock: [par-mbx1, server par-mbx1], by: 5m}",
        "15:47: faults[0].skew_clock[1], par-mbx1, is named twice | keep one of them",
    ),
    "an outside site without power": (
        "{at: 10m, for: 5m, power_loss: site internet}",
        "15:36: faults[0].power_loss, site internet, is an outside site, whose servers keep nothing"
        " on disk | kill them, or name a site with mailbox servers",
    ),
    "an outside site with a queue database": (
        A_KILL.replace("par-mbx1", "site internet"),
        "15:30: faults[0].kill, site internet, is an outside site, whose servers have no queue"
        " database | remove returns_with:",
    ),
    "a second entry in the way of the third time": (
        "{at: 4m, for: 3m, every: 8m, times: 3, stop: par-mbx1}\n"
        "  - {at: 21m, for: 1m, pause: [par-mbx2, par-mbx1]}",
        "16:5: faults[1], with faults[0], cannot both hold: par-mbx1 is stopped already and not"
        " back | start it at 00:23:00 or later",
    ),
    "a time past the end of the run": (
        "{at: 10m, for: 1m, every: 1h, times: 3, stop: par-mbx1}",
        "15:10: faults[0].at, 01:10:00, lies past the end of the run at 00:31:00"
        " | start the fault earlier, or send mail for longer",
    ),
    "more of them than a scenario may have": (
        "{at: 10m, for: 1s, every: 2s, until: 2h, stop: par-mbx1}",
        "15:5: faults[0], 3300, faults, and 400 is the most of a scenario | write fewer",
    ),
    "no number for how often": (
        A_KILL.replace("for: 5m", "for: 5m, every: 10m, times: 0"),
        "15:43: faults[0].times, 0, must be 1 or more",
    ),
}


@pytest.mark.parametrize(("fault", "mistake"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_repeated_says_why(tmp_path: Path, fault: str, mistake: str) -> None:
    [only] = said(checked(tmp_path, with_fault(fault)))
    assert only.startswith(mistake)


def test_a_site_without_a_server_is_a_mistake(tmp_path: Path) -> None:
    topology = "topologies/pair.yaml"
    path = write(tmp_path, with_fault("{at: 10m, for: 5m, kill: [par-mbx1, site rome]}"))
    text = (tmp_path / topology).read_text()
    (tmp_path / topology).write_text(changed(text, "lyon: {},", "lyon: {}, rome: {},"))
    [mistake] = said(check([path]))
    assert (
        mistake == "15:41: faults[0].kill[1], site rome, names no server | name a site with servers"
    )


def test_written_apart_it_has_the_same_plan(tmp_path: Path) -> None:
    fault = "{at: 10m, for: 2m, every: 4m, times: 2, kill: [site lyon, par-mbx2]}"
    [found] = checked(tmp_path, with_fault(fault)).scenarios
    text = with_plain_faults(found.text, found.scenario, found.topology, 7, apart=True)
    entries = YAML(typ="safe").load(text)["faults"]
    assert [(each["at"], each["kill"]) for each in entries] == [
        ("10m", "lyo-mbx1"), ("10m", "par-mbx2"), ("14m", "lyo-mbx1"), ("14m", "par-mbx2"),
    ]  # fmt: skip
    [again] = check([write(tmp_path, text)]).scenarios
    assert resolve(again.scenario, again.topology, 7) == resolve(found.scenario, found.topology, 7)


def test_where_only_draws_are_written_out_it_stays_one_entry(tmp_path: Path) -> None:
    fault = "{at: 10m, for: 2m, every: 4m, times: 2, kill: [site lyon, par-mbx2]}"
    [found] = checked(tmp_path, with_fault(fault)).scenarios
    assert with_plain_faults(found.text, found.scenario, found.topology, 7) == found.text


def test_a_limited_schedule_keeps_away_from_the_last_of_them(tmp_path: Path) -> None:
    fault = (
        "{at: 2m, for: 1m, every: 5m, times: 3, stop: par-mbx1}\n"
        "  - {random: {during: 10m..20m, faults: [pause], for: 1m, count: 1}}"
    )
    [mistake] = said(checked(tmp_path, with_fault(fault)))
    assert "shares its time, 10m..20m, and is one-server-at-a-time" in mistake


def test_a_server_whose_disk_is_used_up_has_a_volume_of_a_known_size(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, "{at: 10m, for: 5m, disk_use: par-mbx1, percent: 97}")
    sizes = {
        name: own["TransportService"]["QueueDatabaseVolumeSize"]
        for name, own in plan.settings.servers.items()
    }
    assert sizes.pop("par-mbx1") == 1024 * 1024 * 1024
    assert set(sizes.values()) == {0}
