"""The traffic source of a run: sends every message of the plan at its lab time, over real SMTP.

It is a container of the lab like any other (`python3 -m lab.workload /workload`), reads `plan.json`
and `targets.json` from its folder and writes `ledger.jsonl` there, each line before the act that it
reports. A message refused, unanswered or in doubt goes to the next server of its `via` at once,
and again every `retry_ms`, with the same Message-Id and Date, until it is acknowledged or the plan
is over. Every message has a session of its own, so a silent server delays no message but its own.
The strangers of the plan call from here too (`lab.workload.strangers`), and what they hear is
`strangers.jsonl`. The same process is the lab's probe agent.

It draws nothing by chance, knows no fault and judges no outcome.
"""

import asyncio
import contextlib
import signal
import ssl
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from lab.clock import LabClock, read_start
from lab.program.errors import PASS, ScenarioError
from lab.workload.agent import AGENT_PORT, Handler, Hushed, Request, serve
from lab.workload.content import content_of
from lab.workload.ledger import Ledger, LedgerFile, LedgerMessage, Outcome
from lab.workload.plan_reader import (
    PlannedMessage,
    WorkPlan,
    read_messages,
    read_targets,
    read_work_plan,
)
from lab.workload.probe import probe
from lab.workload.smtp_attempt import Attempt, Mail, Patience, Result, Target, tls_context
from lab.workload.stranger_record import STRANGERS_FILE, StrangerRecord
from lab.workload.strangers import Strangers, contexts
from nodes.shell.smtp.headers import hops_of
from nodes.store.message_digest import digest_of

START_FILE = Path("/etc/shadowlab-clock/start.json")
POLL_SECONDS = 0.02
SESSIONS_PER_SERVER = 100
STEP_LAB_MS = 300_000  # RFC 5321, 4.5.3.2: 5 minutes for a reply …
FINAL_LAB_MS = 600_000  # … and 10 for the one to the final dot
SHORTEST_PATIENCE_SECONDS = 3.0
PROBE_BYTES = 600


class Workload:
    """Sends `plan` to `targets`, and what is added; `ledger` hears of everything first."""

    def __init__(
        self,
        plan: WorkPlan,
        targets: Mapping[str, Target],
        clock: LabClock,
        ledger: Ledger,
        tls: ssl.SSLContext,
    ) -> None:
        self._plan, self._targets, self._clock = plan, targets, clock
        self._ledger, self._tls = ledger, tls
        self._patience = patience(clock)
        self._slots = {name: asyncio.Semaphore(SESSIONS_PER_SERVER) for name in targets}
        self._not_begun = {each.message_id: each.at_ms for each in plan.messages}
        self._sending: set[asyncio.Task[None]] = set()
        self._is_hushed = False
        self.begun = 0
        self.acknowledged = 0
        self.crashed: str | None = None

    async def run(self) -> None:
        """Returns when every message is acknowledged or the plan is over; may be cancelled."""
        try:
            for message in self._plan.messages:
                await self._sleep_until(message.at_ms)
                self._sending.add(asyncio.create_task(self._deliver(message)))
            await asyncio.gather(*self._sending)
        except asyncio.CancelledError:
            await self.end()
            raise

    def add(self, messages: Iterable[PlannedMessage]) -> None:
        """Each is sent at its time, or at once where that has passed."""
        for message in messages:
            self._not_begun[message.message_id] = message.at_ms
            self._sending.add(asyncio.create_task(self._deliver_in_time(message)))

    def hush(self) -> Hushed:
        """Nothing more begins; what has begun is tried on."""
        self._is_hushed, now_ms = True, self._clock.lab_ms(time.monotonic_ns())
        late = (name for name, at_ms in self._not_begun.items() if at_ms <= now_ms)
        return Hushed(now_ms, frozenset(late))

    async def end(self) -> None:
        """What is under way is given up, and the ledger says so."""
        for task in self._sending:
            task.cancel()
        await asyncio.gather(*self._sending, return_exceptions=True)

    @property
    def planned(self) -> int:
        return self.begun + len(self._not_begun)

    async def _deliver_in_time(self, message: PlannedMessage) -> None:
        await self._sleep_until(message.at_ms)
        await self._deliver(message)

    async def _deliver(self, message: PlannedMessage) -> None:
        if self._is_hushed:
            return
        del self._not_begun[message.message_id]
        self.begun += 1
        try:
            await self._submit(message)
        except Exception:
            self.crashed = traceback.format_exc()
            print(self.crashed, file=sys.stderr, flush=True)

    async def _submit(self, message: PlannedMessage) -> None:
        date = self._clock.header_date(message.at_ms)
        content = content_of(
            message.message_id, message.sender, message.recipients, date, message.size_bytes
        )
        mail = Mail(message.sender, message.recipients, content, message.outbox)
        self._ledger.message(_ledger_message(message, mail, self._clock))
        attempt = 0
        while not self._over():
            for server in message.via:
                attempt += 1
                if await self._try(message.message_id, mail, attempt, server):
                    return
            await asyncio.sleep(self._clock.wall_seconds(message.retry_ms))

    async def _try(self, message_id: str, mail: Mail, number: int, server: str) -> bool:
        """True when there is nothing left to do: acknowledged, or the plan is over."""
        async with self._slots[server]:
            if self._over():
                return True
            self._ledger.attempt(message_id, number, server)
            attempt = Attempt(mail, self._targets[server], self._tls, self._patience)
            try:
                result = await attempt.run()
            except asyncio.CancelledError:
                self._record(message_id, number, server, attempt.interrupted())
                attempt.abort()
                raise
            self._record(message_id, number, server, result)
            await attempt.close(politely=result.reply is not None)
        return result.outcome is Outcome.OK

    def _record(self, message_id: str, number: int, server: str, result: Result) -> None:
        self.acknowledged += result.outcome is Outcome.OK
        self._ledger.outcome(
            message_id, number, server, result.outcome, result.reply, result.reason
        )

    def _over(self) -> bool:
        return self._clock.lab_ms(time.monotonic_ns()) >= self._plan.duration_ms

    async def _sleep_until(self, at_ms: float) -> None:
        await asyncio.sleep((self._clock.mono_ns_at(at_ms) - time.monotonic_ns()) / 1e9)


