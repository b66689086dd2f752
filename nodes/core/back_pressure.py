"""Back pressure: how much of its disk and of its queues a server uses, and what it refuses then
(TL-8, F§6).

A resource is at the level normal, medium or high. Each way between two levels has a threshold of
its own (hysteresis), so that a figure which swings a little about one of them changes nothing. The
server is at the highest level of its resources. At medium it refuses shadow messages and mail from
outside, and no resubmission goes on; at high mail of other servers too. What goes into a mailbox
database, and what another server asks, gets into no queue here and is taken at every level.
Nothing of it is durable: it follows from figures, which a restart takes anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from nodes.core.config.config import NodeConfig, Thresholds
from nodes.core.engine.work import Timer, Work
from nodes.core.interface.effects import LogLifecycle, MeasureDisk
from nodes.core.interface.inputs import DiskMeasured

DATABASE_USED_SPACE, SUBMISSION_QUEUE = "DatabaseUsedSpace", "SubmissionQueue"


class Level(IntEnum):
    NORMAL = 0
    MEDIUM = 1
    HIGH = 2


@dataclass(frozen=True, slots=True)
class QueuesChanged:
    """Another part reports: so many messages are in the delivery queues now."""

    length: int


def level_after(level: Level, figure: int, thresholds: Thresholds) -> Level:
    """At or above a threshold on the way up; at or below one on the way down."""
    is_high = figure > thresholds.high_to_medium if level is Level.HIGH else False
    if is_high or figure >= thresholds.medium_to_high:
        return Level.HIGH
    stays = level is not Level.NORMAL and figure > thresholds.medium_to_low
    return Level.MEDIUM if stays or figure >= thresholds.low_to_medium else Level.NORMAL


class BackPressure:
    """The levels of one server. A volume of size 0 is not watched."""

    def __init__(self, config: NodeConfig, work: Work) -> None:
        self._work = work
        server = config.server
        self._volume_bytes = server.queue_database_volume_bytes
        self._interval_ms = server.resource_monitoring_interval_ms
        self._thresholds = {
            DATABASE_USED_SPACE: server.database_used_space,
            SUBMISSION_QUEUE: server.submission_queue,
        }
        self._levels = dict.fromkeys(self._thresholds, Level.NORMAL)
        self._measuring: Timer | None = None

    @property
    def level(self) -> Level:
        return max(self._levels.values())

    @property
    def levels(self) -> dict[str, Level]:
        """By resource."""
        return dict(self._levels)

    @property
    def refuses_shadows(self) -> bool:
        return self.level >= Level.MEDIUM

    @property
    def pauses_resubmission(self) -> bool:
        return self.level >= Level.MEDIUM

    def refuses_mail(self, peer: str | None) -> bool:
        """Of a server of the organisation, or of somebody outside (None)."""
        return self.level >= (Level.MEDIUM if peer is None else Level.HIGH)

    def opened(self) -> None:
        """The server has its queue database."""
        if self._volume_bytes:
            self._work.emit(MeasureDisk())

    def written(self) -> None:
        """The queue database has changed: the disk is looked at, once an interval."""
        if self._volume_bytes:
            self._measure_soon()

    def _measure_soon(self) -> None:
        if self._measuring is None:
            due_ms = self._work.now_ms + self._interval_ms
            self._measuring = self._work.at(due_ms, self._measure)

    def _measure(self) -> None:
        self._measuring = None
        self._work.emit(MeasureDisk())

    def measured(self, happened: DiskMeasured) -> None:
        if self._volume_bytes:
            percent = happened.used_bytes * 100 // self._volume_bytes
            self._set(DATABASE_USED_SPACE, percent)
            if self._levels[DATABASE_USED_SPACE] is not Level.NORMAL:
                # there may be room again though nothing is written: what expires, whatever else
                self._measure_soon()

    def queued(self, event: QueuesChanged) -> None:
        self._set(SUBMISSION_QUEUE, event.length)

    def _set(self, resource: str, figure: int) -> None:
        before = self._levels[resource]
        after = level_after(before, figure, self._thresholds[resource])
        if after is not before:
            self._levels[resource] = after
            fields = (
                ("resource", resource),
                ("from", before.name.lower()),
                ("to", after.name.lower()),
                ("figure", figure),
            )
            self._work.emit(LogLifecycle("back-pressure", fields))
