"""Random schedules: the same for the same seed, within their limit, and written out as plain."""

from collections import Counter
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.plan.effects import Direction
from lab.plan.faults import (
    DIRECTED_KINDS,
    FOR_GOOD,
    LINK_KINDS,
    MACHINE_KINDS,
    NEW_SERVER,
    SERVER_KINDS,
    CorruptMailboxes,
    Fault,
    Kill,
    MachineFault,
    ReturnsWith,
    ServerFault,
)
from lab.plan.link_faults import Cut, CutKind, Directed, LinkFault
from lab.plan.plan import Plan
from lab.planning.collisions import are_hidden, collision
from lab.planning.random_schedule import in_words
from lab.planning.recovery import recovery_of
from lab.planning.resolve import default_seed, resolve, schedule_context
from lab.planning.write_out import with_plain_faults
from lab.scenario.scenario import ScenarioModel
from lab.scenario.topology import TopologyModel
from lab.validation.validate import CheckedScenario, check
from lab.validation.yaml_document import parse_document
from tests.lab.hosts.simulator.plans import SCENARIOS
from tests.lab.hosts.simulator.plans import scenario as of_the_library

ROOT = Path(__file__).resolve().parents[3]
TOPOLOGY = TopologyModel.model_validate(
    parse_document("t", (ROOT / "scenarios/topologies/two-site-dag.yaml").read_bytes()).data
)
SITES = {name: server.site for name, server in TOPOLOGY.servers.items()}
MAILBOX_SERVERS = [name for name, server in TOPOLOGY.servers.items() if server.role == "mailbox"]
WORDS = [*LINK_KINDS, *SERVER_KINDS, *MACHINE_KINDS]
EVERYTHING = f"[{', '.join(WORDS)}]"
SCENARIO = """\
version: 1
scenario: drawn   # a comment that stays
summary: Something happens, at some time, to somebody.
topology: two-site-dag
workload:
  - {mail: inbound, at: 1m, for: 6h, rate: 10/h}
faults:
  - random: {RANDOM}
settle: 10m
"""
LONELY = (
    "{version: 1, sites: {paris: {}}, servers: {par-mbx1: {role: mailbox, site: paris}}, "
    "databases: {DB1: {copies: [par-mbx1]}}, mailboxes: {DB1: 2}}"
)
LIMITS = ("one-server-at-a-time", "one-site-at-a-time", "none")
seeds = st.integers(0, 2**53 - 1)
limits = st.sampled_from(LIMITS)
kinds = st.lists(
    st.sampled_from([*WORDS, "cut-stall"]),
    min_size=1,
    unique=True,
)


def scenario_text(
    at_most: str = "one-server-at-a-time",
    faults: str = EVERYTHING,
    count: str = "3..8",
    during: str = "5m..5h",
    more: str = "",
) -> str:
    random = f"{{during: {during}, faults: {faults}, count: {count}, at_most: {at_most}{more}}}"
    return SCENARIO.replace("{RANDOM}", random)


def model_of(text: str) -> ScenarioModel:
    return ScenarioModel.model_validate(parse_document("s", text.encode()).data)


def check_text(folder: Path, text: str) -> list[str]:
    """Its mistakes without their place."""
    path = folder / "drawn.yaml"
    path.write_text(text)
    return [str(mistake).partition(": ")[2] for mistake in check([path]).mistakes]


def plan_of(text: str, seed: int = 7) -> Plan:
    return resolve(model_of(text), TOPOLOGY, seed)


def may_suffer(fault: Fault) -> set[str]:
    """The servers of which it may be said that the fault acts on this one alone."""
    if isinstance(fault, ServerFault | MachineFault):
        return {fault.server}
    if isinstance(fault, CorruptMailboxes):
        return set()
    ends = [{link.source, link.target} for link in fault.links]
    return set.intersection(*ends) & set(MAILBOX_SERVERS)


def acting(faults: tuple[Fault, ...], at_ms: int) -> list[Fault]:
    return [fault for fault in faults if fault.start_ms <= at_ms <= fault.end_ms]


