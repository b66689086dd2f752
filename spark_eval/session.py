"""The one place where a Spark session is made.

A local session is tuned for the size of its work. One run: no generated code and a quiet compiler,
because compiling would take longer than all the work. Any other master (`spark://`, `yarn`,
`k8s://`) keeps Spark's own defaults. What a user of Spark has set, by spark-submit or
spark-defaults.conf, is kept.
Refuses to know anything of what is evaluated.
"""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from threading import current_thread, main_thread
from typing import TypeAlias

from py4j.java_gateway import JavaGateway
from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from spark_eval.spark.class_archive import sharing
from spark_eval.spark.given import SUBMITTED, given_settings
from spark_eval.spark.jvm import launch

Settings: TypeAlias = dict[str, str]

QUIET_LOG = Path(__file__).parent / "spark" / "log4j2.properties"

EVERYWHERE: Settings = {
    "spark.ui.enabled": "false",
    "spark.log.level": "ERROR",
    "spark.ui.showConsoleProgress": "false",
    # no line of ours beside an error of Spark's; it would cost six messages to the JVM a column
    "spark.python.sql.dataFrameDebugging.enabled": "false",
}

ON_ONE_MACHINE: Settings = {
    # what is queried are a run's few rows: a second partition would double the tasks
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    # a broadcast is a job of its own, and planning waits for it
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    # a sort begins with a page, and clears it
    "spark.buffer.pageSize": "1m",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    # the only executor is this very process: when it was suspended, with its machine or by a
    # signal, it is not lost, and goes on; Spark would give it up after two minutes
    "spark.storage.blockManagerHeartbeatTimeoutMs": "365d",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    # Python judges; what of it comes back to the driver passes through here
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
# one run after another, all night: what is hot is worth the better compiler, and a session that ran
# out of memory is worth nothing
ONE_AFTER_ANOTHER = (
    "-XX:ReservedCodeCacheSize=256m",
    "-XX:+UseSerialGC",
    "-XX:MetaspaceSize=300m",
    "-Xshare:auto",
    "-XX:+ExitOnOutOfMemoryError",
)

FOR_MINUTES = (
    "-XX:+UseParallelGC",
    "-Xshare:auto",
    "-XX:+ExitOnOutOfMemoryError",
)


class Purpose(Enum):
    """What a session is for: `RUN` is one run or a few, `RUNS` one run after another, `LARGE` what
    is too much for one task.
    """

    RUN = "run"
    RUNS = "runs"
    LARGE = "large"


JAVA = {
    Purpose.RUN: BRIEF_LIFE,
    Purpose.RUNS: ONE_AFTER_ANOTHER,
    Purpose.LARGE: FOR_MINUTES,
}


@contextmanager
def using_session(
    master: str | None = None,
    name: str = "shadowlab evaluation",
    purpose: Purpose = Purpose.RUN,
) -> Iterator[SparkSession]:
    """The running session, which goes on; or a new one, which ends with this."""
    running = SparkSession.getActiveSession()
    spark = running or session(master, name, purpose)
    try:
        yield spark
    finally:
        if running is None:
            spark.stop()


def session(
    master: str | None = None,
    name: str = "shadowlab evaluation",
    purpose: Purpose = Purpose.RUN,
) -> SparkSession:
    """The running session, or a new one.

    `master`, where it is given, wins over what spark-submit or spark-defaults.conf name; without
    any of them it is `local[*]`. `name` is for an application that nobody named.
    """
    running = SparkSession.getActiveSession()
    if running is not None:
        return running
    submitted = _submitted() if SUBMITTED in os.environ else None
    given = _given(submitted)
    chosen = settings(given, master, name, purpose)
    if submitted is None:
        chosen |= _quietly(given, chosen)
    conf = SparkConf(loadDefaults=False).setAll(list(chosen.items()))
    with _signals_kept():
        SparkContext(conf=conf, gateway=submitted or launch(conf))
    # it would print every failed query's whole plan; the exception itself says enough
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
    return SparkSession.builder.getOrCreate()


@contextmanager
def _signals_kept() -> Iterator[None]:
    """Spark hears SIGINT itself from then on, and says so in words of its own."""
    before = signal.getsignal(signal.SIGINT)
    yield
    if current_thread() is main_thread():
        signal.signal(signal.SIGINT, before)


def _given(submitted: JavaGateway | None) -> Settings:
    """What a user of Spark has set, who submitted this program or not."""
    return dict(SparkConf(_jvm=submitted.jvm).getAll()) if submitted else given_settings()


def _submitted() -> JavaGateway:
    """To the JVM of spark-submit, which runs already."""
    return launch_gateway()  # type: ignore[no-untyped-call]


def settings(
    given: Settings,
    master: str | None = None,
    name: str = "",
    purpose: Purpose = Purpose.RUN,
) -> Settings:
    """What is set beside `given`: what suits the work; what Spark knows best on a cluster is left
    to it.
    """
    where = master or given.get("spark.master", "local[*]")
    suited = EVERYWHERE | {"spark.app.name": name}
    if where.startswith("local"):
        suited |= ON_ONE_MACHINE
        suited["spark.driver.extraJavaOptions"] = " ".join([*JAVA[purpose], *sharing()])
    left = {key: value for key, value in suited.items() if key not in given}
    return left | {"spark.master": where}


def _quietly(given: Settings, chosen: Settings) -> Settings:
    """Our logging for a JVM that we start, unless somebody has configured it."""
    key = "spark.driver.extraJavaOptions"
    options = chosen.get(key) or given.get(key, "")
    if "log4j2.configurationFile" in options:
        return {}
    return {key: f"{options} -Dlog4j2.configurationFile={QUIET_LOG.as_uri()}".strip()}
