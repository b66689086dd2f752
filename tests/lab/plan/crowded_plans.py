"""Small plans in which two or three faults of any kinds begin or end within the same second.

Drawn from a number; the same number gives the same faults. Only what a person may write is drawn:
faults that cannot hold together (`lab.planning.collisions`) are drawn again. A group may be laid
behind others in one plan, so that a run on containers asks for many of them at once.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from random import Random
from typing import Any

from lab.plan.faults import LINK_KINDS, CorruptMailboxes, Fault
from lab.plan.link_faults import LinkFault
from lab.plan.operations import Failover, Resubmit, Switchover
from lab.plan.plan import Plan
from lab.plan.quantities import format_duration, format_skew
from lab.planning.collisions import collision
from lab.planning.random_fault import PERCENTS, SKEWS_MS
from lab.planning.resolve import resolve
from lab.scenario.faults import FaultModel
from lab.scenario.operations import OperationModel
from lab.scenario.random_faults import WAYS
from lab.scenario.scenario import MailModel
from tests.lab.hosts.simulator.plans import scenario

BASE = "lossless-switchover"  # its topology has copies of databases, and so an Active Manager
MAILBOX_SERVERS = ("par-mbx1", "par-mbx2", "par-mbx3", "lyo-mbx1", "lyo-mbx2", "lyo-mbx3")
SERVERS = (*MAILBOX_SERVERS, "ext1", "am1")
ENDS = (*SERVERS, "workload", "site paris", "site lyon")
GIVEN: Mapping[str, Mapping[str, str]] = {
    "cut": {},
    "slow": {"latency": "2s", "jitter": "400ms"},
    "throttle": {"rate": "4KiB/s"},
    "limit_data": {"bytes": "16KiB"},
    "slice": {"pieces": "256B", "pause": "10ms"},
    "drip": {"latency": "2s", "rate": "1KiB/s"},
    "reset_after": {"after": "5s"},
    "slow_close": {"delay": "5s"},
}
OF_LINKS = tuple(
    f"{kind}-{way}" if way else kind for kind in LINK_KINDS for way in WAYS.get(kind, ("",))
)
OF_SERVERS = ("kill", "kill-new", "pause", "stop", "restart")
OF_MAILBOX_SERVERS = ("corrupt", "fill_disk", "disk_use", "skew_clock")
AT_A_PLACE = ("place-cut", "place-kill")
KINDS = (*OF_LINKS, *OF_SERVERS, *OF_MAILBOX_SERVERS, *AT_A_PLACE, "operation")
FIRST_MS, SHORTEST_MS, LONGEST_MS = 300_000, 60_000, 120_000
GAP_MS = 420_000  # from one group to the next: servers are back, and sessions that hung given up
SETTLE_MS = 120_000

Written = Mapping[str, Any]


def crowded(number: int, from_ms: int = FIRST_MS) -> list[Written]:
    """The faults, and operations, of one group as a person writes them."""
    draw = Random(number)
    while True:
        found = [*_group(draw, from_ms)]
        if _go_together(found):
            return found


def plan_of(groups: Iterable[Sequence[Written]], speed: float = 60.0, rate: str = "12/m") -> Plan:
    """One plan of these groups, with mail all the time."""
    written = [each for group in groups for each in group]
    checked = scenario(BASE)
    model = checked.scenario
    models = [FaultModel.model_validate(each) for each in written if not _is_operation(each)]
    end_ms = max([FIRST_MS, *(each.end_ms for each in models)]) + LONGEST_MS
    mail = {"mail": "inbound", "at": "1s", "for": format_duration(end_ms), "rate": rate}
    changes: Mapping[str, Any] = {
        "faults": models,
        "operations": [
            OperationModel.model_validate(each) for each in written if _is_operation(each)
        ],
        "workload": [MailModel.model_validate(mail)],
        "settle": SETTLE_MS,
        "clock": model.clock.model_copy(update={"speed": speed}),
    }
    return resolve(model.model_copy(update=changes), checked.topology, 1)


def without_evidence(faults: Iterable[str], operations: Iterable[str], plan: Plan) -> list[str]:
    """What the journal's lines do not prove: that each fault applied and healed, in words."""
    rows = [json.loads(line) for line in [*faults, *operations]]
    proved = {
        (row.get("fault") or row["operation"], row["phase"]): row
        for row in rows
        if row["phase"] in ("evidence", "evidence-healed")
    }
    wanted = [
        *((each.id, "evidence") for each in (*plan.faults, *plan.operations)),
        *((each.id, "evidence-healed") for each in plan.faults),
    ]
    return [
        f"{identity}, {phase}: {proved.get((identity, phase), {}).get('reason', 'not asked')}"
        for identity, phase in wanted
        if proved.get((identity, phase), {}).get("took_effect") is not True
    ]


