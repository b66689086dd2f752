"""The evaluation's own sources, for Spark's workers: they run functions of it.

On one machine workers find them where the driver did. Elsewhere they need a Python of the same
version with pyarrow, and nothing installed by hand: the sources go along with the job.
"""

from __future__ import annotations

import os
import sys
import zipfile
from pathlib import Path

from pyspark import SparkContext

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "spark_eval"
KINDS = (".py", ".toml")


def ship(context: SparkContext) -> None:
    """Once a session."""
    if is_local(context):
        _found_here(context)
    elif not any(PACKAGE in each for each in context._python_includes or ()):
        # workers fetch it from here as long as the session lasts
        archive = Path(str(context._temp_dir)) / f"{PACKAGE}.zip"
        _pack(archive)
        context.addPyFile(str(archive))


def is_local(context: SparkContext) -> bool:
    """Whether its workers are processes of this machine."""
    return str(context.master).startswith("local")


def _found_here(context: SparkContext) -> None:
    """The workers are this machine's: they run this very Python, on these sources."""
    given = context.environment.get("PYTHONPATH", os.environ.get("PYTHONPATH", ""))
    places = [str(ROOT), *(each for each in given.split(os.pathsep) if each)]
    context.environment["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(places))
    if "PYSPARK_PYTHON" not in os.environ:
        context.pythonExec = sys.executable


def _pack(archive: Path) -> None:
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for path in sorted((ROOT / PACKAGE).rglob("*")):
            if path.suffix in KINDS:
                file.write(path, path.relative_to(ROOT).as_posix())
