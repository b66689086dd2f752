"""The categorizer: recipient resolution, content conversion, then routing and bifurcation (RT-7).

It works once for each message that this server comes to answer for: one that it receives, one that
it promotes, one that it resubmits from a shadow copy, which keeps envelope and content as first
received (SN-11, SN-17). What it did is logged when that message is durable.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from nodes.core.categorizer.groups import DistributionGroups
from nodes.core.categorizer.limits import limit_exceeded
from nodes.core.categorizer.recipients import Expansion, Resolved, resolve
from nodes.core.config.config import NodeConfig
from nodes.core.config.parameters import NOT_CONVERTED
from nodes.core.engine.tracking_rows import converted_row, duplicate_expand_row, expand_row
from nodes.core.engine.work import Because, Work
from nodes.core.model.message import BodyHandle, Envelope, Fork, PrimaryMessage, converted
from nodes.core.routing.categorizer import forks_of
from nodes.core.routing.routing import next_hop


@dataclass(frozen=True, slots=True)
class AsReceived:
    """What the categorizer works on: an envelope, and a content; `servers`, by name, are those for
    which it is done: whose groups are expanded.
    """

    envelope: Envelope
    body: BodyHandle
    size_bytes: int
    servers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Categorised:
    """The forks of a message, the groups that were expanded for them, and the content that is to
    be stored: another one than was received where `is_converted`.
    """

    forks: tuple[Fork, ...]
    expansions: tuple[Expansion, ...]
    received: AsReceived
    body: BodyHandle
    size_bytes: int

    @property
    def is_converted(self) -> bool:
        return self.body != self.received.body

    def before(self, message: PrimaryMessage) -> PrimaryMessage:
        """The message with the size that it was received with."""
        return replace(message, size_bytes=self.received.size_bytes)


AllCategorised: TypeAlias = Callable[[tuple[Categorised, ...]], None]


class Categorizer:
    """Of one server, over the groups that it knows."""

    def __init__(self, config: NodeConfig, work: Work, groups: DistributionGroups) -> None:
        self._config, self._work, self._groups = config, work, groups

    def knows(self, address: str) -> bool:
        """Whether there is such a recipient: a group, or somebody whose mail has a next hop."""
        return self.is_group(address) or next_hop(self._config, address) is not None

    def is_group(self, address: str) -> bool:
        """Whether a group has that address now."""
        return self._groups.is_group(address)

    def categorise(
        self, messages: Sequence[AsReceived], then: AllCategorised, failed: Because
    ) -> None:
        """`then`, or `failed` where a content cannot be read, is called once: at once where nothing
        is converted in this organisation.
        """
        resolved = [
            resolve(each.envelope.recipients, self._groups.expanded_by(each.servers))
            for each in messages
        ]

        def measured(sizes_bytes: tuple[int | None, ...]) -> None:
            each = zip(messages, resolved, sizes_bytes, strict=True)
            then(tuple(self._routed(*one) for one in each))

        encoder = self._config.transport.byte_encoder
        if encoder == NOT_CONVERTED or not messages:
            measured((None,) * len(messages))
        else:
            bodies = tuple(each.body for each in messages)
            self._work.measure_converted(encoder, bodies, measured, failed)

    def _routed(
        self, received: AsReceived, resolved: Resolved, converted_bytes: int | None
    ) -> Categorised:
        """Routing goes by the size that the message has by then; limits of the organisation go by
        that with which it was received, and leave it one fork for all.
        """
        body, size_bytes = received.body, received.size_bytes
        if converted_bytes is not None:
            encoder = self._config.transport.byte_encoder
            body, size_bytes = converted(body, encoder), converted_bytes
        forks = forks_of(self._config, resolved.recipients, size_bytes)
        exceeded = limit_exceeded(self._config, received.envelope, received.size_bytes)
        if exceeded is not None and resolved.recipients:
            forks = (Fork(exceeded, resolved.recipients),)
        return Categorised(forks, resolved.expansions, received, body, size_bytes)

    def groups_of(self, recipients: tuple[str, ...]) -> dict[str, str]:
        """Of each member of a group of that envelope, the first group that led to him."""
        found: dict[str, str] = {}
        here = self._groups.expanded_by((self._config.me.name,))
        for expansion in resolve(recipients, here).expansions:
            for member in expansion.members:
                if member not in expansion.duplicates:
                    found.setdefault(member, expansion.group)
        return found

    def log(self, message: PrimaryMessage, categorised: Categorised) -> None:
        """EXPAND of each group, and DUPLICATEEXPAND of whom it had that had come before (RT-6);
        then TRANSFER of what was converted.
        """
        received = categorised.before(message)
        for expansion in categorised.expansions:
            self._work.emit(expand_row(received, expansion.group, expansion.members))
            if expansion.duplicates:
                row = duplicate_expand_row(received, expansion.group, expansion.duplicates)
                self._work.emit(row)
        if categorised.is_converted:
            self._work.emit(converted_row(message, self._config.transport.byte_encoder))
