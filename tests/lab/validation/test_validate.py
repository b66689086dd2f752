"""Every mistake of a scenario file: its exact place, what is wrong, and what would be right.

The rows of `tests/lab/validation/wrong_scenarios.py` change one thing of the sound file each.
"""

import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lab.program.sources import SCENARIOS
from lab.scenario.scenario import ScenarioModel
from lab.scenario.topology import TopologyModel
from lab.validation.model_reader import read_model
from lab.validation.validate import check, find_topology
from lab.validation.yaml_document import Document, read_document
from tests.lab.scenario.sample_scenario import SCENARIO, TOPOLOGY, changed, checked, said, write
from tests.lab.validation.wrong_scenarios import (
    CONTRADICTIONS,
    NAMES,
    NOT_BUILT,
    SHAPE,
    TIMELINE,
    TOPOLOGIES,
)


def by_name(table: Mapping[str, tuple[str, str, str | list[str]]]) -> list[Any]:
    return [pytest.param(*row, id=name) for name, row in table.items()]


def test_a_sound_scenario_has_no_mistake(tmp_path: Path) -> None:
    found = checked(tmp_path)
    assert said(found) == []
    assert [each.scenario.scenario for each in found.scenarios] == ["sound"]
    assert found.scenarios[0].text == SCENARIO


@pytest.mark.parametrize(("old", "new", "mistakes"), by_name(SHAPE))
def test_a_wrong_shape_is_named_at_its_place(
    tmp_path: Path, old: str, new: str, mistakes: list[str]
) -> None:
    found = checked(tmp_path, changed(SCENARIO, old, new))
    assert said(found) == mistakes
    assert found.scenarios == ()


@pytest.mark.parametrize(("old", "new", "place"), by_name(NOT_BUILT))
def test_what_is_not_built_yet_says_so(tmp_path: Path, old: str, new: str, place: str) -> None:
    [mistake] = said(checked(tmp_path, changed(SCENARIO, old, new)))
    assert mistake.startswith(place)
    assert "is not built yet" in mistake


@pytest.mark.parametrize(("old", "new", "mistake"), by_name(NAMES))
def test_an_unknown_name_is_told_with_the_nearest(
    tmp_path: Path, old: str, new: str, mistake: str
) -> None:
    assert said(checked(tmp_path, changed(SCENARIO, old, new))) == [mistake]


@pytest.mark.parametrize(("old", "new", "mistake"), by_name(CONTRADICTIONS))
def test_settings_that_contradict_each_other_are_refused_with_both_names(
    tmp_path: Path, old: str, new: str, mistake: str
) -> None:
    assert said(checked(tmp_path, changed(SCENARIO, old, new))) == [mistake]


@pytest.mark.parametrize(("old", "new", "mistake"), by_name(TIMELINE))
def test_faults_that_cannot_be_are_named(tmp_path: Path, old: str, new: str, mistake: str) -> None:
    assert said(checked(tmp_path, changed(SCENARIO, old, new))) == [mistake]


@pytest.mark.parametrize(("old", "new", "mistake"), by_name(TOPOLOGIES))
def test_a_mistake_of_a_topology_is_told_in_its_own_file(
    tmp_path: Path, old: str, new: str, mistake: str
) -> None:
    path = write(tmp_path, SCENARIO, changed(TOPOLOGY, old, new))
    found = check([path])
    assert mistake in said(found)
    assert {mistake.file for mistake in found.mistakes if "topologies" in mistake.file}
    assert found.scenarios == ()


def test_a_slip_in_a_topology_makes_no_name_of_it_unknown(tmp_path: Path) -> None:
    topology = changed(TOPOLOGY, "par-mbx1: {role: mailbox", "par-mbx1: {roll: mailbox")
    told = said(checked(tmp_path, topology=topology))
    assert [mistake for mistake in told if "no server" in mistake or "no mailbox" in mistake] == []


