"""The one place where a Spark session is made.

A local session is tuned for the size of its work. One run: no generated code and a quiet compiler,
because compiling would take longer than all the work. A sweep: generated code, and what is keyed by
run is moved once. Any other master (`spark://`, `yarn`, `k8s://`) keeps Spark's own defaults.
Refuses to know anything of what is evaluated.
"""

from __future__ import annotations

import logging
from enum import Enum
from pathlib import Path
from typing import TypeAlias

from pyspark.sql import SparkSession

Settings: TypeAlias = dict[str, str]

QUIET_LOG = Path(__file__).with_name("log4j2.properties")

EVERYWHERE: Settings = {
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # custom-data of real servers repeats names
    "spark.sql.mapKeyDedupPolicy": "LAST_WIN",
    "spark.sql.parquet.compression.codec": "snappy",
}

ON_ONE_MACHINE: Settings = {
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    "spark.sql.adaptive.enabled": "false",
    # a broadcast is a job of its own, and planning waits for it
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "1g",
}

# of hundreds of runs at a time, for minutes
OF_A_SWEEP: Settings = {
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "FALLBACK",
    # rows that lie together by run need not move again to be joined by run and more
    "spark.sql.requireAllClusterKeysForCoPartition": "false",
    # all of a batch's queries stay compiled for the next one; Spark would keep 100
    "spark.sql.codegen.cache.maxEntries": "5000",
    "spark.driver.memory": "2g",
}

# the JVM lives for some seconds: compile little and cheaply, and do not stop to collect garbage
BRIEF_LIFE = (
    "-XX:TieredStopAtLevel=1",
    "-XX:Tier3InvocationThreshold=1000",
    "-XX:Tier3MinInvocationThreshold=500",
    "-XX:Tier3CompileThreshold=5000",
    "-XX:+UseSerialGC",
    "-XX:MetaspaceSize=300m",
    "-Xms1g",
    "-Xmn600m",
    "-Xshare:auto",
)
# the better compiler spends more on generated code than it saves before some thousand runs; the
# quiet one's cache would be full after the first batch, and the rest would be interpreted
LONG_LIFE = (
    "-XX:TieredStopAtLevel=1",
    "-XX:ReservedCodeCacheSize=512m",
    "-XX:+UseParallelGC",
    "-Xms1g",
    "-Xshare:auto",
)


class Purpose(Enum):
    """What a session is for: `RUN` is one run or a few, `SWEEP` batches of hundreds."""

    RUN = "run"
    SWEEP = "sweep"


def session(
    master: str = "local[*]",
    name: str = "shadowlab evaluation",
    purpose: Purpose = Purpose.RUN,
) -> SparkSession:
    """The running session, or a new one on `master`."""
    builder = SparkSession.builder.master(master).appName(name)
    for key, value in settings(master, purpose).items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    # it would print every failed query's whole plan; the exception itself says enough
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
    return spark


def settings(master: str, purpose: Purpose = Purpose.RUN) -> Settings:
    """Every setting of a session on `master`; what Spark knows best elsewhere is left to it."""
    if not master.startswith("local"):
        return dict(EVERYWHERE)
    java = {"spark.driver.extraJavaOptions": _java_options(purpose)}
    more = OF_A_SWEEP if purpose is Purpose.SWEEP else {}
    return EVERYWHERE | ON_ONE_MACHINE | more | java


def _java_options(purpose: Purpose) -> str:
    options = list(BRIEF_LIFE if purpose is Purpose.RUN else LONG_LIFE)
    if QUIET_LOG.exists():
        options.append(f"-Dlog4j2.configurationFile={QUIET_LOG.as_uri()}")
    return " ".join(options)
