"""A record judged in several parts, in this process: what Spark's tasks do, one after the other."""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar
from unittest.mock import patch

from spark_eval.claims.catalogue import ALL
from spark_eval.expected.totals import Totals
from spark_eval.histories.run import Run
from spark_eval.judging.judge import add_tallies, beside_messages, of_messages
from spark_eval.judging.judged import Judgement
from spark_eval.judging.of_record import JudgedRecord, judgement
from spark_eval.judging.parts import Known, Part, Sum
from spark_eval.judging.run import run_of_parts
from spark_eval.judging.tally import Tally
from spark_eval.judging.uncollected import uncollected
from spark_eval.read.folder.file_list import departures
from spark_eval.read.folder.files import Files, evidence
from spark_eval.read.heading import heading_of
from spark_eval.read.mail import Mail
from spark_eval.results.damage import clocks_off_of, log_damage_of
from spark_eval.results.sums import Sums
from spark_eval.results.tables import OfMessages, tables_of, tables_of_run
from spark_eval.spread import reading
from spark_eval.spread.reading import (
    Beside,
    Places,
    beside_mail,
    dsns_in,
    homes_of,
    part_of_rows,
    planned_in,
    rows_in,
)

Value = TypeVar("Value")


class Said(NamedTuple):
    """All that is said of a run; rows of tables in no order."""

    judgement: Judgement
    counts: dict[str, Any]
    clocks_off: list[Any]
    log_damage: list[Any]
    tables: dict[str, list[str]]


@dataclass
class PartsHere:
    """What tasks are told, and say, travels."""

    parts: list[bytes]

    def sum(self, count: Callable[[Part, Known], Sum], known: Known) -> Sum:
        told = pickle.dumps(known)
        total, *more = [
            _travelled(count(pickle.loads(part), pickle.loads(told))) for part in self.parts
        ]
        for each in more:
            total.add(each)
        return total


def _travelled(value: Value) -> Value:
    copy: Value = pickle.loads(pickle.dumps(value))
    return copy


def whole(judged: JudgedRecord) -> Said:
    messages, run = judged.histories
    tables, sums = tables_of(messages, run)
    return _said(Judgement(judged.results, judged.verdict), run, tables, sums)


def in_parts(files: Files, count: int = 5, lines_at_once: int = 150) -> Said:
    heading = heading_of(files)
    told, named = heading.without_messages(), [(name, files) for name in evidence(files)]
    with patch.object(reading, "AT_ONCE", lines_at_once):
        places = Places(count, homes_of(dsn for file in named for dsn in dsns_in(file, told)))
        pairs = [pair for file in named for pair in rows_in(file, told, places)]
        pairs += planned_in(heading, places)
    random.Random(7).shuffle(pairs)  # as they come from a shuffle
    beside = [each for _, each in pairs if isinstance(each, Beside)]
    record, log_sums = beside_mail(heading, beside)
    parts = PartsHere([
        pickle.dumps(part_of_rows(_at(place, pairs), told, record.lives))
        for place in range(count)
    ])  # fmt: skip
    run = run_of_parts(record, departures(files, heading.manifest), log_sums, parts)
    return _judged(run, [pickle.loads(part) for part in parts.parts])


def _at(place: int, pairs: Iterable[tuple[int, Mail | Beside]]) -> Iterator[Mail]:
    return (mail for at, mail in pairs if at == place and isinstance(mail, Mail))


def _judged(run: Run, parts: list[Part]) -> Said:
    tallies, totals, sums = {claim.name: Tally() for claim in ALL}, Totals(), Sums()
    tables: dict[str, list[Any]] = {}
    for part in parts:
        made = OfMessages(run)
        found, counted = of_messages(part.messages, run, ALL, made.take)
        add_tallies(tallies, found)
        totals.add(counted)
        sums.add(made.sums)
        for name, rows in made.rows.items():
            tables.setdefault(name, []).extend(rows)
    add_tallies(tallies, beside_messages(run, totals, ALL))
    sums.count_run(run)
    return _said(judgement(tallies, run, ALL), run, tables | tables_of_run(run, sums), sums)


def _said(judged: Judgement, run: Run, tables: dict[str, list[Any]], sums: Sums) -> Said:
    return Said(
        judged, sums.numbers(run), clocks_off_of(run), log_damage_of(run),
        {name: sorted(map(repr, rows)) for name, rows in tables.items()},
    )  # fmt: skip


def differences(judged: JudgedRecord, files: Files) -> list[str]:
    """In what a run is judged otherwise, in parts; empty where in nothing."""
    with uncollected():
        one, many = whole(judged), in_parts(files)
    found = [
        f"{name}: {result} is {many.judgement.results[name]} in parts"
        for name, result in one.judgement.results.items()
        if many.judgement.results[name] != result
    ]
    for name in ("counts", "clocks_off", "log_damage"):
        if (said := getattr(one, name)) != (in_them := getattr(many, name)):
            found.append(f"{name}: {said} is {in_them} in parts")
    if one.judgement.verdict != many.judgement.verdict:
        found.append(f"{one.judgement.verdict} is {many.judgement.verdict} in parts")
    return found + [
        f"table {name}: {len(rows)} rows, {len(many.tables.get(name, []))} in parts"
        for name, rows in one.tables.items()
        if rows != many.tables.get(name)
    ]
