"""Defects of recipient resolution: groups that are expanded wrong, not again, or too often (RT-6,
SN-11).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from typing import Any

from defects.decisions import decides, does
from defects.defect import Context, Defect
from defects.door import Door, behind
from nodes.core.categorizer.categorizer import Categorised, Categorizer
from nodes.core.categorizer.groups import DistributionGroups
from nodes.core.categorizer.recipients import Resolved, resolve
from nodes.core.config.config import NodeConfig
from nodes.core.interface.effects import Effect, LogTracking
from nodes.core.interface.inputs import DirectoryRead, Input, SafetyNetRead
from nodes.core.model.message import Fork
from nodes.core.model.resubmit_request import KeptCopy

GROUPS, CHANGED = "groups", "members-changed"
EXPANDED = ("groups_expanded",)


def resolves(otherwise: Callable[[Resolved, Any], Resolved]) -> Context:
    """`otherwise` takes what was resolved and the directory."""

    def resolved(decision: Callable[..., Resolved], recipients: Any, directory: Any) -> Resolved:
        return otherwise(decision(recipients, directory), directory)

    return decides(resolve, resolved)


@contextmanager
def expands_no_nested_group() -> Iterator[None]:
    """Groups of the envelope give way to their members, and those that are groups to nobody."""

    def resolved(
        decision: Callable[..., Resolved], recipients: Iterable[str], directory: Any
    ) -> Resolved:
        named = [each.lower() for each in recipients]
        direct = [m for each in named for m in directory.members_of(each) or (each,)]
        flat = [each for each in direct if directory.members_of(each) is None]
        whole = decision(recipients, directory)
        return Resolved(
            tuple(dict.fromkeys(flat)),
            tuple(each for each in whole.expansions if each.group in named),
        )

    with decides(resolve, resolved):
        yield


@contextmanager
def forgets_one_member_in(every: int) -> Iterator[None]:
    calls = count()

    def resolved(found: Resolved, directory: Any) -> Resolved:
        whom = found.recipients
        if not found.expansions or not any(next(calls) % every == 0 for _ in whom):
            return found
        return replace(found, recipients=whom[:-1])

    with resolves(resolved):
        yield


def _expands_again(found: Resolved, directory: Any) -> Resolved:
    """A group that comes again, as in a loop."""
    again = [who for each in found.expansions for who in each.duplicates]
    return replace(
        found,
        expansions=(*found.expansions, *(e for e in found.expansions if e.group in again)),
    )


def _misses_duplicates(found: Resolved, directory: Any) -> Resolved:
    return replace(
        found, expansions=tuple(replace(each, duplicates=()) for each in found.expansions)
    )


def categorises(otherwise: Callable[[Categorised, list[str]], Iterable[Fork]]) -> Context:
    """`otherwise` takes what was categorised and who came twice, and makes the forks."""

    def made(found: Categorised) -> Categorised:
        twice = [who for each in found.expansions for who in each.duplicates]
        return replace(found, forks=tuple(otherwise(found, twice)))

    def categorised(
        method: Callable[..., None], self: Categorizer, messages: Any, then: Any, failed: Any
    ) -> None:
        method(self, messages, lambda found: then(tuple(map(made, found))), failed)

    return does(Categorizer, "categorise", categorised)


def _twice(found: Categorised, twice: list[str]) -> Iterable[Fork]:
    for fork in found.forks:
        again = tuple(who for who in fork.recipients if who in twice)
        yield replace(fork, recipients=(*fork.recipients, *again))


def _to_the_group_too(found: Categorised, twice: list[str]) -> Iterable[Fork]:
    groups = tuple(each.group for each in found.expansions)
    for number, fork in enumerate(found.forks):
        is_first = number == 0
        yield replace(fork, recipients=fork.recipients + (groups if is_first else ()))


class ResolvesShadowsAsAtFirst(Door):
    """What a Shadow Safety Net has is for the members that its groups had at the beginning."""

    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        self._groups = DistributionGroups(config).expanded_by((config.me.name,))

    def enters(self, happened: Input) -> Iterable[Input]:
        if not isinstance(happened, SafetyNetRead):
            return (happened,)
        return (replace(happened, copies=tuple(map(self._as_at_first, happened.copies))),)

    def _as_at_first(self, copy: KeptCopy) -> KeptCopy:
        """The envelope is what is categorised anew, of shadow copies alone."""
        recipients = resolve(copy.envelope.recipients, self._groups).recipients
        return replace(copy, envelope=replace(copy.envelope, recipients=recipients))


class HearsOfNoChange(Door):
    """While it runs."""

    def enters(self, happened: Input) -> Iterable[Input]:
        is_change = isinstance(happened, DirectoryRead) and not happened.at_start
        return () if is_change else (happened,)


class LogsNoExpansion(Door):
    def leaves(self, effect: Effect) -> Iterable[Effect]:
        is_it = isinstance(effect, LogTracking) and effect.event == "EXPAND"
        return () if is_it and self.passes_over() else (effect,)

    def passes_over(self) -> bool:
        return True


class LogsNoExpansionOfOneInTwenty(LogsNoExpansion):
    def passes_over(self) -> bool:
        return self.is_nth(20)


DEFECTS = (
    Defect(
        "expands-no-nested-group",
        "A group within a group is left out.",
        "TP-5", GROUPS, ("groups_expanded", "no_loss"), expands_no_nested_group,
    ),
    Defect(
        "forgets-one-member-in-thirty",
        "The last of those who should get a message is left out, once in thirty recipients.",
        "RT-6", GROUPS, ("no_loss",), lambda: forgets_one_member_in(30),
    ),
    Defect(
        "sends-to-a-member-twice",
        "Whoever is in two groups is twice among the recipients.",
        "RT-6", GROUPS, ("logged_once",), lambda: categorises(_twice),
    ),
    Defect(
        "sends-to-the-group-itself-too",
        "The address of a group that was expanded stays a recipient.",
        "RT-6", GROUPS, ("rows_fit",), lambda: categorises(_to_the_group_too),
    ),
    Defect(
        "expands-a-loop-again",
        "A group that comes again, as in a loop, is expanded again.",
        "RT-6", GROUPS, EXPANDED, lambda: resolves(_expands_again),
    ),
    Defect(
        "logs-no-expansion",
        "No expansion of a group is logged.",
        "RT-6", GROUPS, EXPANDED, lambda: behind(LogsNoExpansion),
    ),
    Defect(
        "logs-no-expansion-of-one-in-twenty",
        "One expansion of a group in twenty is not logged.",
        "RT-6", GROUPS, EXPANDED, lambda: behind(LogsNoExpansionOfOneInTwenty),
    ),
    Defect(
        "logs-no-duplicate-of-an-expansion",
        "Whoever came more than once is not logged.",
        "RT-6", GROUPS, EXPANDED, lambda: resolves(_misses_duplicates),
    ),
    Defect(
        "resubmits-shadows-to-the-first-members",
        "A Shadow Safety Net resubmits to the members that a group had at the beginning.",
        "SN-11", CHANGED, EXPANDED, lambda: behind(ResolvesShadowsAsAtFirst),
    ),
    Defect(
        "hears-of-no-changed-group",
        "A server learns that a group has changed at its next start.",
        "SN-11", CHANGED, EXPANDED, lambda: behind(HearsOfNoChange),
    ),
)  # fmt: skip
