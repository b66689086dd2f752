from __future__ import annotations

import io

import pytest

from spark_eval.read.csv_rows import EXPORTED, BadRow, Header, LogRow, epoch_ms_of, log_rows
from spark_eval.read.damage import MALFORMED, NO_FIELDS
from spark_eval.read.lines import lines

DATE = "2026-01-05T08:00:00.000Z"
AT = 1_767_600_000_000


def _read(text: str) -> list[LogRow | BadRow]:
    return list(log_rows(lines(io.BytesIO(text.encode())), Header()))


def test_a_row_goes_by_the_last_fields_line_before_it() -> None:
    text = f"#Fields: date-time,a\n{DATE},1\n#Fields: date-time,b, a\n{DATE},2,3\n"
    assert _read(text) == [
        LogRow(2, AT, {"date-time": DATE, "a": "1"}),
        LogRow(4, AT, {"date-time": DATE, "b": "2", "a": "3"}),
    ]


def test_a_quoted_value_may_hold_commas_and_doubled_quotes() -> None:
    (row,) = _read(f'#Fields: date-time,a\n{DATE},"x, ""y"""\n')
    assert isinstance(row, LogRow)
    assert row.values["a"] == 'x, "y"'


@pytest.mark.parametrize("quotes", [1, 4_000, 200_000])
def test_a_value_may_have_any_number_of_quotes(quotes: int) -> None:
    (row,) = _read(f'#Fields: date-time,a\n{DATE},"{"" * 2}{chr(34) * 2 * quotes}"\n')
    assert isinstance(row, LogRow)
    assert row.values["a"] == '"' * quotes


@pytest.mark.parametrize(
    "line",
    ["x,1", f"{DATE}", f"{DATE},1,2", f'{DATE},"1', f'{DATE},"1"2', "2026-01-05T08:00:00,1"],
)
def test_what_is_no_row_is_damage_and_the_next_one_is_read(line: str) -> None:
    found = _read(f"#Fields: date-time,a\n{line}\n{DATE},1\n")
    assert [type(each) for each in found] == [BadRow, LogRow]
    assert found[0] == BadRow(2, MALFORMED)


def test_a_log_without_fields_says_so() -> None:
    assert _read(f"{DATE},1\n") == [BadRow(1, NO_FIELDS)]


def test_an_export_is_named_as_none() -> None:
    text = '#TYPE Selected.Microsoft.Exchange\n"Timestamp","EventId"\n'
    assert _read(text) == [BadRow(1, EXPORTED)]


def test_a_date_needs_its_zone() -> None:
    assert epoch_ms_of(DATE) == AT
    assert epoch_ms_of("2026-01-05T09:00:00.000+01:00") == AT
    assert epoch_ms_of("2026-01-05T08:00:00.000") is None
    assert epoch_ms_of("yesterday") is None
