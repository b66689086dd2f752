"""What a node goes by over its restarts (SM-18)."""

from pathlib import Path

import pytest

from nodes.shell.uptime import KEPT, boot_id, keep_skew, kept_skew_ms


def test_the_first_start_goes_by_the_wall_clock(tmp_path: Path) -> None:
    assert kept_skew_ms(tmp_path, "b1", 5_000) == 5_000


def test_a_later_start_goes_by_the_first_whatever_the_wall_clock_says(tmp_path: Path) -> None:
    keep_skew(tmp_path, "b1", 5_000)
    assert kept_skew_ms(tmp_path, "b1", 7_200_000) == 5_000


def test_after_a_boot_the_wall_clock_counts_again(tmp_path: Path) -> None:
    keep_skew(tmp_path, "b1", 5_000)
    assert kept_skew_ms(tmp_path, "b2", 7_200_000) == 7_200_000


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"boot_id": "b1"}', '{"boot_id": "b1", "skew_ms": "x"}']
)
def test_a_file_that_says_nothing_is_as_none(tmp_path: Path, text: str) -> None:
    (tmp_path / KEPT).write_text(text)
    assert kept_skew_ms(tmp_path, "b1", 9) == 9


def test_the_boot_has_an_id_that_stays(tmp_path: Path) -> None:
    assert boot_id() == boot_id() != ""
