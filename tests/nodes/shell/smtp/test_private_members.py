"""What nodes override or use of aiosmtpd and aiosmtplib that these do not promise to keep.

A release that drops or renames one of them fails here, and says which. A member that our code needs
anew belongs into the table, with a reason at its use.
"""

from __future__ import annotations

import ast
import inspect
import textwrap

import pytest

from nodes.shell.smtp.connection import SmtpConnection
from nodes.shell.smtp.inbound_connection import InboundConnection
from nodes.shell.smtp.outbound_connection import Connection
from nodes.shell.smtp.syntax import SmtpSyntax
from nodes.shell.smtp.whole_replies import WholeReplies

LIBRARIES = ("aiosmtpd", "aiosmtplib")
NEEDED: dict[type, set[str]] = {
    Connection: {"_create_connection", "_on_connection_lost"},
    InboundConnection: set(),
    SmtpConnection: {
        "_call_handler_hook",
        "_create_envelope",
        "_handle_client",
        "_handler_coroutine",
        "_original_transport",
        "_reader",
        "_reset_timeout",
        "_smtp_methods",
        "_timeout_handle",
        "_tls_protocol",
        "_writer",
    },
    SmtpSyntax: {"_getaddr"},
    WholeReplies: {"_drain_helper", "_response_pending", "_response_waiter"},
}


@pytest.mark.parametrize("ours", NEEDED, ids=lambda ours: str(ours.__name__))
def test_each_private_member_of_a_library_that_we_need_is_there_and_in_the_table(
    ours: type,
) -> None:
    assert _private(ours) & _of_library(ours) == NEEDED[ours]


def _private(ours: type) -> set[str]:
    """Private names that the class defines or uses."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(ours)))
    used = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return {name for name in {*vars(ours), *used} if name[0] == "_" and name[:2] != "__"}


def _of_library(ours: type) -> set[str]:
    """Names that the library's classes above it define, or set on themselves."""
    names: set[str] = set()
    for base in ours.__mro__[1:]:
        if base.__module__.split(".")[0] in LIBRARIES:
            tree = ast.parse(textwrap.dedent(inspect.getsource(base)))
            names |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
            names |= set(vars(base))
    return names
