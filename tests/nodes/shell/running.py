"""Nodes that run while a test looks at them: in the test's own event loop, or as a process."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import nodes
from nodes.shell.config_file import load_node_file
from nodes.shell.runner import Runner
from tests.nodes.shell.organisation import Organisation
from tests.nodes.shell.waiting import records, started, until, until_async

SOURCES = Path(nodes.__file__).parents[1]


@asynccontextmanager
async def running(organisation: Organisation, server: str) -> AsyncIterator[int]:
    """A node in this event loop; gives its port. Stopped in order at the end."""
    logs = organisation.logs(server)
    before = len(_starts(logs))
    runner = Runner(load_node_file(organisation.write_config(server)))
    life = asyncio.create_task(runner.run())
    try:

        def has_begun() -> int | None:
            assert not life.done(), f"{server} ended: {life}"
            begun = started(logs, before)
            return None if begun is None else int(begun["port"])

        yield await until_async(has_begun, f"{server} started", logs)
    finally:
        runner.stop()
        assert await life == 0


class NodeProcess:
    """A node as its container has it: a process with a configuration file. `words` stand before its
    module.
    """

    def __init__(
        self,
        organisation: Organisation,
        server: str,
        module: str = "runner",
        words: Sequence[str] = ("-m",),
    ) -> None:
        self.logs = organisation.logs(server)
        self._before = len(_starts(self.logs))
        config = organisation.write_config(server)
        self.process = subprocess.Popen(
            [sys.executable, *words, f"nodes.shell.{module}", str(config)],
            env={**os.environ, "PYTHONPATH": str(SOURCES)},
            stderr=subprocess.PIPE,
            text=True,
        )

    def port(self) -> int:
        """Where it listens, once it does."""
        begun = until(lambda: started(self.logs, self._before), "the node started", self.logs)
        return int(begun["port"])

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()

    def stop(self) -> int:
        """SIGTERM; the exit code. What a node has to say it says in its logs."""
        self.process.terminate()
        code, said = self.ended()
        assert said == "", said
        return code

    def ended(self) -> tuple[int, str]:
        """Exit code and stderr of a process that ends by itself."""
        _, said = self.process.communicate(timeout=20)
        return self.process.returncode, said


@contextmanager
def process(
    organisation: Organisation,
    server: str,
    module: str = "runner",
    words: Sequence[str] = ("-m",),
) -> Iterator[NodeProcess]:
    """A node as a process that is surely gone afterwards."""
    node = NodeProcess(organisation, server, module, words)
    try:
        yield node
    finally:
        if node.process.poll() is None:
            node.kill()


def _starts(logs: Path) -> list[object]:
    return [r for r in records(logs / "lifecycle.jsonl") if r["event"] == "started"]
