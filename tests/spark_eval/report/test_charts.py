"""The drawings: what went wrong is drawn, each piece of it, at its time."""

from __future__ import annotations

import itertools
import re

import pytest

from spark_eval.report.axis import Delay, LabTime
from spark_eval.report.delay_chart import delays
from spark_eval.report.drawing import Drawing, Mark
from spark_eval.report.exposure_chart import PLOT, ROOM, exposure
from spark_eval.report.labels import CHARACTER, FARTHEST, NARROWEST
from spark_eval.report.promotion_chart import POINTS, promotions
from spark_eval.report.rows import MOST_UNDELIVERED
from spark_eval.report.timeline_chart import MOST_MARKS, MOST_ROWS, thinned, timeline
from tests.spark_eval.runs.report_rows import (
    END_MS,
    MINUTE,
    Row,
    counted,
    cut,
    delay,
    fault,
    lost,
    moment,
    promotion,
    rows,
    storm,
)

LANES = ["par-mbx1", "par-mbx2"]


def _named(drawing: Drawing, name: str) -> list[Mark]:
    return [mark for mark in drawing.marks if mark.name.startswith(name)]


def _delays(undelivered: list[Row], slices: list[Row] | None = None) -> Drawing:
    known = counted(undelivered) if slices is None else slices
    made = rows(delays=[delay(MINUTE, 120)], undelivered=undelivered, undelivered_slices=known)
    return delays(made, END_MS)


def test_each_lost_delivery_has_a_mark_at_its_submit_time() -> None:
    undelivered = [lost(number * 3 * MINUTE, number) for number in range(1, 11)]
    marks = _named(_delays(undelivered), "lost")
    assert [mark.x for mark in marks] == [
        LabTime(END_MS).x(row["submitted_ms"]) for row in undelivered
    ]
    assert all(
        row["message_id"] in mark.title for row, mark in zip(undelivered, marks, strict=True)
    )


def test_lost_deliveries_of_one_moment_do_not_hide_one_another() -> None:
    marks = _named(_delays([lost(MINUTE, number) for number in range(60)]), "lost")
    assert len({(mark.x, mark.y) for mark in marks}) == 60


def test_what_never_came_is_drawn_above_every_delay() -> None:
    drawing = _delays([lost(MINUTE)])
    [never], [made] = _named(drawing, "lost"), _named(drawing, "delivered")
    [band] = [bar for bar in drawing.bars if bar.style == "never"]
    assert band.y <= never.y <= band.y + band.height < made.y


def test_excused_and_lost_differ_by_more_than_colour() -> None:
    drawing = _delays([lost(MINUTE), lost(MINUTE, 2, "excused"), lost(MINUTE, 3, "unknown")])
    marks = [mark for mark in drawing.marks if not mark.name.startswith("delivered")]
    assert len({mark.symbol for mark in marks}) == 3


def test_more_than_can_be_told_apart_are_counted_in_columns_and_none_is_left_out() -> None:
    shown = [lost(number * 1000, number) for number in range(MOST_UNDELIVERED)]
    slices = counted([*shown, *(lost(40 * MINUTE, number) for number in range(3000))])
    drawing = _delays(shown, slices)
    columns = [bar for bar in drawing.bars if bar.name == "lost"]
    assert sum(bar.count for bar in columns) == MOST_UNDELIVERED + 3000
    assert not _named(drawing, "lost")
    assert [key.count for key in drawing.keys if key.name == "lost"] == [MOST_UNDELIVERED + 3000]


def test_a_run_that_lost_nothing_has_no_band_for_it() -> None:
    assert not [bar for bar in _delays([]).bars if bar.style == "never"]


def test_a_run_in_which_nothing_arrived_is_drawn_too() -> None:
    undelivered = [lost(MINUTE)]
    made = rows(undelivered=undelivered, undelivered_slices=counted(undelivered))
    assert len(_named(delays(made, END_MS), "lost")) == 1


