"""Whether what a scenario names exists: requirements, servers, sites, databases, mailboxes.

Takes a scenario as read (whatever of it could be read) and the nouns of its topology; `names` is
None when the topology itself could not be found. What depends on time is in
`lab.validation.timeline`.
"""

from collections.abc import Iterator
from typing import Any

from lab.plan.links import WORKLOAD
from lab.planning.messages import OUTSIDE_USERS
from lab.planning.random_settings import contradicted, entries_of
from lab.scenario.faults import OF_MAILBOX_SERVERS, FaultModel, WhenModel
from lab.scenario.requirements import REQUIREMENTS, families
from lab.scenario.scenario import (
    OF_MAILBOXES,
    MailModel,
    RecipientsModel,
    ScenarioModel,
    SendersModel,
)
from lab.scenario.settings import organisation, written_for
from lab.scenario.strangers import StrangersModel
from lab.scenario.topology import FOLDERS, USER
from lab.validation.mistakes import Mistake
from lab.validation.model_reader import Read
from lab.validation.operation_names import (
    changes_in_a_circle,
    changes_of_nothing,
    check_operation,
    moves_in_vain,
    no_database,
    not_copied,
)
from lab.validation.topology import NEAR_AMONG
from lab.validation.topology_names import TopologyNames
from lab.validation.yaml_document import Trail
from nodes.core.config.contradictions import Contradiction, contradictions
from nodes.core.config.error import suggestion
from nodes.shell.chaos.places import Place

ScenarioRead = Read[ScenarioModel]
_OF_DATABASES = ("power_loss", *OF_MAILBOX_SERVERS)
OF_FRONT_ENDS: Place = "after-data-before-250"
TO_MAILBOXES = ("inbound", "internal")
"""The mail that goes to mailboxes unless it says something else."""
EVERY_ONE = "shadowlab list requirements says what each promises"


def check_names(read: ScenarioRead, names: TopologyNames | None) -> Iterator[Mistake]:
    """Every name in a scenario that nothing stands for."""
    scenario = read.model
    if scenario is None:
        return
    yield from _proves(read, scenario)
    if names is None:
        return
    for name in scenario.settings.servers:  # type: ignore[attr-defined]  # made at run time
        if name not in names.called:
            trail: Trail = ("settings", "servers", name)
            yield _no_mailbox_server(read, trail, name, names, of_key=True)
    for index, stream in enumerate(scenario.workload):
        if ("workload",) not in read.cut:  # else it is a placeholder
            yield from _mail(read, ("workload", index), stream, names)
    for index, callers in enumerate(scenario.strangers):
        yield from _callers(read, ("strangers", index), callers, names)
    for index, fault in enumerate(scenario.faults):
        yield from _fault(read, ("faults", index), fault, names)
    for index, promotion in enumerate(scenario.expect.promotions or []):
        if promotion.of not in names.mailbox_servers:
            trail = ("expect", "promotions", index, "of")
            yield _no_mailbox_server(read, trail, promotion.of, names)
    for index, operation in enumerate(scenario.operations):
        yield from check_operation(read, ("operations", index), operation, names)
    yield from changes_of_nothing(read, scenario)
    yield from changes_in_a_circle(read, scenario, names)
    streams = [stream for stream in scenario.workload if stream.mail == "internal"]
    senders = {each for stream in streams for each in _senders(stream, names)}
    yield from moves_in_vain(read, scenario, senders)
    for index, expected in enumerate(scenario.expect.resubmissions or []):
        asked = [each.resubmit for each in scenario.operations]
        check = no_database if expected.database in asked else not_copied
        if (wrong := check(expected.database, names)) is not None:
            trail = ("expect", "resubmissions", index, "database")
            yield read.mistake(trail, expected.database, *wrong)


