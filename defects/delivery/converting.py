"""Defects of content conversion: left out, done twice, at the wrong time, or of what is to stay as
first received (RT-7, SN-17).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from defects.decisions import decides, does
from defects.defect import Context, Defect
from defects.door import Door, behind
from defects.safety_nets import WritesOtherwise
from nodes.core.categorizer.categorizer import Categorised, Categorizer
from nodes.core.config.config import NodeConfig
from nodes.core.interface.effects import Effect, LogTracking, ShadowRequest, Transmit
from nodes.core.interface.queue_changes import Change, InsertMessage, InsertShadow, PromoteShadow
from nodes.core.model.message import CONVERTED, BodyHandle, PrimaryMessage, converted
from nodes.core.routing.categorizer import forks_of
from nodes.store import content_conversion

CONVERSION = "content-conversion"
ONCE = ("converted_once",)
_ENCODED = re.compile(rb"(?i)(\r\nContent-Transfer-Encoding:) quoted-printable(?=\r\n)")


def _as_received(body: BodyHandle) -> BodyHandle:
    """Of a body that is to be converted."""
    return body.partition("|")[2] if body.startswith(CONVERTED) else body


class StoresWhatWasReceived(WritesOtherwise):
    """And says that it was converted."""

    def written(self, change: Change) -> Change:
        if isinstance(change, InsertMessage) and self.is_it(change.message):
            return replace(change, body=_as_received(change.body))
        return change

    def is_it(self, message: PrimaryMessage) -> bool:
        return message.resubmit_request is None


class StoresWhatAShadowSafetyNetHad(StoresWhatWasReceived):
    def is_it(self, message: PrimaryMessage) -> bool:
        return message.resubmit_request is not None


class PromotesUnconverted(WritesOtherwise):
    def written(self, change: Change) -> Change:
        return replace(change, converted=None) if isinstance(change, PromoteShadow) else change


class KeepsShadowsConverted(WritesOtherwise):
    """The shadow server converts what it holds."""

    def written(self, change: Change) -> Change:
        if not isinstance(change, InsertShadow):
            return change
        return replace(change, body=converted(change.body, self.config.transport.byte_encoder))


class MakesShadowsOfTheConverted(Door):
    """The primary server sends its shadow server what it is going to store."""

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if not isinstance(effect, Transmit) or not isinstance(effect.prologue, ShadowRequest):
            return (effect,)
        body = converted(effect.body, self.config.transport.byte_encoder)
        return (replace(effect, body=body),)


class LogsNoConversionOfOneInTwenty(Door):
    def leaves(self, effect: Effect) -> Iterable[Effect]:
        is_it = isinstance(effect, LogTracking) and effect.event == "TRANSFER"
        return () if is_it and self.is_nth(20) else (effect,)


def _what_is_encoded_too(
    decision: Callable[[bytes, str], bytes], content: bytes, encoder: str
) -> bytes:
    return decision(_ENCODED.sub(rb"\1 8bit", content, count=1), encoder)


@contextmanager
def routes_by_the_size_as_received() -> Iterator[None]:
    configs: dict[int, NodeConfig] = {}

    def begun(method: Any, self: Categorizer, config: NodeConfig, *others: Any) -> None:
        configs[id(self)] = config
        method(self, config, *others)

    def categorised(method: Any, self: Categorizer, messages: Any, then: Any, failed: Any) -> None:
        def routed(found: Categorised) -> Categorised:
            recipients = tuple(each for fork in found.forks for each in fork.recipients)
            size_bytes = found.received.size_bytes
            return replace(found, forks=forks_of(configs[id(self)], recipients, size_bytes))

        method(self, messages, lambda found: then(tuple(map(routed, found))), failed)

    with does(Categorizer, "__init__", begun), does(Categorizer, "categorise", categorised):
        yield


def converts_before_it_resolves() -> Context:
    def logged(
        method: Any, self: Categorizer, message: PrimaryMessage, categorised: Categorised
    ) -> None:
        by_then = replace(
            categorised.received, body=categorised.body, size_bytes=categorised.size_bytes
        )
        method(self, message, replace(categorised, expansions=()))
        method(self, message, replace(categorised, received=by_then))

    return does(Categorizer, "log", logged)


DEFECTS = (
    Defect(
        "stores-what-was-received",
        "Content conversion is logged, and what is stored and delivered is not converted.",
        "RT-7", CONVERSION, ONCE, lambda: behind(StoresWhatWasReceived),
    ),
    Defect(
        "converts-what-is-encoded",
        "Each server that receives a message converts it once more.",
        "RT-7", CONVERSION, ("converted_once", "content_intact"),
        lambda: decides(content_conversion.converted, _what_is_encoded_too),
    ),
    Defect(
        "converts-before-it-resolves",
        "A message is converted, and then its groups are expanded.",
        "RT-7", CONVERSION, ONCE, converts_before_it_resolves,
    ),
    Defect(
        "converts-after-routing",
        "Mail is routed by the size that it was received with, and then converted.",
        "RT-7", CONVERSION, ("routed_as_computed",), routes_by_the_size_as_received,
    ),
    Defect(
        "logs-no-conversion-of-one-in-twenty",
        "One TRANSFER of content conversion in twenty is not logged.",
        "RT-7", CONVERSION, ONCE, lambda: behind(LogsNoConversionOfOneInTwenty),
    ),
    Defect(
        "makes-shadows-of-the-converted",
        "A shadow message is what its primary server stores, and not what it received.",
        "SN-17", CONVERSION, ONCE, lambda: behind(MakesShadowsOfTheConverted),
    ),
    Defect(
        "keeps-shadows-converted",
        "A shadow server converts the shadow messages that it holds.",
        "SN-17", CONVERSION, ONCE, lambda: behind(KeepsShadowsConverted),
    ),
    Defect(
        "promotes-unconverted",
        "Who promotes a shadow message delivers it as it was first received.",
        "SN-17", CONVERSION, ONCE, lambda: behind(PromotesUnconverted),
    ),
    Defect(
        "gives-back-unconverted",
        "What a Shadow Safety Net gives back is stored as it was first received.",
        "SN-17", CONVERSION, ONCE, lambda: behind(StoresWhatAShadowSafetyNetHad),
    ),
)  # fmt: skip
