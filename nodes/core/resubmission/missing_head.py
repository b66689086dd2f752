"""The missing head of a resubmit request: every other server of the boundary is asked at once to
answer for this one from its Shadow Safety Net (SN-9).

Each is asked until it has taken that on, which is on disk, so a kill forgets nobody; its own
request is `<id>.<this server>.<queue database id>`, so one that is asked twice is one request, and
that of the next queue database, which lacks another head, is another. It ends when the copies in
question have left the Safety Nets anyway.
"""

from __future__ import annotations

from dataclasses import replace

from nodes.core.config.config import NodeConfig
from nodes.core.config.retry import retry_interval_ms
from nodes.core.engine.work import COMMIT_RETRY_MS, Work
from nodes.core.interface.effects import LogLifecycle
from nodes.core.interface.inputs import ResubmitRefused
from nodes.core.interface.resubmit_changes import HeadTaken
from nodes.core.model.identity import Identity
from nodes.core.model.lab_time import iso
from nodes.core.model.resubmit_request import ResubmitDemand, ResubmitRequest, SafetyNetSource
from nodes.core.sessions.outbound import Sessions
from nodes.core.sessions.outbound_session import Lease, ResubmitAnswer


class HeadTelling:
    """The servers that are still to be notified of the head of `request`."""

    def __init__(
        self,
        request: ResubmitRequest,
        config: NodeConfig,
        work: Work,
        identity: Identity,
        sessions: Sessions,
    ) -> None:
        self._request = request
        self._identity = identity
        self._config = config
        self._work = work
        self._sessions = sessions
        self._failures = dict.fromkeys(request.untold, 0)
        self._gives_up_ms = (request.head_end_ms or 0) + config.transport.safety_net_hold_time_ms
        self._asking: set[str] = set()
        self._is_removed = False

    def begin(self) -> None:
        """Ask whoever has not taken it on and is not being asked."""
        self._is_removed = False
        for server in self._failures:
            if server not in self._asking:
                self._asking.add(server)
                self._log("resubmit-head-asked", server, "")
                self._ask(server)

    def stop(self) -> None:
        """The request is removed, unless `begin` follows."""
        self._is_removed = True

    def as_told(self, request: ResubmitRequest) -> ResubmitRequest:
        """`request` with those who are still to be notified."""
        return replace(request, untold=tuple(self._failures))

    def _ask(self, server: str) -> None:
        if self._is_removed:
            self._asking.discard(server)
            return
        self._sessions.request(
            server,
            "safetynet",
            lambda lease: self._over(server, lease),
            lambda reason: self._failed(server, reason),
        )

    def _over(self, server: str, lease: Lease) -> None:
        lease.request_resubmit(
            self._head(),
            lambda answer: self._answered(server, lease, answer),
            lambda reason: self._failed(server, reason),
        )

    def _head(self) -> ResubmitDemand:
        demand, me = self._request.demand, self._config.me.name
        assert self._request.head_end_ms is not None
        return ResubmitDemand(
            f"{demand.request_id}.{me}.{self._identity.database_id}",
            SafetyNetSource.SHADOW,
            demand.destination,
            demand.start_ms,
            self._request.head_end_ms,
            (me,),
        )

    def _answered(self, server: str, lease: Lease, answer: ResubmitAnswer) -> None:
        lease.release()
        if isinstance(answer, ResubmitRefused):
            self._failed(server, f"{answer.code} {answer.text}")
        else:
            self._done(server, "resubmit-head-taken", "")

    def _failed(self, server: str, reason: str) -> None:
        if self._is_removed:
            self._asking.discard(server)
            return
        if self._work.now_ms >= self._gives_up_ms:
            self._done(server, "resubmit-head-given-up", reason)
            return
        self._failures[server] += 1
        wait_ms = retry_interval_ms(self._config.server, self._failures[server])
        self._work.again(wait_ms, lambda: self._ask(server))

    def _done(self, server: str, event: str, reason: str) -> None:
        """What the disk refuses is written down later; after a restart that server is asked again,
        and it is one request there.
        """
        if self._is_removed:
            self._asking.discard(server)
            return

        def committed() -> None:
            del self._failures[server]
            self._asking.discard(server)
            self._log(event, server, reason)

        def not_committed(_reason: str) -> None:
            self._work.again(COMMIT_RETRY_MS, lambda: self._done(server, event, reason))

        change = HeadTaken(self._request.demand.request_id, server)
        self._work.commit((change,), committed, not_committed)

    def _log(self, event: str, server: str, reason: str) -> None:
        head = self._head()
        fields = (
            ("request_id", head.request_id),
            ("database", head.destination),
            ("start", iso(head.start_ms)),
            ("end", iso(head.end_ms)),
            ("server", server),
            ("reason", reason),
        )
        self._work.emit(LogLifecycle(event, fields))
