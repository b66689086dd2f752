"""One session for many runs: answers calls over a Unix socket until standard input ends.

A call is a line of JSON, `{"program": name, "words": [...]}`, with the words that the program
takes; the answer is a line, `{"code": n, "out": text, "err": text}`: what the program ends with and
prints. There is one call at a time, and what it kept in memory is freed before the next. A session
that broke answers nothing: whoever called finds the connection closed.
"""

from __future__ import annotations

import io
import json
import selectors
import socket
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from typing import Any, TypeAlias

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from spark_eval.program.exit_codes import CRASHED, WRONG_CALL
from spark_eval.program.outer_edge import guarded
from spark_eval.session import Purpose, using_session
from spark_eval.spark.released import released

Programs: TypeAlias = Mapping[str, Callable[[Sequence[str]], int]]
"""By name, what takes words and gives an exit code, on the session that runs."""
LONGEST_CALL_BYTES = 65_536
PATIENCE_SECONDS = 10.0
"""For a caller to say its line."""


def serve(inherited: int, master: str | None, programs: Programs) -> int:
    """`inherited`: the descriptor of a socket on which somebody listens for us already. 0 when
    standard input ended, 3 when the session broke.
    """
    with (
        socket.socket(fileno=inherited) as listening,
        using_session(master, "shadowlab judge", Purpose.RUNS) as spark,
    ):
        for caller in _callers(listening):
            with caller:
                told = _answer(spark, caller, programs)
                if not _stands(spark):
                    return CRASHED
                with suppress(OSError):  # nobody waits for it any more
                    caller.sendall(json.dumps(told).encode() + b"\n")
    return 0


def _callers(listening: socket.socket) -> Iterator[socket.socket]:
    with selectors.DefaultSelector() as either:
        either.register(listening, selectors.EVENT_READ)
        either.register(sys.stdin, selectors.EVENT_READ)
        while True:
            ready = {key.fileobj for key, _ in either.select()}
            if sys.stdin in ready:
                return
            yield listening.accept()[0]


def _answer(spark: SparkSession, caller: socket.socket, programs: Programs) -> dict[str, Any]:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), suppress(Py4JError), released(spark):
        code = guarded(lambda: _called(caller, programs))
        return {"code": code, "out": out.getvalue(), "err": err.getvalue()}
    return {}


def _called(caller: socket.socket, programs: Programs) -> int:
    caller.settimeout(PATIENCE_SECONDS)
    try:
        with caller.makefile("rb") as lines:
            call = json.loads(lines.readline(LONGEST_CALL_BYTES))
        program, words = programs[call["program"]], [str(word) for word in call["words"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(f"error: this is no call: {error}", file=sys.stderr)
        return WRONG_CALL
    return program(words)


def _stands(spark: SparkSession) -> bool:
    try:
        return not spark.sparkContext._jsc.sc().isStopped()
    except (Py4JError, OSError):
        return False
