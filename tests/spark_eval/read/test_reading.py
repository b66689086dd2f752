"""Logs of every version, damage, probes: what is read is told, what cannot be read too."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

import pytest
from pyspark.sql import Row, SparkSession
from spark_eval.read.record import Record
from spark_eval.read.source import Folders

from spark_eval.read.run_folder import (
    RunFolderError,
    open_run_folder,
)
from tests.spark_eval.runs.run_builder import FIELDS_2016, MINUTE, Run, healthy, log_text

Read = Callable[[Run], Record]
Case = TypeVar("Case")
FIELDS_2013 = FIELDS_2016[:27]
FIELDS_2010 = [name for name in FIELDS_2013 if name != "network-message-id"]
FIELDS_2007 = FIELDS_2010[:21]
LOG = "logs/par-mbx1/MSGTRK2026010508-1.LOG"


@pytest.fixture(scope="module")
def read(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Read:
    def reading(run: Run) -> Record:
        folder = run.write(tmp_path_factory.mktemp("reading"))
        return Record(Folders(spark, [open_run_folder(folder)]))

    return reading


def _events(record: Record, server: str = "par-mbx1") -> list[str]:
    rows = record.tracking.where(f"server = '{server}'").orderBy("at_ms").collect()
    return [row["event"] for row in rows]


def _damage(record: Record) -> list[tuple[str, str, int | None]]:
    rows = record.damaged_lines.orderBy("file", "line").collect()
    return [(row["file"], row["damage"], row["line"]) for row in rows]


def test_reads_the_field_list_of_every_version(spark: SparkSession, tmp_path: Path) -> None:
    versions = {"2007": FIELDS_2007, "2010": FIELDS_2010, "2013": FIELDS_2013, "2016": FIELDS_2016}
    folders = []
    for run, fields in _named(versions):
        folders.append(run.write(tmp_path))
        (folders[-1] / LOG).write_text(log_text(fields, run.tracking["par-mbx1"]))
    record = Record(Folders(spark, list(map(open_run_folder, folders))))
    for name, fields in versions.items():
        first = _first_receive(record, name)
        assert first["recipients"] == [
            "db1-user01@shadowlab.example", "db1-user02@shadowlab.example",
        ]  # fmt: skip
        assert first["message_id"] == "<m000001.calm.7@outside.example>"
        assert first["at_ms"] == MINUTE + 500
        assert (first["network_message_id"] is None) == ("network-message-id" not in fields)
        assert (first["mono_ns"] is None) == ("custom-data" not in fields)
    assert _damage(record) == []


def _named(cases: Mapping[str, Case]) -> Iterator[tuple[Run, Case]]:
    """A run for each, under its name."""
    for name, case in cases.items():
        run = healthy()
        run.name = name
        yield run, case


def _first_receive(record: Record, run: str = "%") -> Row:
    rows = record.tracking.where(f"run LIKE '{run}' AND event = 'RECEIVE'")
    row = rows.orderBy("at_ms").first()
    assert row is not None
    return row


def test_reads_values_that_hold_commas_quotes_and_semicolons(read: Read) -> None:
    run = healthy()
    run.rows("par-mbx1", "RECEIVE")[0]["source-context"] = 'a, "b"; c'
    assert _first_receive(read(run))["context"] == 'a, "b"; c'


def test_counts_a_torn_last_line_and_reads_the_rest(read: Read) -> None:
    run = healthy()
    run.tail[LOG] = "2026-01-05T08:20:00.000Z,,,,par-mbx1,,,SMTP,RECE"
    record = read(run)
    assert _damage(record) == [(LOG, "torn last line", 21)]
    assert _events(record).count("RECEIVE") == 5


def test_places_a_malformed_line_between_its_neighbours(read: Read) -> None:
    run = healthy()
    run.tracking["par-mbx1"].append(
        {**run.rows("par-mbx1", "SEND")[0], "at_ms": 100_000, "torn": True}
    )
    record = read(run)
    row = record.damaged_lines.first()
    assert row is not None
    assert (row["damage"], row["from_ms"], row["to_ms"]) == ("malformed line", 62_000, 120_400)


def test_takes_a_file_cut_in_the_middle_as_torn(spark: SparkSession, tmp_path: Path) -> None:
    folder = healthy().write(tmp_path)
    text = (folder / LOG).read_bytes()
    (folder / LOG).write_bytes(text[: len(text) // 2])
    record = Record(Folders(spark, [open_run_folder(folder)]))
    [(file, damage, _)] = _damage(record)
    assert (file, damage) == (LOG, "torn last line")


def test_tells_a_log_without_its_fields_line(spark: SparkSession, tmp_path: Path) -> None:
    folder = healthy().write(tmp_path)
    lines = (folder / LOG).read_text().splitlines(keepends=True)
    (folder / LOG).write_text("".join(lines[5:]))
    record = Record(Folders(spark, [open_run_folder(folder)]))
    assert {damage for _, damage, _ in _damage(record)} == {"no #Fields line"}


def test_tells_a_tracking_log_that_is_not_there(read: Read) -> None:
    run = healthy()
    run.drop.add(LOG)
    assert _damage(read(run)) == [("logs/par-mbx1/", "no message tracking log", None)]


def test_counts_a_damaged_line_of_a_json_record(read: Read) -> None:
    run = healthy()
    run.tail["ledger.jsonl"] = '{"type": "message", "mess'
    record = read(run)
    assert _damage(record) == [("ledger.jsonl", "torn last line", 16)]
    assert record.ledger.count() == 15


ATTEMPT = '{"type": "attempt", "message_id": "<a@b>", "attempt": 1, "server": "par-mbx1"}'
SPOILT = {
    "something after it": ATTEMPT + " garbage",
    "a bracket after it": ATTEMPT + "]",
    "two in a line": ATTEMPT + ATTEMPT,
    "two with a comma": f"{ATTEMPT},{ATTEMPT}",
    "in a list": f"[{ATTEMPT}]",
    "of single quotes": ATTEMPT.replace('"', "'"),
    "NUL": ATTEMPT.replace("par", "p\0r"),
    "escape": ATTEMPT.replace("par", "p\x1b[31mr"),
    "a key twice": ATTEMPT.replace("}", ', "attempt": 2}'),
    "no number": ATTEMPT.replace("}", ', "note": NaN}'),
    "a text for a number": ATTEMPT.replace(": 1,", ': "one",'),
    "a fraction": ATTEMPT.replace(": 1,", ": 1.5,"),
    "a number beyond all": ATTEMPT.replace(": 1,", ": 1e400,"),
    "a number too long": ATTEMPT.replace(": 1,", f": {10**30},"),
    "nested deep": ATTEMPT.replace(": 1,", ": " + '{"a":' * 5000 + "1" + "}" * 5000 + ","),
    "nothing in it": "{}",
    "no such type": ATTEMPT.replace("attempt", "attend"),
    "a type that is a number": ATTEMPT.replace('"attempt", "m', '7, "m'),
    "no message": ATTEMPT.replace("message_id", "message"),
    "no such outcome": ATTEMPT.replace('"attempt", "m', '"outcome", "outcome": "okay", "m'),
    "a value of null": ATTEMPT.replace('"par-mbx1"', "null"),
    "null": "null",
}


def test_a_line_that_is_not_wholly_a_line_of_its_record_is_damage(read: Read) -> None:
    run = healthy()
    run.tail["ledger.jsonl"] = "".join(f"{line}\n" for line in [ATTEMPT, *SPOILT.values()])
    record = read(run)
    first = 17
    found = {line - first: damage for _, damage, line in _damage(record) if line is not None}
    assert {name: found.get(at) for at, name in enumerate(SPOILT)} == dict.fromkeys(
        SPOILT, "malformed line"
    )
    assert len(found) == len(SPOILT)
    assert record.ledger.count() == 16


NOT_AS_IT_SHOULD_BE = {
    "a text for a list": ("plan.json", '"proves": ', '"proves": "SM-1", "others": '),
    "a fault of no name": ("plan.json", '"faults": []', '"faults": [{"kind": "kill"}]'),
    "too long a time": ("plan.json", '"duration_ms": ', '"duration_ms": 1e30, "other": '),
    "a key twice": ("plan.json", '"version": ', '"version": 1, "version": '),
    "a text for a number": (
        "host.json", '"clock_resolution_ms": ', '"clock_resolution_ms": "1", "other": ',
    ),
}  # fmt: skip


def test_a_plan_or_host_that_is_not_what_it_should_be_is_damage(
    spark: SparkSession, tmp_path: Path
) -> None:
    folders = []
    for run, (name, old, new) in _named(NOT_AS_IT_SHOULD_BE):
        folders.append(run.write(tmp_path))
        text = (folders[-1] / name).read_text()
        assert old in text
        (folders[-1] / name).write_text(text.replace(old, new, 1))
    record = Record(Folders(spark, list(map(open_run_folder, folders))))
    columns = ("run", "file", "damage", "line")
    assert sorted(map(tuple, record.damaged_lines.select(*columns).collect())) == sorted(
        (run, name, "not what it should hold", None)
        for run, (name, _, _) in NOT_AS_IT_SHOULD_BE.items()
    )
    assert {row["fault"] for row in record.planned_faults.collect()} <= {"?"}


def test_a_clock_that_resolves_nothing_at_all_is_read(spark: SparkSession, tmp_path: Path) -> None:
    folder = healthy().write(tmp_path)
    (folder / "host.json").write_text('{"clock_resolution_ms": 1e308}')
    record = Record(Folders(spark, [open_run_folder(folder)]))
    assert [row["finest_ms"] for row in record.runs.collect()] == [10**15]


def test_reads_a_json_record_whose_last_line_has_no_end(
    spark: SparkSession, tmp_path: Path
) -> None:
    folder = healthy().write(tmp_path)
    path = folder / "ledger.jsonl"
    path.write_text(path.read_text().rstrip("\n"))
    record = Record(Folders(spark, [open_run_folder(folder)]))
    assert record.ledger.count() == 15
    assert _damage(record) == []


def test_leaves_out_probes_everywhere(read: Read) -> None:
    run = healthy()
    probe = run.deliver(25 * MINUTE, ["db1-user01@shadowlab.example"])
    for rows in (
        *run.tracking.values(),
        *run.queues.values(),
        *run.mailboxes.values(),
        [*run.ledger],
    ):
        for row in rows:
            for key in ("message-id", "message_id"):
                if row.get(key) == probe.message_id:
                    row[key] = "<probe.1@workload>"
    record = read(run)
    for table in (record.ledger, record.tracking, record.queues, record.visible):
        assert table.where("message_id LIKE '<probe%'").count() == 0
    assert _events(record).count("RECEIVE") == 5


def test_refuses_a_path_that_is_no_run_folder(tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match="no such folder"):
        open_run_folder(tmp_path / "nowhere")
    with pytest.raises(RunFolderError, match=r"no plan\.json"):
        open_run_folder(tmp_path)


@pytest.mark.parametrize("text", ["{", "[]", '{"clock": {"origin": "yesterday"}}'])
def test_refuses_a_plan_that_cannot_be_read(tmp_path: Path, text: str) -> None:
    (tmp_path / "plan.json").write_text(text)
    with pytest.raises(RunFolderError, match=r"cannot be read|no JSON object|no date"):
        open_run_folder(tmp_path)


@pytest.mark.parametrize(("host", "speed"), [("containers", 60.0), ("simulator", 1.0)])
def test_the_clock_of_a_simulator_is_lab_time_whatever_the_plan_says(
    read: Read, host: str, speed: float
) -> None:
    run = healthy()
    run.ran_on = host
    [row] = read(run).runs.select("host", "speed").collect()
    assert (row["host"], row["speed"]) == (host, speed)
