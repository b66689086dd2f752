"""Lab time and monotonic time, converted into each other."""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.clock import LabClock, parse_origin, read_start, start_text

ORIGIN = datetime(2026, 1, 5, 8, tzinfo=UTC)
CLOCK = LabClock(ORIGIN, 60.0, 5_000_000_000)


def test_lab_time_stands_still_before_the_start() -> None:
    assert CLOCK.lab_ms(0) == 0


def test_a_wall_second_is_speed_lab_seconds() -> None:
    assert CLOCK.lab_ms(6_000_000_000) == 60_000


def test_a_lab_minute_takes_a_wall_second_at_speed_60() -> None:
    assert CLOCK.wall_seconds(60_000) == 1.0


@settings(deadline=None)
@given(st.integers(0, 10**10), st.sampled_from([1.0, 7.5, 60.0, 600.0]))
def test_the_two_clocks_agree_to_a_millisecond(lab_ms: int, speed: float) -> None:
    clock = LabClock(ORIGIN, speed, 123_456_789)
    assert abs(clock.lab_ms(clock.mono_ns_at(lab_ms)) - lab_ms) <= 1


def test_log_dates_are_iso_in_utc_with_milliseconds() -> None:
    assert CLOCK.iso(90_250) == "2026-01-05T08:01:30.250Z"


@settings(deadline=None)
@given(st.integers(0, 10**10))
def test_the_date_header_and_its_iso_form_name_the_same_second(lab_ms: int) -> None:
    header = parsedate_to_datetime(CLOCK.header_date(lab_ms))
    assert header == datetime.fromisoformat(CLOCK.header_date_iso(lab_ms))


def test_no_start_file_means_that_lab_time_stands_still(tmp_path: Path) -> None:
    assert read_start(tmp_path / "start.json") is None


def test_the_start_file_says_when_lab_time_began(tmp_path: Path) -> None:
    (tmp_path / "start.json").write_text(start_text(42))
    assert read_start(tmp_path / "start.json") == 42


def test_an_origin_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="no time zone"):
        parse_origin("2026-01-05T08:00:00")
