"""What each kind of fault means for what should have happened: who is away, what is late."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from spark_eval.claims.mail import no_loss
from spark_eval.claims.shadow import discard_after_delivery, promotion_on_time
from spark_eval.judging.judge import histories_of
from spark_eval.read.folder.files import FolderFiles
from spark_eval.results.faults import fault_window_rows
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.faulty_runs import back_after_span
from tests.spark_eval.runs.run_builder import HEARTBEAT, MINUTE, SECOND, Run, empty, user

DONE = MINUTE + 2 * SECOND
AWAY = ("pause", "stop", "restart")


def _let_go_at(at_ms: int) -> Run:
    """One message, delivered at 1 min 2 s and let go at `at_ms`, with nobody asking before."""
    run = empty()
    message = run.accept(MINUTE, [user(1)])
    run.finish(message, DONE)
    run.let_go(message, at_ms)
    return run


def _primary_away(kind: str, *, recorded: bool = True) -> Run:
    """par-mbx1 is away from 1 min 30 s to 40 min."""
    run = _let_go_at(42 * MINUTE)
    run.away(kind, "par-mbx1", MINUTE + 30 * SECOND, 40 * MINUTE)
    if not recorded:
        run.faults = []
    return run


NEVER = "its place was never reached: par-mbx1 is at before-shadow-250 for the 9th time"
WHEN = {"server": "par-mbx1", "at": "before-shadow-250", "nth": 9, "until_ms": 0, "for_ms": 0}


def _at_place(run: Run) -> Run:
    """The same, with a fault that waited for a place from the start."""
    run.plan["faults"][0]["when"] = WHEN
    run.record("f1", "armed", 0)
    return run


def _never_reached() -> Run:
    run = _primary_away("kill", recorded=False)
    run.plan["faults"][0]["returns_with"] = "same-queue-database"
    run.record("f1", "evidence", 40 * MINUTE, took_effect=None, reason=NEVER, observations=[])
    run.record("f1", "healed", 40 * MINUTE)
    return _at_place(run)


def _own_away(kind: str) -> Run:
    run = _let_go_at(42 * MINUTE)
    run.away(kind, "lyo-mbx1", MINUTE + 30 * SECOND, 40 * MINUTE)
    return run


How = Mapping[str, str | int]


def _late(at_ms: int, how: How, source: str = "lyo-mbx1", until: int = 50 * MINUTE) -> Run:
    """Let go at `at_ms`, with the link from `source` late from the start to `until`."""
    target = "par-mbx1" if source == "lyo-mbx1" else "lyo-mbx1"
    run = _let_go_at(at_ms)
    run.late(source, target, 0, until, how)
    return run


SLOW: How = {"kind": "slow", "latency_ms": 4 * SECOND, "jitter_ms": SECOND}
THROTTLE: How = {"kind": "throttle", "bytes_per_second": 1024}
DRIP: How = {"kind": "drip", "latency_ms": 2 * SECOND, "bytes_per_second": 1024}
SLICE: How = {"kind": "slice", "piece_bytes": 256, "pause_ms": 200}
LATE: Mapping[str, tuple[How, int]] = {
    "slow": ({**SLOW, "direction": "both"}, 100),
    "slow-of-before": (SLOW, 100),  # a plan that names no direction
    "slow-replies": ({**SLOW, "direction": "replies"}, 50),
    "slow-requests": ({**SLOW, "direction": "requests"}, 50),
    "slow-close": ({"kind": "slow_close", "delay_ms": 40 * SECOND}, 40),
    "throttle": (THROTTLE, 64),
    "throttle-replies": ({**THROTTLE, "direction": "replies"}, 64),
    "slice": (SLICE, 106),
    "fine-slice": ({**SLICE, "pause_ms": 10}, 53),  # so fine no clock is
    "drip": (DRIP, 40 + 64),
    "drip-requests": ({**DRIP, "direction": "requests"}, 20 + 64),
}
"""What makes an exchange late, and by how many seconds."""
LIMIT: How = {"kind": "limit_data", "limit_bytes": 16_384}  # an exchange may pass, or not
RESETS: How = {"kind": "reset_after", "after_ms": 30_000}  # no answer passes
AS_GOOD_AS_CUT: How = {"kind": "slow", "latency_ms": MINUTE, "jitter_ms": 0}
ON_TIME = DONE + HEARTBEAT + HEARTBEAT // 2  # without a fault, with the slack of an exchange


def _discards() -> dict[str, Run]:
    away = {f"primary-{kind}": _primary_away(kind) for kind in AWAY}
    away |= {f"own-{kind}": _own_away(kind) for kind in AWAY}
    away |= {f"unrecorded-{kind}": _primary_away(kind, recorded=False) for kind in AWAY}
    for kind, (how, late_s) in LATE.items():
        away[f"{kind}-in-time"] = _late(ON_TIME + (late_s - 5) * SECOND, how)
        away[f"{kind}-too-late"] = _late(ON_TIME + (late_s + 16) * SECOND, how)
    return away | {
        "at-place": _at_place(_primary_away("pause")),
        "never-reached": _never_reached(),
        "slow-the-other-way": _late(ON_TIME + 16 * SECOND, SLOW, "par-mbx1"),
        "slow-long-before": _late(ON_TIME + 16 * SECOND, SLOW, until=30 * SECOND),
        "limited": _late(52 * MINUTE, LIMIT),
        "limited-long-before": _late(52 * MINUTE, LIMIT, until=30 * SECOND),
        "resets": _late(52 * MINUTE, RESETS),
        "resets-long-before": _late(52 * MINUTE, RESETS, until=30 * SECOND),
        "as-good-as-cut": _late(52 * MINUTE, AS_GOOD_AS_CUT),
    }


@pytest.fixture(scope="module")
def discards(ask: Ask) -> Results:
    return ask(discard_after_delivery.CLAIM)


@pytest.mark.parametrize("kind", AWAY)
def test_a_discard_waits_for_a_server_that_is_away(discards: Results, kind: str) -> None:
    assert discards[f"primary-{kind}"].status == "holds"
    assert discards[f"own-{kind}"].status == "holds"


@pytest.mark.parametrize("kind", AWAY)
def test_a_server_that_nobody_recorded_as_away_is_no_excuse(discards: Results, kind: str) -> None:
    assert discards[f"unrecorded-{kind}"].status == "violated"


def test_a_fault_at_a_place_excuses_once_it_was_reached(discards: Results) -> None:
    assert discards["at-place"].status == "holds"
    assert discards["never-reached"].status == "violated"


def test_a_fault_whose_place_was_never_reached_says_so(tmp_path: Path) -> None:
    run = histories_of(FolderFiles(_never_reached().write(tmp_path))).run
    [window] = fault_window_rows(run)
    assert (window["took_effect"], window["reason"]) == (None, NEVER)
    assert window["intended_ms"] is None


def test_a_pause_proves_nothing_about_restarts(discards: Results) -> None:
    assert discards["primary-stop"].proofs["SM-5"] == "holds"
    assert "SM-5" not in discards["primary-pause"].proofs


@pytest.mark.parametrize("kind", LATE)
def test_a_late_link_excuses_by_what_it_adds_and_no_more(discards: Results, kind: str) -> None:
    """No question that hangs keeps the next one waiting (SM-2)."""
    assert discards[f"{kind}-in-time"].status == "holds"
    assert discards[f"{kind}-too-late"].status == "violated"


@pytest.mark.parametrize("run", ["slow-the-other-way", "slow-long-before"])
def test_a_late_link_excuses_nothing_elsewhere_or_at_another_time(
    discards: Results, run: str
) -> None:
    assert discards[run].status == "violated"


def test_a_link_so_late_that_sessions_are_given_up_excuses_like_a_cut(discards: Results) -> None:
    assert discards["as-good-as-cut"].status == "holds"


def test_a_limited_link_excuses_like_a_cut_while_it_lasts(discards: Results) -> None:
    assert discards["limited"].status == "holds"
    assert discards["limited-long-before"].status == "violated"


def test_links_that_reset_excuse_like_a_cut_while_they_last(discards: Results) -> None:
    assert discards["resets"].status == "holds"
    assert discards["resets-long-before"].status == "violated"


def _span_runs_out(kind: str, *, promoted: bool) -> Run:
    """par-mbx1 is away for longer than the span, with a message queued."""
    faulty = back_after_span()
    run = faulty.run
    run.plan["faults"][0]["kind"] = kind
    run.plan["faults"][0].pop("returns_with")
    if not promoted:
        run.remove("lyo-mbx1", "RESUBMIT", faulty.queued)
        run.remove("lyo-mbx1", "SEND", faulty.queued)
        run.queues["lyo-mbx1"] = [
            row for row in run.queues["lyo-mbx1"] if row["message_id"] != faulty.queued.message_id
        ]
    return run


def _span_runs_out_over_a_link(how: dict[str, object]) -> Run:
    """The link to par-mbx1 is in trouble instead, and nothing is promoted."""
    run = _span_runs_out("pause", promoted=False)
    (fault,) = run.plan["faults"]
    del fault["server"]
    link = {"from": "lyo-mbx1", "to": "par-mbx1", "service": "smtp"}
    fault.update({"links": [link], **how})
    return run


def _promotions() -> dict[str, Run]:
    away = {f"{kind}-promoted": _span_runs_out(kind, promoted=True) for kind in ("pause", "stop")}
    away |= {f"{kind}-not": _span_runs_out(kind, promoted=False) for kind in ("pause", "stop")}
    return away | {
        "link-cut": _span_runs_out_over_a_link({"kind": "cut", "cut_kind": "stall"}),
        "link-resets": _span_runs_out_over_a_link({**RESETS}),
        "link-limited": _without_failures(
            _span_runs_out_over_a_link({"kind": "limit_data", **LIMIT})
        ),
    }


def _without_failures(run: Run) -> Run:
    """Nobody says that an attempt failed."""
    for server, rows in run.contacts.items():
        run.contacts[server] = [row for row in rows if "XQDISCARD failed" not in row["description"]]
    return run


@pytest.fixture(scope="module")
def promotions(ask: Ask) -> Results:
    return ask(promotion_on_time.CLAIM)


@pytest.mark.parametrize("kind", ["pause", "stop"])
def test_a_server_that_is_away_for_the_span_is_taken_over_from(
    promotions: Results, kind: str
) -> None:
    assert promotions[f"{kind}-promoted"].status == "holds"
    assert promotions[f"{kind}-not"].status == "violated"
    assert "never promoted it" in promotions[f"{kind}-not"].examples[0].detail


def test_a_limited_link_obliges_nobody_to_take_over(promotions: Results) -> None:
    assert promotions["link-cut"].status == "violated"
    assert promotions["link-limited"].violations == 0


def test_links_that_reset_are_no_contact_however_often_they_are_opened(
    promotions: Results,
) -> None:
    assert promotions["link-resets"].status == "violated"


def _survivals() -> dict[str, Run]:
    away = {kind: _primary_away(kind) for kind in AWAY}
    for kind in ("kill", "power_loss"):
        away[kind] = _let_go_at(42 * MINUTE)
        away[kind].kill("par-mbx1", MINUTE + 30 * SECOND, 40 * MINUTE)
    (lost,) = away["power_loss"].plan["faults"]
    lost["kind"] = "power_loss"
    del lost["returns_with"]
    return away


def test_only_a_sigkill_or_a_power_loss_shows_what_survives_one(ask: Ask) -> None:
    found = ask(no_loss.CLAIM)
    proven = {kind for kind in _survivals() if "TL-7" in found[kind].proofs}
    assert proven == {"kill", "power_loss"}


def runs() -> dict[str, Run]:
    return _discards() | _promotions() | _survivals()
