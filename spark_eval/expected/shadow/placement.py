"""Which servers may hold the shadow of whose messages, from topology and settings alone (SR-2 to
SR-4).
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from spark_eval.histories.run import Run


class Rules(NamedTuple):
    """For one primary server: who else is in its boundary, in another site and in its own, its
    preference, and how many attempts are allowed at either.
    """

    remotes: frozenset[str]
    locals: frozenset[str]
    preference: str
    remote_attempts: int
    local_attempts: int

    @property
    def members(self) -> frozenset[str]:
        return self.remotes | self.locals


@lru_cache(maxsize=1)
def rules(run: Run) -> dict[str, Rules]:
    """By mailbox server. Its own preference, or the organisation's, counts in a DAG over several
    sites only; elsewhere the local count alone (SR-3).
    """
    found = {}
    for server in run.servers.values():
        if server.is_mailbox:
            inside = [
                other
                for other in run.servers.values()
                if other.boundary == server.boundary and other.name != server.name
            ]
            remotes = frozenset(each.name for each in inside if each.site != server.site)
            config, preference = run.config, server.config.preference or run.config.preference
            remote = config.max_remote if remotes and preference != "LocalOnly" else 0
            local = 0 if remotes and preference == "RemoteOnly" else config.max_local
            locals_ = frozenset(each.name for each in inside) - remotes
            found[server.name] = Rules(remotes, locals_, preference, remote, local)
    return found
