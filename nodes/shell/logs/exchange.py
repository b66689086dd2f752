"""Rows of Exchange's own logs as text: the message tracking log and the connectivity log.

Formats, field lists and header lines are those of Exchange 2016 (F§1.1, F§1.2, F§2.4). CSV: a value
that holds a comma or a quote is quoted; lists inside a value are separated by `;`. Two things of
this project are in `custom-data` of every tracking row, and the second at the end of every
connectivity description: the queue database id of the server that writes, and the host's monotonic
time at which it does, by which the order of events is judged (design decision 8).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from nodes.core.config.config import NodeConfig
from nodes.core.interface.effects import LogConnectivity, LogTracking
from nodes.core.model.lab_time import iso

VERSION = "15.01.2375.007"
TRACKING_FIELDS = (
    "date-time,client-ip,client-hostname,server-ip,server-hostname,source-context,connector-id,"
    "source,event-id,internal-message-id,message-id,network-message-id,recipient-address,"
    "recipient-status,total-bytes,recipient-count,related-recipient-address,reference,"
    "message-subject,sender-address,return-path,message-info,directionality,tenant-id,"
    "original-client-ip,original-server-ip,custom-data,transport-traffic-type,log-id,schema-version"
)
CONNECTIVITY_FIELDS = "date-time,session,source,destination,direction,description"

_SHOWS_ORIGINATION = frozenset({"SEND", "DELIVER", "DUPLICATEDELIVER"})
_FLAT = str.maketrans("\r\n\t", "   ")
_needs_care = re.compile(r'[\r\n\t,"]').search


@dataclass(frozen=True, slots=True)
class Stamp:
    """When a row is written: the server's date in epoch ms, and the host's monotonic clock.

    `ahead_ms`: how far that date is ahead of the time that the core goes by.
    """

    date_ms: int
    mono_ns: int
    ahead_ms: int = 0


@dataclass(frozen=True, slots=True)
class Writer:
    """Who writes: its configuration, its queue database, and the addresses of other servers."""

    config: NodeConfig
    database_id: str
    addresses: Mapping[str, str]


def tracking_header(date_ms: int) -> str:
    """The lines at the top of a message tracking log."""
    return header_lines("Message Tracking Log", TRACKING_FIELDS, date_ms)


def connectivity_header(date_ms: int) -> str:
    """The lines at the top of a connectivity log."""
    return header_lines("Transport Connectivity Log", CONNECTIVITY_FIELDS, date_ms)


def header_lines(kind: str, fields: str, date_ms: int) -> str:
    """The five lines at the top of a file. `kind`: `Message Tracking Log` and the like."""
    return (
        "#Software: Microsoft Exchange Server\n"
        f"#Version: {VERSION}\n"
        f"#Log-type: {kind}\n"
        f"#Date: {iso(date_ms)}\n"
        f"#Fields: {fields}\n"
    )


def tracking_row(row: LogTracking, writer: Writer, stamp: Stamp) -> str:
    """One row, 30 fields, in the order of TRACKING_FIELDS."""
    sender = _csv(row.envelope.sender or "<>")
    recipients, written = row.recipients, iso(stamp.date_ms)
    return ",".join(
        (
            written,
            row.client_address,
            "",
            writer.addresses.get(row.server, ""),
            _fqdn(row.server, writer.config),
            _csv(row.source_context),
            "",
            row.source,
            row.event,
            str(row.internal_id or ""),
            _csv(row.header.message_id),
            row.network_message_id,
            _csv(";".join(map(_in_a_list, recipients))),
            _statuses(row),
            str(row.size_bytes),
            str(len(recipients)),
            _csv(_in_a_list(row.related_recipient)),
            _csv(row.reference),
            _csv(row.header.subject),
            sender,
            sender,
            _origination(row),
            _directionality(row, writer.config),
            "",
            "",
            "",
            _csv(_custom_data(row, writer, stamp)),
            "Email",
            _log_id(writer, stamp),
            VERSION,
        )
    )


def connectivity_row(row: LogConnectivity, stamp: Stamp) -> str:
    asked = "" if row.asked_ms is None else f";Asked={_custom_value(row.asked_ms, stamp)}"
    description = _csv(f"{row.description}{asked};Mono={stamp.mono_ns}")
    before = f"{iso(stamp.date_ms)},{row.session},SMTP,{row.destination},{row.direction}"
    return f"{before},{description}"


def _fqdn(server: str, config: NodeConfig) -> str:
    """Of the other server where the event has one, else of the server that writes."""
    known = config.server_named(server) if server else config.me
    return server if known is None else known.fqdn


def _in_a_list(address: str) -> str:
    """A quoted local part may have what separates addresses (RFC 5321 section 4.1.2)."""
    if ";" not in address and "\\" not in address:
        return address
    return address.replace("\\", "\\x5c").replace(";", "\\x3b")


def _statuses(row: LogTracking) -> str:
    """One for each recipient; empty where the event has none."""
    status = row.recipient_status
    return _csv(";".join([status] * len(row.recipients))) if status else ""


def _origination(row: LogTracking) -> str:
    date_ms = row.header.date_ms
    return iso(date_ms) if date_ms is not None and row.event in _SHOWS_ORIGINATION else ""


def _directionality(row: LogTracking, config: NodeConfig) -> str:
    if not row.envelope.sender:
        return "Originating"
    inside = row.envelope.sender.lower().endswith(f"@{config.accepted_domain.lower()}")
    return "Originating" if inside else "Incoming"


def _custom_data(row: LogTracking, writer: Writer, stamp: Stamp) -> str:
    custom = (*row.custom, ("DatabaseId", writer.database_id), ("Mono", str(stamp.mono_ns)))
    return ";".join(f"S:{name}={_custom_value(value, stamp)}" for name, value in custom)


def _custom_value(value: str | int, stamp: Stamp) -> str:
    """A time of the core's as the server's clock would show it, so that a row has one clock."""
    return iso(value + stamp.ahead_ms) if isinstance(value, int) else value.replace(";", ",")


def _log_id(writer: Writer, stamp: Stamp) -> str:
    """GUID-shaped, unique for the row: half of the database's id, then the monotonic time."""
    half = (writer.database_id.replace("-", "") + "0" * 16)[:16]
    mono = f"{stamp.mono_ns:016x}"[-16:]
    return f"{half[:8]}-{half[8:12]}-{half[12:]}-{mono[:4]}-{mono[4:]}"


def _csv(value: str) -> str:
    if not _needs_care(value):
        return value
    flat = value.translate(_FLAT)
    if "," in flat or '"' in flat:
        return '"' + flat.replace('"', '""') + '"'
    return flat
