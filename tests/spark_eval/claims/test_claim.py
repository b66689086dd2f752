from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

from spark_eval.as_tables.claims.claim import Claim, case
from spark_eval.as_tables.expected.tables import Tables


def test_a_case_about_nothing_that_has_a_name_is_told_of_all_the_same(
    spark: SparkSession,
) -> None:
    def cases(tables: Tables) -> DataFrame:
        columns = case("'violated'", "CAST(NULL AS STRING)", "'late'", "1", "NULL", "array('SM-1')")
        return spark.sql("SELECT 'run' AS run").selectExpr(*columns)

    result = Claim("held", ("SM-1",), cases).check(Tables.__new__(Tables))["run"]
    assert [(example.subject, example.detail) for example in result.examples] == [("?", "late")]
