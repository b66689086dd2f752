"""Inputs are handled one at a time and their effects in order; deadlines wake the core in time."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from pathlib import Path

from nodes.core.interface.effects import DropBody, Effect, HangUp, LogLifecycle
from nodes.core.interface.inputs import Committed, DeadlineReached, Input, StopRequested
from nodes.shell.clock import ClockSettings, NodeClock
from nodes.shell.core_loop import CoreLoop
from tests.nodes.shell.scripted import Core
from tests.nodes.shell.waiting import until_async

ORIGIN_MS = 1_767_600_000_000


class Driven:
    """A core loop around a scripted core; remembers effects, failures and what was written down."""

    def __init__(self, folder: Path, core: Core) -> None:
        self.carried_out: list[Effect] = []
        self.written_down: list[tuple[Input, int]] = []
        self.failures: list[BaseException] = []
        self.on_effect: Callable[[Effect], None] = lambda effect: None
        self.start_file = folder / "start.json"
        clock = NodeClock(ClockSettings(ORIGIN_MS, 60.0, 0, self.start_file))
        self.loop = CoreLoop(core, clock, self._write_down, self._carry_out, self.failures.append)

    def _write_down(self, happened: Input, now_ms: int) -> None:
        self.written_down.append((happened, now_ms))

    def _carry_out(self, effect: Effect) -> None:
        self.carried_out.append(effect)
        self.on_effect(effect)


def test_what_happens_while_effects_are_carried_out_comes_after_them(tmp_path: Path) -> None:
    def script(happened: Input) -> tuple[Effect, ...]:
        if happened == Committed(1):
            return (DropBody("in:1"), LogLifecycle("first"))
        return (LogLifecycle("second"),)

    async def drive() -> None:
        driven = Driven(tmp_path, Core(script))

        def also(effect: Effect) -> None:
            if isinstance(effect, DropBody):
                driven.loop.give(Committed(2))

        driven.on_effect = also
        driven.loop.give(Committed(1))
        assert driven.carried_out == [
            DropBody("in:1"),
            LogLifecycle("first"),
            LogLifecycle("second"),
        ]
        assert [happened for happened, _ in driven.written_down] == [Committed(1), Committed(2)]

    asyncio.run(drive())


def test_a_mistake_of_ours_ends_everything_at_once(tmp_path: Path) -> None:
    def script(happened: Input) -> tuple[Effect, ...]:
        raise AssertionError("a mistake")

    async def drive() -> None:
        driven = Driven(tmp_path, Core(script))
        driven.loop.give(Committed(1))
        driven.loop.give(Committed(2))
        assert [str(failure) for failure in driven.failures] == ["a mistake"]
        assert len(driven.written_down) == 1

    asyncio.run(drive())


def test_an_effect_that_cannot_be_carried_out_leaves_the_rest_undone(tmp_path: Path) -> None:
    async def drive() -> None:
        driven = Driven(tmp_path, Core(lambda happened: (HangUp("out-1"), DropBody("in:1"))))

        def stumble(effect: Effect) -> None:
            raise KeyError(effect)

        driven.on_effect = stumble
        driven.loop.give(StopRequested())
        assert driven.carried_out == [HangUp("out-1")]
        assert len(driven.failures) == 1

    asyncio.run(drive())


def test_a_deadline_is_reached_in_lab_time_once_that_runs(tmp_path: Path) -> None:
    core = Core()

    def script(happened: Input) -> tuple[Effect, ...]:
        if isinstance(happened, DeadlineReached):
            core.deadline_ms = None
        return ()

    core.script = script
    core.deadline_ms = ORIGIN_MS + 6_000

    async def drive() -> None:
        driven = Driven(tmp_path, core)
        driven.loop.give(Committed(1))
        waiting = asyncio.create_task(driven.loop.wait_for_lab_time())
        await asyncio.sleep(0)
        assert DeadlineReached() not in core.heard
        document = {"monotonic_zero_ns": time.monotonic_ns()}
        driven.start_file.write_text(json.dumps(document))
        await waiting
        await until_async(lambda: DeadlineReached() in core.heard or None, "the deadline")
        ((_, now_ms),) = [w for w in driven.written_down if w[0] == DeadlineReached()]
        assert ORIGIN_MS + 6_000 <= now_ms < ORIGIN_MS + 600_000

    asyncio.run(drive())
