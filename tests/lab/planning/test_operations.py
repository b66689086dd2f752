"""Copies of mailbox databases, Active Manager and operations: from the file to the plan."""

from dataclasses import replace
from pathlib import Path

import pytest

from lab.plan.faults import CorruptMailboxes
from lab.plan.link_faults import Cut
from lab.plan.links import MANAGEMENT, REPLICATION, SMTP
from lab.plan.operations import (
    ActivateLagged,
    ChangeRequest,
    Failover,
    MoveMailbox,
    RedirectMessages,
    Resubmit,
    SetComponentState,
    SetReceiveConnector,
    ShowQueues,
    Switchover,
)
from lab.plan.parts import ExpectedResubmission
from lab.plan.plan import Plan
from lab.plan.topology import OF_ROLE, LinkName, Role, Server
from lab.planning.moments import moments
from lab.planning.resolve import resolve
from lab.validation.validate import Checked, check
from tests.lab.scenario.sample_scenario import SCENARIO, TOPOLOGY, changed, said, write
from tests.lab.validation.wrong_scenarios import A_FAULT

COPIES = changed(
    changed(TOPOLOGY, "{DAG1: {}}", "{DAG1: {active_manager: {name: am1, site: lyon}}}"),
    "[par-mbx2]",
    "[par-mbx2, lyo-mbx1]",
)
OPERATIONS = "operations: [{at: 30m, failover: DB1}, {at: 20m, switchover: DB1, to: lyo-mbx1}]"


def checked(folder: Path, scenario: str, topology: str = COPIES) -> Checked:
    return check([write(folder, scenario, topology)])


def with_operations(operations: str) -> str:
    return changed(SCENARIO, "settle:", f"{operations}\nsettle:")


def planned(folder: Path, scenario: str, topology: str = COPIES) -> Plan:
    found = checked(folder, scenario, topology)
    assert found.mistakes == ()
    [one] = found.scenarios
    return resolve(one.scenario, one.topology, 1)


def services(plan: Plan) -> dict[str, set[tuple[str, str]]]:
    found: dict[str, set[tuple[str, str]]] = {}
    for link in plan.links:
        found.setdefault(link.service, set()).add((link.source, link.target))
    return found


def test_active_manager_is_a_server_of_the_plan(tmp_path: Path) -> None:
    plan = planned(tmp_path, SCENARIO)
    role: Role = "active_manager"
    evidence = OF_ROLE[role]
    fqdn = "am1.shadowlab.example"
    expected = Server("am1", fqdn, role, "lyon", "DAG1", None, evidence=evidence)
    assert plan.topology.servers[-1] == expected
    assert [copy.server for copy in plan.topology.databases[0].copies] == ["par-mbx2", "lyo-mbx1"]
    assert "am1" not in plan.topology.dags[0].members


def test_copies_of_a_database_ship_logs_and_active_manager_reaches_every_mailbox_server(
    tmp_path: Path,
) -> None:
    found = services(planned(tmp_path, SCENARIO))
    assert found[REPLICATION] == {("par-mbx2", "lyo-mbx1"), ("lyo-mbx1", "par-mbx2")}
    assert found[MANAGEMENT] == {("am1", name) for name in ("par-mbx1", "par-mbx2", "lyo-mbx1")}
    assert not any("am1" in ends for ends in found[SMTP])


def test_a_topology_with_single_copies_has_the_links_of_mail_alone(tmp_path: Path) -> None:
    assert set(services(planned(tmp_path, SCENARIO, TOPOLOGY))) == {SMTP}


@pytest.mark.parametrize("service", ["smtp", "replication"])
def test_a_cut_of_one_service_leaves_the_others(tmp_path: Path, service: str) -> None:
    cut = f"cut: {{between: [par-mbx2, lyo-mbx1], service: {service}, kind: stall}}"
    old = "cut: {from: site lyon, to: site paris, kind: stall}"
    plan = planned(tmp_path, changed(SCENARIO, old, cut))
    [found] = [fault for fault in plan.faults if isinstance(fault, Cut)]
    assert set(found.links) == {
        LinkName("par-mbx2", "lyo-mbx1", service),
        LinkName("lyo-mbx1", "par-mbx2", service),
    }


