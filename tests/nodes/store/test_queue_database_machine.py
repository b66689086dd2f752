"""Whatever the core asks, in whatever order: the queue database holds what a plain model holds."""

from __future__ import annotations

import shutil
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import mkdtemp

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    precondition,
    rule,
)

from nodes.core.interface.effects import Commit
from nodes.core.interface.inputs import Committed
from nodes.core.interface.queue_changes import (
    Change,
    DeleteMessage,
    DropOldDiscards,
    FinishFork,
    ForgetDiscards,
    InsertDiscard,
    InsertMessage,
    InsertShadow,
    MoveToPrimarySafetyNet,
    MoveToShadowSafetyNet,
    NoteDiscardsAsked,
    PromoteShadow,
    SetContact,
    SetShadowServer,
    SplitFork,
)
from nodes.core.model.message import (
    Contact,
    DiscardNotification,
    Fork,
    ForkState,
    PrimaryMessage,
    ShadowKey,
    ShadowMessage,
)
from nodes.core.model.next_hop import NextHop
from nodes.store.queue.database import QueueDatabase
from tests.nodes.next_hops import DB1, DB2, EXT1
from tests.nodes.store.samples import (
    NOW_MS,
    count,
    discard,
    fetch,
    open_queue,
    primary_message,
    shadow_message,
)

HOPS = (DB1, DB2, EXT1)
SERVERS = st.sampled_from(["lyo-mbx1", "lyo-mbx2"])
TIMES = st.integers(0, 20).map(lambda minutes: NOW_MS + minutes * 60_000)


@dataclass
class Model:
    """What should be there: plain dictionaries."""

    messages: dict[int, PrimaryMessage] = field(default_factory=dict)
    shadows: dict[ShadowKey, ShadowMessage] = field(default_factory=dict)
    discards: list[DiscardNotification] = field(default_factory=list)
    asked: dict[str, int] = field(default_factory=dict)
    contacts: dict[str, Contact] = field(default_factory=dict)
    bodies: dict[int, bytes] = field(default_factory=dict)
    expiries: dict[int, tuple[str, int]] = field(default_factory=dict)
    last_id: int = 0
    last_sequence: int = 0


