"""A multiplied run is as consistent as the recorded one: its plan is read, everything is there as
often as it should be, and its verdict is the same, with as many times as much asked.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bench.multiplied.copies import Copies, copies_for
from bench.multiplied.multiply import multiply
from bench.multiplied.sinks import Folder
from bench.multiplied.template import read
from lab.plan.plan import Plan
from lab.program.json_record import from_text
from tests.scenarios.recorded import recorded, write_folder

pytestmark = pytest.mark.slow

GROUPS, CLONES = 3, 2
FACTOR = GROUPS * CLONES
WIDE = 50
# claims that ask servers, of which a clone of a message makes no more
OF_SERVERS = (
    "connections_limited", "copies_agree", "copies_seeded", "databases_new", "deferrals_logged",
    "delivered_to_cleaned", "discards_asked", "heartbeats_paced", "lifecycle_logged", "no_crash",
    "nothing_left_over", "promotions_counted", "sessions_ended", "settings_shown",
)  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A failover, with several servers' logs of every kind."""
    return write_folder(tmp_path_factory.mktemp("recorded") / "run", recorded("lossy-failover", 7))


@pytest.fixture(scope="module")
def multiplied(folder: Path) -> Path:
    path = folder.parent / "multiplied"
    multiply(read(folder), Copies(GROUPS, CLONES), Folder(path))
    return path


def plan_of(folder: Path) -> Plan:
    """Whole in its shape. No lab would run it: servers of two groups have no links."""
    return from_text(Plan, (folder / "plan.json").read_text())


def rows(folder: Path, pattern: str) -> Iterator[dict[str, Any]]:
    for path in folder.glob(pattern):
        yield from map(json.loads, path.read_text().splitlines())


def tracked(folder: Path) -> Counter[str]:
    """Rows of tracking logs by event."""
    texts = (path.read_text().splitlines() for path in folder.glob("logs/*/MSGTRK*"))
    return Counter(_event(line) for lines in texts for line in lines if not line.startswith("#"))


def _event(line: str) -> str:
    words = ("RECEIVE", "HARECEIVE", "HAREDIRECT", "HADISCARD", "SEND", "DELIVER", "RESUBMIT")
    return next((word for word in words if f",{word}," in line), "another")


def test_its_plan_is_read_as_any_other(folder: Path, multiplied: Path) -> None:
    one, many = plan_of(folder), plan_of(multiplied)
    assert len(many.messages) == FACTOR * len(one.messages)
    assert len(many.faults) == GROUPS * len(one.faults)
    assert len(many.topology.mailboxes) == GROUPS * len(one.topology.mailboxes)
    outside = [server for server in many.topology.servers if server.role == "external"]
    assert [server.name for server in outside] == ["ext1"]
    assert len(many.topology.servers) == GROUPS * (len(one.topology.servers) - 1) + 1


def test_every_row_about_a_message_is_there_as_often(folder: Path, multiplied: Path) -> None:
    one, many = tracked(folder), tracked(multiplied)
    assert many == Counter({event: FACTOR * count for event, count in one.items()})
    for pattern in ("ledger.jsonl", "mailboxes/*.jsonl", "logs/*/queues.jsonl"):
        before, after = (sum(1 for _ in rows(path, pattern)) for path in (folder, multiplied))
        assert after == FACTOR * before, pattern


def test_a_copy_shares_no_id_with_another(folder: Path, multiplied: Path) -> None:
    for name in ("message_id", "network_message_id", "internal_id"):
        before, after = (
            {(path.parent.name if name == "internal_id" else "", row[name])
             for path in where.glob("logs/*/queues.jsonl")
             for row in map(json.loads, path.read_text().splitlines())}
            for where in (folder, multiplied)
        )  # fmt: skip
        assert len(after) == FACTOR * len(before), name
    lives = [row for row in rows(multiplied, "logs/*/lifecycle.jsonl") if "database_id" in row]
    created = [row["database_id"] for row in lives if row["event"] == "database-created"]
    assert len(set(created)) == len(created)


