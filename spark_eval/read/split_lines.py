"""The same lines as `lines`, of files of any size: Spark reads them in splits, side by side.

A split knows where in its file it begins, and counts its lines; how many lines the splits before it
have makes them numbers of the file. That takes a second look at the text, and no shuffle of it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from spark_eval.read.lines import BYTE_ORDER_MARK, FIELDS_LINE, literal_rows, named, places
from spark_eval.read.run_folder import RunFolder
from spark_eval.spark.joins import joined, small

FILE = ["run", "file"]
SPLIT = [*FILE, "start"]


def read_split_lines(
    spark: SparkSession, folders: Sequence[RunFolder], files: list[Path]
) -> DataFrame:
    """One row a line that is not empty, numbered from 1; `fields` is the file's `#Fields:` line."""
    text = spark.read.text(places(folders, files), lineSep="\n")
    start = F.col("_metadata.file_block_start").alias("start")
    place = F.monotonically_increasing_id().alias("place")
    lines = named(folders, text, start, place, F.col("value").alias("text"))
    known = small(_numbering(lines)), small(_fields(lines))
    torn = small(_torn_files(spark, folders, files))
    found = joined(lines, known[0], SPLIT).join(known[1], FILE, "left").join(torn, FILE, "left")
    numbered = found.where("rtrim(text) <> ''").selectExpr(
        "run", "origin_ms", "file", "coalesce(fields, '') AS fields",
        "CAST(place + shift AS INT) AS line", r"regexp_replace(text, '\r$', '') AS text",
        "is_torn IS NOT NULL AND place + shift = size AS torn",
    )  # fmt: skip
    first = F.regexp_replace("text", BYTE_ORDER_MARK, "")
    return numbered.withColumn("text", F.when(F.col("line") == 1, first).otherwise(F.col("text")))


def _numbering(lines: DataFrame) -> DataFrame:
    """A row a split: `shift`, what makes a place the number of a line; `size` of the file."""
    counted = lines.groupBy(*SPLIT).agg(F.min("place").alias("first"), F.count("*").alias("lines"))
    whole = Window.partitionBy(*FILE)
    before = whole.orderBy("start").rowsBetween(Window.unboundedPreceding, -1)
    shift = F.coalesce(F.sum("lines").over(before), F.lit(0)) - F.col("first") + 1
    return counted.select(*SPLIT, shift.alias("shift"), F.sum("lines").over(whole).alias("size"))


def _fields(lines: DataFrame) -> DataFrame:
    """A row a log: its first `#Fields:` line."""
    told = lines.select(*SPLIT, "place", F.regexp_extract("text", FIELDS_LINE, 1).alias("fields"))
    first = F.min_by("fields", F.struct("start", "place")).alias("fields")
    return told.where("fields <> ''").groupBy(*FILE).agg(first)


def _torn_files(
    spark: SparkSession, folders: Sequence[RunFolder], files: Sequence[Path]
) -> DataFrame:
    """Those whose last line has no end."""
    rows = [
        {"run": folder.run, "file": path.relative_to(folder.path).as_posix(), "is_torn": True}
        for folder in folders
        for path in files
        if path.is_relative_to(folder.path) and _is_torn(path)
    ]
    return literal_rows(
        spark, rows, (("run", "STRING"), ("file", "STRING"), ("is_torn", "BOOLEAN"))
    )


def _is_torn(path: Path) -> bool:
    with path.open("rb") as file:
        if file.seek(0, os.SEEK_END) == 0:
            return False
        file.seek(-1, os.SEEK_END)
        return file.read(1) != b"\n"
