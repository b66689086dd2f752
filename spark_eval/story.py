"""One message's story for a terminal: `python -m spark_eval RUN --story MESSAGE-ID`."""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql import Row, SparkSession

from spark_eval import result_schema
from spark_eval.read.lines import literal_rows
from spark_eval.read.record import read_record
from spark_eval.read.run_folder import RunFolder, RunFolderError
from spark_eval.read.source import Folders
from spark_eval.report.words import lab_moment
from spark_eval.transforms.fault_windows import fault_windows
from spark_eval.transforms.story import IN_ORDER, stories


def story_lines(spark: SparkSession, folder: RunFolder, message_id: str) -> list[str]:
    """A line for each line of the record. Raises RunFolderError when it names no such message."""
    named = f"<{message_id.strip().strip('<>')}>"
    record = read_record(Folders(spark, [folder]))
    windows = fault_windows(record.planned_faults, record.fault_record)
    wanted = literal_rows(
        spark, [{"run": folder.run, "message_id": named}], result_schema.STORIES[:2]
    )
    rows = stories(record, windows, wanted).orderBy(*IN_ORDER).collect()
    if not rows:
        cause = f"run folder {folder.path.name}: no line speaks of {named}"
        raise RunFolderError(cause, "the ids of all messages are in ledger.jsonl")
    return list(_lines(rows))


def _lines(rows: list[Row]) -> Iterator[str]:
    width = max(len(row["place"]) for row in rows)
    for row in rows:
        where = f"{row['ref']['file']}:{row['ref']['line']}"
        yield f"{lab_moment(row['at_ms'])}  {row['place']:<{width}}  {row['what']}  ({where})"