def test_a_group_is_some_seconds_later(folder: Path, multiplied: Path) -> None:
    (first, *_) = rows(folder, "logs/par-mbx1/lifecycle.jsonl")
    (later, *_) = rows(multiplied, "logs/par-mbx1-000002/lifecycle.jsonl")
    assert later["at_ms"] == first["at_ms"] + 2000
    assert later["mono_ns"] == first["mono_ns"] + 2_000_000_000
    assert later["date"] == first["date"].replace(":00.", ":02.")


@pytest.mark.spark
@pytest.mark.timeout(1800)
def test_its_verdict_is_the_same_and_every_claim_asks_as_many_times_as_much(
    tmp_path: Path, run_main: Callable[..., int]
) -> None:
    """Requests to Safety Nets are the groups' own, so a failover is multiplied by groups alone."""
    asked_of = {
        "lossy-failover": Copies(groups=3, clones=1),
        "primary-loses-its-queue-database": Copies(groups=2, clones=2),
    }
    folders = [
        folder
        for scenario, copies in asked_of.items()
        for folder in one_and_many(tmp_path / scenario, scenario, copies)
    ]
    assert run_main(*folders) in (0, 1, 2)
    verdicts = map(verdict, folders)
    for one, many, copies in zip(verdicts, verdicts, asked_of.values(), strict=True):
        factor = copies.groups * copies.clones
        found = asked(many)
        assert found == {
            name: (status, (copies.groups if name in OF_SERVERS else factor) * count)
            for name, (status, count) in asked(one).items()
        }
        assert many["verdict"] == one["verdict"]
        assert many["delivery"]["expected"] == factor * one["delivery"]["expected"]


def one_and_many(folder: Path, scenario: str, copies: Copies) -> tuple[Path, Path]:
    """A run that expects nothing of the run as a whole, and the same multiplied."""
    files = recorded(scenario, 7)
    plan = json.loads(files["plan.json"][0])
    plan["expect"]["promotions"] = None
    one = write_folder(folder / "one", {**files, "plan.json": [json.dumps(plan)]})
    multiply(read(one), copies, Folder(folder / "many"))
    return one, folder / "many"


def asked(verdict: dict[str, Any]) -> dict[str, tuple[str, int]]:
    return {claim["name"]: (claim["status"], claim["asked"]) for claim in verdict["claims"]}


def verdict(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "verdict.json").read_text())
    return found


def test_a_busy_server_accepts_half_of_all_mail(folder: Path, tmp_path: Path) -> None:
    record = read(folder)
    copies = copies_for(record, 8 * record.tracking_rows, busy_server="par-mbx1", groups=2)
    multiply(record, copies, Folder(tmp_path / "run"))
    accepted = Counter(
        row["server"] for row in rows(tmp_path / "run", "ledger.jsonl")
        if row.get("outcome") == "ok"
    )  # fmt: skip
    assert accepted["par-mbx1-000000"] == pytest.approx(accepted.total() / 2, rel=0.01)


def test_a_wide_message_has_so_many_recipients(folder: Path, tmp_path: Path) -> None:
    record = read(folder)
    multiply(record, copies_for(record, 1, wide=WIDE), Folder(tmp_path / "run"))
    path = tmp_path / "run"
    (wide,) = (row for row in rows(path, "ledger.jsonl") if len(row.get("recipients", ())) == WIDE)
    there = [row["mailbox"] for row in rows(path, "mailboxes/*.jsonl")
             if row["message_id"] == wide["message_id"]]  # fmt: skip
    assert sorted(there) == sorted(wide["recipients"])
    known = {box.address for box in plan_of(path).topology.mailboxes}
    assert set(there) <= known
    assert len(plan_of(path).messages) == len(record.plan["messages"]) + 1