class QueueDatabaseMachine(RuleBasedStateMachine):
    messages: Bundle[int] = Bundle("messages")
    shadows: Bundle[ShadowKey] = Bundle("shadows")

    @initialize()
    def begin(self) -> None:
        self.folder = Path(mkdtemp(prefix="shadowlab-machine-"))
        self.database: QueueDatabase = open_queue(self.folder).database
        self.model = Model()
        self.commits = 0

    def teardown(self) -> None:
        if hasattr(self, "database"):
            self.database.close()
            shutil.rmtree(self.folder)

    def commit(self, *changes: Change) -> None:
        self.commits += 1
        answers = self.database.commit([Commit(self.commits, changes)], fetch)
        assert answers == (Committed(self.commits),)

    def next_id(self) -> int:
        self.model.last_id += 1
        return self.model.last_id

    @rule(
        target=messages,
        hops=st.lists(st.sampled_from(HOPS), min_size=1, unique=True),
        body=st.sampled_from(["in:1", "in:2", "made:a DSN"]),
        shadow_server=st.none() | SERVERS,
    )
    def insert_message(self, hops: list[NextHop], body: str, shadow_server: str | None) -> int:
        number = self.next_id()
        message = primary_message(number, next_hops=tuple(hops), shadow_server=shadow_server)
        others = tuple(replace(f, recipients=(*f.recipients, "b@x", "c@x")) for f in message.forks)
        message = replace(message, forks=others)
        self.commit(InsertMessage(message, body))
        self.model.messages[number] = message
        self.model.bodies[number] = fetch(body)
        return number

    @rule(target=messages, of=messages)
    def insert_a_message_with_the_body_of_another(self, of: int) -> int:
        if of not in self.model.bodies:
            return of
        number = self.next_id()
        message = primary_message(number, side_effect_of=of)
        self.commit(InsertMessage(message, f"db:{of}"))
        self.model.messages[number] = message
        self.model.bodies[number] = self.model.bodies[of]
        return number

    @rule(number=messages, at_ms=TIMES, state=st.sampled_from(["done", "expired"]))
    def finish_a_fork(self, number: int, at_ms: int, state: str) -> None:
        message = self.model.messages.get(number)
        if message is None:
            return
        unfinished = [f for f in message.forks if f.state is ForkState.QUEUED]
        if not unfinished:
            return
        done = replace(unfinished[0], state=ForkState(state), done_ms=at_ms)
        self.commit(FinishFork(number, done.next_hop, state, at_ms))
        forks = tuple(done if f == unfinished[0] else f for f in message.forks)
        self.model.messages[number] = replace(message, forks=forks)

    @rule(number=messages, at_ms=TIMES, state=st.sampled_from(["done", "expired"]))
    def split_a_fork(self, number: int, at_ms: int, state: str) -> None:
        message = self.model.messages.get(number)
        unfinished = [f for f in message.forks if f.state is ForkState.QUEUED] if message else []
        if message is None or not unfinished or len(unfinished[0].recipients) < 2:
            return
        fork = unfinished[0]
        first, *others = fork.recipients
        self.commit(SplitFork(number, fork.next_hop, (first,), state, at_ms))
        left = replace(fork, recipients=tuple(others))
        part = Fork(fork.next_hop, (first,), ForkState(state), at_ms)
        forks = tuple(left if f == fork else f for f in message.forks)
        self.model.messages[number] = replace(message, forks=(*forks, part))

    def is_done(self, number: int) -> bool:
        message = self.model.messages.get(number)
        return message is not None and all(f.state is not ForkState.QUEUED for f in message.forks)

    @rule(number=messages, delivered_ms=TIMES, expires_ms=TIMES, server=SERVERS)
    def move_to_primary_safety_net(
        self, number: int, delivered_ms: int, expires_ms: int, server: str
    ) -> None:
        if not self.is_done(number):
            return
        self.model.last_sequence += 1
        notification = DiscardNotification(server, self.model.last_sequence, number, delivered_ms)
        self.commit(
            MoveToPrimarySafetyNet(number, delivered_ms, expires_ms), InsertDiscard(notification)
        )
        del self.model.messages[number]
        self.model.discards.append(notification)
        self.model.expiries[number] = ("primary-safety-net", expires_ms)

    @rule(number=consumes(messages))
    def delete_message(self, number: int) -> None:
        if not self.is_done(number):
            return
        self.commit(DeleteMessage(number))
        del self.model.messages[number], self.model.bodies[number]

    @rule(number=messages, server=SERVERS)
    def set_shadow_server(self, number: int, server: str) -> None:
        message = self.model.messages.get(number)
        if message is not None and message.shadow_server is None:
            database_id = f"{server}-db"
            self.commit(SetShadowServer(number, server, database_id))
            self.model.messages[number] = replace(
                message, shadow_server=server, shadow_database_id=database_id
            )

    @rule(target=shadows, expires_ms=TIMES, database_id=st.sampled_from(["db-a", "db-b"]))
    def insert_shadow(self, expires_ms: int, database_id: str) -> ShadowKey:
        shadow = shadow_message(self.next_id(), database_id=database_id)
        self.commit(InsertShadow(shadow, "in:2", expires_ms))
        self.model.shadows[shadow.key] = shadow
        self.model.bodies[shadow.internal_id] = fetch("in:2")
        self.model.expiries[shadow.internal_id] = ("shadow", expires_ms)
        return shadow.key

    @rule(key=consumes(shadows), delivered_ms=TIMES, expires_ms=TIMES)
    def move_to_shadow_safety_net(self, key: ShadowKey, delivered_ms: int, expires_ms: int) -> None:
        shadow = self.model.shadows.pop(key, None)
        if shadow is not None:
            self.commit(MoveToShadowSafetyNet(key, delivered_ms, expires_ms))
            self.model.expiries[shadow.internal_id] = ("shadow-safety-net", expires_ms)

    @rule(target=messages, key=consumes(shadows))
    def promote_shadow(self, key: ShadowKey) -> int:
        number = self.next_id()
        shadow = self.model.shadows.pop(key, None)
        if shadow is not None:
            message = primary_message(number, shadow_server=None)
            self.commit(PromoteShadow(key, message))
            self.model.messages[number] = message
            self.model.bodies[number] = self.model.bodies.pop(shadow.internal_id)
            del self.model.expiries[shadow.internal_id]
        return number

    @rule(server=SERVERS)
    def insert_discard(self, server: str) -> None:
        self.model.last_sequence += 1
        notification = discard(self.model.last_sequence, server)
        self.commit(InsertDiscard(notification))
        self.model.discards.append(notification)

    @rule(server=SERVERS, back=st.integers(0, 3))
    def forget_discards(self, server: str, back: int) -> None:
        last = self.model.last_sequence - back
        self.commit(ForgetDiscards(server, last))
        self.model.discards = [
            d for d in self.model.discards if d.shadow_server != server or d.sequence > last
        ]

    @rule(server=SERVERS, before_ms=TIMES)
    def drop_old_discards(self, server: str, before_ms: int) -> None:
        self.commit(DropOldDiscards(server, before_ms))
        self.model.discards = [
            d
            for d in self.model.discards
            if d.shadow_server != server or d.delivered_ms >= before_ms
        ]

    @rule(server=SERVERS, asked_ms=TIMES)
    def note_discards_asked(self, server: str, asked_ms: int) -> None:
        self.commit(NoteDiscardsAsked(server, asked_ms))
        self.model.asked[server] = asked_ms

    @rule(server=SERVERS, at_ms=TIMES, confirmed=st.integers(0, 9))
    def set_contact(self, server: str, at_ms: int, confirmed: int) -> None:
        contact = Contact(server, "db-a", at_ms, confirmed, confirmed + 1)
        self.commit(SetContact(contact))
        self.model.contacts[server] = contact

    @rule(now_ms=TIMES)
    def expire_safety_net(self, now_ms: int) -> None:
        answer = self.database.expire_safety_net(now_ms)
        gone = {n: queue for n, (queue, at_ms) in self.model.expiries.items() if at_ms <= now_ms}
        assert {copy.internal_id: copy.which for copy in answer.removed} == gone
        for number in gone:
            del self.model.expiries[number], self.model.bodies[number]
        self.model.shadows = {
            key: shadow
            for key, shadow in self.model.shadows.items()
            if shadow.internal_id not in gone
        }

    @precondition(lambda self: self.commits)
    @rule()
    def a_change_that_does_not_fit_changes_nothing(self) -> None:
        with suppress(AssertionError):
            self.database.apply(
                (InsertDiscard(discard(99, "nobody")), DeleteMessage(10_000)), fetch
            )

    @rule(killed=st.booleans())
    def restart(self, killed: bool) -> None:
        if killed:
            self.database = self.opened_from_what_a_kill_leaves()
        else:
            self.database.close()
            self.database = open_queue(self.folder).database

    def opened_from_what_a_kill_leaves(self) -> QueueDatabase:
        copy = Path(mkdtemp(prefix="shadowlab-machine-"))
        for name in ("queue.db", "queue.db-wal"):
            shutil.copy(self.folder / name, copy / name)
        self.database.close()
        shutil.rmtree(self.folder)
        self.folder = copy
        return open_queue(copy).database

    @invariant()
    def holds_what_the_model_holds(self) -> None:
        model, opened = self.model, self.database.opened(created=False)
        assert opened.messages == tuple(model.messages[n] for n in sorted(model.messages))
        by_id = sorted(model.shadows.values(), key=lambda shadow: shadow.internal_id)
        assert opened.shadows == tuple(by_id)
        in_order = sorted(model.discards, key=lambda d: (d.shadow_server, d.sequence))
        assert opened.discards == tuple(in_order)
        assert opened.discards_asked == tuple(sorted(model.asked.items()))
        assert opened.contacts == tuple(model.contacts[p] for p in sorted(model.contacts))
        assert opened.last_discard_sequence == model.last_sequence
        earliest = min((at_ms for _, at_ms in model.expiries.values()), default=None)
        assert opened.next_safety_net_expiry_ms == earliest

    @invariant()
    def every_body_is_found_and_none_is_left_over(self) -> None:
        for number, body in self.model.bodies.items():
            assert self.database.read_body(number) == body
        if not self.model.bodies:
            assert count(self.folder, "bodies") == 0


QueueDatabaseMachine.TestCase.settings = settings(
    max_examples=30, stateful_step_count=25, deadline=None
)
TestQueueDatabase = QueueDatabaseMachine.TestCase
