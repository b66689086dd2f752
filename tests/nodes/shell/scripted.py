"""Stand-ins: a core that a test scripts, a door that only listens, a server that says what it is
told.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from nodes.core.interface.effects import Effect
from nodes.core.interface.inputs import Input
from tests.nodes.shell.waiting import until_async

Kind = TypeVar("Kind", bound=Input)
LONGEST = 16_777_216


class Core:
    """Answers each input with the effects that `script` gives for it, and remembers it."""

    def __init__(self, script: Callable[[Input], tuple[Effect, ...]] = lambda happened: ()) -> None:
        self.script = script
        self.heard: list[Input] = []
        self.deadline_ms: int | None = None

    def handle(self, happened: Input, now_ms: int) -> tuple[Effect, ...]:
        self.heard.append(happened)
        return self.script(happened)

    def next_deadline_ms(self) -> int | None:
        return self.deadline_ms


class Door:
    """Listens to what sessions report; bodies are their own handles."""

    def __init__(self) -> None:
        self.heard: list[Input] = []
        self.lab_ms = 1_767_600_000_000
        self.on_input: Callable[[Input], None] = lambda happened: None
        self.failed: list[str] = []

    def give(self, happened: Input) -> None:
        self.heard.append(happened)
        self.on_input(happened)

    def now_ms(self) -> int:
        return self.lab_ms

    def session_failed(self, session: str, error: Exception) -> None:
        self.failed.append(f"{session}: {type(error).__name__}: {error}")

    def body(self, handle: str) -> Awaitable[bytes]:
        found: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        found.set_result(handle.encode())
        return found

    async def hears(self, kind: type[Kind]) -> Kind:
        """The newest input of that kind, once there is one."""

        def look() -> Kind | None:
            return next((h for h in reversed(self.heard) if isinstance(h, kind)), None)

        return await until_async(look, f"{kind.__name__} among {self.heard}")


@asynccontextmanager
async def saying(script: str) -> AsyncIterator[tuple[int, list[str]]]:
    """A server that holds one side of a conversation: `S: text` is said, `C: ` waits for a line.

    `C: .` waits for the end of a body; `CUT` ends the connection; after the script it stays silent.
    Gives its port and the lines that it has heard.
    """
    heard: list[str] = []
    silent = asyncio.Event()

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for line in script.strip().splitlines():
            verb, _, text = line.strip().partition(" ")
            if verb == "S:":
                writer.write(text.encode() + b"\r\n")
            elif verb == "CUT":
                writer.transport.abort()
                return
            elif text == ".":
                heard.append((await reader.readuntil(b"\r\n.\r\n")).decode())
            else:
                heard.append((await reader.readline()).decode().rstrip("\r\n"))
        await silent.wait()
        writer.transport.abort()

    server = await asyncio.start_server(converse, "127.0.0.1", 0, limit=LONGEST)
    try:
        yield int(server.sockets[0].getsockname()[1]), heard
    finally:
        silent.set()
        server.close()
        await asyncio.sleep(0)
