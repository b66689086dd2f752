"""Logs of every version, damage, probes: what is read is told, what cannot be read too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from spark_eval.read.damage import MALFORMED, NO_FIELDS, NO_SHAPE, TORN
from spark_eval.read.folder.files import MemoryFiles
from spark_eval.read.folder.run_folder import RunFolderError, open_run_folder
from spark_eval.read.record import Record, read_record
from spark_eval.read.rows import TrackingRow
from tests.spark_eval.runs.run_builder import FIELDS_2016, MINUTE, Run, healthy, log_text

FIELDS_2013 = FIELDS_2016[:27]
FIELDS_2010 = [name for name in FIELDS_2013 if name != "network-message-id"]
FIELDS_2007 = FIELDS_2010[:21]
VERSIONS = {"2007": FIELDS_2007, "2010": FIELDS_2010, "2013": FIELDS_2013, "2016": FIELDS_2016}
LOG = "logs/par-mbx1/MSGTRK2026010508-1.LOG"


def read(run: Run, **changed: str) -> Record:
    """`changed`: other texts of files, by their stems."""
    texts = {name: changed.get(name.partition(".")[0], text) for name, text in run.texts().items()}
    return of_texts(texts)


def of_texts(texts: dict[str, str]) -> Record:
    return read_record(MemoryFiles({name: text.encode() for name, text in texts.items()}))


def _events(record: Record, server: str = "par-mbx1") -> list[str]:
    rows = sorted((row.at_ms, row.event) for row in record.tracking if row.server == server)
    return [event for _, event in rows]


def _damage(record: Record) -> list[tuple[str, str, int | None]]:
    return sorted((each.file, each.damage, each.line) for each in record.damage)


def _ledger(record: Record) -> int:
    """How many of its lines were read."""
    rows = record.rows
    return len(rows.sent) + len(rows.attempts) + len(rows.outcomes)


@pytest.mark.parametrize("fields", VERSIONS.values(), ids=VERSIONS)
def test_reads_the_field_list_of_every_version(fields: list[str]) -> None:
    run = healthy()
    record = of_texts(run.texts() | {LOG: log_text(fields, run.tracking["par-mbx1"])})
    first = _first_receive(record)
    assert first.recipients == ("db1-user01@shadowlab.example", "db1-user02@shadowlab.example")
    assert first.message_id == "<m000001.calm.7@outside.example>"
    assert first.at_ms == MINUTE + 500
    assert (first.network_message_id is None) == ("network-message-id" not in fields)
    assert (first.mono_ns is None) == ("custom-data" not in fields)
    assert _damage(record) == []


def _first_receive(record: Record) -> TrackingRow:
    return min((row for row in record.tracking if row.event == "RECEIVE"), key=lambda r: r.at_ms)


def test_reads_values_that_hold_commas_quotes_and_semicolons() -> None:
    run = healthy()
    run.rows("par-mbx1", "RECEIVE")[0]["source-context"] = 'a, "b"; c'
    assert _first_receive(read(run)).context == 'a, "b"; c'


def test_counts_a_torn_last_line_and_reads_the_rest() -> None:
    run = healthy()
    run.tail[LOG] = "2026-01-05T08:20:00.000Z,,,,par-mbx1,,,SMTP,RECE"
    record = read(run)
    assert _damage(record) == [(LOG, TORN, 21)]
    assert _events(record).count("RECEIVE") == 5


def test_places_a_malformed_line_between_its_neighbours() -> None:
    run = healthy()
    run.tracking["par-mbx1"].append(
        {**run.rows("par-mbx1", "SEND")[0], "at_ms": 100_000, "torn": True}
    )
    [damage] = read(run).damage
    assert (damage.damage, damage.from_ms, damage.to_ms) == (MALFORMED, 62_000, 120_400)


def test_takes_a_file_cut_in_the_middle_as_torn() -> None:
    texts = healthy().texts()
    texts[LOG] = texts[LOG][: len(texts[LOG]) // 2]
    [(file, damage, _)] = _damage(of_texts(texts))
    assert (file, damage) == (LOG, TORN)


def test_tells_a_log_without_its_fields_line() -> None:
    texts = healthy().texts()
    texts[LOG] = "".join(texts[LOG].splitlines(keepends=True)[5:])
    assert {damage for _, damage, _ in _damage(of_texts(texts))} == {NO_FIELDS}


def test_counts_a_damaged_line_of_a_json_record() -> None:
    run = healthy()
    run.tail["ledger.jsonl"] = '{"type": "message", "mess'
    record = read(run)
    assert _damage(record) == [("ledger.jsonl", TORN, 16)]
    assert _ledger(record) == 15


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


@pytest.mark.parametrize("line", SPOILT.values(), ids=SPOILT)
def test_a_line_that_is_not_wholly_a_line_of_its_record_is_damage(line: str) -> None:
    run = healthy()
    run.tail["ledger.jsonl"] = f"{ATTEMPT}\n{line}\n"
    record = read(run)
    assert _damage(record) == [("ledger.jsonl", MALFORMED, 17)]
    assert _ledger(record) == 16


NOT_AS_IT_SHOULD_BE = {
    "a text for a list": ("plan.json", '"proves": ', '"proves": "SM-1", "others": '),
    "a fault of no name": ("plan.json", '"faults": []', '"faults": [{"kind": "kill"}]'),
    "too long a time": ("plan.json", '"duration_ms": ', '"duration_ms": 1e30, "other": '),
    "a key twice": ("plan.json", '"version": ', '"version": 1, "version": '),
    "a text for a number": (
        "host.json", '"clock_resolution_ms": ', '"clock_resolution_ms": "1", "other": ',
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "old", "new"), NOT_AS_IT_SHOULD_BE.values(), ids=NOT_AS_IT_SHOULD_BE
)
def test_a_plan_or_host_that_is_not_what_it_should_be_is_damage(
    name: str, old: str, new: str
) -> None:
    texts = healthy().texts()
    assert old in texts[name]
    record = of_texts(texts | {name: texts[name].replace(old, new, 1)})
    assert _damage(record) == [(name, NO_SHAPE, None)]
    assert record.heading.plan.faults == ()


def test_a_clock_that_resolves_nothing_at_all_is_read() -> None:
    assert read(healthy(), host='{"clock_resolution_ms": 1e308}').heading.clock.finest_ms == 10**15


def test_a_json_record_whose_last_line_has_no_end_lost_nothing() -> None:
    texts = healthy().texts()
    record = read(healthy(), ledger=texts["ledger.jsonl"].rstrip("\n"))
    assert _ledger(record) == 15
    assert _damage(record) == []


def test_leaves_out_probes_everywhere() -> None:
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
    read_rows: list[Any] = [*record.rows.sent, *record.rows.attempts, *record.rows.outcomes]
    read_rows += [*record.rows.queues, *record.rows.visible, *record.tracking]
    assert not [row for row in read_rows if (row.message_id or "").startswith("<probe")]
    assert _events(record).count("RECEIVE") == 5
    assert record.probes


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
    host: str, speed: float
) -> None:
    run = healthy()
    run.ran_on = host
    heading = read(run).heading
    assert (heading.is_simulated, heading.clock.speed) == (host == "simulator", speed)