class Container:
    """The process: answers the lab from its first moment, sends once lab time runs."""

    def __init__(self, folder: Path, start_file: Path) -> None:
        self._folder, self._start_file = folder, start_file
        self._plan = read_work_plan(folder / "plan.json")
        self._tls = tls_context(folder / "tls" / "authority.pem")
        self._workload: Workload | None = None
        self._crashed: str | None = None
        self._stopping = asyncio.Event()
        self._stopped = asyncio.Event()

    async def run(self, host: str, port: int, listening: Callable[[int], None]) -> None:
        """Serve until asked to stop; `listening` is called with the agent's port."""
        handlers: dict[str, Handler] = {
            "probe": self._probe,
            "probe-message": self._probe_message,
            "status": self._status,
            "add": self._add,
            "hush": self._hush,
            "stop": self._stop,
        }
        server = await serve(handlers, host, port)
        listening(server.sockets[0].getsockname()[1])
        async with server:
            sending = asyncio.create_task(self._send_or_say_why())
            await self._stopping.wait()
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)
            self._stopped.set()
            await asyncio.sleep(POLL_SECONDS)  # let the answer to `stop` out

    def stop(self) -> None:
        self._stopping.set()

    async def _send_or_say_why(self) -> None:
        try:
            await self._send()
        except Exception:
            self._crashed = traceback.format_exc()
            print(self._crashed, file=sys.stderr, flush=True)

    async def _send(self) -> None:
        while (zero_ns := read_start(self._start_file)) is None:
            await asyncio.sleep(POLL_SECONDS)
        clock = LabClock(self._plan.origin, self._plan.speed, zero_ns)
        targets = read_targets(self._folder / "targets.json")
        with LedgerFile(self._folder / "ledger.jsonl") as file:
            ledger = Ledger(file.append, clock.lab_ms)
            self._workload = Workload(self._plan, targets, clock, ledger, self._tls)
            try:
                async with asyncio.TaskGroup() as sending:
                    sending.create_task(self._workload.run())
                    if self._plan.strangers:
                        sending.create_task(self._call(targets, clock))
                await self._stopping.wait()  # more may be added
            finally:
                await self._workload.end()

    async def _call(self, targets: Mapping[str, Target], clock: LabClock) -> None:
        """What strangers do meanwhile."""
        known = contexts(self._folder / "tls")
        with LedgerFile(self._folder / STRANGERS_FILE) as file:
            record = StrangerRecord(file.append, clock.lab_ms)
            strangers = self._plan.strangers
            await Strangers(strangers, targets, clock, record, known, patience(clock)).run()

    async def _probe(self, request: Request) -> Mapping[str, object]:
        host, port = split_address(request["address"])
        seen = await probe(host, port, _seconds(request["wait_ms"]))
        return {"probe": seen.seen.value, "text": seen.text, "took_ms": seen.took_ms}

    async def _probe_message(self, request: Request) -> Mapping[str, object]:
        host, port = split_address(request["address"])
        wait = _seconds(request["wait_ms"])
        message_id, sender = str(request["message_id"]), str(request["sender"])
        date = LabClock(self._plan.origin, self._plan.speed, 0).header_date(0)
        recipients = [str(request["recipient"])]
        content = content_of(message_id, sender, recipients, date, PROBE_BYTES)
        mail = Mail(sender, recipients, content)
        target = Target("", host, port, str(request["fqdn"]))
        attempt = Attempt(mail, target, self._tls, Patience(wait, wait))
        result = await attempt.run()
        await attempt.close(politely=result.reply is not None)
        return {"outcome": result.outcome.value, "reply": result.reply, "reason": result.reason}

    async def _status(self, _: Request) -> Mapping[str, object]:
        workload = self._workload
        planned = workload.planned if workload else len(self._plan.messages)
        acknowledged = workload.acknowledged if workload else 0
        return {
            "planned": planned,
            "begun": workload.begun if workload else 0,
            "acknowledged": acknowledged,
            "outstanding": planned - acknowledged,
            "crashed": self._crashed or (workload.crashed if workload else None),
        }

    async def _add(self, request: Request) -> Mapping[str, object]:
        rows = request["messages"]
        if self._workload is None or not isinstance(rows, list):
            raise ValueError("nothing is sent yet, or these are no messages")
        self._workload.add(read_messages(rows, self._plan.homes))
        return {}

    async def _hush(self, _: Request) -> Mapping[str, object]:
        if self._workload is None:
            raise ValueError("nothing is sent yet")
        hushed = self._workload.hush()
        return {"at_ms": hushed.at_ms, "not_begun": sorted(hushed.not_begun)}

    async def _stop(self, _: Request) -> Mapping[str, object]:
        self.stop()
        await self._stopped.wait()
        return {}