def test_a_cut_without_a_service_takes_all_of_them(tmp_path: Path) -> None:
    plan = planned(tmp_path, SCENARIO)
    [found] = [fault for fault in plan.faults if isinstance(fault, Cut)]
    assert {link.service for link in found.links} == {SMTP, REPLICATION, MANAGEMENT}


def test_operations_are_in_the_plan_in_the_order_of_time(tmp_path: Path) -> None:
    plan = planned(tmp_path, with_operations(OPERATIONS))
    assert plan.operations == (
        Switchover("o2", "switchover", 20 * 60_000, "DB1", "lyo-mbx1"),
        Failover("o1", "failover", 30 * 60_000, "DB1", None),
    )
    assert plan.duration_ms == 40 * 60_000, "settling begins after the last of them"
    assert Plan.from_json(plan.to_json()) == plan
    story = [moment.what for moment in moments(plan)]
    assert "o2: switchover of DB1 to lyo-mbx1" in story
    assert "o1: failover of DB1" in story


LAGGED = COPIES.replace("[par-mbx2, lyo-mbx1]", "[par-mbx2, {server: lyo-mbx1, ReplayLagTime: 1d}]")
ACTIVATE = "operations: [{at: 30m, activate_lagged: DB1, to: lyo-mbx1, before: 20m}]"


def test_a_lagged_copy_is_activated_as_of_a_moment(tmp_path: Path) -> None:
    plan = planned(tmp_path, with_operations(ACTIVATE), LAGGED)
    asked = ActivateLagged("o1", "activate_lagged", 30 * 60_000, "DB1", "lyo-mbx1", 20 * 60_000)
    assert plan.operations == (asked,)
    assert asked.asked(plan.topology) == ("am1",)
    assert plan.topology.databases[0].copies[1].replay_lag_time_ms == 24 * 3_600_000
    assert Plan.from_json(plan.to_json()) == plan
    story = [moment.what for moment in moments(plan)]
    assert "o1: activation of the lagged copy of DB1 on lyo-mbx1 as of 00:20:00" in story


@pytest.mark.parametrize("kind", ["failover", "switchover"])
def test_a_lagged_copy_is_not_where_a_database_fails_over_to(tmp_path: Path, kind: str) -> None:
    entry = f"operations: [{{at: 5m, {kind}: DB1, to: lyo-mbx1}}]"
    [found] = said(checked(tmp_path, with_operations(entry), LAGGED))
    rule = "operations[0].to, lyo-mbx1, has a lagged copy of DB1 | write activate_lagged:"
    assert found.endswith(rule)


def test_a_database_is_corrupted_at_a_moment(tmp_path: Path) -> None:
    fault = "{at: 12m, corrupt_mailboxes: DB1}"
    plan = planned(tmp_path, changed(SCENARIO, A_FAULT, fault))
    [found] = [each for each in plan.faults if isinstance(each, CorruptMailboxes)]
    assert found == CorruptMailboxes("f2", "corrupt_mailboxes", 720_000, 720_000, "DB1")
    assert Plan.from_json(plan.to_json()) == plan
    assert "f2: corrupt the mailboxes of DB1" in [moment.what for moment in moments(plan)]


@pytest.mark.parametrize(
    ("fault", "topology", "mistake"),
    [
        ("for: 1m, corrupt_mailboxes: DB1", COPIES, "remove for: and when:, and write at:"),
        ("corrupt_mailboxes: DB9", COPIES, "is no database of the topology | did you mean DB1?"),
        ("corrupt_mailboxes: DB1", TOPOLOGY, "give it a second copy in the topology"),
    ],
)
def test_a_corruption_that_cannot_be_is_named(
    tmp_path: Path, fault: str, topology: str, mistake: str
) -> None:
    text = changed(SCENARIO, A_FAULT, f"{{at: 12m, {fault}}}")
    [found] = said(checked(tmp_path, text, topology))
    assert found.endswith(mistake)


