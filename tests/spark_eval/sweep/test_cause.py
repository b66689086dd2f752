from __future__ import annotations

import pytest

from spark_eval.sweep.cause import cause

SERVERS = ("par-mbx1", "par-mbx11", "lyo-mbx1")


@pytest.mark.parametrize(
    ("detail", "left"),
    [
        (
            "par-mbx1 promoted at 0:41:02.000: last contact 0:10:00.000, so not before 0:40:00.000",
            "[server] promoted at [time]: last contact [time], so not before [time]",
        ),
        (
            "held by par-mbx11 and lyo-mbx1, never visible",
            "held by [server], never visible",
        ),
        (
            "in a delivery queue of par-mbx1 since 1:00:00.000, for a@b.example, c@d.example",
            "in a delivery queue of [server] since [time], for [address]",
        ),
        ("lyo-mbx1 let it go 812 ms early", "[server] let it go [n] ms early"),
        ("2 copies with one submit time in DB1", "[n] copies with one submit time in DB[n]"),
        ("seen in DB1, not <m1.calm.7@x.example>", "seen in DB[n], not [id]"),
    ],
)
def test_takes_out_what_differs_from_run_to_run(detail: str, left: str) -> None:
    assert cause(detail, SERVERS) == left


def test_leaves_out_the_subject_that_a_reason_opens_with() -> None:
    reason = "<m1.calm.7@x.example> to a@b.example: the log of par-mbx1 has a hole there"
    assert cause(reason, SERVERS) == "the log of [server] has a hole there"


def test_keeps_the_names_of_requirements() -> None:
    said = "SM-7 is to be proven and is not asked"
    assert cause(said, SERVERS) == said


def test_a_name_within_a_longer_name_is_not_a_server() -> None:
    assert cause("ext-par-mbx1 refused", SERVERS) == "ext-par-mbx[n] refused"