def test_late_deliveries_are_marked_apart() -> None:
    made = rows(delays=[delay(MINUTE, 120), delay(MINUTE, 400_000, late=True)])
    [soon, late] = delays(made, END_MS).marks
    assert (soon.role, late.role) == ("accent", "late")
    assert soon.symbol != late.symbol
    assert late.y < soon.y


def test_a_missing_promotion_is_hollow_and_drawn_when_it_was_due() -> None:
    due = 23 * MINUTE
    made = rows(promotion_points=[promotion("missing", due, 48), promotion("on time", 21 * MINUTE)])
    drawing = timeline(made, LANES, END_MS)
    [missing], [came] = _named(drawing, "missing promotion"), _named(drawing, "promotion")
    assert (missing.x, missing.count) == (LabTime(END_MS).x(due), 48)
    assert (missing.symbol, came.symbol) == ("star-hollow", "star")


def test_each_fate_of_a_promotion_has_a_symbol_of_its_own() -> None:
    assert len({point.symbol for point in POINTS.values()}) == len(POINTS)


@pytest.mark.parametrize("what", POINTS)
def test_each_fate_of_a_promotion_is_drawn_in_both_charts(what: str) -> None:
    pair = promotion(what, 20 * MINUTE)
    made = rows(promotions=[pair], promotion_points=[pair])
    for drawing in (timeline(made, LANES, END_MS), promotions(made, END_MS)):
        assert [mark.name for mark in drawing.marks] == [POINTS[what].name]


def test_a_fault_carries_its_name_and_leads_to_its_row() -> None:
    drawing = timeline(rows(faults=[cut("f1", "par-mbx1", "lyo-mbx2")]), LANES, END_MS)
    [row] = [bar for bar in drawing.bars if bar.style.startswith("named")]
    assert row.label == "f1: cut stall par-mbx1 → lyo-mbx2"
    assert row.href == "#fault-f1"


@pytest.mark.parametrize(
    ("direction", "named"), [("both", "slow"), ("replies", "slow replies only"), (None, "slow")]
)
def test_a_fault_that_acts_one_way_says_which(direction: str | None, named: str) -> None:
    links = [{"from": "par-mbx1", "to": "lyo-mbx2", "service": "smtp"}]
    late = fault("f1", "slow", direction=direction, links=links)
    drawing = timeline(rows(faults=[late]), LANES, END_MS)
    [row] = [bar for bar in drawing.bars if bar.style.startswith("named")]
    assert row.label == f"f1: {named} par-mbx1 → lyo-mbx2"


def test_the_far_end_of_a_cut_is_drawn_even_where_it_is_no_server_of_the_organisation() -> None:
    drawing = timeline(rows(faults=[cut("f1", "par-mbx1", "workload")]), LANES, END_MS)
    lanes = {words.text: words.y for words in drawing.words}
    [far] = [bar for bar in drawing.bars if bar.style == "far"]
    assert far.y <= lanes["workload"] <= far.y + far.height
    [head] = [mark for mark in drawing.marks if mark.symbol.startswith("head")]
    assert abs(head.y - lanes["workload"]) < 12


def test_names_of_faults_that_begin_together_stand_beside_one_another() -> None:
    faults = [cut("f1", "par-mbx1", "par-mbx2"), cut("f2", "par-mbx1", "par-mbx3")]
    bars = timeline(rows(faults=faults), LANES, END_MS).bars
    placed = [bar.label_x for bar in bars if bar.style == "cut"]
    assert len(set(placed)) == 2


@pytest.mark.parametrize("chart", ["timeline", "delays"])
def test_no_name_of_a_fault_lies_over_another_one(chart: str) -> None:
    each = END_MS // 200
    faults = [
        fault(f"f{n}", applied_ms=at, over_ms=at + 30 * each, server="par-mbx1", kind="kill")
        for n, at in enumerate(each * n for n in range(40))
    ]
    made = rows(faults=faults[::-1], delays=[delay(MINUTE, 120)])
    drawing = timeline(made, LANES, END_MS) if chart == "timeline" else delays(made, END_MS)
    spans: dict[float, list[tuple[float, float]]] = {}
    for bar in drawing.bars:
        if bar.label and not bar.style.startswith("named"):
            assert bar.label_x <= 4 + FARTHEST
            begins = float(bar.x.removesuffix("%")) / 100 * NARROWEST + bar.label_x
            span = (begins, begins + CHARACTER * len(bar.label))
            spans.setdefault(bar.y + bar.label_y, []).append(span)
    assert sum(map(len, spans.values())) > 10
    for level in spans.values():
        assert all(end <= start for (_, end), (start, _) in itertools.pairwise(sorted(level)))


