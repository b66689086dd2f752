"""What Active Manager can see, and when: how long it needs to find that a copy is silent (TP-6)."""

from __future__ import annotations

from spark_eval.histories.organisation.server import ACTIVE_MANAGER, Server
from spark_eval.histories.run import Run
from spark_eval.read.clocks_off import FAR_ABOVE


def need_ms(server: Server, run: Run) -> int:
    """Within so long it surely asks a copy that nothing keeps from answering."""
    exchanges_ms = 2 * int(1000 * run.speed)
    clocks_ms = FAR_ABOVE * run.finest_ms + server.askew_ms
    silent_ms, interval_ms = run.software.silent_ms, run.software.copy_status_interval_ms
    return silent_ms + interval_ms + exchanges_ms + clocks_ms


def managers(dag: str | None, run: Run) -> list[Server]:
    """That of a DAG, which knows nothing of another one; none of a server in no DAG."""
    known = (each for each in run.servers.values() if each.role == ACTIVE_MANAGER)
    return [each for each in known if each.dag == dag]


def is_permitted(copy: Server, before: Server) -> bool:
    """By DatabaseCopyAutoActivationPolicy, to follow the copy on `before` by itself."""
    policy = copy.auto_activation
    return policy == "Unrestricted" or (policy == "IntrasiteOnly" and copy.site == before.site)
