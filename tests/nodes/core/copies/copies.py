"""A world whose mailbox database DB1 has several copies."""

from __future__ import annotations

from typing import Any

from nodes.core.interface import inputs as on
from tests.nodes.core.world import World

COPIES = ("par2", "lyo1")


def databases(*servers: str, lag: str = "", window: str = "") -> list[dict[str, Any]]:
    """DB1 on `servers`, active on the first; `lag`: ReplayLagTime of the last, `window`: its
    Track Duplicates.
    """
    copies: list[dict[str, Any]] = [
        {"Server": server, "ActivationPreference": number}
        for number, server in enumerate(servers, 1)
    ]
    if lag:
        copies[-1]["ReplayLagTime"] = lag
    own = {"Track Duplicates": window} if window else {}
    return [
        {"Name": "DB1", "Server": servers[0], "Copies": copies, **own},
        {"Name": "DB2", "Server": "lyo2"},
    ]


def world_of(
    *servers: str, lag: str = "", window: str = "", managed: bool = False, **sections: Any
) -> World:
    """`managed`: with Active Manager, am1."""
    described = databases(*(servers or COPIES), lag=lag, window=window)
    return World(managed=managed, Databases=described, **sections)


def ask(world: World, server: str, happened: Any, peer: str = "par1") -> Any:
    """A server of the organisation says it in a session of its own; the reply."""
    session = world.connect(server, peer)
    return world.say(server, happened(session))[-1]


def status(world: World, server: str, database: str = "DB1") -> tuple[str, int, int]:
    """State, epoch and last log."""
    reply = ask(world, server, lambda session: on.CopyStatusAsked(session, database))
    _, state, epoch, last_log, *_ = reply.lines[0].split()
    return state, int(epoch), int(last_log)


def mount(world: World, server: str, epoch: int = 1) -> Any:
    return ask(world, server, lambda session: on.MountAsked(session, "DB1", epoch))


def dismount(world: World, server: str, epoch: int = 0) -> Any:
    return ask(world, server, lambda session: on.DismountAsked(session, "DB1", epoch))


def name_copy(world: World, at: str, server: str, epoch: int = 1) -> Any:
    named = lambda session: on.ActiveCopyNamed(session, "DB1", server, epoch)  # noqa: E731
    return ask(world, at, named, "lyo2" if at != "lyo2" else "par1")


def events(world: World, name: str, server: str | None = None) -> list[dict[str, Any]]:
    return [
        fields
        for host, event, fields in world.lifecycle
        if event == name and server in (None, host)
    ]
