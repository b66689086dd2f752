"""A message to one mailbox becomes one to thousands, in every line that names its recipient."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence

RECIPIENTS, STATUS, COUNT = "recipient-address", "recipient-status", "recipient-count"


def addresses(recipient: str, count: int) -> list[str]:
    """Mailboxes beside that of `recipient`, in its database and domain."""
    local, domain = recipient.rsplit("@", 1)
    return [f"{local}-{number:05d}@{domain}" for number in range(1, count + 1)]


def widened(line: str, fields: Sequence[str], recipient: str, wide: list[str]) -> Iterator[str]:
    """The lines that stand for `line` then; `fields` are those of a log, none of JSON."""
    if fields:
        yield _row(line, fields, recipient, wide)
        return
    row = json.loads(line)
    if row.get("mailbox") == recipient:
        for address in wide:
            yield json.dumps({**row, "mailbox": address}, ensure_ascii=False)
        return
    if row.get("recipients") == [recipient]:
        row["recipients"] = wide
    yield json.dumps(row, ensure_ascii=False)


def _row(line: str, fields: Sequence[str], recipient: str, wide: list[str]) -> str:
    (values,) = csv.reader([line])
    row = dict(zip(fields, values, strict=True))
    if row[RECIPIENTS] == recipient:
        row[RECIPIENTS], row[COUNT] = ";".join(wide), str(len(wide))
        row[STATUS] = ";".join([row[STATUS]] * len(wide)) if row[STATUS] else ""
    written = io.StringIO()
    csv.writer(written, lineterminator="").writerow(row.values())
    return written.getvalue()
