"""Words of the scenario grammar that this version does not build yet.

They are part of what the lab promises, so a person who writes one reads that it is not built
yet, not that it is unknown. What gets built leaves this table. `*` stands for a name or a number.
"""

from collections.abc import Iterator, Mapping
from typing import TypeVar

from lab.validation.yaml_document import Trail

Words = TypeVar("Words")

_TRANSPORT_CONFIG = {
    "ShadowHeartbeatTimeoutInterval",
    "ShadowHeartbeatRetryCount",
}
_RECEIVE_CONNECTOR = {
    "MaxAcknowledgementDelay",
}

KEYS: Mapping[Trail, set[str]] = {
    ("settings", "TransportConfig"): _TRANSPORT_CONFIG,
    ("settings", "random", "TransportConfig"): _TRANSPORT_CONFIG,
    ("settings", "random", "ReceiveConnector"): _RECEIVE_CONNECTOR,
    ("settings", "ReceiveConnector"): _RECEIVE_CONNECTOR,
    ("settings", "servers", "*", "ReceiveConnector"): _RECEIVE_CONNECTOR,
}

VALUES: Mapping[Trail, set[str]] = {
    ("servers", "*", "role"): {"hub2010", "edge2010", "mailbox2010"},
}


def key_is_not_built(trail: Trail) -> bool:
    """Whether the key at the end of that path is a word of the grammar still to be built."""
    return any(trail[-1] in words for words in at_place(KEYS, trail[:-1]))


def value_is_not_built(trail: Trail, value: object) -> bool:
    """Whether the value at that path is a word of the grammar still to be built."""
    return isinstance(value, str) and any(value in words for words in at_place(VALUES, trail))


def at_place(table: Mapping[Trail, Words], trail: Trail) -> Iterator[Words]:
    """What a table has for that path; a topology within a scenario is as one alone."""
    if trail[:1] == ("topology",):
        trail = trail[1:]
    for pattern, words in table.items():
        pairs = zip(pattern, trail, strict=False)
        if len(pattern) == len(trail) and all(part in ("*", own) for part, own in pairs):
            yield words
