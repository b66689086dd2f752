"""One entry of `faults:` that stands for several: at several times, on several servers.

`every: 10m, times: 12` begins a fault again and again, `kill: [par-mbx1, site lyon]` concerns each
of these servers. Each server and each time is a plain fault of its own in the plan, with its own
id, evidence, healing and place in the fault record; so a claim excuses by each what that one
explains, and a server that came back late spoils no evidence but its own. What is random is
written out elsewhere (`lab.planning.random_schedule`).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from lab.plan.links import WORKLOAD, ends
from lab.plan.quantities import format_duration
from lab.plan.topology import PlanTopology
from lab.scenario.faults import REPEATING_KEYS, FaultModel


def occasions(fault: FaultModel) -> list[FaultModel]:
    """The entry at each of its times, in order."""
    if fault.every is None:
        return [fault]
    once = dict.fromkeys(REPEATING_KEYS)
    starts = (fault.start_ms + number * fault.every for number in range(fault.times_in_all))
    return [fault.model_copy(update={"at": start_ms, **once}) for start_ms in starts]


def servers_of(fault: FaultModel, topology: PlanTopology) -> list[str]:
    """The servers that an entry concerns, each once; none for a fault of links. A site stands for
    those on which that fault can act."""
    unfit = set(_without_databases(fault, topology))
    found = [
        server
        for word in fault.servers
        for server in ends(word, topology.servers, topology.sites)
        if server != WORKLOAD and not (word.startswith("site ") and server in unfit)
    ]
    return list(dict.fromkeys(found))


def _without_databases(fault: FaultModel, topology: PlanTopology) -> list[str]:
    """Whom a fault of what mailbox servers keep passes over; none for any other fault."""
    if fault.is_of_mailbox_servers:
        return [each.name for each in topology.servers if each.role != "mailbox"]
    if fault.returns_with == "same-queue-database":
        return []
    return [each.name for each in topology.servers if each.role == "frontend"]


def spread(fault: FaultModel, topology: PlanTopology) -> list[FaultModel]:
    """The faults of one time and one server that an entry stands for, in the order of starts."""
    if fault.servers in ([], servers_of(fault, topology)[:1]):
        return occasions(fault)
    return [
        each.model_copy(update={fault.kind: [server]})
        for each in occasions(fault)
        for server in servers_of(fault, topology)
    ]


def spread_all(faults: Sequence[FaultModel], topology: PlanTopology) -> list[FaultModel]:
    """What all entries stand for, in the order of the file."""
    return [each for fault in faults for each in spread(fault, topology)]


def written_apart(
    written: Mapping[str, Any], fault: FaultModel, topology: PlanTopology
) -> list[Mapping[str, Any]]:
    """What an entry stands for, each as a person would write it; `written` is the entry."""
    rest = {key: value for key, value in written.items() if key not in REPEATING_KEYS}
    return [_written_once(rest, each) for each in spread(fault, topology)]


def _written_once(rest: Mapping[str, Any], fault: FaultModel) -> Mapping[str, Any]:
    when = {} if fault.when is not None else {"at": format_duration(fault.start_ms)}
    servers = {fault.kind: fault.server} if fault.servers else {}
    return {**rest, **when, **servers}