def test_more_faults_than_have_a_row_are_counted() -> None:
    faults = [cut(f"f{number}", "par-mbx1", "par-mbx2") for number in range(MOST_ROWS + 7)]
    said = [words.text for words in timeline(rows(faults=faults), LANES, END_MS).words]
    assert "and 7 more, in the table of faults below" in said


def test_an_operation_is_drawn_when_it_was_asked_for() -> None:
    asked = {"operation": "o1", "what": "failover of DB1 to par-mbx2", "to": "par-mbx2",
             "asked_ms": 30 * MINUTE}  # fmt: skip
    drawing = timeline(rows(operations=[asked]), LANES, END_MS)
    [row] = [bar for bar in drawing.bars if bar.label]
    assert (row.label, row.href) == ("o1: failover of DB1 to par-mbx2", "#operation-o1")
    assert [line.x1 for line in drawing.lines if line.style == "operation"] == [row.x]


def test_a_fault_that_never_began_is_not_drawn() -> None:
    never = fault("f1", applied_ms=None, intended_ms=None, over_ms=None, server="par-mbx1")
    assert not timeline(rows(faults=[never]), LANES, END_MS).bars


def test_every_axis_says_lab_time_in_hours_minutes_and_seconds() -> None:
    drawn = [timeline(storm(), LANES, END_MS), delays(storm(), END_MS), promotions(storm(), END_MS)]
    for drawing in drawn:
        assert all(re.fullmatch(r"\d+:\d\d:\d\d", tick.text) for tick in drawing.ticks)
    for _, text in Delay(84, 400_000, 0, 200).ticks():
        assert re.fullmatch(r"\d+:\d\d:\d\d(\.\d+)?", text)


@pytest.mark.parametrize("end_ms", [1000, 90_000, END_MS, 7 * 86_400_000, 400 * 86_400_000, 10**40])
def test_an_axis_of_any_length_has_a_handful_of_ticks(end_ms: int) -> None:
    ticks = LabTime(end_ms).ticks()
    assert 2 <= len(ticks) <= 14
    assert ticks[0].x == "0%"


def test_thinned_moments_lose_no_count() -> None:
    moments = [moment("deferred", at_ms) for at_ms in range(0, END_MS, 700)]
    few = thinned(moments, END_MS)
    assert len(few) <= MOST_MARKS < len(moments)
    assert sum(row["count"] for row in few) == len(moments)


def _exposed(from_ms: int, in_transit: int, delivered: int) -> Row:
    return {
        "slice": from_ms // MINUTE, "from_ms": from_ms, "to_ms": from_ms + MINUTE,
        "in_transit": in_transit, "delivered": delivered,
    }  # fmt: skip


def test_the_most_exposed_moment_is_as_high_as_the_plot_and_the_rest_in_proportion() -> None:
    made = rows(exposure=[_exposed(MINUTE, 30, 10), _exposed(2 * MINUTE, 0, 20)])
    bars = [bar for bar in exposure(made, END_MS).bars if bar.style.startswith("column")]
    room = PLOT - ROOM
    assert [bar.height for bar in bars] == [room * 0.75, room * 0.25, room * 0.5]
    assert [bar.x for bar in bars] == [LabTime(END_MS).x(at) for at in (MINUTE, MINUTE, 2 * MINUTE)]


def test_exposure_is_drawn_above_the_faults_of_its_time() -> None:
    made = rows(exposure=[_exposed(MINUTE, 1, 0)], faults=[fault("f1")])
    drawing = exposure(made, END_MS)
    assert [bar.style for bar in drawing.bars] == ["behind", "column alarm"]
    assert [key.name for key in drawing.keys] == ["in transit"]
