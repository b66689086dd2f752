"""The tutorial's sabotage still hits what it is meant to hit."""

from __future__ import annotations

import re
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[3]
EDIT = re.compile(r"^sed -i 's/(.*)/(.*)/' (\S+)$", re.MULTILINE)


def test_the_line_that_the_tutorial_breaks_is_there_once() -> None:
    edit = EDIT.search((SOURCES / "docs" / "tutorial.md").read_text())
    assert edit is not None
    broken, _, file = edit.groups()
    assert (SOURCES / file).read_text().count(broken) == 1