RESUBMIT = "operations: [{at: 30m, resubmit: DB1, start: 5m, end: 15m}]"


def test_a_resubmit_is_in_the_plan_and_said_to_the_boundary_of_its_database(
    tmp_path: Path,
) -> None:
    plan = planned(tmp_path, with_operations(RESUBMIT), TOPOLOGY)
    minute_ms = 60_000
    asked = Resubmit("o1", "resubmit", 30 * minute_ms, "DB1", 5 * minute_ms, 15 * minute_ms)
    assert plan.operations == (asked,)
    assert Plan.from_json(plan.to_json()) == plan
    story = [moment.what for moment in moments(plan)]
    assert "o1: resubmit of DB1, 00:05:00 to 00:15:00" in story
    assert asked.asked(plan.topology) == ("par-mbx1", "par-mbx2", "lyo-mbx1")


def test_outside_a_dag_the_site_of_the_database_is_asked(tmp_path: Path) -> None:
    plan = planned(tmp_path, with_operations(RESUBMIT), TOPOLOGY)
    servers = tuple(replace(each, dag=None) for each in plan.topology.servers)
    asked = plan.operations[0].asked(replace(plan.topology, servers=servers))
    assert asked == ("par-mbx1", "par-mbx2")


def test_messages_are_redirected_as_the_server_itself_is_asked(tmp_path: Path) -> None:
    redirect = "operations: [{at: 30m, redirect_messages: par-mbx1, to: par-mbx2}]"
    plan = planned(tmp_path, with_operations(redirect), TOPOLOGY)
    asked = RedirectMessages("o1", "redirect_messages", 30 * 60_000, "par-mbx1", "par-mbx2")
    assert plan.operations == (asked,)
    assert Plan.from_json(plan.to_json()) == plan
    assert asked.asked(plan.topology) == ("par-mbx1",)
    told = "o1: messages of par-mbx1 redirected to par-mbx2"
    assert told in [moment.what for moment in moments(plan)]


def test_a_component_changes_its_state_in_active_directory(tmp_path: Path) -> None:
    change = "operations: [{at: 30m, set_component_state: par-mbx1, state: Inactive}]"
    plan = planned(tmp_path, with_operations(change), TOPOLOGY)
    at_ms = 30 * 60_000
    asked = SetComponentState("o1", "set_component_state", at_ms, "par-mbx1", "Inactive")
    assert plan.operations == (asked,)
    assert Plan.from_json(plan.to_json()) == plan
    assert asked.asked(plan.topology) == ()
    told = "o1: HubTransport of par-mbx1 set Inactive"
    assert told in [moment.what for moment in moments(plan)]


def test_a_receive_connector_is_changed_in_active_directory(tmp_path: Path) -> None:
    change = "operations: [{at: 30m, set_receive_connector: par-mbx1, auth_mechanism: Tls}]"
    plan = planned(tmp_path, with_operations(change), TOPOLOGY)
    at_ms = 30 * 60_000
    asked = SetReceiveConnector("o1", "set_receive_connector", at_ms, "par-mbx1", "Tls")
    assert plan.operations == (asked,)
    assert Plan.from_json(plan.to_json()) == plan
    assert asked.asked(plan.topology) == ()
    told = "o1: AuthMechanism of par-mbx1 set to Tls"
    assert told in [moment.what for moment in moments(plan)]


WHO = "db1-user01@shadowlab.example"
MOVE = f"{{at: 30m, move_mailbox: {WHO}, to: DB2}}"
TWO_DATABASES = changed(
    COPIES, "mailboxes: {DB1: 4}", "  DB2: {copies: [par-mbx1]}\nmailboxes: {DB1: 4}"
)


