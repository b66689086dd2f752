"""What the results are of a run that a test made up."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from spark_eval.histories.message import Message
from spark_eval.histories.run import Run
from spark_eval.judging.judge import histories_of
from spark_eval.read.folder.files import MemoryFiles
from spark_eval.results.row import Row
from spark_eval.results.tables import tables_of
from tests.spark_eval.runs import run_builder


@dataclass(frozen=True)
class Made:
    messages: list[Message]
    run: Run

    @cached_property
    def tables(self) -> dict[str, list[Row]]:
        return tables_of(self.messages, self.run)[0]

    def one(self, table: str) -> Row:
        """Its only row, without what every row has."""
        (row,) = self.tables[table]
        return {name: value for name, value in row.items() if name not in ("run", "refs", "ref")}


def made(run: run_builder.Run) -> Made:
    return read(run.texts())


def read(texts: dict[str, str]) -> Made:
    files = MemoryFiles({name: text.encode() for name, text in texts.items()})
    return Made(*histories_of(files))


def of(row: Row, *names: str) -> tuple[object, ...]:
    return tuple(row[name] for name in names)
