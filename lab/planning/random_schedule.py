"""A random schedule written out as plain faults: which, on whom, when, each draw by its own name.

Faults come in windows. In a window at most one server, or one site, suffers, and windows follow
each other with the time between them that `lab.planning.recovery` asks for; so the limit holds at
every moment and no two faults collide, by construction. Around a loss of a queue database the
network is calm, and that fault is alone in its window. With no limit there is one window, all
servers are in it, and a fault that would collide with another or hide it is drawn again.

A fault of links concerns the server at one end, drawn like any other; its links are all links
between that server and some drawn others, of which one at least is a server.
"""

from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter

from lab.plan.faults import Fault
from lab.plan.link_faults import LinkFault
from lab.planning.collisions import are_hidden, collision
from lab.planning.faults import resolve_fault, resolve_faults
from lab.planning.random_fault import (
    SECOND_MS,
    Draft,
    Draws,
    ScheduleContext,
    Written,
    make_draft,
    write_fault,
)
from lab.planning.repeated_faults import spread, spread_all
from lab.scenario.faults import FaultModel
from lab.scenario.random_faults import RandomModel, may_lose_database

MOST_TOGETHER = 3
ONE_IN = {"one-server-at-a-time": 3, "one-site-at-a-time": 2}  # joins the fault before it
TRIES = 20


def write_out(
    faults: Sequence[FaultModel], context: ScheduleContext, seed: int
) -> list[Sequence[Written] | None]:
    """For each entry of `faults:` what it stands for, in the order of starts; None if plain."""
    plain = spread_all(faults, context.topology)
    placed = list(resolve_faults(plain, context.topology, context.links, context.workload_end_ms))
    found: list[Sequence[Written] | None] = []
    for index, fault in enumerate(faults):
        if fault.random is None:
            found.append(None)
            continue
        drawn = _Drawing(fault.random, Draws(_seed(fault.random, seed), index), context, placed)
        found.append(sorted(drawn.faults(), key=_start_ms))
    return found


def plain_faults(
    faults: Sequence[FaultModel], context: ScheduleContext, seed: int
) -> list[FaultModel]:
    """The faults of one time and one server that all entries stand for, in the file's order."""
    entries = zip(faults, write_out(faults, context, seed), strict=True)
    return [
        plain
        for fault, written in entries
        for plain in (
            spread(fault, context.topology)
            if written is None
            else map(FaultModel.model_validate, written)
        )
    ]


def in_words(faults: Sequence[FaultModel], context: ScheduleContext, seed: int) -> list[str]:
    """A line for each random schedule: what was drawn from which seed, and the calm it keeps."""
    entries = zip(faults, write_out(faults, context, seed), strict=True)
    return [
        _line(fault.random, len(written), context, seed)
        for fault, written in entries
        if fault.random is not None and written is not None
    ]


def _line(random: RandomModel, count: int, context: ScheduleContext, seed: int) -> str:
    limit = "no limit" if random.at_most == "none" else random.at_most.replace("-", " ")
    drawn = f"{count} random faults, {limit}, drawn from {_seed(random, seed)}"
    if random.at_most == "none" or not may_lose_database(random):
        return drawn
    return f"{drawn}; calm around the loss of a queue database {context.recovery.in_words()}"


def _seed(random: RandomModel, run_seed: int) -> int:
    return run_seed if random.seed is None else random.seed


def _start_ms(written: Written) -> int:
    return FaultModel.model_validate(written).start_ms


