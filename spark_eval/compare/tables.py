"""The tables of an evaluated run, as Spark reads them: by explicit row types."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from spark_eval.results.schema import OF_SAFETY_NETS, RESULT_TABLES, ddl
from spark_eval.spark.paths import to_read


def read_tables(spark: SparkSession, folder: Path) -> dict[str, DataFrame]:
    """What is there of them; without tables that a run does not have. `folder` is absolute."""
    places = {name: folder / f"{name}.parquet" for name in RESULT_TABLES}
    return {
        name: spark.read.schema(ddl(RESULT_TABLES[name])).parquet(to_read(place))
        for name, place in places.items()
        if name not in OF_SAFETY_NETS or place.exists()
    }