def test_a_mailbox_moves_as_servers_of_the_database_it_leaves_and_active_manager_are_asked(
    tmp_path: Path,
) -> None:
    plan = planned(tmp_path, with_operations(f"operations: [{MOVE}]"), TWO_DATABASES)
    asked = MoveMailbox("o1", "move_mailbox", 30 * 60_000, WHO, "DB2")
    assert plan.operations == (asked,)
    assert Plan.from_json(plan.to_json()) == plan
    assert asked.asked(plan.topology) == ("par-mbx2", "lyo-mbx1", "am1")
    assert f"o1: move of {WHO} to DB2" in [moment.what for moment in moments(plan)]


def test_a_change_of_a_resubmit_request_is_of_the_last_one_before_it(tmp_path: Path) -> None:
    each = "start: 1m, end: 5m}"
    text = (
        f"operations: [{{at: 10m, resubmit: DB1, {each}, {{at: 12m, resubmit: DB1, {each},"
        " {at: 11m, disable_resubmit: DB1}, {at: 13m, remove_resubmit: DB1}]"
    )
    plan = planned(tmp_path, with_operations(text), TOPOLOGY)
    changes = [each for each in plan.operations if isinstance(each, ChangeRequest)]
    assert [(each.kind, each.request) for each in changes] == [
        ("disable_resubmit", "o1"), ("remove_resubmit", "o2"),
    ]  # fmt: skip
    assert Plan.from_json(plan.to_json()) == plan
    assert changes[0].asked(plan.topology) == plan.operations[0].asked(plan.topology)
    assert "o3: disable the resubmit of DB1" in [moment.what for moment in moments(plan)]


def test_somebody_looks_at_the_queues_of_one_server(tmp_path: Path) -> None:
    text = "operations: [{at: 5m, show_queues: par-mbx1}]"
    plan = planned(tmp_path, with_operations(text), TOPOLOGY)
    assert plan.operations == (ShowQueues("o1", "show_queues", 300_000, "par-mbx1"),)
    assert Plan.from_json(plan.to_json()) == plan
    assert plan.operations[0].asked(plan.topology) == ("par-mbx1",)


def test_what_a_resubmit_brings_may_be_expected_of_a_database_with_one_copy(
    tmp_path: Path,
) -> None:
    told = "  lost: 0\n  resubmissions: [{database: DB1, from: primary-safety-net}]"
    expecting = changed(SCENARIO, "  lost: 0", told)
    [mistake] = said(checked(tmp_path, expecting, TOPOLOGY))
    assert "has one copy and nowhere to go" in mistake
    asking = changed(expecting, "settle:", f"{RESUBMIT}\nsettle:")
    assert checked(tmp_path, asking, TOPOLOGY).mistakes == ()


def test_somebody_has_to_be_there_to_be_asked(tmp_path: Path) -> None:
    """Where one server of the boundary is there it is no mistake."""
    old = "cut: {from: site lyon, to: site paris, kind: stall}"
    times = changed(RESUBMIT, "{at: 30m, resubmit: DB1, start: 5m, end: 15m}",
                    "{at: 14m, resubmit: DB1, start: 5m, end: 13m}")  # fmt: skip
    asking = with_operations(times)
    assert checked(tmp_path, changed(asking, old, "kill: par-mbx2"), TOPOLOGY).mistakes == ()
    everybody = changed(asking, old, "kill: [par-mbx2, lyo-mbx1]")  # par-mbx1 is killed already
    [mistake] = said(checked(tmp_path, everybody, TOPOLOGY))
    assert "asks par-mbx1, which is killed then, and nobody would answer" in mistake


def test_what_is_expected_of_resubmissions_is_in_the_plan(tmp_path: Path) -> None:
    told = "  lost: 0\n  resubmissions: [{database: DB1, from: shadow-safety-net}]"
    plan = planned(tmp_path, changed(SCENARIO, "  lost: 0", told))
    assert plan.expect.resubmissions == (ExpectedResubmission("DB1", "shadow-safety-net"),)
    assert planned(tmp_path, SCENARIO).expect.resubmissions is None


