"""Words that the grammar had before."""

from __future__ import annotations

import pytest

from lab.validation.former_words import written_now
from lab.validation.yaml_document import Trail


@pytest.mark.parametrize(
    "trail",
    [
        ("settings", "MailboxDatabase", "DuplicateDetectionWindow"),
        ("settings", "random", "MailboxDatabase", "DuplicateDetectionWindow"),
        ("databases", "DB1", "DuplicateDetectionWindow"),
    ],
    ids=["set-for-all", "drawn", "of-a-database"],
)
def test_the_window_has_the_name_of_the_registry(trail: Trail) -> None:
    assert written_now(trail) == "Track Duplicates"


def test_what_never_was_a_word_is_none() -> None:
    assert written_now(("settings", "MailboxDatabase", "Window")) is None