class _Drawing:
    """One entry. `placed` are all faults that stand already; what is drawn is added."""

    def __init__(
        self, random: RandomModel, draws: Draws, context: ScheduleContext, placed: list[Fault]
    ) -> None:
        self._random, self._draws, self._context, self._placed = random, draws, context, placed
        self._low_ms = random.during.low
        self._length_ms = random.during.high - random.during.low
        self._return_ms = context.recovery.return_ms
        self._hidden_before = are_hidden(placed, self._return_ms)

    def faults(self) -> list[Written]:
        drafts = self._drafts()
        return self._free(drafts) if self._random.at_most == "none" else self._limited(drafts)

    def _drafts(self) -> list[Draft]:
        count = self._random.count
        how_many = count.low + self._draws.below(count.high - count.low + 1, "count")
        return [
            make_draft(self._random, self._draws, number, self._length_ms)
            for number in range(how_many)
        ]

    def _limited(self, drafts: list[Draft]) -> list[Written]:
        """As many of the drafts as fit; at least `count.low` do, `lab.validation.random_schedule`
        sees to it.
        """
        for how_many in range(len(drafts), 0, -1):
            windows = self._windows(drafts[:how_many])
            least_ms = sum(self._taken_ms(windows, at, least=True) for at in range(len(windows)))
            if least_ms <= self._length_ms:
                return self._laid_out(_shortened(windows, self._length_ms - least_ms))
        return []

    def _windows(self, drafts: list[Draft]) -> list[list[Draft]]:
        one_in, windows = ONE_IN[self._random.at_most], list[list[Draft]]()
        for draft in drafts:
            last = windows[-1] if windows else [draft] * MOST_TOGETHER
            alone = any(each.loses_database for each in (*last, draft))
            joins = self._draws.below(one_in, draft.number, "together") == 0
            if joins and not alone and len(last) < MOST_TOGETHER:
                last.append(draft)
            else:
                windows.append([draft])
        return windows

    def _taken_ms(self, windows: list[list[Draft]], at: int, *, least: bool) -> int:
        """What a window takes with the calm after it."""
        lengths = [each.least_ms if least else each.length_ms for each in windows[at]]
        needs_calm = any(each.loses_database for pair in windows[at : at + 2] for each in pair)
        calm_ms = self._context.recovery.whole_ms if needs_calm else 0
        return sum(lengths) + len(lengths) * self._return_ms + calm_ms

    def _laid_out(self, windows: list[list[Draft]]) -> list[Written]:
        """The windows one after the other, what is left of the time drawn between them."""
        taken = [self._taken_ms(windows, at, least=False) for at in range(len(windows))]
        left_s = (self._length_ms - sum(taken)) // SECOND_MS
        delays = sorted(self._draws.below(left_s + 1, "window", at) for at in range(len(windows)))
        return [
            written
            for at, window in enumerate(windows)
            for written in self._inside(
                window, self._low_ms + sum(taken[:at]) + delays[at] * SECOND_MS
            )
        ]

    def _inside(self, window: list[Draft], start_ms: int) -> list[Written]:
        """The faults of a window; they overlap as drawn, or follow each other where none do."""
        sufferers = self._sufferers(window)
        length_ms = sum(each.length_ms + self._return_ms for each in window)
        for attempt in range(TRIES if len(window) > 1 else 0):
            starts = [
                start_ms + self._offset_ms(each, length_ms - self._return_ms, attempt)
                for each in window
            ]
            found = self._written_at(window, sufferers, starts)
            if self._go_together([self._resolved(each) for each in found]):
                return found
        starts = [
            start_ms + sum(before.length_ms + self._return_ms for before in window[:at])
            for at in range(len(window))
        ]
        return self._written_at(window, sufferers, starts)

    def _written_at(
        self, window: list[Draft], sufferers: list[str], starts: list[int]
    ) -> list[Written]:
        entries = zip(window, sufferers, starts, strict=True)
        return [self._written(each, server, start_ms) for each, server, start_ms in entries]

    def _sufferers(self, window: list[Draft]) -> list[str]:
        first, servers = window[0].number, self._context.sufferers(window)
        one = self._draws.one_of(servers, first, "server")
        if self._random.at_most == "one-server-at-a-time":
            return [one] * len(window)
        site = self._context.site_of(one)
        near = [server for server in servers if self._context.site_of(server) == site]
        return [one] + [self._draws.one_of(near, each.number, "server") for each in window[1:]]

    def _free(self, drafts: list[Draft]) -> list[Written]:
        """Each where it is drawn; one that finds no place among the others is left out."""
        return [written for draft in drafts if (written := self._somewhere(draft)) is not None]

    def _somewhere(self, draft: Draft) -> Written | None:
        for attempt in range(TRIES):
            sufferers = self._context.sufferers([draft])
            server = self._draws.one_of(sufferers, draft.number, "server", attempt)
            start_ms = self._low_ms + self._offset_ms(draft, self._length_ms, attempt)
            written = self._written(draft, server, start_ms)
            fault = self._resolved(written)
            if self._joins(fault):
                self._placed.append(fault)
                return written
        return None

    def _offset_ms(self, draft: Draft, within_ms: int, attempt: int) -> int:
        latest_ms = within_ms - draft.length_ms
        return self._draws.length_ms(0, latest_ms, draft.number, "start", attempt)

    def _written(self, fault: Draft, server: str, start_ms: int) -> Written:
        return write_fault(fault, self._draws, self._context, server, start_ms)

    def _resolved(self, written: Written) -> Fault:
        model = FaultModel.model_validate(written)
        context = self._context
        return resolve_fault("", model, context.topology, context.links, context.workload_end_ms)

    def _joins(self, fault: Fault) -> bool:
        """Whether it goes together with those that are placed; each of these did with the others.

        Hundreds are tried many times each, so no pair of placed ones is looked at again.
        """
        mine = self._with_return(fault)
        for placed in self._placed:
            theirs = self._with_return(placed)
            first, second = (theirs, mine) if theirs.start_ms <= mine.start_ms else (mine, theirs)
            if collision(first, second):
                return False
        return are_hidden([*self._placed, fault], self._return_ms) <= self._hidden_before

    def _go_together(self, faults: list[Fault]) -> bool:
        """Whether no two collide, with time for a server to return, and all can be seen."""
        ordered: list[Fault] = sorted(
            (self._with_return(each) for each in faults), key=attrgetter("start_ms")
        )
        collide = any(
            collision(earlier, later)
            for at, later in enumerate(ordered)
            for earlier in ordered[:at]
        )
        return not collide and are_hidden(faults, self._return_ms) <= self._hidden_before

    def _with_return(self, fault: Fault) -> Fault:
        if isinstance(fault, LinkFault):
            return fault
        return replace(fault, end_ms=fault.end_ms + self._return_ms - 1)


def _shortened(windows: list[list[Draft]], spare_ms: int) -> list[list[Draft]]:
    """The drafts with what they have above their least cut down in proportion to what is spare."""
    wanted_ms = sum(each.length_ms - each.least_ms for window in windows for each in window)
    if wanted_ms <= spare_ms:
        return windows

    def shorter(draft: Draft) -> Draft:
        more_s = (draft.length_ms - draft.least_ms) * spare_ms // wanted_ms // SECOND_MS
        return replace(draft, length_ms=draft.least_ms + more_s * SECOND_MS)

    return [[shorter(each) for each in window] for window in windows]
