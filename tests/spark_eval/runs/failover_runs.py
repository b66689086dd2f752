"""Run folders with a failover of DB1 from par-mbx2 to lyo-mbx1, written by hand like the others.

`lossy()` is one in which everything comes back as it should: the passive copy had its last log
before a cut, what was delivered after that was lost with the old copy, and Safety Nets gave it
back. Verbs take away or add what a broken node would have left.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tests.spark_eval.runs.run_builder import (
    DOMAIN,
    HOUR,
    MAILBOX_SERVERS,
    MINUTE,
    SECOND,
    SENDER,
    Message,
    Row,
    Run,
    digest,
    empty,
    epoch,
    iso,
    mono,
    user,
)

OLD, NEW, MANAGER, OTHER_MANAGER = "par-mbx2", "lyo-mbx1", "am1", "am2"
MOUNTED = 20 * MINUTE
REQUEST = "DB1:1"
EXPIRED = "550 4.4.7 QUEUE.Expired"
INSIDE = [user(1), user(2)]
# within which Active Manager surely asks a copy, or finds it gone: three questions and one more; two
# wall seconds at 60 times their speed; the clock's resolution
ASKED_WITHIN = 3 * 45 * SECOND + 15 * SECOND + 2 * MINUTE + 4_500
# within which a log is surely shipped: half a minute; a second and two of the wall's at 60 times its
# speed, and the clock's resolution; a quarter of a wall second, and five times that resolution
SHIPPED_WITHIN = 30 * SECOND + SECOND + 120 * SECOND + 900 + 15 * SECOND + 4_500


@dataclass
class Failover:
    """A run, and the messages in it: `kept` by the new copy and before the interval, `near`, kept
    and inside of it, `lost` with the old copy.
    """

    run: Run
    kept: Message
    near: Message
    lost: Message


def with_two_copies() -> Run:
    """DB1 on two servers, and Active Manager."""
    run = empty()
    topology = run.plan["topology"]
    copies = [
        {"server": name, "activation_preference": number, "replay_lag_time_ms": 0}
        for number, name in enumerate((OLD, NEW), start=1)
    ]
    topology["databases"][0]["copies"] = copies
    topology["servers"].append(
        {"name": MANAGER, "fqdn": f"{MANAGER}.shadowlab.example", "role": "active_manager",
         "site": "lyon", "dag": "DAG1", "domain": None}
    )  # fmt: skip
    run.database_ids[MANAGER] = f"{MANAGER}-first"
    run.life(MANAGER, "database-created", 0, database_id=f"{MANAGER}-first")
    run.life(MANAGER, "started", 0, database_id=f"{MANAGER}-first")
    run.life(OLD, "copy-opened", 0, database="DB1", epoch=0, last_log=0, state="active")
    run.life(NEW, "copy-opened", 0, database="DB1", epoch=0, last_log=0, state="passive")
    run.life(OLD, "database-mounted", 0, database="DB1", epoch=0, last_log=0)
    return run


def with_another_dag(run: Run) -> Run:
    """DAG2, of which nobody is a member, and its Active Manager."""
    run.plan["topology"]["servers"].append(
        {"name": OTHER_MANAGER, "fqdn": f"{OTHER_MANAGER}.shadowlab.example",
         "role": "active_manager", "site": "lyon", "dag": "DAG2", "domain": None}
    )  # fmt: skip
    run.database_ids[OTHER_MANAGER] = f"{OTHER_MANAGER}-first"
    run.life(OTHER_MANAGER, "database-created", 0, database_id=f"{OTHER_MANAGER}-first")
    run.life(OTHER_MANAGER, "started", 0, database_id=f"{OTHER_MANAGER}-first")
    return run


def said_by_another(run: Run, event: str) -> Run:
    """The Active Manager of another DAG says it, and not that of the database."""
    rows = run.lifecycle[MANAGER]
    with_another_dag(run).lifecycle[OTHER_MANAGER] += [r for r in rows if r["event"] == event]
    run.lifecycle[MANAGER] = [row for row in rows if row["event"] != event]
    return run


def bring(
    run: Run, at_ms: int, *, copy: str = OLD, primary: str = "par-mbx1",
    to: list[str] | None = None,
) -> Message:  # fmt: skip
    """A message accepted, delivered into a copy of DB1 and let go; in no mailbox yet."""
    message = run.accept(at_ms, to or INSIDE, primary=primary, shadow="lyo-mbx2")
    _finish(run, message, at_ms + 2 * SECOND, copy, "DELIVER")
    run.let_go(message, at_ms + 90 * SECOND)
    return message


def _finish(run: Run, message: Message, at_ms: int, copy: str, event: str) -> None:
    """Brought to the server of a copy, which says so."""
    run.finish(message, at_ms, visible=False)
    run.rows(message.primary, "SEND")[-1]["server-hostname"] = f"{copy}.{DOMAIN}"
    run.log(copy, event, "STOREDRIVER", at_ms - 50, message, internal_id=5000 + message.internal_id,
            source_context="MDB:DB1")  # fmt: skip


def send_delayed(run: Run, at_ms: int) -> Message:
    """From user01 to somebody outside, who never gets it."""
    message = run.accept(at_ms, ["someone@partner.example"], mail="outbound")
    for row in run.ledger:
        if row["type"] == "message" and row["message_id"] == message.message_id:
            row["sender"] = user(1)
    return message


def notify(run: Run, about: Message, at_ms: int, *, context: str = "") -> Message:
    """A DSN for user01, delivered into the old copy of DB1; in no mailbox."""
    number = run.next_id()
    report = replace(
        about, message_id=f"<dsn.{number}@lab>", recipients=[user(1)], internal_id=number
    )
    run.log(about.primary, "DSN", "DSN", at_ms, report, reference=about.message_id,
            source_context=context)  # fmt: skip
    _finish(run, report, at_ms + SECOND, OLD, "DELIVER")
    return report


def see(run: Run, message: Message, delivered_ms: int) -> None:
    """It is in the mailboxes at the end."""
    for name in message.recipients:
        run.mailboxes["DB1"].append(
            {"mailbox": name, "message_id": message.message_id, "sender": SENDER,
             "submitted_ms": epoch(message.sent_ms), "delivered_ms": delivered_ms,
             "size_bytes": 4096, "server": NEW, **digest(message.message_id)}
        )  # fmt: skip


def activate(
    run: Run, at_ms: int = MOUNTED, *, orderly: bool = False, kind: str = "failover"
) -> None:
    """The other copy is mounted, and everybody told."""
    run.life(MANAGER, "failover-decided", at_ms - SECOND, database="DB1", epoch=1, kind=kind,
             cause="silent: connection refused")  # fmt: skip
    if orderly:
        run.life(OLD, "database-dismounted", at_ms - SECOND // 2, database="DB1", epoch=0,
                 last_log=7)  # fmt: skip
    run.life(NEW, "database-mounted", at_ms, database="DB1", epoch=1, last_log=8)
    for number, server in enumerate(MAILBOX_SERVERS):
        run.life(server, "active-copy", at_ms + (number + 1) * SECOND, database="DB1", epoch=1,
                 server=NEW)  # fmt: skip


def give_way(run: Run, at_ms: int = MOUNTED + 3 * SECOND) -> None:
    """The copy before follows the new one."""
    run.life(OLD, "copy-passive", at_ms, database="DB1", epoch=1, last_log=8)


def request(run: Run, server: str, at_ms: int = MOUNTED + 10 * SECOND) -> None:
    run.life(server, "resubmit-requested", at_ms, request_id=REQUEST, safety_net="primary",
             database="DB1")  # fmt: skip


def resubmit(
    run: Run, message: Message, at_ms: int = MOUNTED + 20 * SECOND, *, lost: bool,
    destination: str = "DB1", recipients: list[str] | None = None, delivered_ms: int | None = None,
    request_id: str = REQUEST,
) -> Message:  # fmt: skip
    """Its primary gives it back: a new primary message, shadowed again, delivered or turfed."""
    mine = run.next_id()
    again = replace(message, at_ms=at_ms, internal_id=mine, recipients=recipients or INSIDE)
    done_ms = message.done_ms if delivered_ms is None else delivered_ms
    custom: Row = {"Destination": destination, "SafetyNet": "primary", "DeliveredAt": iso(done_ms),
                   "CopyInternalId": message.internal_id}  # fmt: skip
    run.log(message.primary, "RESUBMIT", "SAFETYNET", at_ms, again, source_context=request_id,
            custom=custom)  # fmt: skip
    run.log("lyo-mbx2", "HARECEIVE", "SMTP", at_ms + 300, again, internal_id=1000 + mine,
            custom=run.key(again))  # fmt: skip
    run.log(again.primary, "HAREDIRECT", "SMTP", at_ms + 400, again,
            custom={"ShadowServer": "lyo-mbx2", "Attempts": 1})  # fmt: skip
    event = "DELIVER" if lost else "DUPLICATEDELIVER"
    _finish(run, again, at_ms + 2 * SECOND, NEW, event)
    run.let_go(again, at_ms + 90 * SECOND)
    return again


def before() -> Failover:
    """Up to the failover: nobody was asked for anything yet."""
    run = with_two_copies()
    kept = bring(run, 2 * MINUTE)
    near = bring(run, 16 * MINUTE)
    see(run, kept, 2 * MINUTE + SECOND)
    see(run, near, 16 * MINUTE + SECOND)
    lost = bring(run, 18 * MINUTE)
    activate(run)
    return Failover(run, kept, near, lost)


def ship(run: Run, at_ms: int, server: str = OLD, peer: str = NEW) -> None:
    """A session for logs, in which one was begun."""
    session = (("+", "replication"), (">", "Established connection"), ("-", "Messages: 1"))
    for direction, said in session:
        run.contacts.setdefault(server, []).append(
            {"at_ms": at_ms, "session": f"out-{at_ms}", "source": "SMTP", "destination": peer,
             "direction": direction, "description": f"{said};Mono={mono(at_ms)}"}
        )  # fmt: skip


def lossy() -> Failover:
    """One message lost with the old copy and given back, one inside that was there already."""
    told = before()
    give_way(told.run)
    for server in MAILBOX_SERVERS:
        request(told.run, server)
    resubmit(told.run, told.near, lost=False)
    resubmit(told.run, told.lost, MOUNTED + 30 * SECOND, lost=True)
    see(told.run, told.lost, MOUNTED + 31 * SECOND)
    # the last of the old copy was begun, and not taken in
    for at_ms in (2 * MINUTE, 16 * MINUTE, 18 * MINUTE):
        ship(told.run, at_ms + 3 * SECOND)
    ship(told.run, MOUNTED + 33 * SECOND, NEW, OLD)
    return told


def lossless_switchover() -> Run:
    """In good order: the copy before was dismounted, the other one has every log."""
    run = with_two_copies()
    see(run, bring(run, 18 * MINUTE), 18 * MINUTE + SECOND)
    activate(run, orderly=True, kind="switchover")
    give_way(run)
    return run


def asked_too_late() -> Run:
    """Active Manager cannot reach par-mbx1 for longer than its Safety Net may keep anything."""
    run = before().run
    run.plan["settings"]["TransportConfig"]["SafetyNetHoldTime"] = 30 * MINUTE
    run.cut(MANAGER, "par-mbx1", MOUNTED - MINUTE, 2 * HOUR)
    run.plan["faults"][-1]["links"][0]["service"] = "management"
    [row] = [row for row in run.lifecycle["par-mbx1"] if row["event"] == "active-copy"]
    row.update(at_ms=2 * HOUR, date=iso(2 * HOUR), mono_ns=mono(2 * HOUR))
    for server in MAILBOX_SERVERS:
        late = server == "par-mbx1"
        request(run, server, (2 * HOUR if late else MOUNTED) + 10 * SECOND)
    return run


def expired_without_a_dsn() -> Run:
    """What was lost with the old copy came back, and could not be delivered."""
    told = before()
    expire(told.run, told.lost, MOUNTED + MINUTE)
    return told.run


def expire(
    run: Run, message: Message, at_ms: int, *, request_id: str = REQUEST,
    recipients: list[str] | None = None,
) -> None:  # fmt: skip
    """Its primary gives it back, and gives it up hours later."""
    mine = run.next_id()
    again = replace(message, at_ms=at_ms, internal_id=mine, recipients=recipients or INSIDE)
    custom = {"Destination": "DB1", "SafetyNet": "primary", "DeliveredAt": iso(message.done_ms),
              "CopyInternalId": message.internal_id}  # fmt: skip
    run.log("par-mbx1", "RESUBMIT", "SAFETYNET", at_ms, again, source_context=request_id,
            custom=custom)  # fmt: skip
    run.log("par-mbx1", "FAIL", "QUEUE", 2 * HOUR, again, recipient_status=EXPIRED)
    run.log("par-mbx1", "SUPPRESSED", "DSN", 2 * HOUR, again, recipient_status=EXPIRED,
            source_context=request_id)  # fmt: skip


def promoted_shadow_expired(
    request_id: str | None = REQUEST, *, promoted: bool = True, told: bool = False
) -> Run:
    """The shadow of what came back was promoted, and expired.
    `request_id` is why its sender is not notified, None where no row says that; `promoted`: a row
    says that it was; `told`: its sender is notified all the same.
    """
    happened = before()
    run = happened.run
    for row in run.ledger:
        if row["type"] == "message":
            row["sender"] = "db2-user01@shadowlab.example"
    again = resubmit(run, happened.lost, lost=True)
    mine, holder = run.next_id(), "lyo-mbx2"
    run.remove(holder, "HADISCARD", again)
    if promoted:
        run.log(holder, "RESUBMIT", "REDUNDANCY", HOUR, again, internal_id=mine,
                source_context="resubmit-time-span", custom=run.key(again))  # fmt: skip
    ended = replace(again, internal_id=mine, database_id=run.database_ids[holder])
    run.log(holder, "FAIL", "QUEUE", 2 * HOUR, ended, recipient_status=EXPIRED)
    if request_id is not None:
        run.log(holder, "SUPPRESSED", "DSN", 2 * HOUR, ended, source_context=request_id)
    if told:
        report(run, holder, ended)
    return run


def report(run: Run, server: str, about: Message) -> None:
    """The server makes a DSN about it, which nobody sees."""
    row = run.log(server, "DSN", "DSN", 2 * HOUR, about, internal_id=9000,
                  reference=about.message_id)  # fmt: skip
    row["message-id"] = f"<dsn.1@{server}.shadowlab.example>"


def with_its_first_row_swallowed(run: Run, *, asked: bool = True) -> Run:
    """What came back is known by its LOAD alone. `asked`: the record shows a request."""
    (row,) = (r for r in run.tracking["par-mbx1"] if r["event-id"] == "RESUBMIT")
    row.update({"event-id": "LOAD", "source": "BOOTLOADER", "source-context": "delivery"})
    run.lifecycle["par-mbx1"] = [
        r for r in run.lifecycle["par-mbx1"] if r["event"] != "resubmit-requested"
    ]
    if asked:
        request(run, "par-mbx1")
    return run
