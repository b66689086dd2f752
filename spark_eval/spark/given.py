"""What a user of Spark has set already: spark-submit's flags, `spark-defaults.conf`,
`PYSPARK_SUBMIT_ARGS`.

Spark's own precedence holds: what a program sets wins over flags, flags over defaults. So what is
found here must not be set again by the program, unless its own `--master` says so.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
from collections.abc import Mapping
from pathlib import Path

import pyspark

SUBMITTED = "PYSPARK_GATEWAY_PORT"  # spark-submit passes its JVM's port to its program
SEPARATOR = re.compile(r"\s*[=:\s]\s*")


def given_settings(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Settings of a JVM that is still to be started, by name."""
    return _defaults(environment) | _arguments(environment.get("PYSPARK_SUBMIT_ARGS", ""))


def _defaults(environment: Mapping[str, str]) -> dict[str, str]:
    home = environment.get("SPARK_HOME") or str(Path(pyspark.__file__).parent)
    folder = environment.get("SPARK_CONF_DIR") or f"{home}/conf"
    try:
        content = Path(folder, "spark-defaults.conf").read_text(encoding="utf-8")
    except OSError:
        return {}
    lines = (line.strip() for line in content.splitlines())
    pairs = (SEPARATOR.split(line, maxsplit=1) for line in lines if line and line[0] not in "#!")
    return {pair[0]: pair[1] for pair in pairs if len(pair) == 2}


def _arguments(text: str) -> dict[str, str]:
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--master")
    parser.add_argument("--name")
    parser.add_argument("--conf", "-c", action="append", default=[])
    known, _ = parser.parse_known_args(shlex.split(text))
    found = dict(entry.split("=", 1) for entry in known.conf if "=" in entry)
    named = {"spark.master": known.master, "spark.app.name": known.name}
    return found | {name: value for name, value in named.items() if value}
