"""The messages of a plan: every sender, recipient and moment, drawn from the run's seed.

A stream of n messages is cut into n equal slots and each message has its own moment within its
slot. Every draw has a seed of its own name, so that no draw depends on another.
"""

from bisect import insort
from collections.abc import Mapping
from dataclasses import dataclass, replace

from lab.plan.links import WORKLOAD
from lab.plan.parts import Message
from lab.plan.topology import PlanTopology
from lab.planning.seeds import seed_for
from lab.scenario.scenario import (
    OF_MAILBOXES,
    MailModel,
    RecipientsModel,
    SendersModel,
    messages_of,
)
from lab.scenario.topology import group_address

OUTSIDE_DOMAIN = "outside.example"
OUTSIDE_USERS = 20


def resolve_messages(
    scenario: str, workload: list[MailModel], topology: PlanTopology, seed: int
) -> tuple[Message, ...]:
    """All messages in the order of their moments, numbered in that order."""
    drawn = [
        message
        for index, stream in enumerate(workload)
        for message in _stream(index, stream, topology, seed)
    ]
    drawn.sort(key=lambda message: message.at_ms)
    return tuple(
        replace(message, message_id=message_id(number, scenario, seed, message.sender))
        for number, message in enumerate(drawn, start=1)
    )


def candidates(to: RecipientsModel | SendersModel | None, topology: PlanTopology) -> list[str]:
    """The addresses that a `to` or `from` stands for, each once; without one, every mailbox."""
    if to is None:
        return [mailbox.address for mailbox in topology.mailboxes]
    found = [
        mailbox.address
        for database in dict.fromkeys(to.database)
        for mailbox in topology.mailboxes
        if mailbox.database == database
    ]
    found += to.mailbox
    if isinstance(to, RecipientsModel):
        found += [group_address(group) for group in to.group]
        found += [address for domain in to.domain for address in outside_users(domain)]
    return list(dict.fromkeys(found))


def receivers(stream: MailModel, topology: PlanTopology) -> list[str]:
    """Who may receive a message of the stream; outbound and relayed mail goes outside unless it
    says.
    """
    if stream.mail in ("outbound", "relay") and stream.to is None:
        return [user for domain in external_domains(topology) for user in outside_users(domain)]
    return candidates(stream.to, topology)


def outside_users(domain: str) -> list[str]:
    """The users of an outside domain who receive mail."""
    return [f"user{number:02d}@{domain}" for number in range(1, OUTSIDE_USERS + 1)]


def external_domains(topology: PlanTopology) -> list[str]:
    """The domains of the external servers, in the order of the file."""
    return [server.domain for server in topology.servers if server.domain is not None]


@dataclass(frozen=True, slots=True)
class _Stream:
    """One entry of the workload with the people and servers that it draws from."""

    index: int
    mail: MailModel
    senders: list[str]
    receivers: list[str]
    servers: list[str]
    holders: Mapping[str, list[str]]
    count: int
    seed: int

    def draw(self, number: int, name: str, below: int) -> int:
        """A draw for the message of that number in this stream, at least 0 and less than below."""
        return seed_for(self.seed, WORKLOAD, self.index, number, name) % below


def _stream(index: int, mail: MailModel, topology: PlanTopology, seed: int) -> list[Message]:
    stream = _Stream(
        index=index,
        mail=mail,
        senders=_senders(mail, topology),
        receivers=receivers(mail, topology),
        servers=mail.via or _mailbox_servers(topology),
        holders=holders_of(topology) if mail.mail == "internal" else {},
        count=messages_of(mail.rate, mail.for_ms),
        seed=seed,
    )
    return [_message(stream, number) for number in range(stream.count)]


def _message(stream: _Stream, number: int) -> Message:
    mail = stream.mail
    first_ms, next_ms = (mail.for_ms * slot // stream.count for slot in (number, number + 1))
    span = mail.recipients.high - mail.recipients.low + 1
    how_many = mail.recipients.low + stream.draw(number, "recipients", span)
    sender = stream.senders[stream.draw(number, "sender", len(stream.senders))]
    return Message(
        message_id="",
        at_ms=mail.at + first_ms + stream.draw(number, "at", max(1, next_ms - first_ms)),
        mail=mail.mail,
        sender=sender,
        recipients=_chosen(stream, number, how_many),
        via=tuple(stream.holders.get(sender) or _in_turn(stream.servers, number)),
        size_bytes=mail.size,
        retry_ms=mail.retry,
    )


def _in_turn(servers: list[str], number: int) -> list[str]:
    turn = number % len(servers)
    return servers[turn:] + servers[:turn]


def holders_of(topology: PlanTopology) -> dict[str, list[str]]:
    """The servers with copies of each mailbox's database, in order of activation preference."""
    servers = {
        database.name: [copy.server for copy in database.copies] for database in topology.databases
    }
    return {mailbox.address: servers[mailbox.database] for mailbox in topology.mailboxes}


def _chosen(stream: _Stream, number: int, how_many: int) -> tuple[str, ...]:
    """So many different receivers: each is drawn among those that are left."""
    known = len(stream.receivers)
    draws = [
        stream.draw(number, f"recipient {turn}", known - turn)
        for turn in range(min(how_many, known))
    ]
    return _taken_few(stream.receivers, draws) or _taken(stream.receivers, draws)


def _taken(receivers: list[str], draws: list[int]) -> tuple[str, ...]:
    left = list(receivers)
    return tuple(left.pop(at) for at in draws)


def _taken_few(receivers: list[str], draws: list[int]) -> tuple[str, ...]:
    """The same without a copy, where they are few among thousands; empty where they are not."""
    if len(draws) ** 2 > len(receivers):
        return ()
    taken: list[int] = []  # in order
    chosen = []
    for at in draws:
        for before in taken:
            at += at >= before
        insort(taken, at)
        chosen.append(receivers[at])
    return tuple(chosen)


def _senders(stream: MailModel, topology: PlanTopology) -> list[str]:
    if stream.mail in OF_MAILBOXES:
        folders = {each.address for each in topology.mailboxes if each.public_folder}
        return [each for each in candidates(stream.source, topology) if each not in folders]
    domain = next(iter(external_domains(topology)), OUTSIDE_DOMAIN)
    return [f"sender{number:02d}@{domain}" for number in range(1, OUTSIDE_USERS + 1)]


def _mailbox_servers(topology: PlanTopology) -> list[str]:
    return [server.name for server in topology.servers if server.role == "mailbox"]


def message_id(number: int, scenario: str, seed: int, sender: str) -> str:
    """Of the message of that number in a run."""
    return f"<m{number:06d}.{scenario}.{seed}@{sender.partition('@')[2]}>"
