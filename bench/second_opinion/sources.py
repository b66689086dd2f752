"""The record as views of lines in DuckDB: from run folders, or from Parquet files of lines.

Each view has `run`, `file`, `text` and `fields` (the `#Fields:` line of a log), one row a line, and
holds one kind of file, so that nobody scans tracking logs to find a ledger.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from pathlib import Path

import duckdb
import pyarrow as pa

# view: pattern of its files, as `glob` and LIKE read them
WHOLE = {"plan_files": "plan.json", "manifest_files": "manifest.json", "host_files": "host.json"}
LINES = {
    "ledger_lines": "ledger.jsonl",
    "fault_lines": "faults.jsonl",
    "lifecycle_lines": "logs/*/lifecycle.jsonl",
    "contact_lines": "logs/*/CONNECTLOG*.LOG",
    "tracking_lines": "logs/*/MSGTRK*.LOG",
    "mailbox_lines": "mailboxes/*.jsonl",
    "external_lines": "external/*.jsonl",
}
NOTHING = "SELECT '' AS run, '' AS file, '' AS text, '' AS fields WHERE false"
FIELDS = "#Fields: "
# the delimiter is a character that no record holds, so that a line is one column
LINE_READER = (
    "read_csv({}, header=false, auto_detect=false, columns={{'text': 'VARCHAR'}}, "
    "delim='\x1f', quote='', escape='', filename=true)"
)


def from_parquet(connection: duckdb.DuckDBPyConnection, pattern: str) -> None:
    """`pattern` names Parquet files with the columns of `lines`."""
    for view, files in (WHOLE | LINES).items():
        where = f"file LIKE {_quoted(files.replace('*', '%'))} AND line > 0 AND text <> ''"
        columns = f"SELECT run, file, text, fields FROM read_parquet({_quoted(pattern)})"
        connection.execute(f"CREATE OR REPLACE VIEW {view} AS {columns} WHERE {where}")


def from_folders(connection: duckdb.DuckDBPyConnection, folders: Mapping[str, Path]) -> None:
    """Run folders by the name of their run. Raises OSError."""
    found = {view: _files(folders, files) for view, files in (WHOLE | LINES).items()}
    rows = [row for files in found.values() for row in files]
    names = ("filename", "run", "file", "fields")
    columns = dict(zip(names, zip(*rows, strict=True), strict=True))
    connection.register("folder_files", pa.table({name: list(columns[name]) for name in names}))
    for view, files in found.items():
        _view(connection, view, [file[0] for file in files], whole=view in WHOLE)


def _files(folders: Mapping[str, Path], pattern: str) -> list[tuple[str, str, str, str]]:
    """Path, run, name in the run folder, field list."""
    return [
        (str(path), run, path.relative_to(folder).as_posix(), _fields(path))
        for run, folder in folders.items()
        for path in sorted(folder.glob(pattern))
    ]


def _fields(path: Path) -> str:
    """The `#Fields:` line at the top of a log of Exchange's."""
    if path.suffix != ".LOG":
        return ""
    with path.open(encoding="utf-8", errors="replace") as lines:
        top = (line.rstrip("\r\n") for line in islice(lines, 8))
        return next((line.removeprefix(FIELDS) for line in top if line.startswith(FIELDS)), "")


def _view(
    connection: duckdb.DuckDBPyConnection, view: str, paths: list[str], *, whole: bool
) -> None:
    if not paths:
        connection.execute(f"CREATE OR REPLACE VIEW {view} AS {NOTHING}")
        return
    reader = "read_text({})" if whole else LINE_READER
    text = "content" if whole else "text"
    listed = "[" + ", ".join(map(_quoted, paths)) + "]"
    connection.execute(
        f"CREATE OR REPLACE VIEW {view} AS SELECT run, file, {text} AS text, fields "
        f"FROM {reader.format(listed)} JOIN folder_files USING (filename) WHERE {text} <> ''"
    )


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
