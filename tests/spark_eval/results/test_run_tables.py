"""Rows of a run: faults, damage, wrong clocks, moments; and that rows fit their schema."""

from __future__ import annotations

from spark_eval.results.damage import clocks_off_of, log_damage_of
from spark_eval.results.schema import RESULT_TABLES
from tests.spark_eval.results.made import made, of, read
from tests.spark_eval.results.test_shadows import promoted
from tests.spark_eval.runs.failover_runs import lossy
from tests.spark_eval.runs.run_builder import END, HOUR, MINUTE, SECOND, SPAN, empty, iso, user

LOG = "logs/lyo-mbx1/MSGTRK2026010508-1.LOG"
OF_CASES = {"claims", "counterexamples", "stories"}


def test_every_row_has_the_columns_of_its_table_in_order() -> None:
    run = promoted(lossy().run, 8 * MINUTE + SPAN + 30 * SECOND)
    run.plan["operations"] = [{"id": "o1", "kind": "failover", "at_ms": 1, "database": "DB1"}]
    run.accept(END - HOUR, [user(1)], shadow=None)
    run.tail["logs/par-mbx1/MSGTRK2026010508-1.LOG"] = "torn"
    tables = made(run).tables
    assert set(tables) == set(RESULT_TABLES) - OF_CASES
    for name, rows in tables.items():
        columns = [column for column, _ in RESULT_TABLES[name]]
        assert rows, name
        assert all(list(row) == columns for row in rows), name


def test_a_fault_has_the_times_of_its_phases() -> None:
    run = empty()
    run.kill("par-mbx1", MINUTE, HOUR)
    row = made(run).one("fault_windows")
    assert of(row, "fault", "kind", "server", "returns_with", "links", "took_effect") == (
        "f1", "kill", "par-mbx1", "same-queue-database", None, True,
    )  # fmt: skip
    times = ("intended_ms", "applied_ms", "heal_intended_ms", "healed_ms", "banner_ms", "over_ms")
    banner_ms = HOUR + 3 * SECOND
    assert of(row, *times) == (
        MINUTE, MINUTE + 200, HOUR, banner_ms, banner_ms, banner_ms,
    )  # fmt: skip
    assert row["applied_mono_ns"] == run.faults[1]["mono_ns"]


def test_a_fault_of_links_has_its_way_and_how_late_it_makes_them() -> None:
    run = empty()
    how: dict[str, str | int] = {"kind": "slow", "latency_ms": 100, "jitter_ms": 10}
    how["direction"] = "requests"
    run.late("lyo-mbx1", "par-mbx1", MINUTE, HOUR, how)
    run.cut("lyo-mbx1", "par-mbx1", 2 * HOUR, 3 * HOUR, kind="stall", fault="f2")
    run.faults = [row for row in run.faults if (row["fault"], row["phase"]) != ("f2", "healed")]
    (slow, cut) = made(run).tables["fault_windows"]
    links = [{"from": "lyo-mbx1", "to": "par-mbx1", "service": "smtp"}]
    assert of(slow, "kind", "direction", "slowed_ms", "links", "server") == (
        "slow", "requests", 10 * 110, links, None,
    )  # fmt: skip
    assert of(cut, "kind", "cut_kind", "slowed_ms", "healed_ms") == ("cut", "stall", None, None)
    assert cut["over_ms"] > END


def test_a_fault_of_a_clock_has_by_how_much_and_what_was_seen_of_it() -> None:
    run = empty()
    run.wrong_clock("par-mbx1", MINUTE, HOUR)
    (row,) = (row for row in run.faults if row["phase"] == "evidence")
    row |= {"took_effect": False, "reason": "its date was right"}
    assert of(made(run).one("fault_windows"), "by_ms", "took_effect", "reason") == (
        60_000, False, "its date was right",
    )  # fmt: skip


def test_a_fault_that_damages_a_disk_is_named_as_the_plan_does() -> None:
    run = empty()
    run.away("corrupt", "par-mbx1", MINUTE, HOUR)
    assert made(run).one("fault_windows")["kind"] == "corrupt"


def test_damage_is_counted_by_file_and_kind() -> None:
    run = empty()
    run.deliver(MINUTE, [user(1)])
    run.tail["ledger.jsonl"] = "{}\n{}\nto"
    made_of = made(run)
    (bad, torn) = made_of.tables["log_damage"]
    assert bad == {"run": run.name, "file": "ledger.jsonl", "server": "",
                   "damage": "malformed line", "lines": 2, "first_line": 4,
                   "from_ms": None, "to_ms": None}  # fmt: skip
    assert of(torn, "damage", "lines", "first_line") == ("torn last line", 1, 6)
    assert log_damage_of(made_of.run) == [
        {"file": "ledger.jsonl", "damage": "malformed line", "lines": 2, "first_line": 4},
        {"file": "ledger.jsonl", "damage": "torn last line", "lines": 1, "first_line": 6},
    ]


