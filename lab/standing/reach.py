"""How a lab that stands is reached: its servers, its proxies, and what to type."""

import shlex
from collections.abc import Iterator

from lab.hosts.containers.ground.provision import Ground
from lab.plan.links import WORKLOAD
from lab.plan.plan import Plan


def how_to_reach(plan: Plan, ground: Ground) -> Iterator[str]:
    """Each server, each proxy, and what to type."""
    run = ground.run_id
    yield f"the lab stands: {run}"
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
    yield ""
    entry = f"kill: {plan.topology.servers[0].name}, for: 5m"
    yield f"  shadowlab do {shlex.quote(run)} {shlex.quote(entry)}"
    yield f"  shadowlab status {run}     # and queues, watch, send, heal"
    yield f"  shadowlab down {run}       # heals, settles, judges what was done"


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