def test_a_plan_from_before_there_were_copies_is_still_read(tmp_path: Path) -> None:
    plan = planned(tmp_path, SCENARIO, TOPOLOGY)
    text = plan.to_json()
    for line in ('   "auto_activation": "Unrestricted"', '  "resubmissions": null'):
        assert f",\n{line}" in text or f",\n {line}" in text
        text = text.replace(f",\n {line}", "").replace(f",\n{line}", "")
    assert "auto_activation" not in text
    assert Plan.from_json(text) == plan


WRONG = {
    "no operation": (
        "{at: 5m}",
        "operations[0], a mapping, an operation is one of failover, switchover, activate_lagged,"
        " resubmit, disable_resubmit, enable_resubmit, remove_resubmit, change_group,"
        " move_mailbox, redirect_messages, set_component_state, set_receive_connector and"
        " show_queues"
        " | give each operation an entry of its own",
    ),
    "two in one": (
        "{at: 5m, failover: DB1, switchover: DB1, to: lyo-mbx1}",
        "operations[0], a mapping, an operation is one of failover, switchover, activate_lagged,"
        " resubmit, disable_resubmit, enable_resubmit, remove_resubmit, change_group,"
        " move_mailbox, redirect_messages, set_component_state, set_receive_connector and"
        " show_queues"
        " | give each operation an entry of its own",
    ),
    "a switchover to nowhere": (
        "{at: 5m, switchover: DB1}",
        "operations[0], a mapping, switchover takes to | add to:, a server that has a copy of it",
    ),
    "a key of another kind": (
        "{at: 5m, failover: DB1, start: 1m}",
        "operations[0], a mapping, start belongs to resubmit | remove start:",
    ),
    "a resubmit without an end": (
        "{at: 5m, resubmit: DB1, start: 1m}",
        "operations[0], a mapping, resubmit takes end | add end:, a moment",
    ),
    "a resubmit of nothing": (
        "{at: 5m, resubmit: DB1, start: 2m, end: 2m}",
        "operations[0], a mapping, end is not after start | write a later end, or an earlier start",
    ),
    "a resubmit of what is to come": (
        "{at: 5m, resubmit: DB1, start: 2m, end: 6m}",
        "operations[0], a mapping, end is after at, and a resubmit is of what was delivered"
        " | ask later, or write an earlier end",
    ),
    "a resubmit of a database that is not there": (
        "{at: 5m, resubmit: DB2, start: 2m, end: 3m}",
        "operations[0].resubmit, DB2, is no database of the topology | did you mean DB1?",
    ),
    "a database that is not there": (
        "{at: 5m, failover: DB2}",
        "operations[0].failover, DB2, is no database of the topology | did you mean DB1?",
    ),
    "a server without a copy": (
        "{at: 5m, failover: DB1, to: par-mbx1}",
        "operations[0].to, par-mbx1, has no copy of DB1 | did you mean par-mbx2?",
    ),
    "a change of a resubmit request that nobody made": (
        "{at: 5m, disable_resubmit: DB1}",
        "operations[0].disable_resubmit, DB1, has no resubmit before this"
        " | add a resubmit of it, earlier",
    ),
    "a component without a state": (
        "{at: 5m, set_component_state: par-mbx1}",
        "operations[0], a mapping, set_component_state takes state"
        " | add state:, Active or Inactive",
    ),
    "a component of no mailbox server": (
        "{at: 5m, set_component_state: par-mbx11, state: Active}",
        "operations[0].set_component_state, par-mbx11, is no mailbox server of the topology"
        " | did you mean par-mbx1?",
    ),
    "a component in a state that there is not": (
        "{at: 5m, set_component_state: par-mbx1, state: Inactve}",
        "operations[0].state, 'Inactve', is not one of its words | did you mean Inactive?",
    ),
    "a receive connector without a mechanism": (
        "{at: 5m, set_receive_connector: par-mbx1}",
        "operations[0], a mapping, set_receive_connector takes auth_mechanism"
        " | add auth_mechanism:, ExchangeServer or Tls",
    ),
    "messages redirected to nowhere": (
        "{at: 5m, redirect_messages: par-mbx1}",
        "operations[0], a mapping, redirect_messages takes to | add to:, a mailbox server",
    ),
    "messages redirected to the server itself": (
        "{at: 5m, redirect_messages: par-mbx1, to: par-mbx1}",
        "operations[0], a mapping, to is the server itself, whose messages go to another one"
        " | name another mailbox server",
    ),
    "messages redirected to no mailbox server": (
        "{at: 5m, redirect_messages: par-mbx1, to: par-mbx11}",
        "operations[0].to, par-mbx11, is no mailbox server of the topology"
        " | did you mean par-mbx1?",
    ),
    "messages redirected of no mailbox server": (
        "{at: 5m, redirect_messages: am1, to: par-mbx2}",
        "operations[0].redirect_messages, am1, is no mailbox server of the topology"
        " | known are lyo-mbx1, par-mbx1, par-mbx2",
    ),
    "a copy that does not lag": (
        "{at: 5m, activate_lagged: DB1, to: lyo-mbx1}",
        "operations[0].to, lyo-mbx1, has no lagged copy of DB1"
        " | give a copy a ReplayLagTime in the topology",
    ),
    "a lagged copy nowhere": (
        "{at: 5m, activate_lagged: DB1}",
        "operations[0], a mapping, activate_lagged takes to"
        " | add to:, a server that has a copy of it with a ReplayLagTime",
    ),
    "a moment that is to come": (
        "{at: 5m, activate_lagged: DB1, to: lyo-mbx1, before: 6m}",
        "operations[0], a mapping, before is after at, and a copy goes back in time"
        " | write an earlier moment, or ask later",
    ),
    "past the end": (
        "{at: 5h, failover: DB1}",
        "operations[0].at, 05:00:00, lies past the end of the run at 00:31:00"
        " | ask earlier, or send mail for longer",
    ),
}