def test_mistakes_of_every_sort_are_told_at_once_and_in_order(tmp_path: Path) -> None:
    text = SCENARIO
    for old, new in (
        ("summary", "sumary"),
        ("SM-7", "SM-70"),
        ("kill: par-mbx1", "kill: par-mbx8"),
        ("kind: stall", "kind: stal"),
        ("settle: 10m", "settle: ten"),
    ):
        text = changed(text, old, new)
    places = [mistake.split(": ")[0] for mistake in said(checked(tmp_path, text))]
    assert places == ["1:1", "3:1", "4:16", "15:30", "16:69", "17:9"]


def test_names_inside_an_entry_with_another_mistake_are_still_checked(tmp_path: Path) -> None:
    text = changed(SCENARIO, "site lyon", "site lion").replace("kind: stall", "kind: stal")
    assert [mistake.split(", ")[1] for mistake in said(checked(tmp_path, text))] == [
        "site lion",
        "'stal'",
    ]


def test_a_kind_that_may_be_drawn_is_named_once(tmp_path: Path) -> None:
    path = Path(__file__).parents[3] / "scenarios/chaos/cuts-only.yaml"
    copy = tmp_path / path.name
    copy.write_text(changed(path.read_text(), "faults: [cut]", "faults: [cut, cut]"))
    [mistake] = said(check([copy]))
    assert mistake.endswith(".random.faults[1], cut, is named twice | keep one of them")


Leaf = tuple[tuple[str | int, ...], object]


def leaves(data: object, path: tuple[str | int, ...] = ()) -> Iterator[Leaf]:
    """Every value of a file that holds no other, with its path."""
    if isinstance(data, dict | list):
        items = data.items() if isinstance(data, dict) else enumerate(data)
        for key, value in items:
            yield from leaves(value, (*path, key))
    else:
        yield path, data


def test_what_python_takes_for_a_number_is_none() -> None:
    """`true` is 1 and 1.0 is 1 to Python; each kind of value of the library is tried once."""
    seen: set[tuple[str, ...]] = set()
    taken = []
    for file in SCENARIOS.rglob("*.yaml"):
        document = read_document(file)
        model = TopologyModel if file.parent.name == "topologies" else ScenarioModel
        for path, value in leaves(document.data):
            place = tuple("*" if isinstance(part, int) else part for part in path)
            if model is ScenarioModel and place[0] == "topology":
                continue  # it may be of any kind here, and is read by itself
            if place in seen or isinstance(value, bool):
                continue
            seen.add(place)
            for other in (True, False, 1.0, float(value) if isinstance(value, int) else 2.0):
                read = read_model(model, with_value(document, path, other))
                if not read.mistakes:
                    taken.append((*place, other))
    assert {each[:2] for each in taken} == {("clock", "speed")}
    assert all(isinstance(each[-1], float) for each in taken)


def with_value(document: Document, path: tuple[str | int, ...], value: object) -> Document:
    data = deepcopy(document.data)
    around = data
    for part in path[:-1]:
        around = around[part]
    around[path[-1]] = value
    return replace(document, data=data)


def test_several_files_are_checked_in_one_go_and_a_topology_once(tmp_path: Path) -> None:
    write(tmp_path, SCENARIO, changed(TOPOLOGY, "cost: 10", "cost: 0"))
    write(tmp_path, changed(SCENARIO, "scenario: sound", "scenario: other"), name="other")
    (tmp_path / "topologies" / "pair.yaml").write_text(changed(TOPOLOGY, "cost: 10", "cost: 0"))
    found = check([tmp_path])
    assert said(found) == ["4:45: site_links[0].cost, 0, must be 1 or more"]


def test_two_scenarios_of_one_name_are_a_mistake(tmp_path: Path) -> None:
    first = write(tmp_path, SCENARIO)
    (tmp_path / "deeper").mkdir()
    (tmp_path / "deeper" / "sound.yaml").write_text(SCENARIO, encoding="utf-8")
    found = check([first, tmp_path])
    assert said(found) == [
        f"2:11: scenario, sound, is the name of {first} too | rename one of them"
    ]


