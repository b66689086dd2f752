"""The evaluation knows every kind of fault that a plan may hold, and what a plan says of each."""

from __future__ import annotations

from dataclasses import fields

from lab.plan.faults import LINK_KINDS, MACHINE_KINDS, SERVER_KINDS, Fault, kinds_of
from spark_eval.fault_kinds import KINDS, LINK, SERVER, kinds

# what every fault has, or every one of links or of a server
OF_ALL = {"id", "kind", "start_ms", "end_ms", "when", "links", "server"}


def test_both_know_the_same_kinds() -> None:
    assert set(kinds(LINK)) == set(LINK_KINDS)
    assert set(kinds(SERVER)) == {*SERVER_KINDS, *MACHINE_KINDS}


def test_both_know_the_same_of_each() -> None:
    for name, kind in kinds_of(Fault).items():
        own = {each.name for each in fields(kind)} - OF_ALL
        assert own == set(KINDS[name].keys), name
