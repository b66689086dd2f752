"""The conversation between the lab and the container of the workload: JSON lines over TCP.

The lab sits outside the networks of the servers, so the container connects for it. Requests:
`{"op": "probe", "address": "host:port", "wait_ms": n}`, `{"op": "probe-message", "address",
"fqdn", "sender", "recipient", "message_id", "wait_ms"}`, `{"op": "status"}`, `{"op": "add",
"messages": [as in plan.json]}`, `{"op": "hush"}`, `{"op": "stop"}`.
Every answer is one object: `{"ok": true, …}` or `{"ok": false, "error": "…"}`. Both ends are in
this module, so that the words are written once. One request, one connection: nothing is shared
between callers, and each call is bounded.
"""

import asyncio
import json
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from lab.workload.probe import Probe, Seen

AGENT_PORT = 7700
ANSWER_MARGIN_SECONDS = 5.0
LONGEST_LINE = 1 << 20

Request = Mapping[str, object]
Handler = Callable[[Request], Awaitable[Mapping[str, object]]]


class AgentError(Exception):
    """The agent did not answer, or answered that it could not."""


@dataclass(frozen=True, slots=True)
class ProbeMessageReply:
    """The outcome of a probe message: `ok`, `failed` or `unknown`, the server's word, why."""

    outcome: str
    reply: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class WorkloadStatus:
    """How many messages the plan has, were begun, have an `ok`; `crashed` names a bug's trace."""

    planned: int
    begun: int
    acknowledged: int
    outstanding: int
    crashed: str | None


@dataclass(frozen=True, slots=True)
class Hushed:
    """When the last message could begin, in lab ms, and which of an earlier time had not."""

    at_ms: int
    not_begun: frozenset[str]


async def serve(handlers: Mapping[str, Handler], host: str, port: int) -> asyncio.Server:
    """Answer requests by `handlers[op]`; a mistake in a request is an answer, not an end."""

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while line := await reader.readline():
                answer = await _answer(handlers, line)
                writer.write(json.dumps(answer).encode("utf-8") + b"\n")
                await writer.drain()
        except (OSError, ValueError):
            pass  # the lab hung up, or sent no lines at all
        finally:
            writer.close()

    return await asyncio.start_server(converse, host, port, limit=LONGEST_LINE)


async def _answer(handlers: Mapping[str, Handler], line: bytes) -> Mapping[str, object]:
    try:
        request = json.loads(line)
        handler = handlers[request["op"]]
        return {"ok": True, **await handler(request)}
    except (ValueError, TypeError, KeyError) as error:
        return {"ok": False, "error": f"{type(error).__name__}: {error}"}


class Agent:
    """The lab's end. Every method raises AgentError; none waits longer than it says."""

    def __init__(self, host: str, port: int) -> None:
        self._address = (host, port)

    def probe(self, address: str, wait_seconds: float) -> Probe:
        """What a connection to `address` ("host:port", seen from the container) sees."""
        wait_ms = round(wait_seconds * 1000)
        answer = self._ask({"op": "probe", "address": address, "wait_ms": wait_ms}, wait_seconds)
        took_ms = float(str(answer["took_ms"]))
        return Probe(Seen(str(answer["probe"])), str(answer["text"]), took_ms)

    def probe_message(
        self,
        address: str,
        *,
        fqdn: str,
        sender: str,
        recipient: str,
        message_id: str,
        wait_seconds: float,
    ) -> ProbeMessageReply:
        """Send one mail over the link; `wait_seconds` bounds each reply."""
        request = {
            "op": "probe-message",
            "address": address,
            "fqdn": fqdn,
            "sender": sender,
            "recipient": recipient,
            "message_id": message_id,
            "wait_ms": round(wait_seconds * 1000),
        }
        answer = self._ask(request, wait_seconds * 4)
        reply = answer["reply"]
        return ProbeMessageReply(
            str(answer["outcome"]), None if reply is None else str(reply), str(answer["reason"])
        )

    def status(self) -> WorkloadStatus:
        answer = self._ask({"op": "status"}, 0)
        counts = [int(str(answer[name])) for name in ("planned", "begun", "acknowledged")]
        crashed = answer["crashed"]
        return WorkloadStatus(
            counts[0],
            counts[1],
            counts[2],
            int(str(answer["outstanding"])),
            None if crashed is None else str(crashed),
        )

    def add(self, messages: Sequence[Mapping[str, object]]) -> None:
        """Messages as plan.json has them, to be sent beside those of the plan."""
        self._ask({"op": "add", "messages": messages}, 0)

    def hush(self) -> Hushed:
        """No message begins from now on; those that have begun are tried on."""
        answer = self._ask({"op": "hush"}, 0)
        not_begun = answer["not_begun"]
        ids = map(str, not_begun) if isinstance(not_begun, list) else ()
        return Hushed(int(str(answer["at_ms"])), frozenset(ids))

    def stop(self) -> None:
        """Returns when the last outcome is in the ledger and nothing more is sent."""
        self._ask({"op": "stop"}, 10)

    def _ask(self, request: Request, wait_seconds: float) -> Mapping[str, object]:
        bound = wait_seconds + ANSWER_MARGIN_SECONDS
        try:
            with socket.create_connection(self._address, timeout=bound) as connection:
                connection.settimeout(bound)
                connection.sendall(json.dumps(request).encode("utf-8") + b"\n")
                with connection.makefile("rb") as lines:
                    answer = json.loads(lines.readline(LONGEST_LINE))
        except (OSError, ValueError) as error:
            raise AgentError(f"the agent did not answer {request['op']}: {error}") from error
        if not isinstance(answer, dict) or not answer.get("ok"):
            raise AgentError(f"the agent could not {request['op']}: {answer}")
        return answer
