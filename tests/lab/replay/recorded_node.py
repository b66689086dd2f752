"""A node's folder of a run, made by driving the core against a world that grants every wish.

What it hears and logs is written as the shell writes it. `heard` are its inputs, so that a test
knows their lines; a life ends by `stop`, `crash`, or by `kill` after so many effects of an input.
"""

import json
from collections import deque
from pathlib import Path

from lab.hosts.node_config import node_config
from lab.plan.plan import Plan
from nodes.core.interface import effects as fx
from nodes.core.interface import inputs as on
from nodes.core.model.message import Envelope, Header
from nodes.core.node import Node
from nodes.shell.logs.exchange import (
    CONNECTIVITY_FIELDS,
    TRACKING_FIELDS,
    Stamp,
    Writer,
    connectivity_row,
    header_lines,
    tracking_row,
)
from nodes.shell.logs.inputs import to_text

START_MS = 1_767_600_000_000
MINUTE = 60_000
SERVER = "par-mbx1"
USER = "db1-user01@shadowlab.example"
TRACKING, CONNECTIVITY = "MSGTRK2026010508-1.LOG", "CONNECTLOG20260105-1.LOG"


class RecordedNode:
    """`par-mbx1` of a plan, in the run folder `folder`. Times are lab ms since the start."""

    def __init__(self, folder: Path, plan: Plan) -> None:
        (folder / "plan.json").write_text(plan.to_json(), encoding="utf-8")
        self.logs = folder / "logs" / SERVER
        self.logs.mkdir(parents=True)
        (server,) = (each for each in plan.topology.servers if each.name == SERVER)
        self._config = node_config(plan, server)
        self._mono_ns = 5_000_000_000
        self._waiting: deque[on.Input] = deque()
        self.heard: list[on.Input] = []
        self.now_ms = START_MS
        for name, kind, fields in (
            (TRACKING, "Message Tracking Log", TRACKING_FIELDS),
            (CONNECTIVITY, "Transport Connectivity Log", CONNECTIVITY_FIELDS),
        ):
            self._append(name, header_lines(kind, fields, START_MS).removesuffix("\n"))

    def start(self, starts: int = 1, database_id: str = "db-a") -> None:
        self._node = Node(self._config)
        self._writer = Writer(self._config, database_id, {"par-mbx2": "10.0.0.3"})
        self._life("configured", pid=1)
        self.hear(on.DatabaseOpened(database_id, starts == 1, starts, (), (), (), (), 0, None))
        self._life("started", port=25)

    def stop(self) -> None:
        self.hear(on.StopRequested())
        self._life("stopped")

    def crash(self) -> None:
        """It hears of a commit that nobody asked for, and that is a mistake of ours."""
        self._write_down(on.Committed(999))
        self._life("crashed", reason="KeyError: 999")

    def take(self, message_id: str, *recipients: str) -> None:
        """A message from outside, up to its 250 and its delivery."""
        session = f"in-{message_id}"
        envelope = Envelope("alice@partner.example", recipients or (USER,))
        header = Header(f"<{message_id}@x>", self.now_ms, "hello, you")
        self.hear(on.SessionAccepted(session, "192.0.2.1"))
        for recipient in envelope.recipients:
            self.hear(on.RecipientOffered(session, recipient))
        self.hear(on.MessageOffered(session, envelope, header, 1000, f"in:{message_id}"))
        self.hear(on.ConnectionLost(session))

    def wait(self, ms: int) -> None:
        self.now_ms += ms
        self.hear(on.DeadlineReached())

    def hear(self, happened: on.Input) -> None:
        self._waiting.append(happened)
        while self._waiting:
            for effect in self._handle(self._waiting.popleft()):
                self._carry_out(effect)

    def kill_within(self, happened: on.Input, after: int) -> int:
        """SIGKILL after `after` of the effects of this input; how many it has."""
        effects = self._handle(happened)
        for effect in effects[:after]:
            self._carry_out(effect)
        self._waiting.clear()
        return len(effects)

    def _handle(self, happened: on.Input) -> tuple[fx.Effect, ...]:
        self._write_down(happened)
        return self._node.handle(happened, self.now_ms)

    def _write_down(self, happened: on.Input) -> None:
        self.heard.append(happened)
        line = to_text(happened, now_ms=self.now_ms, mono_ns=self._tick())
        self._append("inputs.jsonl", line)

    def _carry_out(self, effect: fx.Effect) -> None:
        stamp = Stamp(self.now_ms + 3, self._tick())
        match effect:
            case fx.LogTracking():
                self._append(TRACKING, tracking_row(effect, self._writer, stamp))
            case fx.LogConnectivity():
                self._append(CONNECTIVITY, connectivity_row(effect, stamp))
            case fx.LogLifecycle(event, fields):
                self._life(event, **dict(fields))
            case _:
                self._waiting.extend(_granted(effect))

    def _life(self, event: str, **more: str | int) -> None:
        at_ms = self.now_ms - START_MS
        record = {"event": event, "at_ms": at_ms, "mono_ns": self._tick(), **more}
        self._append("lifecycle.jsonl", json.dumps(record))

    def _append(self, name: str, line: str) -> None:
        with (self.logs / name).open("a", encoding="utf-8") as file:
            file.write(line + "\n")

    def _tick(self) -> int:
        self._mono_ns += 1000
        return self._mono_ns


def _granted(effect: fx.Effect) -> list[on.Input]:
    match effect:
        case fx.Commit(commit):
            return [on.Committed(commit)]
        case fx.OpenSession(session):
            return [on.SessionOpened(session, True)]
        case fx.Transmit(session):
            return [on.TransmissionAnswered(session, 250, "2.6.0 <m@x> Queued mail")]
        case fx.AskDiscard(session):
            return [on.DiscardAnswered(session, "db-of-a-peer", (), False)]
        case fx.DeliverToMailboxes(delivery):
            return [on.MailboxesDelivered(delivery, effect.recipients, ())]
        case _:
            return []
