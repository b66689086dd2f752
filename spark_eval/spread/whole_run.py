"""One run, judged whole: all that its files and its page are made of, as a value that travels."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from spark_eval.claims.catalogue import ALL
from spark_eval.claims.claim import Claim
from spark_eval.histories.run import Run
from spark_eval.judging.judge import histories_of, tallies
from spark_eval.judging.judged import Judgement
from spark_eval.judging.of_record import crashed, judgement
from spark_eval.judging.tally import in_a_line
from spark_eval.judging.uncollected import uncollected
from spark_eval.read.folder.files import Files
from spark_eval.report.build import build
from spark_eval.report.rows import ReportRows
from spark_eval.results.counts import NO_DELIVERY, NO_PROMOTION, NO_SAFETY_NET
from spark_eval.results.damage import clocks_off_of, log_damage_of
from spark_eval.results.exposure import NO_EXPOSURE
from spark_eval.results.row import Row
from spark_eval.results.sums import Sums
from spark_eval.results.tables import OF_MESSAGE, OF_RUN, OfMessages, with_those_of_run

Schemas = Mapping[str, pa.Schema]
"""Of result tables, by name."""


@dataclass(frozen=True, slots=True)
class WholeRun:
    """`counts`: `delivery`, `promotion`, `safety_net`, `exposure`; `tables` without those of claims
    and stories; `rows` of the page, without stories.
    """

    judgement: Judgement
    counts: Mapping[str, Mapping[str, Any]]
    clocks_off: tuple[Mapping[str, Any], ...]
    log_damage: tuple[Mapping[str, Any], ...]
    tables: Mapping[str, pa.Table]
    rows: ReportRows


def whole_run(files: Files, schemas: Schemas, claims: Sequence[Claim] = ALL) -> WholeRun:
    """Raises `OSError`."""
    return alone(lambda: _judged(files, schemas, claims), schemas, claims)


def alone(judge: Callable[[], WholeRun], schemas: Schemas, claims: Sequence[Claim]) -> WholeRun:
    """A run at which the judge breaks takes no other one with it. What the machine or Spark raises
    is no bug of the judge's. Raises `OSError`, Spark's own errors.
    """
    try:
        return judge()
    except (OSError, PySparkException, Py4JError):
        raise
    except Exception as error:
        traceback.print_exc()  # on standard error: a bug, and this is where it is
        return _broken_off(crashed(in_a_line(error), claims), schemas)


def _judged(files: Files, schemas: Schemas, claims: Sequence[Claim]) -> WholeRun:
    with uncollected():
        histories = histories_of(files)
        run, made = histories.run, OfMessages(histories.run)
        judged = judgement(tallies(histories, claims, made.take), run, claims)
        tables, sums = with_those_of_run(made, run)
        return _as_it_travels(judged, run, tables, sums, schemas)


def _as_it_travels(
    judged: Judgement, run: Run, tables: Mapping[str, list[Row]], sums: Sums, schemas: Schemas
) -> WholeRun:
    return WholeRun(
        judgement=judged,
        counts=sums.numbers(run),
        clocks_off=tuple(clocks_off_of(run)),
        log_damage=tuple(log_damage_of(run)),
        tables={name: pa.Table.from_pylist(rows, schemas[name]) for name, rows in tables.items()},
        rows=build(tables, run.end_ms or 1),
    )


def _broken_off(judgement: Judgement, schemas: Schemas) -> WholeRun:
    """Its tables are there, with nothing in them."""
    tables: dict[str, list[dict[str, Any]]] = {
        name: [] for name in schemas if name in (*OF_MESSAGE, *OF_RUN)
    }
    return WholeRun(
        judgement=judgement,
        counts={
            "delivery": NO_DELIVERY,
            "promotion": NO_PROMOTION,
            "safety_net": NO_SAFETY_NET,
            "exposure": NO_EXPOSURE,
        },
        clocks_off=(),
        log_damage=(),
        tables={name: schemas[name].empty_table() for name in tables},
        rows=build(tables, 1),
    )
