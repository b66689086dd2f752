"""Operations on Active Directory, which the lab stands for: members of a group change, a mailbox
moves, the component HubTransport of a server becomes Inactive, or its Receive connector
authenticates no other server any more, and back.

Active Directory is always there, so each mailbox server is given what it holds now: one that runs
reads it at once, one that is paused when it goes on, one that is down when it starts. Evidence is
that each server which runs goes by it.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from lab.faults.observer.evidence import Evidence
from lab.faults.observer.target import RunningLab
from lab.plan.directory import Directory, MovedMailbox
from lab.plan.operations import (
    ChangeGroup,
    MoveMailbox,
    SetComponentState,
    SetReceiveConnector,
    groups_after,
)
from lab.program.errors import GroundError
from lab.schedule.administered import Administered
from nodes.shell.verbs.mailbox_moves import format_request

READ_WITHIN_SECONDS = 20.0
LOOK_EVERY_SECONDS = 0.01
ASK_EVERY_SECONDS = 0.1
ANSWER_MS = 120_000
"""So long, in lab time, a move may take."""
AGAIN_MS = 60_000
PATIENCE_MS = 60 * 60_000
MOVED, NOT_HERE = "250", "432"


class ActiveDirectory:
    """What it has in one run, and which servers read it."""

    def __init__(self, lab: RunningLab) -> None:
        topology = lab.plan.topology
        self.servers = [each.name for each in topology.servers if each.role == "mailbox"]
        self._lab = lab

    def change(self, group: ChangeGroup) -> None:
        """The members of a group."""
        self._write(lambda now: replace(now, groups=groups_after(group, now.groups)))

    def place(self, mailbox: MovedMailbox) -> None:
        """Where a mailbox is from now on, or where it is on its way to."""

        def placed(now: Directory) -> Directory:
            others = tuple(each for each in now.mailboxes if each.address != mailbox.address)
            return replace(now, mailboxes=(*others, mailbox))

        self._write(placed)

    def set_server(self, planned: SetComponentState | SetReceiveConnector) -> None:
        """The component HubTransport or the Receive connector of one server."""

        def changed(names: tuple[str, ...], *, is_one: bool) -> tuple[str, ...]:
            others = tuple(each for each in names if each != planned.server)
            return (*others, planned.server) if is_one else others

        def set_in(now: Directory) -> Directory:
            if isinstance(planned, SetComponentState):
                is_one = planned.state == "Inactive"
                return replace(now, inactive=changed(now.inactive, is_one=is_one))
            is_one, names = planned.auth_mechanism == "Tls", now.not_authenticating
            return replace(now, not_authenticating=changed(names, is_one=is_one))

        self._write(set_in)

    def _write(self, change: Callable[[Directory], Directory]) -> None:
        kept = self._lab.directory
        with kept.lock:
            kept.now = change(kept.now or Directory(self._lab.plan.topology.groups))
            for server in self.servers:
                self._lab.servers.change_directory(server, kept.now)

    def not_read(self) -> str:
        """Who runs and does not say that he has read it; empty where all do."""
        deadline_ns = self._lab.monotonic_ns() + round(READ_WITHIN_SECONDS * 1e9)
        while behind := [each for each in self.servers if self._is_behind(each)]:
            is_late = self._lab.monotonic_ns() > deadline_ns
            if is_late or self._lab.ending.wait(LOOK_EVERY_SECONDS):
                return f"{', '.join(behind)} did not say that it has read the change"
        return ""

    def _is_behind(self, server: str) -> bool:
        servers = self._lab.servers
        try:
            if servers.goes_by_directory(server):
                return False
            return servers.is_running(server) and not servers.is_paused(server)
        except GroundError:  # on its way down or up
            return True


class GroupChange(Administered):
    """One change of a plan."""

    def __init__(self, planned: ChangeGroup, lab: RunningLab) -> None:
        super().__init__(planned, lab)
        self._planned, self._active_directory = planned, ActiveDirectory(lab)

    def start(self) -> Mapping[str, object]:
        self._active_directory.change(self._planned)
        return {"asked": self._active_directory.servers}

    def evidence(self) -> Evidence:
        """True when every server that runs goes by it."""
        if behind := self._active_directory.not_read():
            return Evidence(None, (), behind)
        return Evidence(True, (), "every server that runs has read it")


class ServerChange(Administered):
    """What one server goes by: its HubTransport, or its Receive connector."""

    def __init__(self, planned: SetComponentState | SetReceiveConnector, lab: RunningLab) -> None:
        super().__init__(planned, lab)
        self._planned, self._active_directory = planned, ActiveDirectory(lab)

    def start(self) -> Mapping[str, object]:
        self._active_directory.set_server(self._planned)
        return {"asked": [self._planned.server]}

    def evidence(self) -> Evidence:
        """True when every server that runs goes by it."""
        if behind := self._active_directory.not_read():
            return Evidence(None, (), behind)
        return Evidence(True, (), "every server that runs has read it")


class MailboxMove(Administered):
    """One move of a plan: on its way in Active Directory, then sent by whoever has the active copy
    that it leaves, then where that succeeded, or back and tried again, as a move request is until
    it is completed.

    It succeeded where one server of a copy says so, and every other one that the active copy is not
    its own: of two that think so one has an old copy. One of these that is down need not say so.
    """

    def __init__(self, planned: MoveMailbox, lab: RunningLab) -> None:
        super().__init__(planned, lab)
        self._planned, self._active_directory = planned, ActiveDirectory(lab)
        topology = lab.plan.topology
        self._from = topology.database_of(planned.mailbox) or ""
        self._asked = planned.asked(topology)
        self._replies: Mapping[str, Callable[[], str]] = {}
        self._next_ms, self._until_ms = planned.at_ms, planned.at_ms
        self._has_moved = False
        self._said = ""

    def start(self) -> Mapping[str, object]:
        """It is begun by the first look for its evidence, since reading and moving take time."""
        return {"asked": list(self._asked)}

    def is_over(self) -> bool:
        """Go on with it, as far as that is possible now."""
        now_ms = self._lab.clock.lab_ms(self._lab.monotonic_ns())
        if self._replies:
            self._hear(now_ms)
        elif not self._has_moved and self._next_ms <= now_ms < self.start_ms + PATIENCE_MS:
            self._begin(now_ms)
        is_late = now_ms >= self.start_ms + PATIENCE_MS
        return self._has_moved or (is_late and not self._replies)

    def _begin(self, now_ms: int) -> None:
        mailbox, to = self._planned.mailbox, self._planned.to
        self._active_directory.place(MovedMailbox(mailbox, self._from, moves_to=to))
        self._until_ms = now_ms + ANSWER_MS
        if behind := self._active_directory.not_read():
            self._give_up(now_ms, behind)
            return
        line, ask = " ".join(format_request(mailbox, to)), self._lab.servers.ask
        self._replies = {each: ask(each, line) for each in self._asked}

    def _hear(self, now_ms: int) -> None:
        heard = {name: call() for name, call in self._replies.items()}
        waited_for = [name for name, said in heard.items() if not said and not self._is_down(name)]
        if waited_for and now_ms < self._until_ms:
            return
        said = "; ".join(f"{name}: {reply or 'no answer'}" for name, reply in heard.items())
        if self._is_moved(heard):
            self._has_moved, self._said, self._replies = True, said, {}
            self._active_directory.place(MovedMailbox(self._planned.mailbox, self._planned.to))
        else:
            self._give_up(now_ms, said)

    def _give_up(self, now_ms: int, said: str) -> None:
        """This time: the mailbox stays where it is for a while."""
        self._said, self._replies, self._next_ms = said, {}, now_ms + AGAIN_MS
        self._active_directory.place(MovedMailbox(self._planned.mailbox, self._from))

    def _is_moved(self, heard: Mapping[str, str]) -> bool:
        moved = [name for name, reply in heard.items() if reply.startswith(MOVED)]
        others = [
            reply for name, reply in heard.items() if name not in moved and not self._may_rest(name)
        ]
        return len(moved) == 1 and all(reply.startswith(NOT_HERE) for reply in others)

    def _may_rest(self, name: str) -> bool:
        """It is down, and has nothing to say."""
        return self._lab.server(name).role == "mailbox" and self._is_down(name)

    def _is_down(self, name: str) -> bool:
        return not self._lab.servers.is_running(name)

    def evidence(self) -> Evidence:
        """True when the mailbox is there, and every server that runs goes by it."""
        while not self.is_over():
            if self._lab.ending.wait(ASK_EVERY_SECONDS):
                break
        if behind := self._active_directory.not_read():
            return Evidence(None, (), f"{behind}; {self._said}")
        return Evidence(self._has_moved, (), self._said)
