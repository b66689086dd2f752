"""Runs the SQL, claim by claim, and hands out cases or counts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import duckdb

SQL = Path(__file__).parent / "sql"
CLAIMS = ("no_loss", "no_visible_duplicate", "redundant_before_ack", "promotion_on_time")
TWO_READINGS = ("promotion_on_time",)


@dataclass(frozen=True, slots=True, order=True)
class Case:
    """One question of a claim about one subject of a run: holds, violated or unknown."""

    run: str
    subject: str
    status: str


def judge(connection: duckdb.DuckDBPyConnection) -> None:
    """Makes a table `<claim>_cases` of each claim from the views of `sources`."""
    for name in ("record", *CLAIMS):
        connection.execute((SQL / f"{name}.sql").read_text("utf-8"))


def cases(
    connection: duckdb.DuckDBPyConnection, claim: str, *, strictly: bool = True
) -> list[Case]:
    """Every case that was asked, in order."""
    reading = "status" if strictly or claim not in TWO_READINGS else "loosely"
    rows = connection.execute(
        f"SELECT run, subject, {reading} FROM {claim}_cases "
        f"WHERE {reading} IS NOT NULL ORDER BY ALL"
    )
    return [Case(*row) for row in rows.fetchall()]


def counts(connection: duckdb.DuckDBPyConnection) -> dict[tuple[str, str], dict[str, int]]:
    """By run and claim: how many cases have which status. As long as there are runs."""
    found: dict[tuple[str, str], dict[str, int]] = {}
    for claim in CLAIMS:
        rows = connection.execute(
            f"SELECT run, status, count(*) FROM {claim}_cases "
            "WHERE status IS NOT NULL GROUP BY ALL ORDER BY ALL"
        )
        for run, status, count in rows.fetchall():
            found.setdefault((run, claim), {})[status] = count
    return found
