"""What a person reads on the terminal: the verdict first, a line a claim, then where the report
lies. It speaks of the run; what no run asks yet is the list of requirements' to say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from spark_eval.cases.case import VIOLATED
from spark_eval.judging.judged import JudgedRun
from spark_eval.judging.results import NOT_APPLICABLE, ClaimResult
from spark_eval.program.printable import visible_lines
from spark_eval.results.files import example_text
from spark_eval.story.words import lab_time

MOST_FATES = 5


def summary(run: JudgedRun) -> str:
    """Several lines of plain text, readable without colour."""
    return visible_lines(_lines(run))


def _lines(run: JudgedRun) -> Iterator[str]:
    verdict = run.verdict
    expected = (
        "" if verdict.expected == verdict.verdict else f" (its file expects {verdict.expected})"
    )
    yield f"verdict: {verdict.verdict}{expected}: {run.folder.scenario}, seed {run.folder.seed}"
    yield from (f"  because {reason}" for reason in verdict.reasons)
    yield from (f"  not as expected: {each}" for each in verdict.not_as_expected)
    yield f"  {_delivery(run.delivery)}"
    yield from (f"      {_fate(fate)}" for fate in run.fates[:MOST_FATES])
    yield from (f"  {each}" for each in _exposure(run.exposure))
    yield from (f"  at risk: {each}" for each in run.safety_net["at_risk"])
    asked = [each for each in run.results.values() if each.status != NOT_APPLICABLE]
    width = max((len(result.name) for result in asked), default=0)
    for result in asked:
        yield f"  {result.name:<{width}}  {_counts(result)}"
        if result.status == VIOLATED:
            yield from (f"      {example_text(example)}" for example in result.examples)
    aside = [name for name, each in run.results.items() if each.status == NOT_APPLICABLE]
    if aside:
        yield f"  {NOT_APPLICABLE}: {', '.join(aside)}"
    yield from (f"  damage: {_damage(entry)}" for entry in run.log_damage)


def _counts(result: ClaimResult) -> str:
    text = f"{result.status:<8}  {result.asked} checked"
    if result.violations:
        text += f", {result.violations} violated"
    if result.unknown:
        text += f", {result.unknown} unknown"
    return text if result.status == VIOLATED or not result.reason else f"{text}: {result.reason}"


def _delivery(counts: Mapping[str, object]) -> str:
    told = ("expected", "delivered", "lost", "excused")
    return "deliveries: " + ", ".join(f"{counts[name]} {name}" for name in told)


def _exposure(exposure: Mapping[str, Any]) -> Iterator[str]:
    """Nothing where every message was on two servers all the time."""
    if exposure["messages"]:
        seconds = (exposure[name] for name in ("message_seconds", "longest_seconds"))
        message_time, longest = (lab_time(1000 * each) for each in seconds)
        yield (
            f"exposure: {exposure['messages']} messages had fewer than two custodians, for "
            f"{message_time} together, the longest {longest}"
        )


def _fate(fate: Mapping[str, object]) -> str:
    return f"{fate['deliveries']} {fate['outcome']}: {fate['reason']}"


def _damage(entry: Mapping[str, object]) -> str:
    line = f", first line {entry['first_line']}" if entry["first_line"] else ""
    return f"{entry['file']}: {entry['damage']}, {entry['lines']}{line}"
