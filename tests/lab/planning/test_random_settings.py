"""Settings that are drawn: the same for the same seed, never a contradiction, written out plain."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft7Validator  # type: ignore[import-untyped]

from lab.hosts.node_config import node_config as config_of
from lab.hosts.simulator.simulation import simulate
from lab.plan.plan import Plan
from lab.planning.random_settings import drawn_parts, drawn_values, settings_in_words
from lab.planning.resolve import resolve
from lab.planning.write_out import with_plain_faults
from lab.scenario.json_schema import schema
from lab.scenario.scenario import ScenarioModel
from lab.scenario.topology import TopologyModel
from lab.validation.yaml_document import parse_document
from nodes.core.config.parameters import Value
from nodes.core.config.units import DAY_MS, MINUTE_MS, SECOND_MS
from tests.lab.scenario.sample_scenario import SCENARIO, TOPOLOGY, changed, checked, said

FIXED = "settings:\n  TransportConfig: {ShadowHeartbeatFrequency: 1m}\n"
CONTRADICTORY = """\
TransportConfig:
      ShadowMessagePreferenceSetting: [PreferRemote, LocalOnly, RemoteOnly]
      MaxRetriesForRemoteSiteShadow: 0..4
      MaxRetriesForLocalSiteShadow: [0, 2]
    TransportService:
      DelayNotificationTimeout: [10s, 5m, 4h]
      TransientFailureRetryCount: 0..15
      TransientFailureRetryInterval: 1s..12h
    ReceiveConnector: {ConnectionTimeout: 5m..20m, ConnectionInactivityTimeout: 1m..19m}"""
seeds = st.integers(0, 2**53 - 1)


def text_with(random: str) -> str:
    return changed(SCENARIO, FIXED, f"{FIXED}  random:\n    {random}\n")


def model_of(text: str) -> ScenarioModel:
    return ScenarioModel.model_validate(parse_document("s", text.encode()).data)


def topology() -> TopologyModel:
    return TopologyModel.model_validate(parse_document("t", TOPOLOGY.encode()).data)


def plan_of(text: str, seed: int = 7) -> Plan:
    return resolve(model_of(text), topology(), seed)


def node_config(plan: Plan, name: str) -> None:
    """Raises ConfigurationError where the settings of that server contradict each other."""
    config_of(plan, next(each for each in plan.topology.servers if each.name == name))


def drawn(random: str, seed: int) -> dict[str, Value]:
    found = drawn_values(model_of(text_with(random)).settings, seed)
    return {name: value for (_, name), value in found.items()}


def test_what_is_drawn_stands_in_the_plan_as_an_ordinary_setting() -> None:
    random = """TransportConfig: {ShadowResubmitTimeSpan: [10m, 1h]}
    TransportService: {IntraOrgConnectorSmtpMaxMessagesPerConnection: 2..5}
    MailboxDatabase: {Track Duplicates: [1h, 2d]}"""
    plan, values = plan_of(text_with(random)), drawn(random, 7)
    assert plan.settings.TransportConfig["ShadowHeartbeatFrequency"] == MINUTE_MS
    name = "ShadowResubmitTimeSpan"
    assert plan.settings.TransportConfig[name] == values[name]
    for server in ("par-mbx1", "par-mbx2", "lyo-mbx1"):
        name = "IntraOrgConnectorSmtpMaxMessagesPerConnection"
        assert plan.settings.servers[server]["TransportService"][name] == values[name]
    windows = {each.duplicate_detection_window_ms for each in plan.topology.databases}
    assert windows == {values["Track Duplicates"]}
    node_config(plan, "par-mbx1")


def test_each_entry_has_the_same_chance_and_so_has_each_value_of_a_range() -> None:
    random = "TransportConfig: {ShadowHeartbeatFrequency: 30s}".replace("30s", "[1s..4s, 1h]")
    text = changed(text_with(random), "{ShadowHeartbeatFrequency: 1m}", "{}")
    model = model_of(text)
    found = Counter(next(iter(drawn_values(model.settings, seed).values())) for seed in range(800))
    assert set(found) == {SECOND_MS, 2 * SECOND_MS, 3 * SECOND_MS, 4 * SECOND_MS, 60 * MINUTE_MS}
    assert 330 < found[60 * MINUTE_MS] < 470
    assert all(70 < found[second * SECOND_MS] < 130 for second in range(1, 5))


def test_one_draw_depends_on_no_other() -> None:
    one = "TransportConfig: {ShadowResubmitTimeSpan: 10m..3h}"
    two = "TransportConfig: {ShadowResubmitTimeSpan: 10m..3h, SafetyNetHoldTime: 1m..2d}"
    for seed in range(20):
        assert (
            drawn(one, seed)["ShadowResubmitTimeSpan"] == drawn(two, seed)["ShadowResubmitTimeSpan"]
        )
    without, plain = plan_of(text_with(one)), plan_of(SCENARIO)
    assert (without.messages, without.faults) == (plain.messages, plain.faults)


def test_two_parameters_are_drawn_apart() -> None:
    random = "TransportConfig: {ShadowResubmitTimeSpan: 10m..3h, SafetyNetHoldTime: 10m..3h}"
    pairs = [tuple(drawn(random, seed).values()) for seed in range(10)]
    assert all(one != other for one, other in pairs)


def test_another_seed_draws_other_settings_and_a_seed_of_its_own_the_same_ones() -> None:
    random = "TransportConfig: {SafetyNetHoldTime: 1m..2d}"
    assert drawn(random, 1) == drawn(random, 1) != drawn(random, 2)
    fixed = f"{random}\n    seed: 12"
    assert drawn(fixed, 1) == drawn(fixed, 2) == drawn(random, 12)


@given(seeds)
@settings(max_examples=150, deadline=None)
def test_no_draw_contradicts_itself(seed: int) -> None:
    plan = plan_of(text_with(CONTRADICTORY), seed)
    for server in ("par-mbx1", "par-mbx2", "lyo-mbx1"):
        node_config(plan, server)


def test_what_is_nearly_always_a_contradiction_is_still_drawn_without() -> None:
    random = """TransportService:
      DelayNotificationTimeout: [1s, 2s, 3s, 4s, 5s, 6s, 7s, 8s, 9s, 12h]
      TransientFailureRetryCount: 14..15
      TransientFailureRetryInterval: 40m..12h"""
    for seed in range(60):
        node_config(plan_of(text_with(random), seed), "par-mbx1")


def test_a_server_with_settings_of_its_own_is_not_contradicted() -> None:
    """Its sessions may take 10 minutes: no silence as long as that is drawn for anybody."""
    random = "ReceiveConnector: {ConnectionInactivityTimeout: [5m, 10m]}"
    assert {drawn(random, seed)["ConnectionInactivityTimeout"] for seed in range(40)} == {
        5 * MINUTE_MS
    }


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_scenario_with_what_is_drawn_written_out_has_the_same_plan(seed: int) -> None:
    text = text_with(CONTRADICTORY)
    plain = with_plain_faults(text, model_of(text), topology(), seed)
    assert "random" not in plain
    assert plan_of(plain, seed) == plan_of(text, seed)


def test_the_plan_view_names_what_was_drawn() -> None:
    model = model_of(text_with("TransportConfig: {SafetyNetHoldTime: 1m..2d}"))
    assert settings_in_words(model, 7) == ["drawn from 7: TransportConfig.SafetyNetHoldTime"]
    assert settings_in_words(model_of(SCENARIO), 7) == []


def test_coverage_counts_each_value_and_each_half_of_a_range() -> None:
    random = """TransportConfig:
      SafetyNetHoldTime: [1m..4m, 2d]
      RejectMessageOnShadowFailure: [false, true]
    TransportService: {QueueGlitchRetryCount: 0..1}"""
    found = {
        name: [(each.name, each.low, each.high) for each in parts]
        for (_, name), parts in drawn_parts(model_of(text_with(random)).settings).items()
    }
    assert found == {
        "RejectMessageOnShadowFailure": [("false", False, False), ("true", True, True)],
        "SafetyNetHoldTime": [
            ("1m..2m30s", MINUTE_MS, 150 * SECOND_MS),
            ("2m31s..4m", 151 * SECOND_MS, 4 * MINUTE_MS),
            ("48h", 2 * DAY_MS, 2 * DAY_MS),
        ],
        "QueueGlitchRetryCount": [("0", 0, 0), ("1", 1, 1)],
    }


MISTAKES = {
    "a group misspelt": (
        "TransportConfg: {SafetyNetHoldTime: 1m..2d}",
        "10:5: settings.random, TransportConfg, is an unknown key"
        " | did you mean TransportConfig?",
    ),
    "a parameter misspelt": (
        "TransportConfig: {SafetyNetHoldTim: 1m..2d}",
        "10:23: settings.random.TransportConfig, SafetyNetHoldTim, is an unknown key"
        " | did you mean SafetyNetHoldTime?",
    ),
    "a value out of range": (
        "TransportConfig: {SafetyNetHoldTime: [1m, 91d]}",
        "10:47: settings.random.TransportConfig.SafetyNetHoldTime[1], '91d', is out of range"
        " | it takes 00:00:01 to 90.00:00:00",
    ),
    "an end out of range": (
        "TransportConfig: {SafetyNetHoldTime: 1m..91d}",
        "10:42: settings.random.TransportConfig.SafetyNetHoldTime, '1m..91d', is out of range"
        " | it takes 00:00:01 to 90.00:00:00",
    ),
    "a range backwards": (
        "TransportService: {QueueGlitchRetryCount: 4..1}",
        "10:47: settings.random.TransportService.QueueGlitchRetryCount, '4..1', runs backwards"
        " | write the lower end first",
    ),
    "three ends": (
        "TransportService: {QueueGlitchRetryCount: 1..2..3}",
        "10:47: settings.random.TransportService.QueueGlitchRetryCount, '1..2..3',"
        " is not a range | write low..high, with one `..`",
    ),
    "a word misspelt": (
        "TransportConfig: {ShadowMessagePreferenceSetting: [LocalOnli, PreferRemote]}",
        "10:56: settings.random.TransportConfig.ShadowMessagePreferenceSetting[0], 'LocalOnli',"
        " is not one of its words | did you mean LocalOnly?",
    ),
    "one value": (
        "TransportConfig: {SafetyNetHoldTime: 2d}",
        "10:42: settings.random.TransportConfig.SafetyNetHoldTime, '2d',"
        " is one value: there is nothing to draw"
        " | write a list or low..high, or write it under settings.TransportConfig",
    ),
    "an entry twice": (
        "TransportConfig: {SafetyNetHoldTime: [1d, 2d, 2d]}",
        "10:42: settings.random.TransportConfig.SafetyNetHoldTime, a list,"
        " has an entry twice | keep one of them",
    ),
    "drawn and fixed": (
        "TransportConfig: {ShadowHeartbeatFrequency: 1m..2m}",
        "10:23: settings.random.TransportConfig, ShadowHeartbeatFrequency, is fixed"
        " by settings.TransportConfig already"
        " | keep one of them",
    ),
    "a contradiction whatever is drawn": (
        "ReceiveConnector: {ConnectionInactivityTimeout: 10m..20m}",
        "9:3: settings, whatever is drawn, ConnectionInactivityTimeout 00:10:00 is not less"
        " than ConnectionTimeout 00:10:00"
        " | a silent session must end before a session that has run too long",
    ),
    "what is not built": (
        "ReceiveConnector: {MaxAcknowledgementDelay: [1s, 2s]}",
        "10:24: settings.random.ReceiveConnector, MaxAcknowledgementDelay, is not built yet"
        " | of Exchange 2010; nothing replaces it: a message is redundant before its 250",
    ),
    "a word for a number": (
        "TransportService: {QueueGlitchRetryCount: [1, many]}",
        "10:51: settings.random.TransportService.QueueGlitchRetryCount[1], 'many',"
        " is not a whole number | it takes 0 to 15",
    ),
    "an unknown seed": (
        "seed: mine",
        "10:11: settings.random.seed, 'mine', is no seed | write from-run, or a whole number",
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("random", "mistake"), [pytest.param(*row, id=name) for name, row in MISTAKES.items()]
)
def test_a_mistake_is_named_at_its_place(tmp_path: Path, random: str, mistake: str) -> None:
    assert said(checked(tmp_path, text_with(random))) == [mistake]


def test_the_most_heartbeats_that_may_be_drawn_count(tmp_path: Path) -> None:
    random = "settings:\n  random: {TransportConfig: {ShadowHeartbeatFrequency: [1h, 1s]}}\n"
    text = changed(changed(SCENARIO, FIXED, random), "topology: pair", "topology: two-site-dag")
    [mistake] = said(checked(tmp_path, changed(text, "settle: 10m", "settle: 20d")))
    place = "8:56: settings.random.TransportConfig.ShadowHeartbeatFrequency, "
    assert mistake.startswith(place)
    assert "heartbeats in the run" in mistake


def test_a_sound_file_has_no_mistake(tmp_path: Path) -> None:
    assert said(checked(tmp_path, text_with(CONTRADICTORY))) == []


def test_rejecting_that_may_be_drawn_is_warned_of_where_it_refuses_all_mail(tmp_path: Path) -> None:
    random = "TransportConfig: {RejectMessageOnShadowFailure: [true, false]}"
    alone = TOPOLOGY.replace("site: lyon, dag: DAG1}", "site: lyon}")
    [warning] = checked(tmp_path, text_with(random), alone).warnings
    assert "refuses all mail of site lyon" in str(warning)


@pytest.mark.parametrize(
    ("random", "passes"),
    [
        (CONTRADICTORY, True),
        ("TransportConfig: {SafetyNetHoldTime: [1m, 2d]}", True),
        ("TransportConfig: {SafetyNetHoldTime: []}", False),
        ("TransportConfig: {SafetyNetHoldTime: 3}", False),
        ("TransportConfg: {SafetyNetHoldTime: 1m..2d}", False),
        ("TransportConfig: {ShadowMessagePreferenceSetting: [LocalOnli]}", False),
    ],
)
def test_the_schema_says_what_may_be_drawn(random: str, passes: bool) -> None:
    data: Any = parse_document("s", text_with(random).encode()).data
    assert Draft7Validator(schema("scenario")).is_valid(data) == passes


def test_the_simulator_goes_by_what_was_drawn() -> None:
    """With an hour of a heartbeat nobody asks in 35 minutes; with a second everybody does."""
    text = changed(text_with("TransportConfig: {ShadowHeartbeatFrequency: [1h, 10s]}"), FIXED,
                   "settings:\n")  # fmt: skip
    asked: dict[Value, int] = {}
    for seed in range(6):
        plan = plan_of(text, seed)
        files = simulate(plan, keeps_inputs=False).files
        logs = [line for name, lines in files.items() if "MSGTRK" in name for line in lines]
        discards = sum("HADISCARD" in line for line in logs)
        asked.setdefault(plan.settings.TransportConfig["ShadowHeartbeatFrequency"], discards)
    assert asked[10_000] > asked[60 * MINUTE_MS]