def patience(clock: LabClock) -> Patience:
    """The time-outs of a sending server in lab time, as wall seconds; a floor for slow hosts."""
    step = max(SHORTEST_PATIENCE_SECONDS, clock.wall_seconds(STEP_LAB_MS))
    return Patience(step, step + clock.wall_seconds(FINAL_LAB_MS))


def split_address(address: object) -> tuple[str, int]:
    """Host and port of `10.1.2.3:21004`; ValueError otherwise."""
    host, _, port = str(address).rpartition(":")
    return host, int(port)


def _seconds(wait_ms: object) -> float:
    return float(str(wait_ms)) / 1000


def _ledger_message(message: PlannedMessage, mail: Mail, clock: LabClock) -> LedgerMessage:
    return LedgerMessage(
        message.message_id,
        message.mail,
        clock.header_date_iso(message.at_ms),
        message.sender,
        message.recipients,
        message.size_bytes,
        hops_of(mail.content),
        digest_of(mail.content),
    )


async def _main(folder: Path) -> None:
    container = Container(folder, START_FILE)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, container.stop)
    await container.run("0.0.0.0", AGENT_PORT, lambda _: None)


def main(arguments: list[str]) -> int:
    """`FOLDER`: with plan.json and targets.json; exit code 0, or 4 for any other call."""
    if len(arguments) != 1 or not Path(arguments[0]).is_dir():
        raise ScenarioError("no folder to work in", "python3 -m lab.workload FOLDER")
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_main(Path(arguments[0])))
    return PASS
