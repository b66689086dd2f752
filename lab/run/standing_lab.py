"""A lab that stands, to look round in and to break by hand: provisioned, verified, its clock going.

Mail is sent as the plan says; none of its faults happens. Nothing is recorded or judged. Whatever
went wrong on the way is removed again; a lab that stands is removed by `shadowlab down`.
"""

import secrets
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from lab.hosts.containers.ground.provision import Ground
from lab.hosts.host import Means, Say
from lab.plan.links import WORKLOAD
from lab.plan.plan import Plan
from lab.program.errors import INTERRUPTED, PASS, GroundError, LabError, print_error
from lab.program.watchdog import Interrupted, TimeIsUp, Watchdog
from lab.record.folder import STAMP, RunFolder
from lab.run.outcome import say_to_stderr

GROUND_AT_MOST_SECONDS = 3600.0  # images may have to be built


class StandingHost(Protocol):
    """A host of which more is known than a run needs: where everything is."""

    def up(self, plan: Plan, folder: RunFolder, say: Say) -> Means: ...

    def start_clock(self) -> int: ...

    def down(self) -> None: ...

    @property
    def ground(self) -> Ground: ...


@dataclass(frozen=True, slots=True)
class Stood:
    """A lab that was asked to stand: the run's id, and 0, 3 or 130."""

    run_id: str
    exit_code: int


def stand(plan: Plan, state: Path, host: StandingHost, say: Say = say_to_stderr) -> Stood:
    """Bring it up, set its clock going, print how it is reached. Causes go to stderr."""
    run_id = f"{plan.scenario}-{datetime.now(UTC).strftime(STAMP)}-up-{secrets.token_hex(2)}"
    folder = RunFolder(state / run_id, run_id)
    calm = replace(plan, faults=())
    try:
        with Watchdog(say) as watchdog:
            watchdog.bound(GROUND_AT_MOST_SECONDS)
            _stand(calm, folder, host, watchdog, say)
    except Interrupted as signal_name:
        cause = LabError(INTERRUPTED, f"ended by {signal_name}", "what had been made is removed")
        return Stood(run_id, print_error(cause))
    except TimeIsUp:
        return Stood(run_id, print_error(GroundError("the lab did not come up in an hour")))
    except LabError as error:
        return Stood(run_id, print_error(error))
    print(*how_to_reach(calm, host.ground), sep="\n")
    return Stood(run_id, PASS)


def _stand(plan: Plan, folder: RunFolder, host: StandingHost, watchdog: Watchdog, say: Say) -> None:
    """Up to a clock that goes; removed again where that fails."""
    stands = False
    try:
        host.up(plan, folder, say)
        host.start_clock()
        stands = True
    finally:
        watchdog.take_down()
        complaints: list[str] = []
        if not stands:
            with watchdog.step("removing the lab", 180, complaints):
                host.down()
        for complaint in complaints:
            say(f"take-down: {complaint}")


def how_to_reach(plan: Plan, ground: Ground) -> Iterator[str]:
    """Each server, each proxy, and what to type to break one by hand."""
    yield f"the lab stands: {ground.run_id}"
    yield f"state: {ground.state_dir}"
    yield f"clock: lab time goes on, {plan.clock.speed:g} lab seconds a second"
    yield ""
    yield "servers, by container:"
    yield from _servers(plan, ground)
    yield f"  {WORKLOAD:<12}  docker exec -it {ground.workload_container} sh"
    yield ""
    yield f"proxies, of Toxiproxy at {ground.toxiproxy_api} (from, to, service):"
    width = max((len(link.proxy) for link in ground.links.values()), default=0)
    for link in ground.links.values():
        yield f"  {link.proxy:<{width}}  :{link.listen_port} -> {link.upstream}"
    yield from _by_hand(ground)


def _servers(plan: Plan, ground: Ground) -> Iterator[str]:
    reached = {
        target: link.listen_port
        for (source, target, service), link in ground.links.items()
        if source == WORKLOAD and service == "smtp"
    }
    for server in plan.topology.servers:
        container = ground.containers[server.name]
        port = reached.get(server.name)
        smtp = f"  SMTP from {WORKLOAD}: {ground.toxiproxy_host}:{port}" if port else ""
        yield f"  {server.name:<12}  docker exec -it {container} sh{smtp}"


def _by_hand(ground: Ground) -> Iterator[str]:
    some = next(iter(ground.links.values()), None)
    if some is None:
        return
    proxy = f"{ground.toxiproxy_api}/proxies/{some.proxy}"
    late = '{"type": "latency", "attributes": {"latency": 1000}}'
    yield ""
    yield "by hand:"
    yield f"  curl -s {ground.toxiproxy_api}/proxies"
    yield f"  curl -s -X POST {proxy} -d '{{\"enabled\": false}}'     # and true again"
    yield f"  curl -s -X POST {proxy}/toxics -d '{late}'"
    if ground.containers:
        yield f"  docker kill {next(iter(ground.containers.values()))}     # docker start heals"
    yield f"  shadowlab down {ground.run_id}"
