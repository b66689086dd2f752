"""What a disk keeps when the power goes: all that SQLite was told is durable, and of the rest less.

Every database is opened by SQLite itself, under the pragmas of the node or of the test.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

import pytest

from defects.acknowledging import AnswersBeforeItsCommit
from defects.defect import Context
from defects.door import behind
from defects.store import opens_with
from lab.campaigns.exhaust.pairs import Pairs
from lab.campaigns.exhaust.search import Search
from lab.campaigns.exhaust.strikes import struck
from lab.hosts.simulator.event_loop import SECOND, World
from lab.hosts.simulator.events import Events
from lab.hosts.simulator.random_delays import Chance
from lab.hosts.simulator.record_in_memory import RecordInMemory
from lab.hosts.simulator.simulation import Simulation, simulate
from lab.hosts.simulator.storage import sqlite_files
from lab.hosts.simulator.storage.disk import SimulatedDisk
from lab.hosts.simulator.storage.manager_disk import SimulatedManagerDisk
from lab.hosts.simulator.storage.medium import InMemory, OnFiles
from lab.hosts.simulator.storage.sqlite_files import uri_of
from lab.hosts.simulator.storage.written_files import Files
from lab.program.errors import GroundError
from nodes.core.interface.effects import Commit
from nodes.core.interface.inputs import Committed, DatabaseOpened, Input, ManagerOpened
from nodes.core.interface.queue_changes import InsertMessage, SetContact
from nodes.core.model.message import Contact
from nodes.store import sqlite_file
from tests.lab.hosts.simulator.plans import plan
from tests.nodes.store.samples import primary_message

SEEDS = range(50)


def files_with(*written: tuple[int, bytes]) -> Files:
    """One file of 2,000 bytes that is durable, with writes that are not."""
    files = Files()
    files.keep("a", b"-" * 2000)
    for at, data in written:
        files.write("a", at, data)
    return files


def left_of(files: Files, seeds: Sequence[int] = SEEDS) -> set[bytes]:
    found = (files.after_power_loss(Chance(seed, "power")) for seed in seeds)
    return {each.read("a", 0, 9999) for each in found}


def test_what_was_synced_is_there() -> None:
    files = files_with((100, b"x" * 900))
    files.sync("a")
    assert left_of(files) == {b"-" * 100 + b"x" * 900 + b"-" * 1000}


def test_what_was_not_may_be_gone_whole_in_part_and_out_of_order() -> None:
    """Parts end where 512 bytes do; nothing beside what was written is ever harmed."""
    first, second = b"x" * 412, b"y" * 100
    found = {(each[100:512], each[512:612]) for each in left_of(files_with((100, first + second)))}
    lost = b"-" * 412, b"-" * 100
    assert found == {lost, (first, lost[1]), (lost[0], second), (first, second)}


def test_a_file_that_was_never_synced_may_be_gone() -> None:
    files = Files()
    files.make("a")
    files.write("a", 0, b"x")
    found = {files.after_power_loss(Chance(seed, "power")).has("a") for seed in SEEDS}
    assert found == {True, False}


@pytest.mark.parametrize(("is_synced", "comes_back"), [(True, {False}), (False, {True, False})])
def test_a_file_that_was_deleted_may_be_back(is_synced: bool, comes_back: set[bool]) -> None:
    files = files_with()
    files.delete("a", is_synced=is_synced)
    found = {files.after_power_loss(Chance(seed, "power")).has("a") for seed in SEEDS}
    assert found == comes_back


def test_who_goes_on_with_the_files_of_before_changes_nothing_after() -> None:
    files = files_with()
    after = files.after_power_loss(Chance(1, "power"))
    files.write("a", 0, b"x")
    files.sync("a")
    assert after.read("a", 0, 1) == b"-"


COMMITS = 300


@dataclass(frozen=True, slots=True)
class Found:
    """The rows that are there, or why they cannot be read."""

    rows: tuple[int, ...]
    damage: str


def put_table(files: Files) -> None:
    with closing(sqlite3.connect(":memory:")) as new:
        new.execute("CREATE TABLE t (a INTEGER PRIMARY KEY, b BLOB)")
        files.keep("t.db", new.serialize())


def left_after(seed: int, synchronous: str) -> Files:
    """Three hundred transactions, with checkpoints among them, one more under way."""
    files = Files()
    put_table(files)
    with opens_with(f"synchronous = {synchronous}"):
        connection = sqlite_file.connect(uri_of(files, "t.db"))
    with closing(connection):
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)

        def commit(number: int) -> None:
            with sqlite_file.transaction(connection):
                connection.execute("INSERT INTO t VALUES (?, ?)", (number, bytes(9000)))

        for number in range(COMMITS):
            commit(number)
        return files.after_power_loss(Chance(seed, "power"), [lambda: commit(COMMITS)])


def found_in(left: Files) -> Found:
    try:
        with closing(sqlite_file.connect(uri_of(left, "t.db"))) as found:
            (verdict,) = found.execute("PRAGMA quick_check(1)").fetchone()
            rows = found.execute("SELECT a FROM t ORDER BY a").fetchall()
            return Found(tuple(row[0] for row in rows), "" if verdict == "ok" else verdict)
    except sqlite3.Error as error:
        return Found((), str(error))


def after(seed: int, synchronous: str) -> Found:
    return found_in(left_after(seed, synchronous))


ALL, ONE_MORE = tuple(range(COMMITS)), tuple(range(COMMITS + 1))


def test_sqlite_keeps_all_that_it_committed_under_the_pragmas_of_a_node() -> None:
    found = [after(seed, "FULL") for seed in range(20)]
    assert {each.damage for each in found} == {""}
    assert {each.rows for each in found} == {ALL, ONE_MORE}


def test_without_a_sync_at_each_commit_the_last_ones_may_be_gone_and_none_is_torn() -> None:
    found = [after(seed, "NORMAL") for seed in range(8)]
    assert {each.damage for each in found} == {""}
    assert all(each.rows == ONE_MORE[: len(each.rows)] for each in found)
    assert min(len(each.rows) for each in found) < COMMITS


def test_without_any_sync_a_database_may_be_torn() -> None:
    assert any(after(seed, "OFF").damage for seed in range(8))


def test_a_new_database_in_place_of_a_torn_one_has_nothing_of_it() -> None:
    """Neither rows nor the index of its journal, which SQLite leaves in shared memory."""
    left = [left_after(seed, "OFF") for seed in range(8)]
    assert any(found_in(each).damage for each in left)
    for each in left:
        each.drop("t.db", "t.db-wal", "t.db-journal")
        put_table(each)
    assert {found_in(each) for each in left} == {Found((), "")}


def test_a_python_whose_sqlite_takes_no_vfs_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_library(path: str) -> object:
        raise OSError("no such symbol")

    monkeypatch.setattr(sqlite_files, "CDLL", no_library)
    with pytest.raises(GroundError) as refused:
        sqlite_files.register()
    assert "takes no VFS (no such symbol)" in refused.value.cause
    assert refused.value.hint.startswith("use a Python whose sqlite3 module")


class Server:
    """Hears what a disk answers that lies on files."""

    def __init__(self, seed: int) -> None:
        self.world = World(0)
        self.disk = SimulatedDisk(self.world, "a", seed, OnFiles(seed, "a"))
        self.heard: list[Input] = []
        self.opened = self.plug_in()

    def plug_in(self) -> DatabaseOpened:
        self.databases, opened = self.disk.plug_in(self.heard.append, self.fail, 0)
        assert isinstance(opened, DatabaseOpened)
        return opened

    def fail(self, error: Exception) -> None:
        raise error

    def commit(self, number: int) -> None:
        body = self.databases.bodies.hold(bytes(20_000))
        known = SetContact(Contact(f"p{number:02}", "id", number, 0))
        self.databases.write(Commit(number, (InsertMessage(primary_message(number), body), known)))

    def lose_power(self) -> DatabaseOpened:
        self.disk.lose_power()
        return self.plug_in()


@pytest.mark.parametrize("seed", range(20))
def test_what_was_answered_survives_and_what_was_under_way_is_whole_or_not_there(
    seed: int,
) -> None:
    server = Server(seed)
    for number in range(1, 41):
        server.commit(number)
    server.world.run_until(seed * SECOND // 500)
    answered = sum(isinstance(each, Committed) for each in server.heard)
    opened = server.lose_power()
    assert opened.database_id == server.opened.database_id
    assert len(opened.contacts) >= answered
    messages = [each.internal_id for each in opened.messages]
    assert len(messages) == len(opened.contacts)
    assert [server.databases.read(f"db:{each}") for each in messages] == [bytes(20_000)] * len(
        messages
    )


@pytest.mark.parametrize("seed", range(5))
def test_a_kill_and_a_power_loss_one_after_the_other_take_nothing_that_was_answered(
    seed: int,
) -> None:
    server = Server(seed)
    for number in range(1, 9):
        server.commit(number)
        server.world.run_until(number * SECOND)
        if number % 2:
            server.disk.pull_plug()
            server.plug_in()
        else:
            server.lose_power()
    assert server.heard == [Committed(number) for number in range(1, 9)]
    assert len(server.lose_power().contacts) == 8


def test_active_manager_keeps_its_database_too() -> None:
    disk = SimulatedManagerDisk(World(0), "am1", 1, OnFiles(1, "am1"))
    _, first = disk.plug_in(lambda happened: None, print, 0)
    disk.lose_power()
    _, second = disk.plug_in(lambda happened: None, print, 0)
    assert isinstance(first, ManagerOpened)
    assert second == replace(first, created=False, starts=2)


def test_a_database_set_aside_comes_back_empty_under_another_id() -> None:
    server = Server(1)
    server.commit(1)
    server.world.run_until(SECOND)
    server.disk.pull_plug()
    server.disk.set_queue_database_aside()
    opened = server.plug_in()
    assert (opened.created, opened.contacts) == (True, ())
    assert opened.database_id != server.opened.database_id


def test_a_damaged_database_is_set_aside_too() -> None:
    server = Server(1)
    server.disk.pull_plug()
    server.disk.damage_queue_database()
    opened = server.plug_in()
    assert opened.created
    assert opened.database_id != server.opened.database_id


def lost_in(record: RecordInMemory) -> int:
    """Mailboxes without a message that the sender was told is safe; of one-message-in."""
    shown = sum(len(record.file(f"mailboxes/{name}.jsonl")) for name in ("DB1", "DB2"))
    assert any('"ok"' in line for line in record.file("ledger.jsonl"))
    return 4 - shown


def losses(seeds: Sequence[int]) -> int:
    """Runs in which something is lost when one server loses its power once, at any event."""
    found = 0
    for seed in seeds:
        search = Search(plan("one-message-in", seed), Pairs.none)
        for strike in search.singles:
            if strike.kind == "power-loss":
                changed, begin = struck(search.plan, [strike])
                found += lost_in(simulate(changed, keeps_inputs=False, events=Events(begin))) > 0
    return found


def test_no_power_loss_at_any_event_loses_what_a_sound_node_acknowledged() -> None:
    assert losses(range(2)) == 0


def syncs_never() -> Context:
    return opens_with("synchronous = OFF")


def syncs_at_checkpoints() -> Context:
    return opens_with("synchronous = NORMAL")


def answers_before_its_commit() -> Context:
    return behind(AnswersBeforeItsCommit)


@pytest.mark.parametrize("broken", [syncs_never, syncs_at_checkpoints, answers_before_its_commit])
def test_a_node_that_trusts_to_luck_loses_mail(broken: Callable[[], Context]) -> None:
    with broken():
        assert losses([1]) > 0


def test_only_a_server_that_loses_its_power_has_files_under_its_databases() -> None:
    fails = Simulation(plan("power-fails", 1), keeps_inputs=False)
    kinds = {
        name: type(server.disk.medium)
        for name, server in fails.servers.items()
        if hasattr(server, "disk")
    }
    assert kinds == {"par-mbx1": OnFiles, "par-mbx2": OnFiles, "lyo-mbx1": InMemory}


def test_the_same_seed_loses_the_same() -> None:
    files = [simulate(plan("power-fails", 3), keeps_inputs=False).files for _ in range(2)]
    assert files[0] == files[1]