def test_damage_of_a_log_has_its_place_in_time() -> None:
    run = empty()
    run.deliver(MINUTE, [user(1)])
    run.tail[LOG] = "torn"
    row = made(run).one("log_damage")
    assert of(row, "server", "from_ms", "to_ms") == ("lyo-mbx1", 2 * MINUTE + 100, None)


def test_damage_between_two_rows_ends_with_the_second() -> None:
    run = empty()
    run.deliver(MINUTE, [user(1)])
    texts = run.texts()
    (first, second, *rest) = texts[LOG].splitlines(keepends=True)[::-1]
    texts[LOG] = "".join([*rest[::-1], second, "bad\n", first])
    row = read(texts).one("log_damage")
    assert of(row, "from_ms", "to_ms") == (MINUTE + 300, 2 * MINUTE + 100)


def test_a_clock_that_was_off_is_listed_with_how_far_and_when() -> None:
    run = empty()
    run.host["monotonic_zero_ns"] = 5_000_000_000_000
    run.deliver(MINUTE, [user(1)])
    told = ((10 * MINUTE, HOUR), (20 * MINUTE, 2 * HOUR), (30 * MINUTE, 4 * SECOND))
    for at_ms, ahead_ms in told:
        run.life("par-mbx1", "started", at_ms)
        said = at_ms + ahead_ms
        run.lifecycle["par-mbx1"][-1].update(at_ms=said, date=iso(said))
    # what is within five times of what the clock resolves is none
    assert clocks_off_of(made(run).run) == [
        {"server": "par-mbx1", "least_ms": HOUR, "most_ms": 2 * HOUR,
         "from_ms": 10 * MINUTE, "to_ms": 20 * MINUTE}
    ]  # fmt: skip


def test_what_happens_in_one_moment_of_a_lane_is_counted_together() -> None:
    run = empty()
    width_ms = END // 240
    for at_ms in (10 * width_ms, 10 * width_ms + SECOND, 12 * width_ms):
        run.accept(at_ms, [user(1)])
    rows = [row for row in made(run).tables["timeline_events"] if row["kind"] == "accepted"]
    assert [of(row, "lane", "at_ms", "count", "detail") for row in rows] == [
        ("par-mbx1", 10 * width_ms + 500, 2, ""),
        ("par-mbx1", 12 * width_ms + 500, 1, ""),
    ]


def test_moments_have_the_kinds_that_a_page_draws() -> None:
    run = empty()
    run.deliver(MINUTE, [user(1)])
    bare = run.deliver(HOUR, [user(1)], shadow=None)
    run.log("par-mbx1", "DEFER", "SMTP", HOUR + SECOND, bare)
    run.log("par-mbx2", "DUPLICATEDELIVER", "STOREDRIVER", HOUR + MINUTE, bare)
    rows = made(run).tables["timeline_events"]
    assert sorted(of(row, "lane", "kind", "count") for row in rows) == [
        ("lyo-mbx1", "shadow let go", 1),
        ("par-mbx1", "accepted", 1),
        ("par-mbx1", "accepted", 1),
        ("par-mbx1", "deferred", 1),
        ("par-mbx1", "unprotected", 1),
        ("par-mbx2", "duplicate hidden", 1),
    ]


def test_a_promotion_and_a_heartbeat_that_failed_are_marked_and_the_first_start_is_not() -> None:
    run = promoted(empty(), 8 * MINUTE + SPAN + 30 * SECOND)
    run.contact("lyo-mbx1", "par-mbx1", 12 * MINUTE, failed=True)
    run.life("lyo-mbx2", "started", HOUR)
    run.lifecycle["par-mbx2"] = []
    run.life("par-mbx2", "database-created", SECOND)
    run.life("par-mbx2", "started", 2 * SECOND)
    run.life("par-mbx2", "database-mounted", HOUR, database="DB1", epoch=0)
    rows = made(run).tables["timeline_events"]
    told = ("promotion", "heartbeat failed", "restart", "new database", "copy activated")
    assert sorted(of(row, "lane", "kind", "detail") for row in rows if row["kind"] in told) == [
        ("lyo-mbx1", "heartbeat failed", "par-mbx1"),
        ("lyo-mbx1", "promotion", "resubmit-time-span of par-mbx1"),
        ("lyo-mbx2", "restart", ""),
    ]


def test_what_the_record_says_twice_and_not_alike_is_damage_too() -> None:
    run = empty()
    run.plan["messages"] = [{"message_id": "<another@outside.example>", "at_ms": MINUTE}]
    run.deliver(MINUTE, [user(1)])
    (row,) = [row for row in made(run).tables["log_damage"] if row["file"] == "ledger.jsonl"]
    assert of(row, "server", "damage", "lines", "first_line") == (
        "", "a message that plan.json does not have", 1, 1,
    )  # fmt: skip
