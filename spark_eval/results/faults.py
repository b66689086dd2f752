"""Faults as they happened."""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.histories.run import Run
from spark_eval.results.row import Row


def fault_window_rows(run: Run) -> Iterator[Row]:
    """In the order of the plan."""
    for each in run.faults:
        keys, phases = each.planned.keys, each.phases
        links = [
            {"from": link.from_, "to": link.to, "service": link.service} for link in each.links
        ]
        yield {
            "run": run.name,
            "fault": each.id,
            "kind": each.planned.kind,
            "cut_kind": keys.get("cut_kind"),
            "direction": keys.get("direction"),
            "server": each.server,
            "returns_with": each.returns_with,
            "links": links or None,
            "slowed_ms": each.late_ms,
            "by_ms": each.by_ms,
            "intended_ms": phases.intended_ms,
            "applied_ms": phases.applied_ms,
            "applied_mono_ns": phases.applied_mono_ns,
            "took_effect": each.took_effect,
            "reason": each.reason,
            "heal_intended_ms": phases.heal_intended_ms,
            "healed_ms": phases.healed_ms,
            "banner_ms": phases.banner_ms,
            "over_ms": each.over_ms,
        }
