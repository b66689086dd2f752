"""A comparison for people: lines for the terminal, and one page that opens offline."""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.compare.comparison import Compared, Comparison
from spark_eval.compare.differences import OPEN, SAME
from spark_eval.compare.weighing import Weighing
from spark_eval.report.render import templates

SHOWN = 20


def lines(found: Comparison) -> Iterator[str]:
    """A table of verdict, claims and counts, then the first differences."""
    a, b = found.sides
    yield f"compare: {a.folder.scenario}, seed {a.folder.seed}: {found.outcome}"
    rows = [found.verdict, *found.claims, *found.numbers]
    widths = [
        max(len(row.name) for row in rows),
        max(len(text) for text in (a.name, *(row.a for row in rows))),
        max(len(text) for text in (b.name, *(row.b for row in rows))),
    ]
    yield f"  {'':<{widths[0]}}  {a.name:<{widths[1]}}  {b.name}"
    yield from (_row(row, widths) for row in rows)
    counted = ", ".join(f"{number} {status}" for status, number in found.messages.items())
    yield f"  messages: {counted}"
    for each in found.differences[:SHOWN]:
        yield f"    {each.status}: {each.message_id} {each.field}: {each.a} | {each.b}"
        if each.status == OPEN:
            yield f"      {each.rule}: {each.why}"
    if len(found.differences) > SHOWN:
        yield f"    and {len(found.differences) - SHOWN} more in compare.json"


def page(found: Comparison) -> str:
    """compare.html."""
    return templates().get_template("compare.html.j2").render(found=found, sides=found.sides)


def weighed_lines(found: Weighing) -> Iterator[str]:
    """The settings that differ, then what each run did."""
    a, b = found.sides
    yield f"compare: {a.folder.scenario}, seed {a.folder.seed}: two settings"
    rows = [*found.settings, *found.figures]
    width = max(len(row.name) for row in rows)
    first = max(len(text) for text in (a.name, *(row.a for row in rows)))
    yield f"  {'':<{width}}  {a.name:<{first}}  {b.name}"
    for row in rows:
        yield f"  {row.name:<{width}}  {row.a:<{first}}  {'same' if row.is_same else row.b}"


def weighed_page(found: Weighing) -> str:
    """compare.html."""
    return templates().get_template("weighed.html.j2").render(found=found, sides=found.sides)


def _row(row: Compared, widths: list[int]) -> str:
    told = "" if row.status == SAME else f"{row.status}{': ' if row.why else ''}{row.why}"
    text = f"  {row.name:<{widths[0]}}  {row.a:<{widths[1]}}  {row.b:<{widths[2]}}  {told}"
    return text.rstrip()