def _group(draw: Random, from_ms: int) -> Iterator[Written]:
    edges = [from_ms, from_ms + draw.randrange(SHORTEST_MS, LONGEST_MS)]
    yield _written(draw, draw.choice(KINDS), *edges)
    for _ in range(draw.choice((1, 1, 2))):
        start_ms = draw.choice(edges) + draw.choice((0, draw.randrange(-999, 1000)))
        length_ms = draw.randrange(SHORTEST_MS, LONGEST_MS)
        if draw.random() < 0.5:
            start_ms -= length_ms  # its end is near the edge, not its start
        edges += [start_ms, start_ms + length_ms]
        yield _written(draw, draw.choice(KINDS), start_ms, start_ms + length_ms)


def _written(draw: Random, kind: str, start_ms: int, end_ms: int) -> Written:
    at = {"at": format_duration(start_ms)}
    lasts = {"for": format_duration(end_ms - start_ms)}
    if kind == "operation":
        return {**at, "failover": draw.choice(("DB1", "DB2"))}
    if kind in AT_A_PLACE:
        server = draw.choice(MAILBOX_SERVERS)
        when = {"server": server, "at": "after-data-before-250", "after": at["at"]}
        act = {"kill": server} if kind == "place-kill" else _of_links(draw, "cut-refuse")
        return {"when": when, **lasts, **act}
    if kind in OF_LINKS:
        return {**at, **lasts, **_of_links(draw, kind)}
    server = draw.choice(SERVERS if kind in OF_SERVERS else MAILBOX_SERVERS)
    if kind == "restart":
        return {**at, "restart": server}
    if kind == "kill-new":
        return {**at, **lasts, "kill": server, "returns_with": "new-queue-database"}
    by: dict[str, Any] = {}
    if kind == "skew_clock":
        by = {"by": format_skew(draw.choice(SKEWS_MS))}
    elif kind == "disk_use":
        by = {"percent": draw.choice(PERCENTS)}
    return {**at, **lasts, kind: server, **by}


def _of_links(draw: Random, word: str) -> Written:
    between = draw.sample(ENDS, 2)
    one_way = {"from": between[0], "to": between[1]}
    links = draw.choice((one_way, {"between": between}))
    kind, _, way = word.partition("-")
    ways = {"kind" if kind == "cut" else "direction": way} if way else {}
    return {kind: {**links, **GIVEN[kind], **ways}}


def _go_together(written: Sequence[Written]) -> bool:
    """Whether a person may write them in one file, and each can be reached at all."""
    plan = plan_of([written])
    of_databases = Failover | Switchover | Resubmit
    asked = [each.database for each in plan.operations if isinstance(each, of_databases)]
    if len(asked) > len(set(asked)):
        return False  # one at a time
    copies = {d.name: {each.server for each in d.copies} for d in plan.topology.databases}
    needed = set().union(*(copies[database] for database in asked))
    if any(isinstance(fault, LinkFault) and not fault.links for fault in plan.faults):
        return False
    if any(collision(*pair) for pair in combinations(plan.faults, 2)):
        return False
    if asked and any("am1" in _touched(fault) for fault in plan.faults):
        return False  # who is away decides nothing
    if any(needed & _touched(each) for each in plan.faults if not isinstance(each, LinkFault)):
        return False  # there may be no copy to mount
    waiting = [fault.when.server for fault in plan.faults if fault.when is not None]
    others = [fault for fault in plan.faults if fault.when is None]
    return not any(server in _touched(fault) for server in waiting for fault in others)


def _touched(fault: Fault) -> set[str]:
    if isinstance(fault, LinkFault):
        return {end for link in fault.links for end in (link.source, link.target)}
    return set() if isinstance(fault, CorruptMailboxes) else {fault.server}


def _is_operation(written: Written) -> bool:
    return "failover" in written