def check_settings(read: ScenarioRead, names: TopologyNames | None) -> Iterator[Mistake]:
    """Settings that contradict each other (SR-13), at the place of one that the file gives."""
    if read.model is None:
        return
    settings = read.model.settings
    if entries_of(settings):
        yield from _random_settings(read, settings)
        return
    servers = list(names.mailbox_servers) if names else list(settings.servers)  # type: ignore[attr-defined]
    written = {server: written_for(settings, server) for server in servers}
    transport_config = organisation(settings)
    given = {("TransportConfig", name) for name in transport_config}
    seen: set[tuple[Trail, str]] = set()
    for found in contradictions(transport_config, written, given):
        trail = _place_of(read, found)
        if trail is None or (trail, found.message) in seen:
            continue
        seen.add((trail, found.message))
        yield read.mistake(trail, "", found.message, found.hint)


def _random_settings(read: ScenarioRead, settings: Any) -> Iterator[Mistake]:
    """What is random and fixed, and what contradicts itself whatever is drawn."""
    here: Trail = ("settings", "random")
    for section, name in entries_of(settings):
        if name in getattr(settings, section).model_fields_set:
            rule = f"is fixed by settings.{section} already"
            yield read.mistake((*here, section, name), name, rule, "keep one of them", of_key=True)
    found = None if read.touched("settings") else contradicted(settings)
    if found is not None:
        rule = f"whatever is drawn, {found.message}"
        yield read.mistake(here, "", rule, found.hint, of_key=True)


def _place_of(read: ScenarioRead, found: Contradiction) -> Trail | None:
    """Where the file gives one of the names; None if what it gives was cut for another mistake."""
    groups: list[Trail] = [("settings", "servers", found.server)] if found.server else []
    groups.append(("settings",))
    trails = [(*group, *name.split(".")) for group in groups for name in found.names]
    if any(trail in read.cut for trail in trails):
        return None
    return next((trail for trail in trails if read.document.at(trail) is not None), ("settings",))


def _proves(read: ScenarioRead, scenario: ScenarioModel) -> Iterator[Mistake]:
    for index, requirement in enumerate(scenario.proves):
        trail: Trail = ("proves", index)
        if requirement not in REQUIREMENTS:
            hint = suggestion(requirement, REQUIREMENTS)
            hint = hint if hint.startswith("did") else f"{EVERY_ONE}; there are {families()}"
            yield read.mistake(trail, requirement, "is no requirement", hint)


def _mail(
    read: ScenarioRead, here: Trail, stream: MailModel, names: TopologyNames
) -> Iterator[Mistake]:
    yield from _called(read, (*here, "via"), stream.via, names)
    unknown = list(_unknown(read, here, stream, names))
    yield from unknown
    if not unknown and not read.touched(*here):
        yield from _direction(read, here, stream, names)


def _called(
    read: ScenarioRead, here: Trail, servers: list[str], names: TopologyNames
) -> Iterator[Mistake]:
    """Those that are neither mailbox servers nor front ends."""
    for index, server in enumerate(servers):
        if server not in names.called:
            yield _no_mailbox_server(read, (*here, index), server, names)


def _callers(
    read: ScenarioRead, here: Trail, stream: StrangersModel, names: TopologyNames
) -> Iterator[Mistake]:
    yield from _called(read, (*here, "to"), stream.to, names)
    if "other-server" in stream.who and len(names.mailbox_servers) < 2:
        place = (*here, "who", stream.who.index("other-server"))
        rule = "needs another mailbox server, whose certificate it shows"
        yield read.mistake(place, "other-server", rule, "add a server, or leave it out")


def _unknown(
    read: ScenarioRead, here: Trail, stream: MailModel, names: TopologyNames
) -> Iterator[Mistake]:
    """Databases, mailboxes, groups and domains that are not there."""
    for key, people in (("from", stream.source), ("to", stream.to)):
        if people is not None:
            for noun, known in (("database", names.databases), ("mailbox", names.recipients)):
                yield from _people(read, (*here, key), noun, getattr(people, noun), known)
    if stream.to is not None:
        yield from _people(read, (*here, "to"), "domain", stream.to.domain, names.domains)
        yield from _people(read, (*here, "to"), "group", stream.to.group, names.groups)


