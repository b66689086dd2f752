"""The grammar of XREDIRECT, by which an administrator has a server drain its delivery queues, as
Redirect-Message does (F§5.4). All of it is this project's own:

    XREDIRECT <server>
        250 2.0.0 Messages are redirected

Who may use it is the core's to say.
"""

from __future__ import annotations

from nodes.core.interface.inputs import RedirectRequested
from nodes.shell.verbs.words import words_of

VERB = "XREDIRECT"


def format_request(server: str) -> tuple[str, ...]:
    """As words."""
    return (VERB, server)


def parse_request(session: str, arguments: str) -> RedirectRequested | None:
    """None for arguments that are not of the grammar."""
    words = words_of(arguments, 1)
    return RedirectRequested(session, *words) if words else None
