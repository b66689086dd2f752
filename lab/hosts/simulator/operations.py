"""A client on a simulated server's own machine, with its certificate, as `nodes.shell.ask` is."""

from collections.abc import Callable
from typing import Any, Protocol

from lab.hosts.simulator.connection import Connection
from lab.hosts.simulator.event_loop import World
from lab.hosts.simulator.network import Link, Target
from lab.hosts.simulator.smtp.steps import Answer, Banner, Command, Greeting, Hello
from lab.plan.topology import LinkName


class Listener(Target, Protocol):
    """A server with a name."""

    name: str


def ask_locally(world: World, server: Listener, line: str) -> Callable[[], str]:
    """Begin to ask; what comes back gives the reply as far as it has come."""
    client = _Client(server.name, line)
    link = Link(world, LinkName(server.name, server.name, "local"), server, far=False, seed=0)
    client.connection = link.connect(client)
    return lambda: client.reply


class _Client:
    def __init__(self, name: str, line: str) -> None:
        self.connection: Connection
        self.reply = ""
        self._name, self._line = name, line

    def received(self, said: Any) -> None:
        match said:
            case Banner():
                self.connection.say(Hello(self._name), forward=True)
            case Greeting():
                self.connection.say(Command(self._line), forward=True)
            case Answer(reply):
                self.reply = f"{reply.code} {' '.join(reply.lines)}"
                self.connection.close(by_opener=True)

    def closed(self, _reason: str) -> None:
        """Without a reply there is none."""
