"""A proof and the catalogue of defects, for a terminal."""

from collections.abc import Iterable, Iterator, Sequence

from defects.defect import Defect
from lab.campaigns.prove.verdict import (
    BELIEVED,
    BROKEN,
    CAUGHT,
    ELSEWHERE,
    FINE,
    KNOWN,
    NOT_ASKED,
    NOT_RUN,
    PROVEN,
    SURPRISE,
    Finding,
    Proof,
    Soundness,
)


def listed(defects: Sequence[Defect]) -> Iterator[str]:
    """The catalogue: two lines for each."""
    width = max(len(each.name) for each in defects)
    for each in defects:
        what = f"{each.scenario}: {', '.join(each.claims)}"
        mark = "  (not caught yet)" if each.not_caught else ""
        yield f"{each.name:{width}}  {each.requirement:6}{what}{mark}"
        yield f"    {each.sentence}"
        if each.not_caught:
            yield f"    not caught: {each.not_caught}"


def told(made: Proof) -> Iterator[str]:
    """What was found, the worst last."""
    yield from _caught([each for each in made.findings if each.status == CAUGHT])
    yield from _requirements(made)
    yield from _known([each for each in made.findings if each.status == KNOWN])
    yield from _failed([each for each in made.findings if each.status not in FINE])
    yield from _sound(made.sound)


def _caught(found: Sequence[Finding]) -> Iterator[str]:
    width = max((len(each.defect.name) for each in found), default=0)
    for each in found:
        defect = each.defect
        by = ", ".join(defect.claims)
        yield f"  {defect.requirement:6}{defect.name:{width}}  {_seeds(each):8}  {by}"


def _seeds(each: Finding) -> str:
    return f"{each.caught} of {len(each.runs.seeds)}"


def _requirements(made: Proof) -> Iterator[str]:
    """Of those that a tried defect is about."""
    by_status: dict[str, list[str]] = {PROVEN: [], BELIEVED: [], NOT_ASKED: []}
    tried = {each.defect.requirement for each in made.findings}
    for name, (status, _) in made.requirements.items():
        if name in tried:
            by_status[status].append(name)
    for status, names in by_status.items():
        if names:
            yield f"{status} ({len(names)}): {', '.join(names)}"


def _known(found: Sequence[Finding]) -> Iterator[str]:
    if found:
        yield f"known and not caught ({len(found)}):"
    for each in found:
        yield f"  {each.defect.requirement:6}{each.defect.name}: {each.defect.not_caught}"


def _failed(found: Sequence[Finding]) -> Iterator[str]:
    if found:
        yield f"not caught as they must be ({len(found)}):"
    for each in found:
        yield f"  {each.defect.requirement:6}{each.defect.name}: {_why(each)}"


def _why(each: Finding) -> str:
    wanted = " and ".join(each.defect.claims)
    where = f"in {each.runs.scenario}"
    if each.status == NOT_RUN:
        return f"the lab could not run it {where}: {each.runs.ground[0]}"
    if each.status == BROKEN:
        return f"its node crashed, which breaks no promise: {each.runs.stopped[0]}"
    if each.status == SURPRISE:
        return f"{wanted} catches it {where}: take its not_caught out of the catalogue"
    if each.status == ELSEWHERE:
        return f"{wanted} passes it {where}, only {_claims(each.violated)} is violated"
    others = f", others: {_claims(each.violated)}" if each.violated else ""
    return f"{wanted} catches it {where} under {_seeds(each)} seeds{others}"


def _claims(violated: Iterable[str]) -> str:
    return ", ".join(sorted(violated))


def _sound(sound: Iterable[Soundness]) -> Iterator[str]:
    for each in sound:
        yield from (f"a sound node cannot be simulated: {line}" for line in each.runs.bugs)
        yield from (f"a sound node crashes: {line}" for line in each.runs.crashes)
        for name, runs in each.violated.items():
            seeds = f"{runs} of {len(each.runs.seeds)} seeds"
            yield f"a sound node violates {name} in {each.runs.scenario} under {seeds}"
        if not each.violated:
            for line in each.not_as_expected:
                yield f"a sound node is not as expected in {each.runs.scenario}, {line}"
