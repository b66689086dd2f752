"""A claim is asked of servers whose record can show what it needs, and of no other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache

from spark_eval.cases.case import Case
from spark_eval.claims.claim import Claim
from spark_eval.histories.run import Run

Cases = Callable[..., Iterable[Case]]


def shown(cases: Cases | None, claim: Claim, run: Run) -> Cases | None:
    """`cases` without those of servers that lack what the claim needs; None where all do."""
    if cases is None or not claim.needs:
        return cases

    @cache
    def is_shown(server: str | None) -> bool:
        return run.organisation.shows(server, claim.needs)

    shows = {is_shown(name) for name in (None, *run.servers)}

    def of_shown(*histories: object) -> Iterator[Case]:
        return (case for case in cases(*histories) if is_shown(case.server))

    if shows == {False}:
        return None
    return cases if shows == {True} else of_shown
