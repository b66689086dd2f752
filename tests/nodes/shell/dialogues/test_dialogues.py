"""Conversations with a real node, from tests/dialogues/*.dialogue, one a test."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.nodes.shell.dialogues.dialogue import perform
from tests.nodes.shell.organisation import Organisation

DIALOGUES = sorted((Path(__file__).parents[3] / "dialogues").glob("*.dialogue"))


@pytest.mark.parametrize("path", DIALOGUES, ids=[path.stem for path in DIALOGUES])
def test_a_dialogue_goes_as_it_is_written(path: Path, tmp_path: Path) -> None:
    asyncio.run(perform(path, Organisation(tmp_path)))
