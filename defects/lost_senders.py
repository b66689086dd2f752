"""Defects of what becomes of a message whose sender is lost before its answer (SR-5, SR-6)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from defects.defect import Defect
from nodes.core.receiving import Receiving
from nodes.core.sessions.inbound_session import InboundSession


@contextmanager
def keeps_nothing_for_a_lost_sender() -> Iterator[None]:
    sound = Receiving._not_redundant

    def not_redundant(self: Any, session: InboundSession, *rest: Any) -> None:
        config = self._config
        if session.is_lost:
            transport = replace(config.transport, reject_message_on_shadow_failure=True)
            self._config = replace(config, transport=transport)
        sound(self, session, *rest)
        self._config = config

    with patch.object(Receiving, "_not_redundant", not_redundant):
        yield


DEFECTS = (
    Defect(
        "keeps-nothing-for-a-lost-sender",
        "A message whose sender is lost before the attempts have failed is rejected, not kept.",
        "SR-6", "sender-lost", ("redundant_before_ack",), keeps_nothing_for_a_lost_sender,
    ),
)  # fmt: skip
