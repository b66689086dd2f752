"""Message tracking logs: rows of any Exchange version, with this lab's custom-data taken apart.

`mono_ns` and `database_id` come from custom-data and are None for real servers, whose logs then
leave more claims unknown. Times in custom-data go by the clock that dates the row, and are
corrected as its date is; but for `DeliveredAt` of HADISCARD, which the primary server said.
Exchange 2016 and later log mail that leaves the organisation as SENDEXTERNAL, which is a SEND. Its
HAREDIRECT rows name the shadow server before its reply, in source-context (MT16).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from spark_eval.read.clocks import LabClock
from spark_eval.read.csv_rows import LogRow, epoch_ms_of, integer
from spark_eval.read.names import Ref, message_id, server_of, short_name
from spark_eval.read.rows import TrackingRow

SYNONYMS = {"SENDEXTERNAL": "SEND"}
_CUSTOM = re.compile(r";(?=S:)")
_TOOK_IT = re.compile(r"(?:^|[;,\"\s])([A-Za-z0-9.-]+)\s*=\s*250[ -]")


def tracking_row(
    file: str, row: LogRow, origin_ms: int, clock: LabClock
) -> tuple[TrackingRow, int]:
    """The row in lab time, and by how much its date was ahead of it."""
    get = row.values.get
    custom = _custom(get("custom-data") or "")
    mono_ns = integer(custom.get("Mono"))
    dated_ms = row.epoch_ms - origin_ms
    off_ms = clock.off_ms(dated_ms, mono_ns)
    event = (get("event-id") or "").upper()
    recipients = get("recipient-address") or None
    by_primary = event == "HADISCARD" or custom.get("SafetyNet") == "shadow"
    return_path = get("return-path") or None
    return TrackingRow(
        server_of(file),
        dated_ms - off_ms,
        mono_ns,
        SYNONYMS.get(event, event),
        (get("source") or "").upper() or None,
        get("internal-message-id") or None,
        message_id(get("message-id")),
        get("network-message-id") or None,
        None if recipients is None else tuple(recipients.lower().split(";")),
        integer(get("recipient-count")),
        get("recipient-status") or None,
        integer(get("total-bytes")),
        None if return_path is None else return_path.lower().replace("<>", ""),
        get("source-context") or None,
        short_name(get("server-hostname") or None),
        get("reference") or None,
        custom.get("DatabaseId"),
        short_name(custom.get("ShadowServer")) or _said_to(event, get("source-context") or ""),
        integer(custom.get("Attempts")),
        _lower(custom.get("Silent")),
        _lower(custom.get("Outcome")),
        short_name(custom.get("PrimaryServer")),
        custom.get("PrimaryDatabaseId"),
        custom.get("PrimaryInternalId"),
        custom.get("Fork"),
        custom.get("Destination"),
        custom.get("SafetyNet"),
        custom.get("CopyInternalId"),
        _lab_ms(custom, "DeliveredAt", origin_ms, 0 if by_primary else off_ms),
        _lab_ms(custom, "LastContact", origin_ms, off_ms),
        Ref(file, row.line),
    ), off_ms


def _said_to(event: str, context: str) -> str | None:
    """Of `ex2.contoso.example=250 2.6.0 … Queued mail for redundancy`: who took a shadow."""
    found = _TOOK_IT.search(context) if event == "HAREDIRECT" else None
    return short_name(found[1]) if found else None


def _custom(text: str) -> dict[str, str]:
    """`S:Name=value` for each; of a name that comes twice the last."""
    found = (part.partition("=") for part in _CUSTOM.split(text))
    return {name.removeprefix("S:"): value for name, _, value in found}


def _lower(text: str | None) -> str | None:
    return None if text is None else text.lower()


def _lab_ms(custom: Mapping[str, str], name: str, origin_ms: int, off_ms: int) -> int | None:
    said = custom.get(name)
    epoch_ms = epoch_ms_of(said) if said else None
    return None if epoch_ms is None else epoch_ms - origin_ms - off_ms
