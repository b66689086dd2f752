"""Names of the JVM that PySpark looks up for every column, looked up once.

py4j asks the JVM for a name each time it is used, and the JVM tries every imported package in every
jar. An attribute that is there is asked for no more; so a third of all messages to the JVM go.
"""

from __future__ import annotations

from pyspark import SparkContext

FUNCTIONS = ("col", "count", "expr", "lit", "max", "min")
NAMES = {
    "PythonUtils": ("toSeq",),
    "functions": FUNCTIONS,
    "org.apache.spark.sql.functions": FUNCTIONS,
    "org.apache.spark.sql.classic.SparkSession": ("getActiveSession",),
}


def look_up_once(context: SparkContext) -> None:
    """Of the JVM of this context, whoever uses it."""
    for name, members in NAMES.items():
        known = getattr(context._jvm, name)
        for member in members:
            setattr(known, member, getattr(known, member))
        setattr(context._jvm, name, known)
