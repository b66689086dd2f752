"""Records that the lab did not make, as people have them: judged, or said why they cannot be."""

from __future__ import annotations

import gzip
import json

import pytest

from spark_eval.judging.of_record import JudgedRecord, judge
from spark_eval.read.folder.files import MemoryFiles
from tests.spark_eval.runs.real_servers import (
    ANN,
    CUSTOM,
    LOG,
    MESSAGE,
    NAMES,
    TOOK,
    TOP,
    lines,
    plan_of_the_docs,
    record,
    row,
)

EX1, EX2 = f"logs/ex1/{LOG}", f"logs/ex2/{LOG}"
JUDGED = ("no_loss", "no_phantom", "no_visible_duplicate", "shadow_placement")


def judged(files: dict[str, bytes]) -> JudgedRecord:
    return judge(MemoryFiles(files))


def test_the_record_that_the_docs_describe_passes() -> None:
    found = judged(record())
    assert (found.verdict.verdict, found.verdict.reasons) == ("pass", ())
    assert {name: found.results[name].status for name in JUDGED} == dict.fromkeys(JUDGED, "holds")


@pytest.mark.parametrize("name", ["logs/ex1", "logs/ex2"])
def test_a_log_of_which_nothing_was_read_is_unknown(name: str) -> None:
    files = record()
    del files[f"{name}/{LOG}"]
    found = judged(files).verdict
    assert found.verdict == "unknown"
    assert f"{name}/ is damaged: no message tracking log" in found.reasons


@pytest.mark.parametrize(
    "name", [f"logs/{LOG}", "logs/ex1/MSGTRK2026110209-1.zip", "logs/ex1/2026/MSGTRK.LOG",
             "logs/ex1/messages.csv"],
)  # fmt: skip
def test_whatever_was_not_read_instead_is_named(name: str) -> None:
    files = record()
    files[name] = files.pop(EX1)
    reasons = judged(files).verdict.reasons
    assert any(each.startswith(f"{name} is damaged: not read") for each in reasons)


def test_a_log_beside_those_that_are_read_is_named_too() -> None:
    files = record()
    files["logs/ex1/MSGTRK2026110210-1.LOG.bak"] = files[EX1]
    files["logs/ex1/readme.txt"] = b"collected on Monday\n"
    [reason] = judged(files).verdict.reasons
    assert reason.startswith("logs/ex1/MSGTRK2026110210-1.LOG.bak is damaged: not read")


def test_a_packed_log_is_read() -> None:
    files = record()
    files[f"{EX1}.gz"] = gzip.compress(files.pop(EX1))
    found = judged(files)
    assert found.verdict.verdict == "pass"
    assert found.results["shadow_placement"].status == "holds"


@pytest.mark.parametrize("cut", [3, 40, -12])
def test_of_a_packed_log_that_is_not_whole_it_is_said(cut: int) -> None:
    files = record()
    files[f"{EX1}.gz"] = gzip.compress(files.pop(EX1))[:cut]
    assert f"{EX1}.gz is damaged: no whole file of gzip" in judged(files).verdict.reasons


def test_another_list_of_fields_in_the_middle_of_a_file_is_followed() -> None:
    """As after an update within the hour."""
    files = record()
    head, _, tail = files[EX1].decode().rpartition("2026-11-02T09:00:03")
    longer = "\r\n".join(f"{line},," for line in f"2026-11-02T09:00:03{tail}".splitlines())
    again = f"#Version: 15.01.2507.036\r\n#Fields: {NAMES},transport-traffic-type,log-id\r\n"
    files[EX1] = f"{head}{again}{longer}\r\n".encode()
    assert judged(files).verdict.reasons == ()


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_another_encoding_is_named(encoding: str) -> None:
    files = record()
    mark = {"utf-16-le": "\ufeff", "utf-16-be": "\ufeff"}.get(encoding, "")
    files[EX1] = (mark + files[EX1].decode()).encode(encoding)
    found = judged(files).verdict
    assert found.verdict == "unknown"
    assert any("UTF-16" in each for each in found.reasons)


