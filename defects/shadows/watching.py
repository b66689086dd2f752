"""Primary servers that misjudge who holds their shadow messages (SM-20)."""

from __future__ import annotations

from collections.abc import Iterable

from defects.defect import Defect
from defects.door import Door, behind
from nodes.core.interface.effects import Effect, LogLifecycle
from nodes.core.interface.inputs import DiscardAsked, Input

SILENT, RETURNED = "shadow-server-silent", "shadow-server-returned"


class LogsNo(Door):
    event = SILENT

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        is_it = isinstance(effect, LogLifecycle) and effect.event == self.event
        return () if is_it else (effect,)


class LogsNoReturn(LogsNo):
    event = RETURNED


class NamesAnother(Door):
    """The silent server is somebody else."""

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if not isinstance(effect, LogLifecycle) or effect.event != SILENT:
            return (effect,)
        fields = dict(effect.fields)
        others = (each.name for each in self.config.servers if each.role == "mailbox")
        fields["server"] = next(n for n in others if n not in (self.me, fields["server"]))
        return (LogLifecycle(SILENT, tuple(fields.items())),)


class SaysSilentOfWhoAsks(Door):
    """Every tenth question is answered with that."""

    def enters(self, happened: Input) -> Iterable[Input]:
        self._asking = happened.asking_server if isinstance(happened, DiscardAsked) else ""
        return (happened,)

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        asking, self._asking = self._asking, ""
        if not asking or not self.is_nth(10):
            return (effect,)
        return (effect, LogLifecycle(SILENT, (("server", asking), ("count", 1))))

    _asking = ""


class SaysReturnedOfWhoAsks(SaysSilentOfWhoAsks):
    """Whether it was silent or not."""

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        asking, self._asking = self._asking, ""
        if not asking or not self.is_nth(10):
            return (effect,)
        return (effect, LogLifecycle(RETURNED, (("server", asking),)))


class SaysItLate(Door):
    """So late that a cut is nearly over."""

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, LogLifecycle) and effect.event == SILENT:
            self.hold_back(effect, 20 * 60_000)
            return ()
        return (effect,)


SHOWS, CLAIM = "shadow-server-silent", ("shadow_servers_watched",)
DEFECTS = (
    Defect(
        "notices-no-silence",
        "A primary never says that a shadow server has stopped to ask.",
        "SM-20", SHOWS, CLAIM, lambda: behind(LogsNo),
    ),
    Defect(
        "notices-no-return",
        "A primary says that a shadow server is silent, and never that it is back.",
        "SM-20", SHOWS, CLAIM, lambda: behind(LogsNoReturn),
    ),
    Defect(
        "names-another-silent-server",
        "A primary says of another shadow server that it is silent.",
        "SM-20", SHOWS, CLAIM, lambda: behind(NamesAnother),
    ),
    Defect(
        "says-silent-of-who-asks",
        "A primary says now and then that a shadow server is silent which asks it.",
        "SM-20", SHOWS, CLAIM, lambda: behind(SaysSilentOfWhoAsks),
    ),
    Defect(
        "says-returned-of-who-asks",
        "A primary says now and then that a shadow server is back which it never missed.",
        "SM-20", SHOWS, CLAIM, lambda: behind(SaysReturnedOfWhoAsks),
    ),
    Defect(
        "notices-silence-late",
        "A primary notices that a shadow server is silent twenty minutes too late.",
        "SM-20", SHOWS, CLAIM, lambda: behind(SaysItLate),
    ),
)  # fmt: skip
