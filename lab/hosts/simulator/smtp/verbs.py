"""The verbs of the organisation as lines of text, read by the grammars of the node's shell."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from nodes.core.interface.inputs import Input
from nodes.shell.verbs import database as database_verbs
from nodes.shell.verbs import mailbox_moves as mailbox_verbs
from nodes.shell.verbs import queues as queues_verbs
from nodes.shell.verbs import redirection as redirection_verbs
from nodes.shell.verbs import replication as replication_verbs
from nodes.shell.verbs import safety_net as safety_net_verbs
from nodes.shell.verbs import shadow as shadow_verbs
from nodes.shell.verbs import submission as submission_verbs

Parser: TypeAlias = Callable[[str, str], Input | None]

PARSERS: Mapping[str, Parser] = {
    "XSHADOWREQUEST": shadow_verbs.parse_shadow_request,
    "XDELIVER": shadow_verbs.parse_delivery_request,
    "XNETWORKMESSAGEID": shadow_verbs.parse_fork,
    "XOUTBOX": submission_verbs.parse_request,
    "XQDISCARD": shadow_verbs.parse_question,
    "XQUERYDISCARD": shadow_verbs.parse_question,
    "XRESUBMIT": safety_net_verbs.parse_request,
    "XREDIRECT": redirection_verbs.parse_request,
    "XMOVE": mailbox_verbs.parse_request,
    "XQUEUES": queues_verbs.parse_request,
    "XACTIVE": database_verbs.parse_active_copy,
    "XCOPYSTATUS": database_verbs.parse_status_request,
    "XMOUNT": database_verbs.parse_mount,
    "XDISMOUNT": database_verbs.parse_dismount,
    "XCORRUPT": database_verbs.parse_corruption,
    "XUPDATECOPY": database_verbs.parse_seed_wanted,
    "XFAILOVER": database_verbs.parse_failover,
    "XSWITCHOVER": database_verbs.parse_switchover,
    "XACTIVATELAGGED": database_verbs.parse_lagged_activation,
    "XLOG": replication_verbs.parse_log,
    "XSEED": replication_verbs.parse_seed,
    "XMAILBOX": mailbox_verbs.parse_announcement,
}
"""Those that `nodes.shell.smtp.inbound_connection` knows."""


def parse_command(session: str, line: str) -> Input | None:
    """What a session's client asks; None for what is no command of these grammars."""
    verb, _, arguments = line.partition(" ")
    parse = PARSERS.get(verb)
    return None if parse is None else parse(session, arguments)
