"""The catalogue of defects: whole, sayable, and made of public names alone."""

import ast
from pathlib import Path

import pytest

import defects
from defects.catalogue import ALL
from defects.decisions import decides, does
from defects.defect import Defect
from lab.scenario.requirements import REQUIREMENTS, Requirement, requirement_table
from nodes.core.active_manager import ActiveManager
from nodes.core.copies.local_copy import CopyHere
from nodes.core.copies.log_shipping import LogShipping
from nodes.core.front_end import FrontEnd
from nodes.core.node import Node
from nodes.core.routing.boundary import shadow_attempts
from nodes.core.sessions.proxied import MailboxServers
from nodes.core.shadow import primary_side as redundancy
from nodes.core.shadow.discard_questions import DiscardQuestions
from nodes.core.shadow.shadow_queue import ShadowQueue
from nodes.shell.logs.logs import Logs
from nodes.store.mailbox.database import MailboxDatabase
from nodes.store.queue.database import QueueDatabase
from tests.lab.hosts.simulator.plans import SCENARIOS

FILES = sorted(Path(defects.__file__).parent.glob("*.py"))
WRAPPED = (
    Node, ActiveManager, FrontEnd, MailboxServers, MailboxDatabase, QueueDatabase, ShadowQueue,
    DiscardQuestions, CopyHere, LogShipping, Logs,
)  # fmt: skip


def name_of(defect: Defect) -> str:
    return defect.name


def test_there_are_sixty_at_least_and_no_two_have_one_name() -> None:
    assert len({defect.name for defect in ALL}) == len(ALL) >= 60


@pytest.mark.parametrize("defect", ALL, ids=name_of)
def test_a_defect_says_what_is_wrong_and_what_must_notice(defect: Defect) -> None:
    assert defect.requirement in REQUIREMENTS
    assert defect.scenario in SCENARIOS
    assert defect.claims
    assert defect.sentence.endswith(".")
    assert not defect.not_caught.endswith(".")
    assert not defect.only_simulated.endswith(".")
    assert defect.name == defect.name.lower().replace(" ", "-").replace("_", "-")


CHECKED = [each for each in requirement_table().requirements.values() if each.checked_by]


@pytest.mark.parametrize("requirement", CHECKED, ids=lambda each: str(each.name))
def test_whatever_a_claim_checks_has_a_defect_that_it_must_notice(
    requirement: Requirement,
) -> None:
    of_it = [each for each in ALL if each.requirement == requirement.name]
    assert any(set(each.claims) & set(requirement.checked_by) for each in of_it)


@pytest.mark.parametrize("defect", ALL, ids=name_of)
def test_nothing_is_left_of_a_defect_when_it_is_over(defect: Defect) -> None:
    before = [dict(vars(owner)) for owner in WRAPPED], dict(vars(redundancy))
    with defect.broken():
        pass
    assert ([dict(vars(owner)) for owner in WRAPPED], dict(vars(redundancy))) == before


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.stem))
def test_a_defect_touches_no_private_name(file: Path) -> None:
    """Of anything but itself."""
    names = [
        f"{ast.unparse(each.value)}.{each.attr}"
        for each in ast.walk(ast.parse(file.read_text()))
        if isinstance(each, ast.Attribute) and each.attr.startswith("_")
    ]
    assert [name for name in names if not is_own(name)] == []


def is_own(name: str) -> bool:
    return name.startswith("self._") or name.endswith("__")


def test_a_private_decision_cannot_be_wrapped() -> None:
    with (
        pytest.raises(AssertionError, match="_take_over is private"),
        does(ShadowQueue, "_take_over", lambda *_: None),
    ):
        pass


def test_a_decision_is_wrapped_wherever_it_was_imported() -> None:
    with decides(shadow_attempts, lambda decision, *words: ("nobody",)):
        assert vars(redundancy)["shadow_attempts"](None, 0) == ("nobody",)
    assert vars(redundancy)["shadow_attempts"] is shadow_attempts
