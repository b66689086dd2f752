"""What the configuration says of mailbox databases: their copies, and parameters of each."""

from __future__ import annotations

from dataclasses import dataclass

from nodes.core.config.document import Json, objects, text
from nodes.core.config.error import ConfigurationError, refusal
from nodes.core.config.parameters import REPLAY_LAG_MAX_MS, Parameter, parse_value
from nodes.core.config.units import format_timespan, parse_timespan


@dataclass(frozen=True, slots=True)
class DatabaseCopy:
    """A copy of a mailbox database: where it is, how much it is preferred (1 is most), how far it
    replays behind.
    """

    server: str
    preference: int
    replay_lag_ms: int = 0


def copies_of(database: Json) -> tuple[DatabaseCopy, ...]:
    """In the order of activation preference; without a list there is one."""
    if "Copies" not in database:
        return (DatabaseCopy(text(database, "Server"), 1),)
    copies = [_copy(entry) for entry in objects(database, "Copies")]
    servers = [copy.server for copy in copies]
    if text(database, "Server") not in servers or len(set(servers)) != len(servers):
        raise ConfigurationError(
            f"Databases: {text(database, 'Name')}: Copies on {', '.join(servers)}",
            "one copy a server, and one of them on Server",
        )
    return tuple(sorted(copies, key=lambda copy: copy.preference))


def journal_recipients(document: Json) -> dict[str, str]:
    """Of the databases that have one, each a mailbox of the organisation."""
    mailboxes = {text(entry, "Address").lower() for entry in objects(document, "Mailboxes")}
    found = {
        text(entry, "Name"): text(entry, "JournalRecipient").lower()
        for entry in objects(document, "Databases")
        if "JournalRecipient" in entry
    }
    for address in found.values():
        if address not in mailboxes:
            rule = "is no mailbox of the organisation"
            raise refusal("JournalRecipient", address, rule, "name one of Mailboxes")
    return found


def of_databases(document: Json, parameter: Parameter) -> dict[str, int]:
    """By name."""
    given = {text(e, "Name"): e.get(parameter.name) for e in objects(document, "Databases")}
    return {
        name: int(parameter.default if raw is None else parse_value(parameter, raw))
        for name, raw in given.items()
    }


def _copy(entry: Json) -> DatabaseCopy:
    preference = entry.get("ActivationPreference")
    if not isinstance(preference, int) or preference < 1:
        raise ConfigurationError(
            f"ActivationPreference: {preference!r}: must be a number from 1 on", ""
        )
    lag_ms = parse_timespan(entry["ReplayLagTime"]) if "ReplayLagTime" in entry else 0
    if lag_ms > REPLAY_LAG_MAX_MS:
        most = format_timespan(REPLAY_LAG_MAX_MS)
        raise refusal("ReplayLagTime", entry["ReplayLagTime"], f"is more than {most}", "")
    return DatabaseCopy(text(entry, "Server"), preference, lag_ms)