@given(seeds, kinds)
@settings(max_examples=60, deadline=None)
def test_at_no_moment_do_faults_act_on_two_servers(seed: int, faults: list[str]) -> None:
    plan = plan_of(scenario_text(faults=f"[{', '.join(faults)}]"), seed)
    for fault in plan.faults:
        together = [may_suffer(each) for each in acting(plan.faults, fault.start_ms)]
        assert set.intersection(*together)


@given(seeds)
@settings(max_examples=60, deadline=None)
def test_at_no_moment_do_faults_act_on_two_sites(seed: int) -> None:
    plan = plan_of(scenario_text("one-site-at-a-time", count="5..12"), seed)
    for fault in plan.faults:
        together = [
            {SITES[server] for server in may_suffer(each)}
            for each in acting(plan.faults, fault.start_ms)
        ]
        assert set.intersection(*together)


@given(seeds)
@settings(max_examples=60, deadline=None)
def test_the_network_is_calm_around_the_loss_of_a_queue_database(seed: int) -> None:
    plan = plan_of(scenario_text(faults="[kill, cut, pause]", during="5m..6h"), seed)
    calm_ms = recovery_of(plan.settings, plan.topology, plan.clock.speed).whole_ms
    for loss in plan.faults:
        if isinstance(loss, Kill) and loss.returns_with == "new-queue-database":
            others = [each for each in plan.faults if each is not loss]
            assert all(
                each.end_ms + calm_ms <= loss.start_ms or loss.end_ms + calm_ms <= each.start_ms
                for each in others
            )


@given(seeds, limits, kinds, st.integers(1, 20))
@settings(max_examples=100, deadline=None)
def test_no_faults_collide_or_hide_each_other_whatever_is_drawn(
    seed: int, at_most: str, faults: list[str], count: int
) -> None:
    plan = plan_of(scenario_text(at_most, f"[{', '.join(faults)}]", f"1..{count}"), seed)
    for position, later in enumerate(plan.faults):
        assert [collision(earlier, later) for earlier in plan.faults[:position]] == [""] * position
    assert not are_hidden(list(plan.faults), 60_000)


def test_no_fault_of_links_is_hidden_where_many_servers_are_down() -> None:
    text = scenario_text("none", "[cut, stop]", "15", "5m..1h", more=", for: 10m..20m")
    plans = [plan_of(text, seed) for seed in range(60)]
    assert not any(are_hidden(list(plan.faults), 60_000) for plan in plans)


@given(seeds, limits, st.integers(1, 6), st.integers(0, 6))
@settings(max_examples=60, deadline=None)
def test_a_schedule_keeps_to_its_time_its_count_and_its_lengths(
    seed: int, at_most: str, low: int, more: int
) -> None:
    text = scenario_text(at_most, count=f"{low}..{low + more}", more=", for: 2m..9m")
    faults = plan_of(text, seed).faults
    assert low <= len(faults) <= low + more
    for fault in faults:
        assert 5 * 60_000 <= fault.start_ms <= fault.end_ms <= 300 * 60_000
        assert fault.kind == "restart" or 120_000 <= fault.end_ms - fault.start_ms <= 540_000


def test_a_schedule_that_is_tight_still_has_its_least_count() -> None:
    text = scenario_text(faults="[kill]", count="3..9", during="5m..1h41m")
    for seed in range(30):
        assert len(plan_of(text, seed).faults) >= 3


def test_every_word_is_drawn_and_some_stand_for_their_kinds_and_directions() -> None:
    text = scenario_text(faults=EVERYTHING)
    drawn = Counter(
        getattr(fault, "cut_kind", "") or how_it_returns(fault) or in_direction(fault)
        for seed in range(120)
        for fault in plan_of(text, seed).faults
    )
    in_several_forms = {*get_args(CutKind), *get_args(ReturnsWith)} - {FOR_GOOD, NEW_SERVER}
    directed = {f"{kind} {way}" for kind in DIRECTED_KINDS for way in get_args(Direction)}
    plain = set(WORDS) - {"cut", "kill", *DIRECTED_KINDS}
    assert set(drawn) == in_several_forms | directed | plain


def test_a_new_server_is_drawn_alone_where_every_database_has_another_copy() -> None:
    text = scenario_text(faults="[new-server]").replace("two-site-dag", "two-site-dag-with-copies")
    faults = [fault for seed in range(5) for fault in plan_of(text, seed).faults]
    assert {how_it_returns(fault) for fault in faults} == {NEW_SERVER}
    assert {name for fault in faults for name in may_suffer(fault)} <= set(MAILBOX_SERVERS)


