"""The grammar of the verbs that servers of the organisation use among themselves: both ways.

Exchange's verbs have names that are known and arguments that are not (F§9.1), so the arguments are
this project's own:

    XSHADOWREQUEST <primary> <primary-database-id> <primary-internal-id> <network-message-id>
        [<resubmit-request-id>]      where the message was resubmitted by Safety Net
        in the answer to EHLO: XSHADOWREQUEST <database id of the server that is asked>
    XDELIVER <database> <network-message-id>
    XNETWORKMESSAGEID <network-message-id>
        before a fork that another server of the organisation sends on (TL-3). Exchange has it in
        the message, as X-MS-Exchange-Organization-Network-Message-Id, which is taken off where mail
        enters or leaves the organisation; here a message stays as it was sent (TL-10)
    XQDISCARD <asking-server> <known-database-id|-> <confirmed-sequence>
        250-DatabaseId=<id>
        250-<sequence> <primary-internal-id> <delivered epoch ms> <first fork delivered epoch ms>
                                      for each notification
        250 <More|Done> <number of notifications>

Strict: arguments are single words of printable ASCII, numbers are decimal without sign, anything
else is no command of this grammar and is answered `501 5.5.4`. XQUERYDISCARD, the name in the
documents of 2010, is taken for XQDISCARD. Who may use them is the core's to say.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from nodes.core.config.config import NodeConfig
from nodes.core.interface.effects import AskDiscard, DeliverTo, ForkOf, ShadowRequest
from nodes.core.interface.inputs import (
    DeliveryRequested,
    DiscardAnswered,
    DiscardAsked,
    ForkAnnounced,
    ShadowRequested,
)
from nodes.core.interface.replies import DiscardReply, Reply
from nodes.shell.verbs.words import NUMBER, WORD, numbers_of, words_of

SHADOW_KEYWORD = "XSHADOWREQUEST"
R501_BAD_ARGUMENTS = Reply(501, ("5.5.4 Invalid arguments",))

NONE_KNOWN = "-"
_DATABASE_ID = re.compile(r"DatabaseId=([!-~]{1,128})")

Request: TypeAlias = ShadowRequested | DeliveryRequested | ForkAnnounced | DiscardAsked
Parser: TypeAlias = Callable[[str, str], Request | None]


def offers_shadow(config: NodeConfig, peer: str | None) -> bool:
    """Whether the answer to EHLO of a mailbox server has the keyword: for servers of the
    organisation, which `peer` names, unless shadow redundancy is off (SR-9, TL-5).
    """
    takes = config.me.role == "mailbox" and config.transport.shadow_redundancy_enabled
    return peer is not None and takes


def format_offer(database_id: str) -> str:
    """The keyword in the answer to EHLO."""
    return f"{SHADOW_KEYWORD} {database_id}" if database_id else SHADOW_KEYWORD


def parse_offer(parameters: str) -> str:
    """What follows the keyword: the peer's database id; empty where it says none."""
    return parameters if WORD.fullmatch(parameters) else ""


def format_prologue(prologue: ShadowRequest | DeliverTo | ForkOf) -> tuple[str, ...]:
    """The command that announces a message, as words."""
    if isinstance(prologue, DeliverTo):
        return ("XDELIVER", prologue.database, prologue.network_message_id)
    if isinstance(prologue, ForkOf):
        return ("XNETWORKMESSAGEID", prologue.network_message_id)
    words = (
        "XSHADOWREQUEST",
        prologue.primary,
        prologue.database_id,
        str(prologue.internal_id),
        prologue.network_message_id,
    )
    return words if prologue.resubmit_request is None else (*words, prologue.resubmit_request)


def format_question(asking_server: str, asked: AskDiscard) -> tuple[str, ...]:
    """XQDISCARD as words."""
    known = asked.known_database_id or NONE_KNOWN
    return ("XQDISCARD", asking_server, known, str(asked.confirmed_sequence))


def parse_shadow_request(session: str, arguments: str) -> ShadowRequested | None:
    """None for arguments that are not of the grammar, here and below."""
    words = words_of(arguments, 4, 5)
    if words is None or not NUMBER.fullmatch(words[2]):
        return None
    request = words[4] if len(words) == 5 else None
    return ShadowRequested(session, words[0], words[1], int(words[2]), words[3], request)


def parse_delivery_request(session: str, arguments: str) -> DeliveryRequested | None:
    words = words_of(arguments, 2)
    return None if words is None else DeliveryRequested(session, words[0], words[1])


def parse_fork(session: str, arguments: str) -> ForkAnnounced | None:
    words = words_of(arguments, 1)
    return None if words is None else ForkAnnounced(session, words[0])


def parse_question(session: str, arguments: str) -> DiscardAsked | None:
    words = words_of(arguments, 3)
    if words is None or not NUMBER.fullmatch(words[2]):
        return None
    known = "" if words[1] == NONE_KNOWN else words[1]
    return DiscardAsked(session, words[0], known, int(words[2]))


def format_reply(reply: DiscardReply) -> tuple[str, ...]:
    listed = tuple(" ".join(map(str, numbers)) for numbers in reply.notifications)
    ending = f"{'More' if reply.more else 'Done'} {len(listed)}"
    return (f"DatabaseId={reply.database_id}", *listed, ending)


def parse_answer(session: str, lines: list[str]) -> DiscardAnswered | None:
    """The reply to XQDISCARD, its lines without codes."""
    if len(lines) < 2:
        return None
    database_id = _DATABASE_ID.fullmatch(lines[0])
    notifications = [numbers_of(line.split(" "), 4) for line in lines[1:-1]]
    ending, _, counted = lines[-1].partition(" ")
    if database_id is None or ending not in ("More", "Done"):
        return None
    listed = tuple((n[0], n[1], n[2], n[3]) for n in notifications if n is not None)
    if len(listed) != len(notifications) or counted != str(len(listed)):
        return None
    return DiscardAnswered(session, database_id[1], listed, more=ending == "More")
