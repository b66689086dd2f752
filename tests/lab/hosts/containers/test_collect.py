"""What is brought into the run folder, and what never is."""

import json
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from lab.hosts.containers.collect import Collection
from lab.record.folder import RunFolder
from nodes.core.interface.copy_changes import OpenCopy
from nodes.core.interface.effects import ChangeCopy
from nodes.core.model.database_copy import CopyState
from nodes.store.mailbox.database import MailboxDatabase
from tests.lab.plan.small_plan import small_plan

EMPTY = "e3b0c44298fc1c14"  # SHA-256 of nothing


@dataclass
class FakeContainer:
    name: str
    ran_out_of_memory: bool = False

    @property
    def attrs(self) -> dict[str, Any]:
        return {
            "State": {"OOMKilled": self.ran_out_of_memory},
            "HostConfig": {"Memory": 48 * 1024 * 1024},
        }

    def logs(self, **_: object) -> bytes:
        return b"started\n"


@dataclass
class FakeEngine:
    """An engine with containers of one run."""

    names: Sequence[str] = ()
    ran_out_of_memory: str = ""
    containers: Any = field(init=False)

    def __post_init__(self) -> None:
        self.containers = self

    def list(self, **_: object) -> list[FakeContainer]:
        return [FakeContainer(name, name == self.ran_out_of_memory) for name in self.names]


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder.create(tmp_path / "runs", "small", 7, datetime(2026, 3, 1, tzinfo=UTC))


@pytest.fixture
def state(tmp_path: Path) -> Path:
    for server in "abx":
        for part in ("etc/tls", "data", "logs"):
            (tmp_path / "state" / "servers" / server / part).mkdir(parents=True)
        (tmp_path / "state" / "servers" / server / "etc/tls/server.key").write_text("secret")
    (tmp_path / "state" / "workload").mkdir()
    return tmp_path / "state"


def collect(state: Path, folder: RunFolder, ran_out_of_memory: str = "") -> list[str]:
    """The complaints."""
    complaints: list[str] = []
    names = [f"{folder.run_id}-a", f"{folder.run_id}-toxiproxy"]
    engine: Any = FakeEngine(names, f"{folder.run_id}-{ran_out_of_memory}")
    Collection(small_plan(), state, engine, folder, complaints).collect()
    return complaints


def test_logs_of_every_server_are_brought(state: Path, folder: RunFolder) -> None:
    (state / "servers/a/logs/MSGTRK2026010508-1.LOG").write_text("#Software\n")
    assert collect(state, folder) == []
    assert (folder.path / "logs/a/MSGTRK2026010508-1.LOG").read_text() == "#Software\n"


def test_what_containers_said_is_kept(state: Path, folder: RunFolder) -> None:
    collect(state, folder)
    assert (folder.path / "logs/a/stderr.log").read_text() == "started\n"
    assert (folder.path / "logs/toxiproxy/stderr.log").exists()


@pytest.mark.parametrize("part", ["a", "toxiproxy"])
def test_who_ran_out_of_memory_is_named(part: str, state: Path, folder: RunFolder) -> None:
    assert collect(state, folder, ran_out_of_memory=part) == [
        f"{part} ran out of memory and was killed: its limit is 48 MiB"
    ]


@pytest.mark.parametrize(
    "path",
    [
        "servers/a/data/queue.db",
        "servers/x/data/received.jsonl",
        "workload/ledger.jsonl",
        "workload/strangers.jsonl",
    ],
)
def test_no_link_that_a_server_made_is_followed(
    path: str, state: Path, folder: RunFolder, tmp_path: Path
) -> None:
    """It may lead to what the lab can read and the server cannot."""
    (tmp_path / "secret").write_text("secret")
    (state / path).symlink_to(tmp_path / "secret")
    [complaint] = collect(state, folder)
    assert f"{Path(path).name} is a link" in complaint
    assert b"secret" not in b"".join(
        file.read_bytes() for file in folder.path.rglob("*") if file.is_file()
    )


def test_no_link_among_a_servers_logs_is_brought(
    state: Path, folder: RunFolder, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text("secret")
    (state / "servers/a/logs/MSGTRK2026010508-1.LOG").symlink_to(tmp_path / "secret")
    collect(state, folder)
    assert not (folder.path / "logs/a/MSGTRK2026010508-1.LOG").exists()


def test_mail_at_external_servers_is_brought(state: Path, folder: RunFolder) -> None:
    (state / "servers/x/data/received.jsonl").write_text('{"message_id": "<m@x>"}\n')
    collect(state, folder)
    assert json.loads((folder.path / "external/x.jsonl").read_text())["message_id"] == "<m@x>"


def test_a_record_that_was_never_written_is_missing_not_empty(
    state: Path, folder: RunFolder
) -> None:
    assert collect(state, folder) == []
    for name in (
        "ledger.jsonl",
        "strangers.jsonl",
        "external/x.jsonl",
        "logs/a/queues.jsonl",
        "logs/a/copies.jsonl",
        "mailboxes/DB1.jsonl",
    ):
        assert not (folder.path / name).exists()


def test_a_mailbox_database_that_no_server_has_made_yet_is_empty_where_they_ran(
    state: Path, folder: RunFolder
) -> None:
    (state / "servers/a/data/queue.db").write_bytes(b"")
    (state / "servers/b/data/queue.db").write_bytes(b"")
    collect(state, folder)
    assert (folder.path / "mailboxes/DB1.jsonl").read_text() == ""


def test_where_copies_of_mailbox_databases_stand_is_brought(state: Path, folder: RunFolder) -> None:
    (state / "servers/a/data/queue.db").write_bytes(b"")
    with closing(MailboxDatabase.open(state / "servers/a/data", "DB1", "a")) as copy:
        copy.change(ChangeCopy(1, "DB1", OpenCopy(CopyState.PASSIVE, 0)), lambda handle: b"")
    MailboxDatabase.open(state / "servers/a/data", "DB2", "a").close()  # has no other copy
    collect(state, folder)
    (row,) = (folder.path / "logs/a/copies.jsonl").read_text().splitlines()
    assert json.loads(row) == {
        "database": "DB1", "state": "passive", "epoch": 0, "last_log": 0, "last_log_epoch": 0,
        "last_log_ms": None, "received": 0, "messages": 0, "content_sha256": EMPTY,
    }  # fmt: skip


def test_a_damaged_database_is_a_complaint_and_stops_nothing(
    state: Path, folder: RunFolder
) -> None:
    (state / "servers/a/data/queue.db").write_bytes(b"this is no database at all" * 200)
    (state / "workload/ledger.jsonl").write_text("{}\n")
    complaints = collect(state, folder)
    assert [complaint.partition(":")[0] for complaint in complaints] == ["queues of a"]
    assert (folder.path / "ledger.jsonl").read_text() == "{}\n"


def test_what_strangers_heard_is_brought(state: Path, folder: RunFolder) -> None:
    (state / "workload/strangers.jsonl").write_text("{}\n")
    assert collect(state, folder) == []
    assert (folder.path / "strangers.jsonl").read_text() == "{}\n"


def test_what_provisioning_wrote_is_kept(state: Path, folder: RunFolder) -> None:
    (state / "ansible.log").write_text("PLAY RECAP\n")
    collect(state, folder)
    assert (folder.path / "logs/ground/ansible.log").exists()


def test_no_key_comes_into_the_run_folder(state: Path, folder: RunFolder) -> None:
    collect(state, folder)
    assert not [path for path in folder.path.rglob("*") if "key" in path.name]
