"""Lines of many runs as Parquet, as `sources.from_parquet` reads them."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from bench.second_opinion.sources import FIELDS

COLUMNS = pa.schema(
    [
        ("run", pa.dictionary(pa.int32(), pa.string())),
        ("file", pa.dictionary(pa.int32(), pa.string())),
        ("line", pa.int32()),
        ("text", pa.string()),
        ("fields", pa.dictionary(pa.int32(), pa.string())),
    ]
)


class Lines:
    """The columns of a file in the making."""

    def __init__(self) -> None:
        self._columns: dict[str, list[object]] = {name: [] for name in COLUMNS.names}

    def add(self, run: str, file: str, texts: list[str]) -> None:
        """All lines of one file; an empty file has the line 0."""
        count = max(1, len(texts))
        columns = self._columns
        columns["run"] += [run] * count
        columns["file"] += [file] * count
        columns["line"] += range(1, count + 1) if texts else [0]
        columns["text"] += texts or [""]
        columns["fields"] += [_fields(texts)] * count

    def write(self, path: Path) -> None:
        """Raises OSError."""
        table = pa.table(self._columns, schema=COLUMNS)
        pq.write_table(table, path, compression="zstd")


def _fields(texts: list[str]) -> str:
    """The `#Fields:` line at the top of a log of Exchange's."""
    top = (text for text in texts[:8] if text.startswith(FIELDS))
    return next(top, "").removeprefix(FIELDS)
