"""One scenario many times: the table says what is stable and what is not."""

from pathlib import Path

from lab.campaigns.repeat import Repeated, Repetition, stability
from tests.lab.campaigns.suite.nightly import PROGRAM, Night


def repeated(seed: int, verdict: str, seconds: float, status: str, lost: int) -> Repeated:
    told = {
        "verdict": verdict,
        "claims": [{"name": "no_loss", "status": status}, {"name": "dsn", "status": "holds"}],
        "delivery": {"expected": 200, "lost": lost},
        "promotion": {"delay_seconds": {"max": seconds}},
        "safety_net": None,
    }
    return Repeated(seed, 0, seconds, Path("runs/one"), told=told)


def test_the_table_counts_verdicts_and_claims_and_shows_the_numbers_that_differ() -> None:
    done = [
        repeated(7, "pass", 60.0, "holds", 0),
        repeated(7, "fail", 62.0, "violated", 3),
        repeated(7, "pass", 90.0, "holds", 0),
        Repeated(7, 3, 5.0, None, "no engine"),
    ]
    assert list(stability(done)) == [
        "pass      seed 7           1:00 min   runs/one",
        "fail      seed 7           1:02 min   runs/one",
        "pass      seed 7           1:30 min   runs/one",
        "none      seed 7           5 s          no engine",
        "",
        "verdicts: 2 pass, 1 fail, 1 none",
        "claims:",
        "  no_loss  2 holds, 1 violated  <- not stable",
        "  dsn      3 holds",
        "numbers that differ:",
        "  delivery.lost                0 .. 0 .. 3",
        "  promotion.delay_seconds.max  60 .. 62 .. 90",
        "durations: 5 s .. 1:01 min .. 1:30 min",
    ]


def test_every_run_is_done_with_its_seed_and_the_worst_code_is_the_exit_code(night: Night) -> None:
    night.acts({"alpha on simulator": "once-1"})
    repetition = Repetition("scenarios/alpha.yaml", [5, 6], "simulator", PROGRAM, night.said.append)
    done, code = repetition.run()
    assert [(each.seed, each.verdict) for each in done] == [(5, "fail"), (6, "pass")]
    assert code == 1
    assert [line.split()[3] for line in night.calls("run") if "--seed" in line] == ["5", "6"]
    assert all(each.folder and each.folder.is_dir() for each in done)
    assert night.said[0].startswith("1 of 2: seed 5: fail, ")
