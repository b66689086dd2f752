"""Files as numbered lines, keyed by run, so that every finding can name its file and line.

A file is read whole and split in Spark: logs rotate at 10 MB, records are those of one run. A last
line without a line end is marked torn; what that means is for the reader of the format to say.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from spark_eval import schema
from spark_eval.read.run_folder import RunFolder
from spark_eval.spark.partitions import together
from spark_eval.spark.paths import to_read

BYTE_ORDER_MARK = "^\ufeff"
FIELDS_LINE = r"(?m)^#Fields: *(.*?)\r?$"
ROOT = r"^(.*?)/(?:logs/[^/]+/[^/]+|mailboxes/[^/]+|external/[^/]+|[^/]+)$"


def read_files(spark: SparkSession, folders: Sequence[RunFolder], files: list[Path]) -> DataFrame:
    """One row a file: `run`, `file` (relative to its run folder), `value` (the whole text)."""
    if not files:
        columns = (
            ("run", "STRING"), ("origin_ms", "BIGINT"), ("file", "STRING"), ("value", "STRING")
        )  # fmt: skip
        return literal_rows(spark, [], columns)
    whole = together(spark.read.text(places(folders, files), wholetext=True))
    value = F.regexp_replace("value", BYTE_ORDER_MARK, "")
    return named(folders, whole, value.alias("value"))


def named(folders: Sequence[RunFolder], rows: DataFrame, *columns: Column) -> DataFrame:
    """`run`, `origin_ms` and `file` of the file that each row was read from, and `columns`."""
    path = F.regexp_replace(F.url_decode(_escaped_plus()), "^file:/+", "/")
    read = rows.select(path.alias("path"), *columns).withColumn("root", _root(folders))
    file = F.expr("substring(path, length(root) + 2)").alias("file")
    return read.select(*_of_folder(folders), file, *(F.col(n) for n in read.columns[1:-1]))


def places(folders: Sequence[RunFolder], files: list[Path]) -> list[str]:
    """Where Spark finds each file of a driver's folder."""
    owners = {folder.path: folder for folder in folders}
    of = (
        (file, next(owners[parent] for parent in file.parents if parent in owners))
        for file in files
    )
    return [to_read(folder.place(file)) for file, folder in of]


def literal_rows(
    spark: SparkSession, rows: Sequence[Mapping[str, object]], columns: schema.Columns
) -> DataFrame:
    """A few rows that the driver knows, as a table. By way of JSON: a Python worker would cost
    more.
    """
    kind = f"array<{schema.struct(columns)}>"
    values = F.from_json(F.lit(json.dumps(rows)), kind)
    return spark.range(0, 1, numPartitions=1).select(F.inline(values))


def read_lines(spark: SparkSession, folders: Sequence[RunFolder], files: list[Path]) -> DataFrame:
    """One row a line that is not empty, numbered from 1; `fields` is the file's `#Fields:` line.

    For files that fit into memory one by one; `split_lines` reads any.
    """
    parts = read_files(spark, folders, files).select(
        "run",
        "origin_ms",
        "file",
        F.regexp_extract("value", FIELDS_LINE, 1).alias("fields"),
        F.split("value", "\n").alias("parts"),
    )
    exploded = parts.select(
        "run", "origin_ms", "file", "fields", F.size("parts").alias("size"), F.posexplode("parts")
    )
    return exploded.where("rtrim(col) <> ''").selectExpr(
        "run",
        "origin_ms",
        "file",
        "fields",
        "pos + 1 AS line",
        r"regexp_replace(col, '\r$', '') AS text",
        "pos + 1 = size AS torn",
    )


def _escaped_plus() -> Column:
    # url_decode would make a space of a plus sign, which a file name may hold
    return F.replace(F.col("_metadata.file_path"), F.lit("+"), F.lit("%2B"))


def _root(folders: Sequence[RunFolder]) -> Column:
    if len(folders) == 1:
        return F.lit(folders[0].root)
    return F.regexp_extract("path", ROOT, 1)


def _of_folder(folders: Sequence[RunFolder]) -> list[Column]:
    """`run` and `origin_ms` of the folder that a file is in, as literals of the query."""
    if len(folders) == 1:
        return [F.lit(folders[0].run).alias("run"), F.lit(folders[0].origin_ms).alias("origin_ms")]
    runs = [F.lit(text) for folder in folders for text in (folder.root, folder.run)]
    origins = [F.lit(x) for folder in folders for x in (folder.root, folder.origin_ms)]
    return [
        F.element_at(F.create_map(*runs), F.col("root")).alias("run"),
        F.element_at(F.create_map(*origins), F.col("root")).alias("origin_ms"),
    ]