@pytest.mark.parametrize(("entry", "mistake"), WRONG.values(), ids=WRONG)
def test_an_operation_that_cannot_be_is_named(tmp_path: Path, entry: str, mistake: str) -> None:
    [found] = said(checked(tmp_path, with_operations(f"operations: [{entry}]")))
    assert found.endswith(mistake)


@pytest.mark.parametrize(
    ("fault", "at", "said_of_it"),
    [
        ("kill: am1", "11m59s", ""),
        ("kill: am1", "12m", "killed"),
        ("pause: am1", "14m", "paused"),
        ("stop: am1", "17m", "stopped"),
        ("stop: am1", "20m", ""),
        ("kill: par-mbx2", "14m", ""),
    ],
)
def test_nobody_is_asked_while_active_manager_is_away(
    tmp_path: Path, fault: str, at: str, said_of_it: str
) -> None:
    text = with_operations(f"operations: [{{at: {at}, failover: DB1}}]")
    text = changed(text, "cut: {from: site lyon, to: site paris, kind: stall}", fault)
    found = said(checked(tmp_path, text))
    if not said_of_it:
        assert found == []
        return
    [mistake] = found
    assert f"asks am1, which is {said_of_it} then, and nobody would answer" in mistake
    assert mistake.endswith("| ask before that, or some minutes after 00:17:00")


def test_a_database_with_one_copy_cannot_fail_over(tmp_path: Path) -> None:
    scenario = with_operations("operations: [{at: 5m, failover: DB1}]")
    [found] = said(checked(tmp_path, scenario, TOPOLOGY))
    assert found.endswith("has one copy and nowhere to go | give it a second copy in the topology")


