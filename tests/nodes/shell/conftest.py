"""What the tests of the shell share."""

import asyncio
from collections.abc import Iterator

import pytest


@pytest.fixture
def loop() -> Iterator[asyncio.Runner]:
    """An event loop for a test that is not a coroutine itself."""
    with asyncio.Runner() as runner:
        yield runner
