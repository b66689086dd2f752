"""What the queues of a server hold, for whoever asks while it runs, as Get-Queue shows it (TL-9,
SM-20).

Delivery queues by next hop, with the next retry and the last error; who holds the shadow messages
of what is in them, and when it last asked; shadow queues by primary server; discard notifications
by shadow server; both Safety Nets, which are counted on disk. With counters of shadow redundancy
since the process began, and the levels of back pressure. It only looks: nothing changes by it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from nodes.core.back_pressure import BackPressure
from nodes.core.delivery.delivery import Delivery
from nodes.core.delivery.discard_notifications import Discards
from nodes.core.engine.work import Work
from nodes.core.interface.effects import CountCopies, Effect, LogTracking
from nodes.core.interface.inputs import CopiesCounted, QueuesAsked
from nodes.core.interface.replies import QueueShown, QueuesReply
from nodes.core.sessions.inbound import InboundSessions
from nodes.core.sessions.inbound_session import InboundSession
from nodes.core.shadow.primary_side import Redundancy
from nodes.core.shadow.redundancy import ShadowRedundancy
from nodes.core.shadow.shadow_servers import ShadowServers

COUNTED = ("HAREDIRECT", "HAREDIRECTFAIL", "HARECEIVE", "HADISCARD", "RESUBMIT")


class QueueViewer:
    def __init__(
        self,
        work: Work,
        inbound: InboundSessions,
        delivery: Delivery,
        redundancy: Redundancy,
        shadow_servers: ShadowServers,
        shadow: ShadowRedundancy,
        discards: Discards,
        pressure: BackPressure,
    ) -> None:
        self._work = work
        self._inbound = inbound
        self._delivery = delivery
        self._redundancy = redundancy
        self._shadow_servers = shadow_servers
        self._shadow = shadow
        self._discards = discards
        self._pressure = pressure
        self._counters = Counter(dict.fromkeys(COUNTED, 0))

    def count(self, effects: Iterable[Effect]) -> None:
        """What goes into the tracking log."""
        for effect in effects:
            if isinstance(effect, LogTracking) and effect.event in self._counters:
                self._counters[effect.event] += 1

    def asked(self, asked: QueuesAsked, _session: InboundSession) -> None:
        """The answer waits for the disk, which alone knows its Safety Nets."""
        self._work.emit(CountCopies(asked.session))

    def counted(self, happened: CopiesCounted) -> None:
        session = self._inbound.named(happened.session)
        if session is not None:
            session.reply(QueuesReply(tuple(self._queues(happened)), tuple(self._figures())))

    def _queues(self, counted: CopiesCounted) -> Iterator[QueueShown]:
        yield QueueShown("messages", "", self._delivery.message_count)
        yield QueueShown("submission", "", self._redundancy.under_way)
        yield from self._delivery.queues.shown()
        yield from self._shadow_servers.shown()
        yield from self._shadow.shown()
        yield from self._discards.shown()
        yield QueueShown("primary-safety-net", "", counted.primary)
        yield QueueShown("shadow-safety-net", "", counted.shadow)

    def _figures(self) -> Iterator[tuple[str, str]]:
        for event, count in self._counters.items():
            yield event, str(count)
        for resource, level in self._pressure.levels.items():
            yield resource, level.name.lower()