@pytest.mark.parametrize("kind", ["corrupt: am1", "fill_disk: am1", "skew_clock: am1, by: 5m"])
def test_a_fault_of_mailbox_servers_is_none_of_active_manager(tmp_path: Path, kind: str) -> None:
    old = "cut: {from: site lyon, to: site paris, kind: stall}"
    [found] = said(checked(tmp_path, changed(SCENARIO, old, kind)))
    assert "is Active Manager, and" in found


def test_active_manager_may_be_killed_and_lose_its_database(tmp_path: Path) -> None:
    old = "cut: {from: site lyon, to: site paris, kind: stall}"
    new = "kill: am1, returns_with: new-queue-database"
    assert checked(tmp_path, changed(SCENARIO, old, new)).mistakes == ()


INTERNAL = "  - {mail: internal, at: 1m, for: 20m, rate: 1/m, from: {database: DB1}}\n"
OTHER_SITE = changed(
    changed(TWO_DATABASES, "site: lyon, dag: DAG1}", "site: lyon}"),
    "DB2: {copies: [par-mbx1]}", "DB2: {copies: [lyo-mbx1]}",
).replace("[par-mbx2, lyo-mbx1]", "[par-mbx2]")  # fmt: skip
WITH_A_LAG = changed(
    TWO_DATABASES, "DB2: {copies: [par-mbx1]}",
    "DB2: {copies: [par-mbx1, {server: par-mbx2, ReplayLagTime: 1h}]}",
)  # fmt: skip
JOURNALED = changed(
    TWO_DATABASES, "DB2: {copies: [par-mbx1]}",
    "DB2: {copies: [par-mbx1], journal: db2-user01@shadowlab.example}",
)  # fmt: skip
VAIN = {
    "a mailbox that is not there": (
        MOVE.replace("user01", "user09"),
        TWO_DATABASES,
        "operations[0].move_mailbox, db1-user09@shadowlab.example, is no mailbox of the topology",
    ),
    "to nowhere": (
        MOVE.replace(", to: DB2", ""),
        TWO_DATABASES,
        "move_mailbox takes to | add to:, a mailbox database of the same boundary, without lagged",
    ),
    "to a database that is not there": (
        MOVE.replace("DB2", "DB9"),
        TWO_DATABASES,
        "operations[0].to, DB9, is no database of the topology",
    ),
    "to where it is": (
        MOVE.replace("DB2", "DB1"), TWO_DATABASES, f"operations[0].to, DB1, has {WHO} already",
    ),
    "to another boundary": (
        MOVE,
        OTHER_SITE,
        "DB2, is in site lyon, and DB1 in DAG DAG1 | a mailbox moves within its boundary",
    ),
    "to a database with a lagged copy": (
        MOVE, WITH_A_LAG, "operations[0].to, DB2, has a lagged copy",
    ),
    "to a journaled database": (MOVE, JOURNALED, "operations[0].to, DB2, is journaled, or DB1 is"),
    "twice": (f"{MOVE}, {MOVE}", TWO_DATABASES, f"operations[1].move_mailbox, {WHO}, moves twice"),
}  # fmt: skip


@pytest.mark.parametrize(("entry", "topology", "mistake"), VAIN.values(), ids=VAIN)
def test_a_move_that_cannot_be_is_named(
    tmp_path: Path, entry: str, topology: str, mistake: str
) -> None:
    found = said(checked(tmp_path, with_operations(f"operations: [{entry}]"), topology))
    assert [each for each in found if mistake in each], found


def test_a_mailbox_whose_clients_would_look_for_its_outbox_does_not_move(tmp_path: Path) -> None:
    text = changed(with_operations(f"operations: [{MOVE}]"), "faults:\n", f"{INTERNAL}faults:\n")
    [found] = said(checked(tmp_path, text, TWO_DATABASES))
    assert f"operations[0].move_mailbox, {WHO}, sends internal mail" in found
