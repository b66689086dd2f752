"""The servers of a run, out of its plan and of everything that says what became of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from spark_eval.fault_kinds import NEVER, Does
from spark_eval.histories.faults import Fault
from spark_eval.histories.organisation.evidence import evidence_of
from spark_eval.histories.organisation.pressure import limits_of, spans_of
from spark_eval.histories.organisation.server import (
    EVERYWHERE,
    UNLOGGED_WALL_MS,
    Down,
    Server,
    eras_of,
    holes_of,
)
from spark_eval.histories.organisation.settings import mount_dial, server_config
from spark_eval.read.clocks_off import FAR_ABOVE
from spark_eval.read.damage import Damage
from spark_eval.read.logs import Logs
from spark_eval.read.plan import PlannedServer
from spark_eval.read.record import Record
from spark_eval.read.rows import collected, grouped


def servers_of(record: Record, logs: Logs, faults: Iterable[Fault]) -> dict[str, Server]:
    """By name, in the order of the plan."""
    clock = record.heading.clock
    planned = [each for each in record.heading.plan.topology.servers or () if each.name is not None]
    unlogged_ms = int(UNLOGGED_WALL_MS * clock.speed)
    slack_ms = unlogged_ms + FAR_ABOVE * clock.finest_ms
    skews = [life.skew_ms for lives in record.lives.values() for life in lives]
    askew_ms = max(skews, default=0) - min(skews, default=0)
    downs, seen, damage = (
        _downs(faults),
        _seen_databases(record, logs),
        _damage_by_server(record.damage),
    )
    lost = collected(
        (each.server, (each.disk_lost_ms, each.returns_with == NEVER))
        for each in faults
        if each.server is not None and each.disk_lost_ms is not None
    )
    said = grouped(record.rows.lifecycle, lambda row: row.server)
    found = {}
    for each in planned:
        name = (each.name or "").lower()
        own = tuple(sorted(downs.get(name, ())))
        untracked = name in record.heading.untracked
        found[name] = Server(
            name=name,
            fqdn=each.fqdn or name,
            role=each.role or "",
            site=each.site,
            dag=each.dag,
            domain=each.domain,
            auto_activation=each.auto_activation or "Unrestricted",
            mount_dial=mount_dial(each.mount_dial),
            evidence=evidence_of(each, record),
            config=server_config(_sections(record, each)),
            downs=own,
            holes=EVERYWHERE if untracked else holes_of(damage.get(name, ()), own, unlogged_ms),
            eras=eras_of(seen.get(name, ()), _gone_ms(lost.get(name, ()))),
            lives=record.lives.get(name, ()),
            slack_ms=slack_ms,
            askew_ms=askew_ms,
            limits=limits_of(_sections(record, each).get("TransportService") or {}),
            pressure=spans_of(
                said.get(name, ()), [life.lo_ms for life in record.lives.get(name, ())], slack_ms
            ),
            disks_lost=tuple(sorted(at_ms for at_ms, _ in lost.get(name, ()))),
        )
    return found


def _gone_ms(lost: Iterable[tuple[int, bool]]) -> int | None:
    """When the server was gone for good, if it was."""
    return next((at_ms for at_ms, is_for_good in lost if is_for_good), None)


def _sections(record: Record, server: PlannedServer) -> Mapping[str, Mapping[str, str]]:
    return record.heading.plan.server_config.get(server.name or "") or {}


def _downs(faults: Iterable[Fault]) -> dict[str, list[Down]]:
    return collected(
        (each.server, Down(each.outage, each.kind))
        for each in faults
        if each.acts_on_server and each.does in (Does.AWAY, Does.IN_DOUBT)
        if each.server is not None and each.outage is not None
    )


def _seen_databases(record: Record, logs: Logs) -> dict[str, list[tuple[int, str]]]:
    said = (
        (row.server, (row.at_ms, row.database_id))
        for row in record.rows.lifecycle
        if row.database_id and row.at_ms is not None
    )
    seen = ((server, (at_ms, name)) for (server, name), at_ms in logs.seen_ms.items())
    return collected((*said, *seen))


def _damage_by_server(
    damage: Iterable[Damage],
) -> dict[str, list[tuple[int | None, int | None]]]:
    return collected((each.server, (each.from_ms, each.to_ms)) for each in damage if each.server)
