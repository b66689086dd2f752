"""Tasks of a sweep, spread over the executors of a Spark master.

Workers run these sources with this interpreter; on a cluster both have to be there under the same
path, as for any Python program of Spark's.
"""

import logging
import os
import sys
from collections.abc import Sequence

from lab.campaigns.task import Done, Task, carry_out
from lab.program.errors import GroundError
from lab.program.sources import search_path
from spark_eval.session import session

TRACEBACK = "Traceback (most recent call last):"


def run_tasks(master: str, tasks: Sequence[Task]) -> list[Done]:
    """Carry the tasks out, one a partition; what each did. Raises GroundError."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = os.pathsep.join(_found_first())
    logging.disable(logging.CRITICAL)  # py4j would log Ctrl-C as an error, with three tracebacks
    try:
        context = session(master, "shadowlab sweep").sparkContext
    except Exception as error:
        hint = "Spark needs Java 17 or newer, memory and room to write"
        raise GroundError(f"Spark does not start: {_cause(error)}", hint) from error
    try:
        context.setLogLevel("FATAL")  # what fails is raised here; what is broken off is no error
        return context.parallelize(tasks, len(tasks)).map(carry_out).collect()
    except Exception as error:
        hint = "what is done is kept, the same command goes on"
        raise GroundError(
            f"the executors could not do their work: {_cause(error)}", hint
        ) from error


def _cause(error: Exception) -> str:
    """In a line. Py4J begins with the call that it made, and then says what Spark threw; what a
    task raised is the last line of its traceback.
    """
    said = str(error).strip().splitlines() or [type(error).__name__]
    thrown = [line.removeprefix(": ") for line in said if line.startswith(": ")]
    raised = said[-1:] if TRACEBACK in said else []
    return (*thrown, *raised, *said)[0]


def _found_first() -> list[str]:
    """Where workers look before all else: for these sources, then where this process does."""
    given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return list(dict.fromkeys([*search_path(), *(entry for entry in given if entry)]))
