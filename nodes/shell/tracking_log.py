"""The message tracking log in Exchange 2016's own format: header lines, 30 fields, CSV (TL-1, F§1).

One file an hour of lab time, named `MSGTRK<yyyymmddhh>-1.LOG`, as real servers' files are.
"""

from __future__ import annotations

import csv
import io
import time
from dataclasses import dataclass
from pathlib import Path

from nodes.core.config import NodeConfig
from nodes.core.effects import LogTracking
from nodes.core.lab_time import iso
from nodes.shell.lines import LineFile

VERSION = "15.01.2375.007"
FIELDS = (
    "date-time,client-ip,client-hostname,server-ip,server-hostname,source-context,connector-id,"
    "source,event-id,internal-message-id,message-id,network-message-id,recipient-address,"
    "recipient-status,total-bytes,recipient-count,related-recipient-address,reference,"
    "message-subject,sender-address,return-path,message-info,directionality,tenant-id,"
    "original-client-ip,original-server-ip,custom-data,transport-traffic-type,log-id,schema-version"
)


@dataclass(slots=True)
class TrackingLog:
    """The tracking log of one server, in `folder`; `database_id` is stamped on every row."""

    folder: Path
    config: NodeConfig
    database_id: str = ""
    _hour: str = ""
    _file: LineFile | None = None
    _rows: int = 0

    def write(self, row: LogTracking, now_ms: int) -> None:
        date = iso(now_ms)
        self._rows += 1
        self._file_of(date).append(_csv(self._values(row, date)))

    def _file_of(self, date: str) -> LineFile:
        hour = date[:13].replace("-", "").replace("T", "")
        if self._file is None or hour != self._hour:
            self.close()
            header = (
                f"#Software: Microsoft Exchange Server\n#Version: {VERSION}\n"
                f"#Log-type: Message Tracking Log\n#Date: {date}\n#Fields: {FIELDS}\n"
            )
            self._hour = hour
            self._file = LineFile(self.folder / f"MSGTRK{hour}-1.LOG", header)
        return self._file

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _values(self, row: LogTracking, date: str) -> list[str]:
        custom = (*row.custom, ("DatabaseId", self.database_id), ("Mono", str(time.monotonic_ns())))
        recipients = row.recipients
        status = ";".join(row.recipient_status for _ in recipients) if row.recipient_status else ""
        submitted = row.header.submitted_ms
        shows_submission = row.event in ("DELIVER", "SEND", "DUPLICATEDELIVER")
        info = iso(submitted) if submitted is not None and shows_submission else ""
        return [
            date,
            row.client_address,
            "",
            "",
            self._fqdn(row.server),
            row.source_context,
            "",
            row.source,
            row.event,
            str(row.internal_id),
            row.header.message_id,
            row.network_message_id,
            ";".join(recipients),
            status,
            str(row.size_bytes),
            str(len(recipients)),
            "",
            row.reference,
            row.header.subject,
            row.envelope.sender or "<>",
            row.envelope.sender or "<>",
            info,
            "Incoming",
            "",
            "",
            "",
            ";".join(f"S:{name}={_plain(value)}" for name, value in custom),
            "Email",
            f"{self.config.me.name}-{self._rows}",
            VERSION,
        ]

    def _fqdn(self, server: str) -> str:
        found = self.config.server_named(server) if server else self.config.me
        return found.fqdn if found is not None else server


def _plain(value: str) -> str:
    return value.replace(";", ",")


def _csv(values: list[str]) -> str:
    line = io.StringIO()
    flat = [value.replace("\r", " ").replace("\n", " ") for value in values]
    csv.writer(line, lineterminator="").writerow(flat)
    return line.getvalue()
