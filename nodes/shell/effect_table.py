"""Which part of a host carries out which effect: one table, for a process and for the simulator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeAlias

from nodes.core.interface import effects
from nodes.core.interface.effects import Effect
from nodes.core.interface.replies import Reply
from nodes.shell.logs.logs import Logs
from nodes.shell.storage.bodies import Bodies
from nodes.shell.storage.writing import Store, Write
from nodes.shell.verbs.replies import in_words

EffectTable: TypeAlias = Mapping[type[Effect], Callable[[Any], None]]


class Storage(Protocol):
    """Carries out the effects that end on disk."""

    @property
    def bodies(self) -> Bodies: ...

    def write(self, effect: Write) -> None: ...

    def deliver(self, effect: Store) -> None: ...

    def measure(self) -> None: ...

    def count(self, session: str) -> None: ...


class Inbound(Protocol):
    """Sessions that others have opened, by name."""

    def reply(self, session: str, reply: Reply) -> None: ...

    def close(self, session: str, reply: Reply | None) -> None: ...


class Outbound(Protocol):
    """Sessions to others."""

    def open(self, effect: effects.OpenSession) -> None: ...

    def transmit(self, effect: effects.Transmit) -> None: ...

    def pass_command(self, effect: effects.PassCommand) -> None: ...

    def pass_message(self, effect: effects.PassMessage) -> None: ...

    def ask_discard(self, effect: effects.AskDiscard) -> None: ...

    def request_resubmit(self, effect: effects.RequestResubmit) -> None: ...

    def manage_copy(self, effect: effects.ManageCopy) -> None: ...

    def hang_up(self, session: str) -> None: ...


class Parts(Protocol):
    """The parts of a host. They may be made after the table is."""

    @property
    def logs(self) -> Logs: ...

    @property
    def disk(self) -> Storage: ...

    @property
    def inbound(self) -> Inbound: ...

    @property
    def outbound(self) -> Outbound: ...


def effect_table(parts: Parts) -> EffectTable:
    """What is asked of whom."""
    return {
        effects.LogTracking: lambda e: parts.logs.tracking(e),
        effects.LogConnectivity: lambda e: parts.logs.connectivity(e),
        effects.LogLifecycle: lambda e: parts.logs.lifecycle(e),
        effects.Commit: lambda e: parts.disk.write(e),
        effects.ExpireSafetyNet: lambda e: parts.disk.write(e),
        effects.ReadSafetyNet: lambda e: parts.disk.write(e),
        effects.MeasureConverted: lambda e: parts.disk.write(e),
        effects.DeliverToMailboxes: lambda e: parts.disk.deliver(e),
        effects.ChangeCopy: lambda e: parts.disk.deliver(e),
        effects.MeasureDisk: lambda e: parts.disk.measure(),
        effects.CountCopies: lambda e: parts.disk.count(e.session),
        effects.CleanUpDeliveredTo: lambda e: parts.disk.deliver(e),
        effects.DropBody: lambda e: parts.disk.bodies.drop(e.body),
        effects.SendReply: lambda e: parts.inbound.reply(e.session, in_words(e.reply)),
        effects.CloseSession: lambda e: parts.inbound.close(e.session, e.reply),
        effects.OpenSession: lambda e: parts.outbound.open(e),
        effects.Transmit: lambda e: parts.outbound.transmit(e),
        effects.PassCommand: lambda e: parts.outbound.pass_command(e),
        effects.PassMessage: lambda e: parts.outbound.pass_message(e),
        effects.AskDiscard: lambda e: parts.outbound.ask_discard(e),
        effects.RequestResubmit: lambda e: parts.outbound.request_resubmit(e),
        effects.ManageCopy: lambda e: parts.outbound.manage_copy(e),
        effects.HangUp: lambda e: parts.outbound.hang_up(e.session),
    }