def test_a_topology_may_stand_in_the_scenario(tmp_path: Path) -> None:
    inside = "".join(f"  {line}\n" for line in TOPOLOGY.splitlines()[2:])
    text = changed(SCENARIO, "topology: pair\n", f"topology:\n{inside}")
    assert said(checked(tmp_path, text)) == []
    wrong = changed(text, "[paris, lyon]", "[paris, lion]")
    assert said(checked(tmp_path, wrong)) == [
        "8:34: topology.site_links[0].between[1], lion, is no site of the topology"
        " | did you mean lyon?"
    ]


def test_a_topology_is_found_beside_a_folder_that_holds_the_scenario(tmp_path: Path) -> None:
    write(tmp_path, SCENARIO)
    (tmp_path / "shadow").mkdir()
    found = find_topology(tmp_path / "shadow" / "deep.yaml", "pair")
    assert found == tmp_path.resolve() / "topologies" / "pair.yaml"


def test_rejecting_with_one_server_in_the_boundary_is_a_warning(tmp_path: Path) -> None:
    lonely = changed(TOPOLOGY, "lyon, dag: DAG1", "lyon")
    text = changed(
        SCENARIO, "{ShadowHeartbeatFrequency: 1m}", "{RejectMessageOnShadowFailure: true}"
    )
    found = checked(tmp_path, text, lonely)
    assert said(found) == []
    assert [str(warning).split(": ")[1] for warning in found.warnings] == [
        "settings.TransportConfig.RejectMessageOnShadowFailure, true, warning"
    ]
    assert "site lyon, which has one server" in str(found.warnings[0])


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (
            "{SafetyNetHoldTime: 3h}",
            "settings.TransportConfig.SafetyNetHoldTime, 03:00:00, warning: is longer than "
            "Track Duplicates 02:00:00 of DB1, so what comes back after it shows twice",
        ),
        (
            "{ShadowHeartbeatFrequency: 1m}",
            "settings.TransportConfig.SafetyNetHoldTime, 2.00:00:00",
        ),
        ("{SafetyNetHoldTime: 2h}", ""),
    ],
)
def test_holding_beyond_the_window_of_a_database_is_a_warning(
    tmp_path: Path, settings: str, said: str
) -> None:
    text = changed(SCENARIO, "{ShadowHeartbeatFrequency: 1m}", settings)
    window = "settings:\n  MailboxDatabase: {Track Duplicates: 2h}"
    found = checked(tmp_path, changed(text, "settings:", window))
    assert found.mistakes == ()
    assert len(found.warnings) == (1 if said else 0)
    assert said in "".join(map(str, found.warnings))


LAGGED = "[par-mbx2, {server: lyo-mbx1, ReplayLagTime: 3d}]"
MANAGED = ("dags: {DAG1: {}}", "dags: {DAG1: {active_manager: {name: am1, site: lyon}}}")


def _lagged(settings: str) -> tuple[str, str]:
    text = changed(SCENARIO, "{ShadowHeartbeatFrequency: 1m}", settings)
    return text, changed(changed(TOPOLOGY, "[par-mbx2]", LAGGED), *MANAGED)


@pytest.mark.parametrize(
    ("settings", "hold"),
    [("{ShadowHeartbeatFrequency: 1m}", "2.00:00:00"), ("{SafetyNetHoldTime: 1h}", "01:00:00")],
)
def test_holding_for_less_than_a_copy_lags_is_refused_unless_it_is_allowed(
    tmp_path: Path, settings: str, hold: str
) -> None:
    path = write(tmp_path, *_lagged(settings))
    rule = (
        f"settings.TransportConfig.SafetyNetHoldTime, {hold}, is less than ReplayLagTime "
        "3.00:00:00 of DB1 on lyo-mbx1: what it lacks from before that is lost when it is activated"
    )
    [mistake] = said(check([path]))
    assert rule in mistake
    allowed = check([path], allow_unsafe=True)
    assert (said(allowed), len(allowed.scenarios)) == ([], 1)
    [warning] = map(str, allowed.warnings)
    assert rule.replace("is less", "warning: is less") in warning