def test_an_export_is_no_log_and_says_what_to_copy() -> None:
    files = record()
    files[EX1] = (
        b"#TYPE Microsoft.Exchange.Management.TransportLogSearchTasks.MessageTrackingEvent\r\n"
        b'"Timestamp","ClientIp","EventId","Recipients"\r\n"02/11/2026 10:00:01","","RECEIVE","'
        b'System.String[]"\r\n'
    )
    found = judged(files).verdict
    assert found.verdict == "unknown"
    assert any("export" in each and "MSGTRK*.LOG" in each for each in found.reasons)


def test_a_ledger_without_the_words_of_replies_is_not_asked_for_them() -> None:
    files = record()
    rows = [json.loads(line) for line in files["ledger.jsonl"].splitlines()]
    for said in (None, "250 2.0.0 Ok: queued as 4F1"):
        rows[2]["reply"] = said
        files["ledger.jsonl"] = lines(*rows)
        found = judged(files)
        assert found.verdict.verdict == "pass"
        assert found.results["answered_in_time"].asked == 0
        assert "TL-5" not in found.results["traceable"].proofs


def test_who_is_in_a_distribution_group_is_unknown_and_nobody_a_phantom() -> None:
    files = record()
    bob = "bob@contoso.example"
    files["ledger.jsonl"] = files["ledger.jsonl"].replace(ANN.encode(), b"staff@contoso.example")
    files[EX1] += row(1.5, "ex1", "EXPAND", 111, source="ROUTING", to=f"{ANN};{bob}").encode()
    found = judged(files)
    assert found.verdict.verdict == "unknown"
    assert all("group" in each for each in found.verdict.reasons)
    assert found.results["no_phantom"].violations == 0


def test_mail_that_the_ledger_lacks_was_perhaps_sent_and_the_sentence_says_what_to_do() -> None:
    files, other = record(), "<newsletter-7@shop.example>"
    seen = {"mailbox": ANN, "message_id": other, "sender": "n@shop.example", "delivered_ms": 9000}
    files["mailboxes/DB1.jsonl"] += lines(seen)
    made_up = judged(files)
    assert made_up.verdict.verdict == "fail"
    [example] = made_up.results["no_phantom"].examples
    assert example.detail.endswith("the ledger has to hold all mail that these mailboxes got")
    files[EX2] += row(6, "ex2", "RECEIVE", 300, message=other).encode()
    came_in = judged(files)
    assert came_in.verdict.verdict == "unknown"
    assert "the ledger has to hold all mail" in came_in.verdict.reasons[0]


@pytest.mark.parametrize(
    "changed",
    [
        ("hello", '"' + '""' * 4000 + '"'),
        (f'"{TOOK}"', '"' + '""' * 9000 + f'{TOOK}"'),
        (
            f",{ANN},",
            "," + ";".join([ANN] + [f"u{n}@contoso.example" for n in range(60_000)]) + ",",
        ),
        (CUSTOM, '"' + "S:A=1;" * 20_000 + CUSTOM + '"'),
    ],
    ids=["subject", "context", "recipients", "custom data"],
)
def test_a_field_may_be_as_long_as_it_is_and_full_of_quotes(changed: tuple[str, str]) -> None:
    files = record()
    for name in (EX1, EX2):
        files[name] = files[name].decode().replace(*changed).encode()
    found = judged(files)
    assert not [each for each in found.verdict.reasons if "damaged" in each]
    assert found.results["shadow_placement"].violations == 0


def test_the_plan_of_the_docs_is_whole_and_names_what_the_record_has() -> None:
    plan = json.loads(plan_of_the_docs())
    assert [each["name"] for each in plan["topology"]["servers"]] == ["ex1", "ex2"]
    assert MESSAGE in record()["ledger.jsonl"].decode()
    assert record()[EX1].decode().startswith(TOP)
