"""Distribution groups and their changes: from the file to the plan and to each node, and what is
wrong with them.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from lab.hosts.node_config import node_config
from lab.plan.operations import ChangeGroup, groups_after
from lab.plan.plan import Plan
from lab.planning.resolve import resolve
from lab.validation.validate import Checked, check
from tests.lab.scenario.sample_scenario import SCENARIO, TOPOLOGY, changed, said, write

STAFF, LEADS = "staff@shadowlab.example", "leads@shadowlab.example"
ONE, TWO = "db1-user01@shadowlab.example", "db1-user02@shadowlab.example"
OUTSIDE = "bob@partner.example"
GROUPS = f"""\
groups:
  staff: {{members: [database DB1, group leads]}}
  leads: {{members: [{ONE}, {OUTSIDE}, group staff]}}
"""
WITH_GROUPS = TOPOLOGY + GROUPS
CHANGE = f"operations: [{{at: 15m, change_group: leads, add: {TWO}, remove: [{ONE}, group staff]}}]"


def checked(folder: Path, scenario: str, topology: str = WITH_GROUPS) -> Checked:
    return check([write(folder, scenario, topology)])


def planned(folder: Path, scenario: str = SCENARIO) -> Plan:
    found = checked(folder, scenario)
    assert found.mistakes == ()
    [one] = found.scenarios
    return resolve(one.scenario, one.topology, 1)


def with_change(change: str = CHANGE) -> str:
    return changed(SCENARIO, "settle:", f"{change}\nsettle:")


def to(recipients: str) -> str:
    return changed(SCENARIO, "to: {database: DB1}", f"to: {recipients}")


def test_a_group_has_its_members_by_address_in_the_plan_and_at_each_node(tmp_path: Path) -> None:
    plan = planned(tmp_path)
    staff, leads = plan.topology.groups
    users = [each.address for each in plan.topology.mailboxes]
    assert (staff.name, staff.address, staff.members) == ("staff", STAFF, (*users, LEADS))
    assert leads.members == (ONE, OUTSIDE, STAFF)
    [known, _] = node_config(plan, plan.topology.servers[0]).groups
    assert (known.address, known.members) == (STAFF, staff.members)


def test_mail_goes_to_groups_and_to_a_mix(tmp_path: Path) -> None:
    plan = planned(tmp_path, to("{group: [staff, leads], database: DB1}"))
    found = {recipient for each in plan.messages for recipient in each.recipients}
    assert {STAFF, LEADS, ONE} < found


def test_a_change_of_a_group_is_an_operation_on_addresses(tmp_path: Path) -> None:
    plan = planned(tmp_path, with_change())
    change = ChangeGroup("o1", "change_group", 900_000, "leads", (TWO,), (ONE, STAFF))
    assert plan.operations == (change,)
    staff, leads = groups_after(change, plan.topology.groups)
    assert (staff, leads.members) == (plan.topology.groups[0], (OUTSIDE, TWO))


def test_changes_build_on_each_other(tmp_path: Path) -> None:
    plan = planned(tmp_path, with_change())
    first = plan.operations[0]
    assert isinstance(first, ChangeGroup)
    second = replace(first, id="o2", add=(ONE,), remove=(TWO,))
    before = groups_after(first, plan.topology.groups)
    assert before[1].members == (OUTSIDE, TWO)
    assert groups_after(second, before)[1].members == (OUTSIDE, ONE)


@pytest.mark.parametrize(
    ("scenario", "topology", "expected"),
    [
        (
            SCENARIO,
            changed(WITH_GROUPS, "database DB1, group", "database DB2, group"),
            "15:21: groups.staff.members[0], database DB2, names no database of the topology"
            " | did you mean DB1?",
        ),
        (
            SCENARIO,
            changed(WITH_GROUPS, "group leads", "group leds"),
            "15:35: groups.staff.members[1], group leds, names no group of the topology"
            " | did you mean leads?",
        ),
        (
            SCENARIO,
            changed(WITH_GROUPS, "group leads", "leads"),
            "15:35: groups.staff.members[1], leads, is no member | write group leads",
        ),
        (
            SCENARIO,
            changed(WITH_GROUPS, OUTSIDE, "bob@partnr.example"),
            "16:51: groups.leads.members[1], bob@partnr.example, is no database, group, mailbox or"
            " outside user | write database DB1, group sales, or an address",
        ),
        (
            SCENARIO,
            changed(WITH_GROUPS, f"[{ONE},", "[db1-user11@shadowlab.example,"),
            "16:21: groups.leads.members[0], db1-user11@shadowlab.example, is no database, group,"
            f" mailbox or outside user | did you mean {ONE}?",
        ),
        (
            SCENARIO,
            changed(WITH_GROUPS, "  leads:", "  db1-user01:"),
            "16:3: groups, db1-user01, is the name of a mailbox already | choose another name",
        ),
        (
            SCENARIO,
            changed(TOPOLOGY, "{DB1: 4}", "{DB1: 999}")
            + "groups:\n"
            + "".join(f"  g{number}: {{members: [database DB1]}}\n" for number in range(21)),
            "35:3: groups, 20979, members of groups so far, and 20000 is the most of a topology"
            " | leave some out",
        ),
        (
            to("{group: stuff}"),
            WITH_GROUPS,
            "12:78: workload[0].to.group, stuff, is no group of the topology | did you mean staff?",
        ),
        (
            with_change(changed(CHANGE, "change_group: leads", "change_group: leaders")),
            WITH_GROUPS,
            "17:38: operations[0].change_group, leaders, is no group of the topology"
            " | did you mean leads?",
        ),
        (
            with_change(changed(CHANGE, "group staff", "group stuff")),
            WITH_GROUPS,
            "17:119: operations[0].remove[1], group stuff, names no group of the topology"
            " | did you mean staff?",
        ),
        (
            with_change("operations: [{at: 15m, change_group: leads}]"),
            WITH_GROUPS,
            "17:14: operations[0], a mapping, changes nothing | add add: or remove:, with members",
        ),
        (
            with_change("operations: [{at: 15m, failover: DB1, add: " + ONE + "}]"),
            WITH_GROUPS,
            "17:14: operations[0], a mapping, add belongs to change_group | remove add:",
        ),
    ],
)
def test_what_nothing_stands_for_is_said_with_its_place_and_the_nearest_word(
    tmp_path: Path, scenario: str, topology: str, expected: str
) -> None:
    assert expected in said(checked(tmp_path, scenario, topology))


def test_members_of_groups_count_among_the_recipients_of_a_scenario(tmp_path: Path) -> None:
    topology = changed(WITH_GROUPS, "{DB1: 4}", "{DB1: 999}").replace("user01", "user001")
    many = changed(SCENARIO, "for: 20m, rate: 10/m", "for: 20m, rate: 20/m")
    scenario = changed(many, "to: {database: DB1}", "to: {group: staff}")
    [mistake] = said(checked(tmp_path, scenario, topology))
    assert "recipients of messages, and 300000 is the most of a scenario" in mistake
