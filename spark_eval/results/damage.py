"""What could not be read, and whose clock was off."""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.histories.run import Run
from spark_eval.read.rows import grouped
from spark_eval.results.row import Row

_LISTED = ("file", "damage", "lines", "first_line")


def log_damage_rows(run: Run) -> Iterator[Row]:
    """One a file and kind of damage, with how many lines and where the first is; in order."""
    found = grouped(run.damage, lambda each: (each.file, each.damage, each.server))
    for (file, damage, server), lines in sorted(found.items()):
        yield {
            "run": run.name,
            "file": file,
            "server": server,
            "damage": damage,
            "lines": len(lines),
            "first_line": min((x.line for x in lines if x.line is not None), default=None),
            "from_ms": min((x.from_ms for x in lines if x.from_ms is not None), default=None),
            "to_ms": max((x.to_ms for x in lines if x.to_ms is not None), default=None),
        }


def log_damage_of(run: Run) -> list[Row]:
    """As verdict.json lists it."""
    return [{name: row[name] for name in _LISTED} for row in log_damage_rows(run)]


def clocks_off_of(run: Run) -> list[Row]:
    """As verdict.json lists it."""
    return [each._asdict() for each in run.clocks_off]
