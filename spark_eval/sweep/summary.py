"""What a person reads on the terminal after a sweep: the verdict, what failed and how to see it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from spark_eval.program.printable import visible_lines
from spark_eval.sweep.combinations import never_at_all

MOST_GROUPS = 10
MOST_PAIRS = 12


def summary(content: Mapping[str, Any]) -> str:
    """`content` is that of the sweep's verdict.json."""
    return visible_lines(_lines(content))


def _lines(content: Mapping[str, Any]) -> Iterator[str]:
    judged, asked = content["judged"], content["seeds"]
    yield f"verdict: {content['verdict']}: {content['scenario']}, {judged} of {asked} seeds judged"
    yield "  " + ", ".join(f"{count} {name}" for name, count in content["counts"].items() if count)
    for title in ("failures", "unknowns"):
        yield from _groups(title, content[title])
    never = [name for name, counts in content["requirements"].items() if not counts["asked"]]
    if never:
        yield f"  asked by no seed: {', '.join(never)}"
    yield from _combinations(content["combinations"])


def _combinations(met: Mapping[str, Any]) -> Iterator[str]:
    if not met["possible"]:
        return
    of = "phase, fault and setting" if met["drawn"] else "phase and fault"
    yield f"  met {met['met']} of {met['possible']} combinations of {of}"
    never = list(never_at_all(met))
    if never:
        more = f", and {len(never) - MOST_PAIRS} more" if len(never) > MOST_PAIRS else ""
        yield f"  never met: {', '.join(never[:MOST_PAIRS])}{more}"
    if met["never_met"]:
        yield "  met under some settings alone: see combinations in verdict.json"


def _groups(title: str, groups: list[dict[str, Any]]) -> Iterator[str]:
    for group in groups[:MOST_GROUPS]:
        claim = f"{group['claim']}: " if group["claim"] else ""
        seeds = ", ".join(str(seed) for seed in group["first_seeds"])
        yield f"  {title}: {claim}{group['cause']}"
        yield f"      {group['seeds']} seeds, first {seeds}: {group['replay']}"
    if len(groups) > MOST_GROUPS:
        yield f"  {title}: {len(groups) - MOST_GROUPS} more causes in verdict.json"
