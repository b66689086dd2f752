"""Words that people bring from elsewhere, and what is written here instead.

Settings of Exchange 2010, or that nothing here acts on, a server's image, Active Manager as a
server, chosen SMTP replies: none of them is a slip of the pen, so the nearest known word would
mislead. Only hints; what is wrong and what is not built yet is said by others. `*` stands for a
name or a number.
"""

from collections.abc import Mapping

from lab.validation.not_built import at_place
from lab.validation.yaml_document import Trail
from nodes.core.config.parameters import PARAMETERS

_NO_REPLY = (
    "no fault chooses what a server answers; one refuses for now with fill_disk, and cannot be "
    "reached with cut, stop or kill"
)
_NO_IMAGE = "every server runs the lab's own node, whose image the lab builds; leave it out"
_NO_OUTBOX = (
    "a distribution group has no Outbox, so nobody sends from it; name databases or mailboxes"
)
_OF_2010: Mapping[str, str] = {
    "ShadowHeartbeatTimeoutInterval": "ShadowHeartbeatFrequency replaces it",
    "ShadowHeartbeatRetryCount": "ShadowResubmitTimeSpan replaces it, a time instead of a count",
    "MaxAcknowledgementDelay": "nothing replaces it: a message is redundant before its 250",
}
_NO_POISON = (
    "nothing acts on it: no message makes a server crash here, and a kill is no message's fault"
)
_WITHOUT_EFFECT: Mapping[str, str] = {
    "PoisonThreshold": _NO_POISON,
    "PoisonMessageDetectionEnabled": _NO_POISON,
    "QueueDiagnosticsAggregationInterval": "nothing acts on it: shadowlab queues asks each server",
    "PickupDirectoryMaxMessagesPerMinute": "nothing acts on it: servers have no Pickup directory",
}
_SETTINGS_OF_2010 = {word: f"of Exchange 2010; {now}" for word, now in _OF_2010.items()}

KEYS: Mapping[Trail, Mapping[str, str]] = {
    (): {"image": _NO_IMAGE},
    ("servers", "*"): {"image": _NO_IMAGE},
    ("workload", "*", "from"): {"group": _NO_OUTBOX},
    ("faults", "*"): dict.fromkeys(
        ("answer", "answers", "reply", "replies", "respond", "reject", "greylist"), _NO_REPLY
    ),
    **{
        (*group, section): {**_SETTINGS_OF_2010, **_WITHOUT_EFFECT}
        for group in (("settings",), ("settings", "random"), ("settings", "servers", "*"))
        for section in PARAMETERS
    },
}
VALUES: Mapping[Trail, Mapping[str, str]] = {
    ("servers", "*", "role"): dict.fromkeys(
        ("active_manager", "active-manager", "ActiveManager"),
        "Active Manager is its DAG's: leave the server out, and write "
        "dags: {DAG1: {active_manager: {name: am1, site: lyon}}}",
    ),
}


def hint_for_key(trail: Trail) -> str:
    """What to write instead of the key at the end of that path; nothing where nobody knows."""
    around, key = trail[:-1], str(trail[-1])
    found = next((words[key] for words in at_place(KEYS, around) if key in words), "")
    return found or (_section_of(around, key) if around[:1] == ("settings",) else "")


def hint_for_value(trail: Trail, value: object) -> str:
    """What to write instead of the value at that path."""
    return next((words[str(value)] for words in at_place(VALUES, trail) if str(value) in words), "")


def _section_of(around: Trail, key: str) -> str:
    """Of a setting that stands in another group than its own, or in none."""
    others = {**_SETTINGS_OF_2010, **_WITHOUT_EFFECT}
    known = {**PARAMETERS, "any": others}
    section = next((name for name, own in known.items() if key in own), "")
    if section == "any":
        return others[key]
    return f"it belongs to {section}: write {section}: {{{key}: …}}" if section else ""
