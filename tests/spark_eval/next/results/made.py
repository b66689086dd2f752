"""What the results are of a run that a test made up."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from spark_eval.next.histories.message import Message
from spark_eval.next.histories.run import Run
from spark_eval.next.judging.judge import of_record
from spark_eval.next.read.files import MemoryFiles
from spark_eval.next.read.record import read_record
from spark_eval.next.results.row import Row
from spark_eval.next.results.tables import tables_of
from tests.spark_eval.runs import run_builder


@dataclass(frozen=True)
class Made:
    messages: list[Message]
    run: Run

    @cached_property
    def tables(self) -> dict[str, list[Row]]:
        return tables_of(self.messages, self.run)

    def one(self, table: str) -> Row:
        """Its only row, without what every row has."""
        (row,) = self.tables[table]
        return {name: value for name, value in row.items() if name not in ("run", "refs", "ref")}


def made(run: run_builder.Run) -> Made:
    texts = {name: text.encode() for name, text in run.texts().items()}
    return Made(*of_record(read_record(MemoryFiles(texts))))


def of(row: Row, *names: str) -> tuple[object, ...]:
    return tuple(row[name] for name in names)