def test_a_word_with_its_direction_draws_no_other() -> None:
    text = scenario_text(faults="[slow-replies, throttle-requests, drip-requests]")
    drawn = {in_direction(fault) for seed in range(20) for fault in plan_of(text, seed).faults}
    assert drawn == {"slow replies", "throttle requests", "drip requests"}


def test_a_word_of_before_is_answered_by_that_of_now(tmp_path: Path) -> None:
    [mistake] = check_text(tmp_path, scenario_text(faults="[slow_replies]"))
    assert mistake.endswith("is not one of its words\nhint: did you mean slow-replies?")


def how_it_returns(fault: Fault) -> str:
    return fault.returns_with if isinstance(fault, Kill) else ""


def in_direction(fault: Fault) -> str:
    return f"{fault.kind} {fault.direction}" if isinstance(fault, Directed) else fault.kind


def test_every_server_suffers_sooner_or_later_and_some_faults_overlap() -> None:
    plans = [plan_of(scenario_text(), seed) for seed in range(60)]
    suffered = {name for plan in plans for fault in plan.faults for name in may_suffer(fault)}
    assert suffered == set(MAILBOX_SERVERS)
    assert any(
        len(acting(plan.faults, fault.start_ms)) > 1 for plan in plans for fault in plan.faults
    )


def test_without_a_limit_several_servers_suffer_at_once() -> None:
    plan = plan_of(scenario_text("none", count="20"))
    together = [[may_suffer(each) for each in acting(plan.faults, f.start_ms)] for f in plan.faults]
    assert any(not set.intersection(*servers) for servers in together)


def test_a_fault_of_links_has_all_links_between_a_server_and_others() -> None:
    for seed in range(20):
        for fault in plan_of(scenario_text(faults="[cut]"), seed).faults:
            assert isinstance(fault, LinkFault)
            pairs = {(link.source, link.target) for link in fault.links}
            [server, *_] = may_suffer(fault)
            others = {name for pair in pairs for name in pair} - {server}
            assert others - {"workload"}
            back = {(name, server) for name in others - {"ext1"}}
            assert pairs == back | {(server, name) for name in others - {"workload"}}


def test_a_split_cuts_every_link_between_two_sites_active_manager_among_them() -> None:
    text = scenario_text("one-site-at-a-time", "[split, pause]", "4")
    topology = TopologyModel.model_validate(
        parse_document(
            "t", (ROOT / "scenarios/topologies/two-site-dag-with-copies.yaml").read_bytes()
        ).data
    )
    sites = {name: server.site for name, server in topology.servers.items()} | {"am1": "lyon"}
    kinds = set()
    for seed in range(30):
        plan = resolve(model_of(text), topology, seed)
        across = {
            (link.source, link.target, link.service)
            for link in plan.links
            if {sites.get(link.source), sites.get(link.target)} == {"paris", "lyon"}
        }
        assert ("am1", "par-mbx1", "management") in across
        for fault in plan.faults:
            if isinstance(fault, Cut):
                kinds.add(fault.cut_kind)
                links = {(link.source, link.target, link.service) for link in fault.links}
                assert links == across
    assert kinds == {"refuse", "blackhole", "stall", "reset", "ack-lost"}


def test_a_split_is_no_fault_of_one_server(tmp_path: Path) -> None:
    [mistake] = check_text(tmp_path, scenario_text(faults="[split]"))
    assert mistake.endswith(
        "split concerns a whole site, and at_most is one-server-at-a-time"
        "\nhint: write at_most: one-site-at-a-time"
    )


def test_a_split_needs_a_second_site(tmp_path: Path) -> None:
    text = scenario_text("none", "[pause, split]").replace(
        "topology: two-site-dag", f"topology: {LONELY}"
    )
    [mistake] = check_text(tmp_path, text)
    assert mistake == (
        "faults[0].random.faults[1], split, has no second site to be cut off from\n"
        "hint: leave it out, or add a site with a server to the topology"
    )


