"""The duplicate detection window is a mailbox database's, in every form that the lab gives it
(DD-2).
"""

from __future__ import annotations

import pytest
from jsonschema import Draft7Validator  # type: ignore[import-untyped]
from pydantic import ValidationError

from lab.hosts.node_config import node_config
from lab.plan.plan import Plan
from lab.planning.resolve import resolve
from lab.scenario.json_schema import schema
from lab.scenario.scenario import ScenarioModel
from lab.scenario.topology import TopologyModel
from lab.validation.yaml_document import parse_document
from nodes.core.config.error import ConfigurationError
from nodes.core.config.parameters import TRACK_DUPLICATES, parse_value
from tests.lab.scenario.sample_scenario import SCENARIO, TOPOLOGY

HOUR_MS, DAY_MS = 3_600_000, 86_400_000


def plan(settings: str = "{}", **own: str) -> Plan:
    """Under these settings; `own`: the window that a database has in the topology."""
    scenario = parse_document("s", SCENARIO.encode()).data
    scenario["settings"] = parse_document("s", settings.encode()).data
    topology = parse_document("t", TOPOLOGY.encode()).data
    topology["databases"]["DB2"] = {"copies": ["lyo-mbx1"]}
    for database, window in own.items():
        topology["databases"][database]["Track Duplicates"] = window
    return resolve(
        ScenarioModel.model_validate(scenario), TopologyModel.model_validate(topology), 7
    )


def windows(of: Plan) -> dict[str, int]:
    return {each.name: each.duplicate_detection_window_ms for each in of.topology.databases}


FOR_ALL = "{MailboxDatabase: {Track Duplicates: 2h}}"


def test_a_database_has_seven_days_or_what_is_set_for_all_or_its_own() -> None:
    assert set(windows(plan()).values()) == {7 * DAY_MS}
    assert set(windows(plan(FOR_ALL)).values()) == {2 * HOUR_MS}
    own = windows(plan(FOR_ALL, DB1="1h"))
    assert own.pop("DB1") == HOUR_MS
    assert set(own.values()) == {2 * HOUR_MS}


def test_what_exchange_2010_had_is_a_preset() -> None:
    assert windows(plan(DB1="Exchange2010"))["DB1"] == HOUR_MS
    for_all = plan("{MailboxDatabase: {Track Duplicates: Exchange2010}}")
    assert set(windows(for_all).values()) == {HOUR_MS}
    with pytest.raises(ConfigurationError) as refusal:
        parse_value(TRACK_DUPLICATES, "Exchange2011")
    assert refusal.value.hint.endswith("; or Exchange2010")


@pytest.mark.parametrize(("window", "is_one"), [("Exchange2010", True), ("2010", False)])
def test_an_editor_is_offered_the_preset(window: str, is_one: bool) -> None:
    topology = parse_document("t", TOPOLOGY.encode()).data
    topology["databases"]["DB1"]["Track Duplicates"] = window
    assert Draft7Validator(schema("topology")).is_valid(topology) == is_one


def test_more_than_49_days_becomes_24_hours() -> None:
    assert windows(plan(DB1="49d"))["DB1"] == 49 * DAY_MS
    assert windows(plan(DB1="50d"))["DB1"] == DAY_MS


def test_every_server_knows_the_window_of_every_database() -> None:
    made = plan(FOR_ALL, DB1="1h")
    servers = [each for each in made.topology.servers if each.role == "mailbox"]
    assert len(servers) > 1
    for server in servers:
        assert node_config(made, server).duplicate_windows_ms == windows(made)


def test_a_window_of_a_server_is_refused_with_where_it_belongs() -> None:
    of_server = "{servers: {par-mbx1: {MailboxDatabase: {Track Duplicates: 1h}}}}"
    with pytest.raises(ValidationError, match="belongs to a mailbox database, not to a server"):
        plan(of_server)
