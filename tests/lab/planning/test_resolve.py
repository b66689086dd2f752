"""The plan: complete, the same every time, and the same on its way through plan.json."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.hosts.node_config import node_config
from lab.plan.faults import (
    Corrupt,
    Fault,
    FillDisk,
    Kill,
    Pause,
    PowerLoss,
    Restart,
    SkewClock,
    Stop,
)
from lab.plan.link_faults import (
    Cut,
    Drip,
    LimitData,
    ResetAfter,
    Slice,
    Slow,
    SlowClose,
    Throttle,
)
from lab.plan.links import mesh
from lab.plan.plan import Plan
from lab.plan.topology import LinkName
from lab.plan.when import When
from lab.planning.resolve import default_seed, resolve
from lab.scenario.scenario import ScenarioModel
from lab.scenario.topology import TopologyModel, resolve_topology
from lab.validation.yaml_document import parse_document
from nodes.core.config.parameters import PARAMETERS
from nodes.core.config.units import MINUTE_MS
from tests.lab.scenario.sample_scenario import SCENARIO, TOPOLOGY, changed

ROOT = Path(__file__).resolve().parents[3]
BOTH_WAYS = (LinkName("par-mbx1", "lyo-mbx1", "smtp"), LinkName("lyo-mbx1", "par-mbx1", "smtp"))


def plan_of(scenario: str = SCENARIO, topology: str = TOPOLOGY, seed: int = 7) -> Plan:
    return resolve(
        ScenarioModel.model_validate(parse_document("s", scenario.encode()).data),
        TopologyModel.model_validate(parse_document("t", topology.encode()).data),
        seed,
    )


def test_a_plan_survives_its_way_through_json() -> None:
    plan = plan_of()
    again = Plan.from_json(plan.to_json())
    assert again == plan
    assert again.to_json() == plan.to_json()


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('"seed": 7', '"seed": "7"', "Plan.seed"),
        ('"seed": 7,', "", "Plan is"),
        ('"cut_kind": "stall"', '"cut_kind": "cut"', "^[^;]*1..cut_kind is 'cut', wanted [^;]*$"),
        ('"kind": "cut"', '"kind": "slow_replies"', "^[^;]*1..kind is 'slow_replies', [^;]*$"),
    ],
)
def test_a_plan_that_is_none_is_refused_with_the_place(old: str, new: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Plan.from_json(changed(plan_of().to_json(), old, new))


def test_a_plan_of_before_there_were_directions_is_late_both_ways() -> None:
    slow = "for: 5m, slow: {from: site lyon, to: site paris, latency: 4s}"
    plan = plan_of(
        changed(SCENARIO, "for: 5m, cut: {from: site lyon, to: site paris, kind: stall}", slow)
    )
    text = changed(plan.to_json(), '   "direction": "both",\n', "")
    assert Plan.from_json(text) == plan


def test_a_fault_at_a_place_may_begin_until_the_mail_ends_and_has_room_to_heal() -> None:
    place = "{when: {server: lyo-mbx1, at: before-shadow-250, nth: 2, after: 16m}, for: 7m, cut:"
    plan = plan_of(changed(SCENARIO, "{at: 12m, for: 5m, cut:", place))
    cut = plan.faults[-1]
    assert cut.when == When("lyo-mbx1", "before-shadow-250", 2, 21 * MINUTE_MS, 7 * MINUTE_MS)
    assert (cut.start_ms, cut.end_ms) == (16 * MINUTE_MS, 28 * MINUTE_MS)
    assert plan.last_heal_ms == cut.end_ms
    assert plan.duration_ms == 38 * MINUTE_MS
    assert Plan.from_json(plan.to_json()) == plan


def test_from_and_to_are_the_words_of_the_file() -> None:
    plan = json.loads(plan_of().to_json())
    assert plan["links"][0] == {
        "from": "par-mbx1",
        "to": "par-mbx2",
        "service": "smtp",
        "proxy": "par-mbx1--par-mbx2--smtp",
        "port": 21000,
    }


@pytest.mark.parametrize("hash_seed", ["0", "1", "4711"])
def test_a_plan_is_the_same_bytes_in_every_process(hash_seed: str) -> None:
    code = (
        "import hashlib\nfrom tests.lab.planning.test_resolve import plan_of\n"
        "print(hashlib.sha256(plan_of().to_json().encode()).hexdigest())"
    )
    told = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.strip() == hashlib.sha256(plan_of().to_json().encode()).hexdigest()


def test_another_seed_moves_the_mail_and_nothing_else() -> None:
    one, other = (json.loads(plan_of(seed=seed).to_json()) for seed in (7, 8))
    assert {key for key in one if one[key] != other[key]} == {"seed", "messages"}


def test_another_stream_changes_no_draw_of_the_first() -> None:
    more = changed(
        SCENARIO,
        "faults:\n",
        "  - {mail: inbound, at: 30s, for: 9m, rate: 3/m}\nfaults:\n",
    )
    drawn = [
        {(m.at_ms, m.sender, m.recipients) for m in plan_of(text).messages if m.mail == "outbound"}
        for text in (SCENARIO, more)
    ]
    assert drawn[0] == drawn[1]


def test_every_link_of_the_mesh_is_there_once_with_a_port_of_its_own() -> None:
    links = plan_of().links
    names = [(link.source, link.target) for link in links]
    assert len(links) == 3 * 2 + 3 + 3
    assert len(set(names)) == len(links)
    assert ("ext1", "par-mbx1") not in names
    assert ("workload", "ext1") not in names
    assert [link.port for link in links] == list(range(21000, 21000 + len(links)))


def test_each_active_manager_can_reach_mailbox_servers_of_every_dag() -> None:
    path = ROOT / "scenarios/topologies/two-dags.yaml"
    two_dags = resolve_topology(
        TopologyModel.model_validate(parse_document(str(path), path.read_bytes()).data)
    )
    links = [link for link in mesh(two_dags) if link.service == "management"]
    mailbox = [each.name for each in two_dags.servers if each.role == "mailbox"]
    reached = {(link.source, link.target) for link in links}
    assert reached == {(manager, name) for manager in ("am1", "am2") for name in mailbox}


def test_every_parameter_is_written_out_for_every_server() -> None:
    settings_of = plan_of().settings
    assert set(settings_of.TransportConfig) == set(PARAMETERS["TransportConfig"])
    assert list(settings_of.servers) == ["par-mbx1", "par-mbx2", "lyo-mbx1", "ext1"]
    for sections in settings_of.servers.values():
        for section, values in sections.items():
            assert set(values) == set(PARAMETERS[section])


def test_remote_only_keeps_the_local_attempts_of_who_has_no_other_site() -> None:
    given = "{ShadowMessagePreferenceSetting: RemoteOnly}"
    text = changed(SCENARIO, "{ShadowHeartbeatFrequency: 1m}", given)
    plan = plan_of(text)
    assert plan.settings.TransportConfig["MaxRetriesForLocalSiteShadow"] == 2
    config = node_config(plan, plan.topology.servers[0])
    assert config.transport.max_retries_for_local_site_shadow == 2


def test_a_server_has_a_preference_of_its_own_where_the_file_says_so() -> None:
    own = "  servers: {par-mbx1: {TransportService: {ShadowMessagePreference: RemoteOnly}}}\n"
    plan = plan_of(changed(SCENARIO, "settings:\n", f"settings:\n{own}"))
    preferences = {
        server.name: node_config(plan, server).server.shadow_message_preference
        for server in plan.topology.servers
    }
    assert preferences.pop("par-mbx1") == "RemoteOnly"
    assert set(preferences.values()) == {"PreferRemote"}


def test_a_setting_of_one_server_wins_over_that_of_all() -> None:
    text = changed(
        SCENARIO, "settings:\n", "settings:\n  ReceiveConnector: {ConnectionTimeout: 8m}\n"
    )
    timeouts = {
        name: sections["ReceiveConnector"]["ConnectionTimeout"]
        for name, sections in plan_of(text).settings.servers.items()
    }
    assert timeouts == {
        "par-mbx1": 600_000,  # its own
        "par-mbx2": 480_000,
        "lyo-mbx1": 480_000,
        "ext1": 600_000,  # none of ours, so the default
    }


def test_messages_are_numbered_in_the_order_of_their_moments() -> None:
    messages = plan_of().messages
    assert len(messages) == 220
    assert [message.at_ms for message in messages] == sorted(m.at_ms for m in messages)
    assert messages[0].message_id.startswith("<m000001.sound.7@")
    assert len({message.message_id for message in messages}) == len(messages)


def test_each_message_of_a_stream_has_its_own_slot_of_time() -> None:
    moments = [message.at_ms for message in plan_of().messages if message.mail == "inbound"]
    slots = [(at_ms - 60_000) * 200 // (20 * 60_000) for at_ms in moments]
    assert slots == list(range(200))


def test_messages_begin_with_each_entrance_in_turn() -> None:
    text = changed(SCENARIO, "via: par-mbx1", "via: [par-mbx1, lyo-mbx1]")
    inbound = [message for message in plan_of(text).messages if message.mail == "inbound"]
    assert [message.via for message in inbound[:3]] == [
        ("par-mbx1", "lyo-mbx1"),
        ("lyo-mbx1", "par-mbx1"),
        ("par-mbx1", "lyo-mbx1"),
    ]


def test_inbound_mail_comes_from_the_partner_and_outbound_mail_goes_there() -> None:
    for message in plan_of().messages:
        outside = message.sender if message.mail == "inbound" else message.recipients[0]
        inside = message.recipients[0] if message.mail == "inbound" else message.sender
        assert outside.endswith("@partner.example")
        assert inside.endswith("@shadowlab.example")


def test_recipients_are_different_and_as_many_as_asked() -> None:
    text = changed(SCENARIO, "rate: 10/m,", "rate: 10/m, recipients: 2..4,")
    counts = set()
    for message in plan_of(text).messages:
        assert len(set(message.recipients)) == len(message.recipients)
        if message.mail == "inbound":
            counts.add(len(message.recipients))
    assert counts == {2, 3, 4}


def test_faults_are_numbered_as_written_and_listed_as_they_start() -> None:
    text = changed(SCENARIO, "{at: 12m,", "{at: 2m,")
    assert [fault.id for fault in plan_of(text).faults] == ["f2", "f1"]


def test_a_cut_names_each_link_and_only_the_direction_asked() -> None:
    [cut] = [fault for fault in plan_of().faults if isinstance(fault, Cut)]
    assert cut.links == (
        LinkName("lyo-mbx1", "par-mbx1", "smtp"),
        LinkName("lyo-mbx1", "par-mbx2", "smtp"),
    )


@pytest.mark.parametrize(
    ("cut", "pairs"),
    [
        ("from: par-mbx1, to: [par-mbx2, ext1]", ["par-mbx1>par-mbx2", "par-mbx1>ext1"]),
        ("from: server par-mbx1, to: server ext1", ["par-mbx1>ext1"]),
        ("between: [par-mbx1, lyo-mbx1]", ["par-mbx1>lyo-mbx1", "lyo-mbx1>par-mbx1"]),
        ("between: [[par-mbx1], site lyon]", ["par-mbx1>lyo-mbx1", "lyo-mbx1>par-mbx1"]),
        ("from: workload, to: site lyon", ["workload>lyo-mbx1"]),
        ("from: site internet, to: lyo-mbx1", ["workload>lyo-mbx1"]),
        ("from: internet, to: lyo-mbx1", ["workload>lyo-mbx1"]),
        ("from: site lyon, to: site internet", ["lyo-mbx1>ext1"]),
    ],
)
def test_ends_of_a_cut_stand_for_servers(cut: str, pairs: list[str]) -> None:
    text = changed(SCENARIO, "from: site lyon, to: site paris", cut)
    [found] = [fault for fault in plan_of(text).faults if isinstance(fault, Cut)]
    assert [f"{link.source}>{link.target}" for link in found.links] == pairs


def test_a_server_returns_with_its_own_queue_database_unless_told_otherwise() -> None:
    text = changed(SCENARIO, ", returns_with: new-queue-database", "")
    [kill] = [fault for fault in plan_of(text).faults if isinstance(fault, Kill)]
    assert (kill.server, kill.returns_with) == ("par-mbx1", "same-queue-database")


@pytest.mark.parametrize(
    ("fault", "planned"),
    [
        (
            "for: 5m, slow: {between: [par-mbx1, lyo-mbx1], latency: 500ms, jitter: 100ms}",
            Slow("f2", "slow", 720_000, 1_020_000, 500, 100, BOTH_WAYS),
        ),
        (
            "for: 5m, slow: {between: [par-mbx1, lyo-mbx1], latency: 2s}",
            Slow("f2", "slow", 720_000, 1_020_000, 2000, 0, BOTH_WAYS),
        ),
        (
            "for: 5m, slow: {from: lyo-mbx1, to: par-mbx1, latency: 4s, direction: replies}",
            Slow("f2", "slow", 720_000, 1_020_000, 4000, 0, BOTH_WAYS[1:], "replies"),
        ),
        (
            "for: 5m, throttle: {between: [par-mbx1, lyo-mbx1], rate: 10KiB/s}",
            Throttle("f2", "throttle", 720_000, 1_020_000, 10_240, BOTH_WAYS),
        ),
        (
            "for: 5m, throttle: {from: lyo-mbx1, to: par-mbx1, rate: 1KiB/s, direction: requests}",
            Throttle("f2", "throttle", 720_000, 1_020_000, 1024, BOTH_WAYS[1:], "requests"),
        ),
        (
            "for: 5m, limit_data: {between: [par-mbx1, lyo-mbx1], bytes: 16KiB}",
            LimitData("f2", "limit_data", 720_000, 1_020_000, 16_384, BOTH_WAYS),
        ),
        (
            "for: 5m, slice: {between: [par-mbx1, lyo-mbx1], pieces: 256B, pause: 10ms}",
            Slice("f2", "slice", 720_000, 1_020_000, 256, 10, BOTH_WAYS),
        ),
        (
            "for: 5m, drip: {between: [par-mbx1, lyo-mbx1], latency: 600ms, rate: 8KiB/s}",
            Drip("f2", "drip", 720_000, 1_020_000, 600, 8192, BOTH_WAYS),
        ),
        (
            "for: 5m, drip: {between: [par-mbx1, lyo-mbx1], latency: 2s, rate: 300B/s,"
            " direction: replies}",
            Drip("f2", "drip", 720_000, 1_020_000, 2000, 300, BOTH_WAYS, "replies"),
        ),
        (
            "for: 5m, reset_after: {between: [par-mbx1, lyo-mbx1], after: 30s}",
            ResetAfter("f2", "reset_after", 720_000, 1_020_000, 30_000, BOTH_WAYS),
        ),
        (
            "for: 5m, reset_after: {from: lyo-mbx1, to: par-mbx1, after: 500ms}",
            ResetAfter("f2", "reset_after", 720_000, 1_020_000, 500, BOTH_WAYS[1:]),
        ),
        (
            "for: 5m, slow_close: {between: [par-mbx1, lyo-mbx1], delay: 30s}",
            SlowClose("f2", "slow_close", 720_000, 1_020_000, 30_000, BOTH_WAYS),
        ),
        (
            "for: 5m, slow_close: {from: lyo-mbx1, to: par-mbx1, delay: 500ms}",
            SlowClose("f2", "slow_close", 720_000, 1_020_000, 500, BOTH_WAYS[1:]),
        ),
        ("for: 5m, pause: lyo-mbx1", Pause("f2", "pause", 720_000, 1_020_000, "lyo-mbx1")),
        ("for: 5m, stop: lyo-mbx1", Stop("f2", "stop", 720_000, 1_020_000, "lyo-mbx1")),
        (
            "for: 5m, power_loss: lyo-mbx1",
            PowerLoss("f2", "power_loss", 720_000, 1_020_000, "lyo-mbx1"),
        ),
        ("for: 5m, corrupt: lyo-mbx1", Corrupt("f2", "corrupt", 720_000, 1_020_000, "lyo-mbx1")),
        (
            "for: 5m, fill_disk: lyo-mbx1",
            FillDisk("f2", "fill_disk", 720_000, 1_020_000, "lyo-mbx1"),
        ),
        (
            "for: 5m, skew_clock: lyo-mbx1, by: -90s",
            SkewClock("f2", "skew_clock", 720_000, 1_020_000, "lyo-mbx1", -90_000),
        ),
        ("restart: ext1", Restart("f2", "restart", 720_000, 720_000, "ext1")),
    ],
)
def test_every_kind_of_fault_comes_into_the_plan_and_through_its_json(
    fault: str, planned: Fault
) -> None:
    old = "for: 5m, cut: {from: site lyon, to: site paris, kind: stall}"
    plan = plan_of(changed(SCENARIO, old, fault))
    assert plan.faults[1] == planned
    assert Plan.from_json(plan.to_json()).faults[1] == planned


def test_a_run_lasts_until_everything_has_settled() -> None:
    plan = plan_of()
    assert (plan.workload_end_ms, plan.last_heal_ms) == (21 * 60_000, 17 * 60_000)
    assert plan.duration_ms == (21 + 10) * 60_000
    later = plan_of(changed(SCENARIO, "{at: 12m,", "{at: 22m,"))
    assert later.duration_ms == (27 + 10) * 60_000


def test_a_server_that_never_returns_is_away_to_the_end_of_the_run_and_makes_it_no_longer() -> None:
    old = "for: 5m, kill: par-mbx1, returns_with: new-queue-database"
    cut = "  - {at: 12m, for: 5m, cut: {from: site lyon, to: site paris, kind: stall}}\n"
    text = changed(changed(SCENARIO, old, "kill: par-mbx1, returns_with: never"), cut, "")
    plan = plan_of(text)
    assert plan.last_heal_ms == 10 * MINUTE_MS
    assert plan.duration_ms == (21 + 10) * MINUTE_MS
    assert plan.faults[0].end_ms == plan.duration_ms
    assert plan.faults[0].words() == ("kill par-mbx1 for good", "")


def test_a_plan_without_faults_has_no_heal() -> None:
    calm = SCENARIO[: SCENARIO.index("faults:")] + SCENARIO[SCENARIO.index("settle:") :]
    assert plan_of(calm).last_heal_ms is None


def test_what_is_expected_is_in_the_plan() -> None:
    expect = json.loads(plan_of().to_json())["expect"]
    assert expect == {
        "lost": 0,
        "unprotected_loss": None,
        "promotions": [
            {
                "of": "par-mbx1",
                "cause": "database-id-changed",
                "after_ms": 900_000,
                "within_ms": 120_000,
            }
        ],
        "verdict": "pass",
        "resubmissions": None,
    }


def test_a_scenario_has_a_seed_of_its_own() -> None:
    assert default_seed("calm") == default_seed("calm") != default_seed("storm")


@given(st.integers(0, 2**53 - 1), st.integers(1, 30), st.integers(1, 40))
@settings(max_examples=25)
def test_any_seed_gives_messages_inside_their_stream(seed: int, minutes: int, rate: int) -> None:
    text = changed(
        SCENARIO, "at: 1m, for: 20m, rate: 10/m", f"at: 1m, for: {minutes}m, rate: {rate}/m"
    )
    inbound = [m for m in plan_of(text, seed=seed).messages if m.mail == "inbound"]
    assert len(inbound) == minutes * rate
    assert all(60_000 <= m.at_ms < (minutes + 1) * 60_000 for m in inbound)
