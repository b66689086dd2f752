"""A plan says what the nodes' software fixes, and whoever judges has the same where it does not."""

from __future__ import annotations

import json
import re
from dataclasses import asdict

from lab.plan.plan import Plan
from lab.plan.software import NODES
from nodes.core.failover.copy_choice import DIALS
from spark_eval.histories.organisation.settings import mount_dial
from spark_eval.histories.organisation.software import Software, software
from tests.docs.pages import rows, sections
from tests.lab.hosts.simulator.plans import plan


def test_a_plan_writes_it_out() -> None:
    settings = json.loads(plan("calm", 1).to_json())["settings"]
    assert settings["software"] == asdict(NODES)


def test_a_plan_of_before_is_still_read() -> None:
    text = json.loads(plan("calm", 1).to_json())
    del text["settings"]["software"]
    for server in text["topology"]["servers"]:
        del server["mount_dial"]
    assert Plan.from_json(json.dumps(text)) == plan("calm", 1)


def test_the_judge_has_the_same_where_a_plan_says_nothing() -> None:
    assert asdict(Software()) == asdict(software({})) == asdict(NODES)


def test_the_judge_and_a_node_know_the_same_dials() -> None:
    assert {word: mount_dial(word) for word in DIALS} == DIALS
    assert mount_dial(None) == DIALS[plan("calm", 1).topology.servers[0].mount_dial]


def test_docs_name_the_value_of_each() -> None:
    table = rows(sections("docs/record.md")["`software`"])
    named = {cells[0].strip("`"): re.sub(r".*; ", "", cells[-1]) for cells in table}
    assert named == {key: str(value) for key, value in asdict(NODES).items()}
