"""What one scenario may ask for in all: mail, faults, operations and time.

A key alone is bounded where it is read. Here are the products that a few lines can blow up: an
alias of a stream, a rate over a month, recipients of each message, faults that repeat. Each limit
is far above what a run on one machine is for, and low enough that a plan is resolved in seconds.
Counted, never resolved: whoever breaks one of them is informed before any of it is drawn.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from lab.plan.check import RUN_MAX_MS
from lab.plan.quantities import SIZE_MAX_BYTES
from lab.plan.topology import PlanTopology
from lab.planning.random_settings import at_their_least, entries_of
from lab.planning.repeated_faults import servers_of
from lab.planning.resolve import workload_end_ms
from lab.planning.strangers import strangers_end_ms
from lab.scenario.faults import FaultModel
from lab.scenario.scenario import MailModel, ScenarioModel, messages_of
from lab.validation.mistakes import Mistake
from lab.validation.model_reader import Read
from lab.validation.topology_names import TopologyNames
from lab.validation.yaml_document import Trail
from nodes.core.config.units import format_timespan

MESSAGES_MAX = 100_000
RECIPIENTS_MAX = 300_000
MAIL_MAX_BYTES = 100 * SIZE_MAX_BYTES
ATTEMPTS_MAX = 20_000_000
FAULTS_MAX = 400
OPERATIONS_MAX = 200
STRANGERS_MAX = 10_000
HEARTBEATS_MAX = 20_000_000
MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class _Sum:
    """What streams add up to: how much each adds, how much is the most, and the words for it."""

    of: Callable[[MailModel], int]
    most: int
    rule: str
    hint: str
    unit: int = 1


def check_limits(
    read: Read[ScenarioModel], names: TopologyNames | None, topology: PlanTopology | None
) -> Iterator[Mistake]:
    """Each limit that the whole of the file goes beyond, at the first entry that does."""
    if read.model is None:
        return
    yield from _mail(read, read.model, topology)
    yield from _faults(read, read.model, topology)
    yield from _operations(read, read.model)
    yield from _strangers(read, read.model)
    yield from _time(read, read.model, names)


def run_ms(scenario: ScenarioModel) -> int:
    """The longest that a run of the file can take, in lab time."""
    mail_ms = workload_end_ms(scenario.workload)
    heals = [_last_end_ms(fault, mail_ms) for fault in scenario.faults]
    asked = [operation.at for operation in scenario.operations]
    called_ms = strangers_end_ms(scenario.strangers)
    return max([mail_ms, called_ms, *heals, *asked]) + scenario.settle


def faults_of(fault: FaultModel, topology: PlanTopology | None) -> int:
    """How many faults of the plan an entry stands for, at the most; counted, not made."""
    if fault.random is not None:
        return fault.random.count.high
    servers = servers_of(fault, topology) if topology is not None else fault.servers
    return fault.times_in_all * max(1, len(servers))


def _last_end_ms(fault: FaultModel, mail_ms: int) -> int:
    """A breakpoint is waited for while mail is sent."""
    return (
        fault.end_ms if fault.when is None else max(mail_ms, fault.start_ms) + (fault.for_ms or 0)
    )


def _mail(
    read: Read[ScenarioModel], scenario: ScenarioModel, topology: PlanTopology | None
) -> Iterator[Mistake]:
    if read.touched("workload"):
        return
    for each in _sums(run_ms(scenario), topology):
        total = 0
        for index, stream in enumerate(scenario.workload):
            total += each.of(stream)
            if total > each.most:
                value = f"{-(-total // each.unit)}{' with those before it' if index else ''}"
                rule = each.rule.format(each.most // each.unit)
                yield read.mistake(("workload", index), value, rule, each.hint)
                return


def recipients_of(stream: MailModel, topology: PlanTopology | None) -> int:
    """To how many a message of a stream goes at the most, where those of groups count as well: a
    group leads to all members of the topology's groups at the most.
    """
    groups = {each.address for each in topology.groups} if topology is not None else set[str]()
    if stream.to is None or not stream.to.group or topology is None:
        return stream.recipients.high
    members = {member for each in topology.groups for member in each.members} - groups
    return stream.recipients.high + len(members)


def _sums(end_ms: int, topology: PlanTopology | None) -> tuple[_Sum, ...]:
    def messages(stream: MailModel) -> int:
        return messages_of(stream.rate, stream.for_ms)

    return (
        _Sum(messages, MESSAGES_MAX, "messages, and {} is the most of a scenario", "send fewer"),
        _Sum(
            lambda stream: messages(stream) * recipients_of(stream, topology),
            RECIPIENTS_MAX,
            "recipients of messages, and {} is the most of a scenario",
            "send fewer messages, or to fewer recipients",
        ),
        _Sum(
            lambda stream: messages(stream) * stream.size,
            MAIL_MAX_BYTES,
            "MiB of mail, and {} is the most of a scenario",
            "send fewer messages, or smaller ones",
            MIB,
        ),
        _Sum(
            lambda stream: messages(stream) * max(1, (end_ms - stream.at) // stream.retry),
            ATTEMPTS_MAX,
            "attempts if servers refuse to the end of the run, and {} is the most of a scenario",
            "make retry longer, send fewer messages, or let the run end earlier",
        ),
    )


def _faults(
    read: Read[ScenarioModel], scenario: ScenarioModel, topology: PlanTopology | None
) -> Iterator[Mistake]:
    total = 0
    for index, fault in enumerate(scenario.faults):
        total += faults_of(fault, topology)
        if total > FAULTS_MAX:
            yield _too_many(read, ("faults", index), total, index, f"faults, and {FAULTS_MAX}")
            return


def _operations(read: Read[ScenarioModel], scenario: ScenarioModel) -> Iterator[Mistake]:
    total = len(scenario.operations)
    if total > OPERATIONS_MAX:
        place: Trail = ("operations", OPERATIONS_MAX)
        yield _too_many(read, place, total, 0, f"operations, and {OPERATIONS_MAX}")


def _strangers(read: Read[ScenarioModel], scenario: ScenarioModel) -> Iterator[Mistake]:
    total = 0
    for index, stream in enumerate(scenario.strangers):
        total += stream.count
        if total > STRANGERS_MAX:
            rule = f"strangers, and {STRANGERS_MAX}"
            yield _too_many(read, ("strangers", index), total, index, rule)
            return


def _too_many(
    read: Read[ScenarioModel], place: Trail, total: int, index: int, most: str
) -> Mistake:
    value = f"{total}{' with those before it' if index else ''}"
    return read.mistake(place, value, f"{most} is the most of a scenario", "write fewer")


def _time(
    read: Read[ScenarioModel], scenario: ScenarioModel, names: TopologyNames | None
) -> Iterator[Mistake]:
    parts = ("workload", "strangers", "faults", "operations", "settle")
    if any(read.touched(part) for part in parts):
        return
    length_ms = run_ms(scenario)
    if length_ms > RUN_MAX_MS:
        rule = f"is how long the run takes, and {format_timespan(RUN_MAX_MS)} is the most"
        hint = "let mail, faults, operations and settle end earlier"
        yield read.mistake(_latest(read, scenario), format_timespan(length_ms), rule, hint)
    elif names is not None:
        yield from _heartbeats(read, scenario, len(names.mailbox_servers), length_ms)


def _latest(read: Read[ScenarioModel], scenario: ScenarioModel) -> Trail:
    """What makes the run long: an entry that ends too late by itself, else the settling."""
    mail_ms = workload_end_ms(scenario.workload)
    ends: list[tuple[int, Trail]] = [
        *((each.at + each.for_ms, ("workload", at)) for at, each in enumerate(scenario.workload)),
        *((each.at + each.for_ms, ("strangers", at)) for at, each in enumerate(scenario.strangers)),
        *((_last_end_ms(each, mail_ms), ("faults", at)) for at, each in enumerate(scenario.faults)),
        *((each.at, ("operations", at)) for at, each in enumerate(scenario.operations)),
    ]
    last_ms, place = max(ends)
    is_the_settling = last_ms <= scenario.settle and read.document.at(("settle",)) is not None
    return ("settle",) if is_the_settling else place


def _heartbeats(
    read: Read[ScenarioModel], scenario: ScenarioModel, servers: int, length_ms: int
) -> Iterator[Mistake]:
    """Each mailbox server may ask each other one, all the time."""
    often = at_their_least(scenario)
    config = often.settings.TransportConfig.given()  # type: ignore[attr-defined]  # made at run time
    frequency_ms = config.get("ShadowHeartbeatFrequency")
    if not isinstance(frequency_ms, int):
        return
    count = servers * (servers - 1) * length_ms // frequency_ms
    if count > HEARTBEATS_MAX:
        name = ("TransportConfig", "ShadowHeartbeatFrequency")
        place = (
            "settings",
            *(("random", *name) if name in entries_of(scenario.settings) else name),
        )
        rule = f"heartbeats in the run, and {HEARTBEATS_MAX} is the most of a scenario"
        hint = "ask less often, or let the run end earlier"
        yield read.mistake(place, str(count), rule, hint)
