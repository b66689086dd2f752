"""One run that is too large for one task: its messages are judged part by part, by many tasks, and
what is found adds up. Histories of servers, pairs and databases are made first, and sent to all.

The driver holds what is said of the run, and of mail the tables of a few parts.
"""

from __future__ import annotations

import gc
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple, TypeVar

from pyspark import RDD, Broadcast, SparkContext
from pyspark.sql import SparkSession

from spark_eval.claims.claim import Claim
from spark_eval.expected.totals import Totals
from spark_eval.histories.run import Run
from spark_eval.judging.judge import add_tallies, beside_messages, of_messages
from spark_eval.judging.of_record import judgement
from spark_eval.judging.parts import Known, Part, Sum
from spark_eval.judging.run import run_of_parts
from spark_eval.judging.tally import Tally, in_a_line
from spark_eval.judging.uncollected import uncollected
from spark_eval.read.folder.file_list import departures
from spark_eval.read.folder.files import FolderFiles, MemoryFiles, all_bytes, evidence, read_bytes
from spark_eval.read.folder.run_folder import RunFolder
from spark_eval.read.heading import heading_of
from spark_eval.report.build import build
from spark_eval.results.arrow import ARROW_SCHEMAS
from spark_eval.results.damage import clocks_off_of, log_damage_of
from spark_eval.results.sums import Sums
from spark_eval.results.tables import OfMessages, names, tables_of_run
from spark_eval.results.written import PartsOfTable, as_parquet
from spark_eval.spark.paths import to_read
from spark_eval.spark.shipped import is_local, ship
from spark_eval.spread.reading import File, read_spread
from spark_eval.spread.whole_run import Schemas, WholeRun, alone

Result = TypeVar("Result")

BYTES_A_PART = 8 * 1024 * 1024
"""Of the evidence: about a thousand messages."""
FILES_AT_ONCE_A_CORE = 8
"""Tasks that the files are dealt out to."""
AT_ONCE_A_CORE = 4
"""Parts whose results the driver holds."""


def judged(spark: SparkSession, folder: RunFolder, claims: Sequence[Claim]) -> WholeRun:
    """Its tables of messages are written already. Raises `OSError`, Spark's own errors."""
    ship(spark.sparkContext)
    return alone(lambda: _of_parts(spark.sparkContext, folder, claims), ARROW_SCHEMAS, claims)


def _of_parts(context: SparkContext, folder: RunFolder, claims: Sequence[Claim]) -> WholeRun:
    there = FolderFiles(folder.path)
    heading = heading_of(there)
    count = max(all_bytes(folder.path) // BYTES_A_PART + 1, context.defaultParallelism)
    record, log_sums, mail = read_spread(_files(context, folder), heading, count)
    parts = PartsInSpark(mail, count)
    try:
        departed = departures(there, heading.manifest)
        run = run_of_parts(record, departed, log_sums, parts)
        return _judged(parts, run, folder, claims)
    finally:
        mail.unpersist()


def _files(context: SparkContext, folder: RunFolder) -> RDD[File]:
    """Some in each partition, the largest first. What workers cannot see Spark reads for them, a
    file at a time.
    """
    there = FolderFiles(folder.path)
    names = sorted(evidence(there), key=lambda name: -read_bytes(folder.path, name))
    if folder.uri is None or is_local(context):
        hands = min(FILES_AT_ONCE_A_CORE * context.defaultParallelism, max(len(names), 1))
        dealt = [(name, there) for first in range(hands) for name in names[first::hands]]
        return context.parallelize(dealt, hands)
    return context.union([_fetched(context, folder, name) for name in names])


def _fetched(context: SparkContext, folder: RunFolder, name: str) -> RDD[File]:
    whole = context.binaryFiles(to_read(folder.place(folder.path / name)))
    return whole.map(lambda file: (name, MemoryFiles({name: file[1]})))


class PartsInSpark:
    """Parts of a run's mail, one a partition."""

    def __init__(self, parts: RDD[Part], count: int) -> None:
        self._parts = parts
        self._count = count

    def sum(self, count: Callable[[Part, Known], Sum], known: Known) -> Sum:
        found = self.each(count, known)
        total = next(found)
        for more in found:
            total.add(more)
        return total

    def each(self, work: Callable[[Part, Known], Result], known: Known) -> Iterator[Result]:
        """What `work` makes of each part, some parts at a time."""
        context = self._parts.context
        told = context.broadcast(known)
        some = AT_ONCE_A_CORE * context.defaultParallelism
        try:
            for first in range(0, self._count, some):
                wave = range(first, min(first + some, self._count))
                work_all = partial(_worked, work, told)
                for found in context.runJob(self._parts, work_all, list(wave)):
                    if isinstance(found, JudgeBrokeError):
                        raise found
                    yield found
        finally:
            told.destroy()


class JudgeBrokeError(Exception):
    """In a task, where the judge itself raised what this says."""


def _worked(
    work: Callable[[Part, Known], Result], told: Broadcast[Known], parts: Iterator[Part]
) -> list[Result | JudgeBrokeError]:
    """Raises `OSError`. What else a task raises Spark would try again, and then end for."""
    try:
        with uncollected():
            return [work(part, told.value) for part in parts]
    except OSError:
        raise
    except Exception as error:
        traceback.print_exc()  # on the worker's standard error
        return [JudgeBrokeError(in_a_line(error))]
    finally:
        gc.freeze()  # a worker looks for cycles after each task, through all that it was told too


class _Told(NamedTuple):
    run: Run
    claims: Sequence[Claim]
    schemas: Schemas


class _Found(NamedTuple):
    """In one part; `tables` as the bytes of a file of Parquet."""

    tallies: dict[str, Tally]
    totals: Totals
    sums: Sums
    tables: Mapping[str, bytes]


def _judge(part: Part, told: _Told) -> _Found:
    tables = OfMessages(told.run)
    tallies, totals = of_messages(part.messages, told.run, told.claims, tables.take)
    files = {name: as_parquet(rows, told.schemas[name]) for name, rows in tables.rows.items()}
    return _Found(tallies, totals, tables.sums, files)


def _judged(parts: PartsInSpark, run: Run, folder: RunFolder, claims: Sequence[Claim]) -> WholeRun:
    tallies = {claim.name: Tally() for claim in claims}
    totals, sums = Totals(), Sums()
    written = {name: PartsOfTable(folder, name) for name in names(run)}
    for found in parts.each(_judge, _Told(run, claims, ARROW_SCHEMAS)):
        add_tallies(tallies, found.tallies)
        totals.add(found.totals)
        sums.add(found.sums)
        for name, table in found.tables.items():
            written[name].add(table)
    add_tallies(tallies, beside_messages(run, totals, claims))
    sums.count_run(run)
    for name, rows in tables_of_run(run, sums).items():
        written[name].add(as_parquet(rows, ARROW_SCHEMAS[name]))
    return WholeRun(
        judgement=judgement(tallies, run, claims),
        counts=sums.numbers(run),
        clocks_off=tuple(clocks_off_of(run)),
        log_damage=tuple(log_damage_of(run)),
        tables={},
        rows=build(written, run.end_ms or 1),
    )
