"""Groups with an expansion server: from the file to the plan and to each node, and what is wrong
with them.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from lab.hosts.node_config import node_config
from lab.plan.check import check_plan
from lab.plan.operations import ChangeGroup, groups_after
from tests.lab.planning.test_groups import LEADS, STAFF, WITH_GROUPS, checked, planned, with_change
from tests.lab.scenario.sample_scenario import SCENARIO, changed, said

LINE = "  staff: {members: [database DB1, group leads]"
ALONE = changed(WITH_GROUPS, ", group staff]}", "]}")


def expanded_by(server: str, topology: str = WITH_GROUPS) -> str:
    return changed(topology, LINE, f"{LINE}, expansion_server: {server}")


def both_by(server: str, other: str) -> str:
    topology = expanded_by(server)
    return changed(topology, "group staff]}", f"group staff], expansion_server: {other}}}")


def test_the_plan_and_each_node_have_it(tmp_path: Path) -> None:
    assert said(checked(tmp_path, SCENARIO, expanded_by("lyo-mbx1"))) == []
    [one] = checked(tmp_path, SCENARIO, expanded_by("lyo-mbx1")).scenarios
    assert one.topology.groups["staff"].expansion_server == "lyo-mbx1"
    assert one.topology.groups["leads"].expansion_server is None


def test_a_node_looks_it_up_by_address_and_a_change_leaves_it(tmp_path: Path) -> None:
    plan = planned(tmp_path)
    staff, leads = plan.topology.groups
    groups = (replace(staff, expansion_server="lyo-mbx1"), leads)
    plan = replace(plan, topology=replace(plan.topology, groups=groups))
    check_plan(plan)
    config = node_config(plan, plan.topology.servers[0])
    assert config.expansion_servers == {STAFF: "lyo-mbx1"}
    change = ChangeGroup("o1", "change_group", 0, "staff", (), (LEADS,))
    assert groups_after(change, groups)[0].expansion_server == "lyo-mbx1"


def test_a_plan_that_names_no_mailbox_server_is_refused(tmp_path: Path) -> None:
    plan = planned(tmp_path)
    groups = (replace(plan.topology.groups[0], expansion_server="ext1"),)
    with pytest.raises(ValueError, match=r"topology\.groups\[0\]\.expansion_server is 'ext1'"):
        check_plan(replace(plan, topology=replace(plan.topology, groups=groups)))


@pytest.mark.parametrize(
    ("scenario", "topology", "expected"),
    [
        (
            SCENARIO,
            expanded_by("lyo-mbx2"),
            "15:67: groups.staff.expansion_server, lyo-mbx2, is no mailbox server of the topology"
            " | did you mean lyo-mbx1?",
        ),
        (
            SCENARIO,
            expanded_by("ext1"),
            "15:67: groups.staff.expansion_server, ext1, is an external server and expands no group"
            " | name a mailbox server",
        ),
        (
            SCENARIO,
            changed(
                expanded_by("lyo-mbx1"),
                "{copies: [par-mbx2]}",
                "{copies: [par-mbx2], journal: db1-user01@shadowlab.example}",
            ),
            "15:67: groups.staff.expansion_server, lyo-mbx1, expands a group, and DB1 is journaled:"
            " reports are not asked | remove journal:, or expansion_server:",
        ),
        (
            SCENARIO,
            both_by("lyo-mbx1", "par-mbx1"),
            "15:67: groups.staff.expansion_server, lyo-mbx1, expands staff, which leads to leads"
            " and back, and par-mbx1 expands that | name one server for both, or take one group out"
            " of the other",
        ),
        (
            with_change("operations: [{at: 15m, change_group: leads, add: [group staff]}]"),
            changed(both_by("lyo-mbx1", "par-mbx1"), ", group staff]", "]"),
            "17:51: operations[0].add[0], group staff, by which mail for staff and leads goes round"
            " between lyo-mbx1 and par-mbx1 | name one server for both, or take one group out of"
            " the other",
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_place(
    tmp_path: Path, scenario: str, topology: str, expected: str
) -> None:
    assert expected in said(checked(tmp_path, scenario, topology))


@pytest.mark.parametrize("other", ["lyo-mbx1", None])
def test_groups_that_lead_to_each_other_may_have_one_server_or_one_of_them_none(
    tmp_path: Path, other: str | None
) -> None:
    topology = both_by("lyo-mbx1", other) if other else expanded_by("lyo-mbx1")
    assert said(checked(tmp_path, SCENARIO, topology)) == []