def _people(
    read: ScenarioRead, here: Trail, noun: str, found: list[str], known: tuple[str, ...]
) -> Iterator[Mistake]:
    there, some = set(known), known[:NEAR_AMONG]
    for index, name in enumerate(found):
        if name not in there:
            several = f"known are {', '.join(known[:6])}" if known else f"it has no {noun}"
            hint = _near(name, some) or several
            rule = f"is no {noun} of the topology"
            yield read.mistake((*here, noun, index), name, rule, hint)


def _direction(
    read: ScenarioRead, here: Trail, stream: MailModel, names: TopologyNames
) -> Iterator[Mistake]:
    if stream.mail == "inbound" and stream.to is not None and stream.to.domain:
        rule = "inbound mail goes to mailboxes"
        hint = "use mail: relay, or mail: outbound for what comes from a mailbox"
        yield read.mistake((*here, "to", "domain"), "", rule, hint)
        return
    goes_outside = stream.to is None or bool(stream.to.domain)
    if stream.mail in ("outbound", "relay") and not (goes_outside and names.domains):
        hint = f"known domains are {', '.join(names.domains)}" if names.domains else ""
        hint = hint or "add a server with role: external to the topology"
        rule = f"{stream.mail} mail needs an external domain"
        yield read.mistake((*here, "to"), "", rule, hint)
        return
    if stream.mail in OF_MAILBOXES and not _senders(stream, names):
        hint = "name a database that has mailboxes, or leave it out and have mailboxes"
        yield read.mistake((*here, "from"), "", "is nobody's mailbox", hint)
        return
    available = _available(stream, names)
    if stream.recipients.high > available:
        value = f"up to {stream.recipients.high}"
        rule = f"is more than the {available} that `to` stands for"
        yield read.mistake((*here, "recipients"), value, rule, "widen to, or ask for fewer")


def _available(stream: MailModel, names: TopologyNames) -> int:
    """How many recipients a stream may choose from."""
    if stream.to is None:
        in_domains = OUTSIDE_USERS * len(names.domains)
        return len(names.recipients) if stream.mail in TO_MAILBOXES else in_domains
    inside = _mailboxes_of(stream.to, names)
    groups = len(set(stream.to.group))
    return len(inside) + groups + OUTSIDE_USERS * len(set(stream.to.domain))


def _senders(stream: MailModel, names: TopologyNames) -> set[str]:
    """Who may send mail of mailboxes."""
    return set(names.mailboxes) if stream.source is None else _mailboxes_of(stream.source, names)


def _mailboxes_of(people: RecipientsModel | SendersModel, names: TopologyNames) -> set[str]:
    prefixes = tuple(
        f"{database.lower()}-{what}" for database in people.database for what in (USER, FOLDERS)
    )
    reads_only = isinstance(people, RecipientsModel)
    known = names.recipients if reads_only else names.mailboxes
    return {each for each in known if each.startswith(prefixes)} | set(people.mailbox)


def _fault(
    read: ScenarioRead, here: Trail, fault: FaultModel, names: TopologyNames
) -> Iterator[Mistake]:
    if fault.links is not None:
        for key, words in (("from", fault.links.source), ("to", fault.links.to)):
            yield from _ends(read, (*here, fault.kind, key), words, names)
        for index, words in enumerate(fault.links.between):
            yield from _ends(read, (*here, fault.kind, "between", index), words, names)
    if fault.when is not None:
        yield from _place(read, (*here, "when"), fault.when, names)
    database = fault.corrupt_mailboxes
    if database is not None and (wrong := not_copied(database, names)) is not None:
        yield read.mistake((*here, "corrupt_mailboxes"), database, *wrong)
    for index, word in enumerate(fault.servers):
        yield from _victim(read, (*here, fault.kind, index), fault, word, names)


def _place(
    read: ScenarioRead, here: Trail, when: WhenModel, names: TopologyNames
) -> Iterator[Mistake]:
    """A server with breakpoints, and one that it reaches."""
    if when.server in names.front_ends and when.at != OF_FRONT_ENDS:
        rule = "is no breakpoint of a front end"
        yield read.mistake((*here, "at"), when.at, rule, f"write {OF_FRONT_ENDS}")
    elif when.server not in names.called:
        yield _no_mailbox_server(read, (*here, "server"), when.server, names)