def test_the_same_seed_draws_the_same_schedule_and_another_one_another() -> None:
    text = scenario_text()
    assert plan_of(text, 1).faults == plan_of(text, 1).faults != plan_of(text, 2).faults


def test_a_seed_of_its_own_gives_the_same_schedule_in_every_run() -> None:
    text = scenario_text(more=", seed: 12")
    assert plan_of(text, 1).faults == plan_of(text, 2).faults == plan_of(scenario_text(), 12).faults


def test_one_draw_depends_on_no_other() -> None:
    """More words to choose lengths from, and the kinds and servers stay as they were."""
    one, two = plan_of(scenario_text()), plan_of(scenario_text(more=", for: 2m..4m"))
    assert [fault.kind for fault in one.faults] == [fault.kind for fault in two.faults]
    assert [may_suffer(fault) for fault in one.faults] == [may_suffer(f) for f in two.faults]


def test_an_unlimited_schedule_makes_room_for_the_faults_of_the_file() -> None:
    fixed = "  - {at: 10m, for: 4h, kill: par-mbx1}\n"
    text = scenario_text("none", "[kill, pause, stop]", "20").replace("settle:", fixed + "settle:")
    faults = plan_of(text).faults
    assert [fault.start_ms for fault in faults if may_suffer(fault) == {"par-mbx1"}]
    for position, later in enumerate(faults):
        assert not any(collision(earlier, later) for earlier in faults[:position])


@pytest.mark.parametrize("at_most", LIMITS)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_scenario_with_what_is_drawn_written_out_has_the_same_plan(
    at_most: str, seed: int
) -> None:
    text = scenario_text(at_most)
    plain = with_plain_faults(text, model_of(text), TOPOLOGY, seed)
    assert "random" not in plain
    assert "# a comment that stays" in plain
    assert plan_of(plain, seed) == plan_of(text, seed)


def test_faults_of_the_file_stay_where_they_are_when_others_are_written_out() -> None:
    around = "  - {at: 1s, for: 9s, pause: par-mbx1} # first\n"
    text = scenario_text().replace("faults:\n", f"faults:\n{around}", 1)
    text = text.replace("settle:", "  - {at: 6h, for: 5m, stop: lyo-mbx1}\nsettle:")
    plain = with_plain_faults(text, model_of(text), TOPOLOGY, 3)
    assert around in plain
    assert plan_of(plain, 3) == plan_of(text, 3)


def test_a_scenario_without_random_faults_is_written_as_it_is() -> None:
    text = SCENARIO.replace("  - random: {RANDOM}\n", "  - {at: 5m, for: 1m, kill: par-mbx1}\n")
    assert with_plain_faults(text, model_of(text), TOPOLOGY, 3) == text


def test_the_plan_view_says_how_calm_it_is_around_a_loss() -> None:
    model = model_of(scenario_text(count="3"))
    context = schedule_context(model, plan_of(scenario_text()).topology)
    assert in_words(model.faults, context, 7) == [
        "3 random faults, one server at a time, drawn from 7; calm around the loss of a queue "
        "database 00:29:00 (heartbeat 00:02:00, session that hangs 00:10:00, retry 00:15:00, "
        "return 00:02:00)"
    ]


def test_no_link_to_cut_is_a_mistake_of_the_file(tmp_path: Path) -> None:
    text = scenario_text(faults="[pause, cut]").replace(
        "topology: two-site-dag", f"topology: {LONELY}"
    )
    [mistake] = check_text(tmp_path, text)
    assert mistake == (
        "faults[0].random.faults[1], cut, has no link between two servers to act on\n"
        "hint: leave it out, or add a server to the topology"
    )


def chaos() -> list[CheckedScenario]:
    found = map(of_the_library, SCENARIOS)
    return [each for each in found if "chaos" in each.scenario.tags]


@pytest.mark.parametrize("scenario", chaos(), ids=lambda each: each.scenario.scenario)
def test_scenarios_of_chaos_round_trip_under_their_own_seed(scenario: CheckedScenario) -> None:
    seed = default_seed(scenario.scenario.scenario)
    plain = with_plain_faults(scenario.text, scenario.scenario, scenario.topology, seed)
    again = resolve(model_of(plain), scenario.topology, seed)
    assert again == resolve(scenario.scenario, scenario.topology, seed)
