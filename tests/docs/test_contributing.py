"""The claim and the defect that CONTRIBUTING.md shows are whole, and one notices the other."""

from __future__ import annotations

from typing import Any

import pytest

from defects.defect import Defect
from spark_eval.claims.claim import Claim
from spark_eval.judging.judge import histories_of, tallies
from spark_eval.judging.tally import Tally
from spark_eval.read.folder.files import MemoryFiles
from tests.docs.pages import FENCED, read
from tests.scenarios.recorded import recorded
from tests.spark_eval.claims.asked import lines_of

SCENARIO = "one-message-in"
MOST_LINES = 60


@pytest.fixture(scope="module")
def shown() -> dict[str, Any]:
    """What both blocks define."""
    names: dict[str, Any] = {}
    for text in _blocks():
        exec(compile(text, "CONTRIBUTING.md", "exec"), names)
    return names


def _blocks() -> list[str]:
    return [found[2] for found in FENCED.finditer(read("CONTRIBUTING.md")) if found[1] == "python"]


def test_both_together_are_short() -> None:
    claim, defect = _blocks()
    assert len(claim.splitlines()) + len(defect.splitlines()) < MOST_LINES


def test_sound_nodes_keep_it(shown: dict[str, Any]) -> None:
    tally = _tally(shown["CLAIM"])
    assert (tally.status, tally.asked) == ("holds", 2)


def test_the_defect_is_noticed(shown: dict[str, Any]) -> None:
    defect: Defect = shown["DEFECT"]
    with defect.broken():
        tally = _tally(shown["CLAIM"])
    assert tally.status == "violated"
    assert shown["CLAIM"].name in defect.claims


def _tally(claim: Claim) -> Tally:
    files = {file: lines_of(lines) for file, lines in recorded(SCENARIO, 1).items()}
    return tallies(histories_of(MemoryFiles(files)), [claim])[claim.name]
