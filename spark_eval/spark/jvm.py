"""Spark's JVM, started by this process: what it says on stderr is passed on, line by line.

Left out are two lines that every start of Spark's JVM says of its own modules, which no logging
configuration reaches. Nothing else is held back, least of all why a JVM could not start.
"""

from __future__ import annotations

import atexit
import os
import re
import signal
from contextlib import suppress
from pathlib import Path
from subprocess import Popen
from threading import Thread

from py4j.java_gateway import JavaGateway
from pyspark import SparkConf
from pyspark.java_gateway import launch_gateway

OF_MODULES = re.compile(
    rb"WARNING: (Using incubator modules: jdk\.incubator\.vector|package \S+ not in java\.base)\s*"
)
STDERR = 2
DRAIN_SECONDS = 5  # of a JVM that has ended: its last words are in the pipe already


def launch(conf: SparkConf) -> JavaGateway:
    """A gateway to a new JVM. Raises PySparkException where none comes up.

    One that was started and is not waited for, since a person ended this process, is ended too: the
    file in which it would say its port is gone by then, and it would live on for ever without.
    """
    before = _children()
    reader, writer = os.pipe()
    passing = Thread(target=pass_on, args=(reader,), daemon=True)
    passing.start()
    try:
        gateway: JavaGateway = launch_gateway(conf, {"stderr": writer})  # type: ignore[no-untyped-call]
    except BaseException:
        for pid in _children() - before:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        os.close(writer)
        passing.join(DRAIN_SECONDS)
        raise
    os.close(writer)
    atexit.register(_drain, gateway.proc, passing)
    return gateway


def _children() -> set[int]:
    """Processes that this one started; none where there is no /proc."""
    lists = Path("/proc/self/task").glob("*/children")
    return {int(pid) for each in lists for pid in each.read_text().split()}


def pass_on(reader: int, target: int = STDERR) -> None:
    """Until whoever writes has gone."""
    with os.fdopen(reader, "rb") as lines:
        for line in lines:
            if not OF_MODULES.fullmatch(line):
                os.write(target, line)


def _drain(jvm: Popen[bytes], passing: Thread) -> None:
    if jvm.poll() is not None:
        passing.join(DRAIN_SECONDS)