def test_holding_for_as_long_as_a_copy_lags_is_well(tmp_path: Path) -> None:
    found = check([write(tmp_path, *_lagged("{SafetyNetHoldTime: 3d}"))])
    assert (found.mistakes, found.warnings) == ((), ())


def test_what_is_drawn_counts_at_its_least(tmp_path: Path) -> None:
    text, topology = _lagged("{ShadowHeartbeatFrequency: 1m}")
    drawn = "settings:\n  random: {TransportConfig: {SafetyNetHoldTime: [1d, 5d]}}"
    [mistake] = said(check([write(tmp_path, changed(text, "settings:", drawn), topology)]))
    assert "settings.random.TransportConfig.SafetyNetHoldTime, 1.00:00:00, is less" in mistake


def test_a_lag_beyond_the_window_of_its_database_is_a_warning(tmp_path: Path) -> None:
    text, topology = _lagged("{SafetyNetHoldTime: 3d}")
    window = "settings:\n  MailboxDatabase: {Track Duplicates: 1d}"
    found = check([write(tmp_path, changed(text, "settings:", window), topology)])
    assert found.mistakes == ()
    said_of_it = [str(w) for w in found.warnings if "ReplayLagTime" in str(w)]
    assert len(said_of_it) == 1
    assert (
        "settings.MailboxDatabase.Track Duplicates, 1.00:00:00, warning: "
        "Track Duplicates 1.00:00:00 of DB1 is shorter than ReplayLagTime 3.00:00:00 of "
        "its copy on lyo-mbx1, so what comes back may show twice"
    ) in said_of_it[0]


@pytest.mark.parametrize(
    ("lyon", "said"),
    [
        ("lyon, dag: DAG1", []),
        ("lyon", ["DAG1", "site lyon"]),
    ],
)
def test_no_local_attempts_where_no_other_site_is_are_a_warning(
    tmp_path: Path, lyon: str, said: list[str]
) -> None:
    topology = changed(TOPOLOGY, "lyon, dag: DAG1", lyon)
    text = changed(SCENARIO, "{ShadowHeartbeatFrequency: 1m}", "{MaxRetriesForLocalSiteShadow: 0}")
    rule = "MaxRetriesForLocalSiteShadow, 0, warning: makes no mail of {} redundant"
    warned = _warnings(tmp_path, text, topology)
    assert warned == [f"settings.TransportConfig.{rule.format(boundary)}" for boundary in said]


@pytest.mark.parametrize(
    ("most", "said"),
    [
        ("4KB", []),
        ("3KB", ["workload[0]", "workload[1]"]),
    ],
)
def test_mail_that_every_server_refuses_is_a_warning(
    tmp_path: Path, most: str, said: list[str]
) -> None:
    text = changed(SCENARIO, "{ShadowHeartbeatFrequency: 1m}", f"{{MaxReceiveSize: {most}}}")
    rule = "size, 4KB, warning: is more than MaxReceiveSize 3KB"
    assert _warnings(tmp_path, text) == [f"{stream}.{rule}" for stream in said]


def _warnings(tmp_path: Path, text: str, topology: str = TOPOLOGY) -> list[str]:
    """Up to what follows from each; the file has no mistake."""
    found = checked(tmp_path, text, topology)
    assert found.mistakes == ()
    said = (str(warning).split(": ", 1)[1] for warning in found.warnings)
    return [re.split(", (?:so|which) ", each)[0] for each in said]


def test_the_copy_in_a_run_folder_need_not_have_the_scenarios_name(tmp_path: Path) -> None:
    copy = tmp_path / "scenario.yaml"
    copy.write_text(Path("scenarios/calm.yaml").read_text())
    assert [mistake.rule for mistake in check([copy]).mistakes] != []
    (tmp_path / "plan.json").write_text("{}")
    assert check([copy]).mistakes == ()