def _victim(
    read: ScenarioRead, trail: Trail, fault: FaultModel, word: str, names: TopologyNames
) -> Iterator[Mistake]:
    """A word for servers that a fault acts on."""
    kind, _, server = word.rpartition(" ")
    if kind == "site":
        if server not in names.sites:
            yield read.mistake(trail, word, "is no site of the topology", _site(server, names))
        elif server in names.outside_sites and fault.returns_with != "same-queue-database":
            rule = "is an outside site, whose servers have no queue database"
            yield read.mistake(trail, word, rule, "remove returns_with:")
        elif server in names.outside_sites and fault.kind == "power_loss":
            rule = "is an outside site, whose servers keep nothing on disk"
            yield read.mistake(trail, word, rule, "kill them, or name a site with mailbox servers")
    elif kind not in ("", "server") or server not in names.servers:
        rule = "is no server of the topology"
        near = f"did you mean site {server}?" if server in names.sites else ""
        yield read.mistake(trail, word, rule, near or _no_server(server, names))
    elif server in names.external_servers and fault.kind in _OF_DATABASES:
        rule = "is an external server: no database, no clock of its own"
        yield read.mistake(trail, server, rule, "name a mailbox server")
    elif server in names.external_servers and fault.returns_with != "same-queue-database":
        rule = "is an external server and has no queue database"
        yield read.mistake(trail, server, rule, "remove returns_with:")
    elif server in names.front_ends and _is_of_databases(fault):
        rule = "is a front end, which keeps nothing on disk"
        yield read.mistake(trail, server, rule, "kill it, pause it, or name a mailbox server")
    elif server in names.active_managers:
        yield from _of_active_manager(read, trail, fault, server)


def _is_of_databases(fault: FaultModel) -> bool:
    """Whether the fault is one of what a server keeps."""
    return fault.kind in OF_MAILBOX_SERVERS or fault.returns_with != "same-queue-database"


def _of_active_manager(
    read: ScenarioRead, trail: Trail, fault: FaultModel, server: str
) -> Iterator[Mistake]:
    if fault.is_of_mailbox_servers:
        word = fault.kind if fault.kind in OF_MAILBOX_SERVERS else fault.returns_with
        rule = f"is Active Manager, and {word} is for mailbox servers"
        yield read.mistake(trail, server, rule, "kill it, pause it, or name a mailbox server")


def _ends(
    read: ScenarioRead, here: Trail, words: list[str], names: TopologyNames
) -> Iterator[Mistake]:
    for index, word in enumerate(words):
        kind, _, name = word.rpartition(" ")
        trail = (*here, index)
        if kind == "site" and name not in names.sites:
            yield read.mistake(trail, word, "is no site of the topology", _site(name, names))
        elif kind == "" and name not in (*names.servers, WORKLOAD, *names.outside_sites):
            hint = f"did you mean site {name}?" if name in names.sites else _no_server(name, names)
            yield read.mistake(trail, word, "is no server of the topology", hint)
        elif kind == "server" and name not in names.servers:
            hint = _no_server(name, names)
            yield read.mistake(trail, word, "is no server of the topology", hint)
        elif kind not in ("", "site", "server"):
            hint = "write a server's name, site NAME or workload"
            yield read.mistake(trail, word, "is no end of a link", hint)


def _no_mailbox_server(
    read: ScenarioRead, trail: Trail, name: str, names: TopologyNames, *, of_key: bool = False
) -> Mistake:
    rule = "is no mailbox server of the topology"
    hint = suggestion(name, set(names.mailbox_servers))
    return read.mistake(trail, name, rule, hint, of_key=of_key)


def _no_server(name: str, names: TopologyNames) -> str:
    return suggestion(name, set(names.servers))


def _site(name: str, names: TopologyNames) -> str:
    near = _near(name, names.sites)
    return near.replace("did you mean ", "did you mean site ") or (
        "known are " + ", ".join(f"site {site}" for site in names.sites)
    )


def _near(name: str, known: tuple[str, ...]) -> str:
    """`did you mean X?`, or nothing when no known name is near."""
    hint = suggestion(name, set(known)) if known else ""
    return hint if hint.startswith("did you mean") else ""
