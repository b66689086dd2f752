"""No more bodies are read for a peer than it can soon take, and each gets its turn."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

import pytest

from nodes.shell.smtp.mail_going_out import ENOUGH_BYTES, MailGoingOut

BODY = bytes(ENOUGH_BYTES // 2)


def test_the_next_body_is_read_when_one_before_it_is_sent() -> None:
    async def send() -> None:
        to_peer, held, reads = MailGoingOut(), asyncio.Event(), 0

        async def read() -> bytes:
            nonlocal reads
            reads += 1
            return BODY

        async def sending() -> None:
            async with to_peer.sent(read):
                await held.wait()

        async with asyncio.TaskGroup() as tasks:
            sent = [tasks.create_task(sending()) for _ in range(9)]
            await asyncio.sleep(0.01)
            assert reads == 2
            sent[0].cancel()
            sent[8].cancel()  # it waits
            await asyncio.sleep(0.01)
            assert reads == 3
            held.set()
        assert reads == 8

    asyncio.run(send())


def test_a_body_that_cannot_be_read_leaves_room_for_others() -> None:
    async def send() -> None:
        to_peer = MailGoingOut()

        async def fail() -> bytes:
            raise OSError("gone")

        async def read() -> bytes:
            return BODY * 2

        for _ in range(3):
            with pytest.raises(OSError, match="gone"):
                async with to_peer.sent(fail):
                    pass
        for _ in range(2):
            async with AsyncExitStack() as stack:
                assert await stack.enter_async_context(to_peer.sent(read)) == BODY * 2

    asyncio.run(send())
