"""A night of its own for each test."""

from pathlib import Path

import pytest

from tests.lab.campaigns.suite.nightly import Night


@pytest.fixture
def night(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Night:
    """In a folder of its own, which is where the suite runs."""
    monkeypatch.chdir(tmp_path)
    return Night(tmp_path)
