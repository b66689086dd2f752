"""Asking the servers of a lab that stands; containers stand in."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
import requests

from lab.hosts.containers.asking import AWAY, ask_servers
from lab.program.errors import GroundError, ScenarioError

RUN = "calm-7"


@dataclass
class Server:
    """What its container says to whoever asks it."""

    name: str
    says: bytes
    status: str = "running"

    @property
    def attrs(self) -> dict[str, Any]:
        return {"Config": {"Hostname": self.name}}

    def exec_run(self, command: list[str], *, stderr: bool) -> SimpleNamespace:
        assert self.status == "running"
        assert (command[-2:], stderr) == (["XRESUBMIT", "LIST"], False)
        return SimpleNamespace(output=self.says)


def ask(*servers: Server, server: str | None = None) -> dict[str, str]:
    def found(*, all: bool, filters: dict[str, list[str]]) -> list[Server]:
        assert all
        return list(servers) if any(RUN in each for each in filters["label"]) else []

    client: Any = SimpleNamespace(containers=SimpleNamespace(list=found))
    return ask_servers(client, RUN, "XRESUBMIT LIST", server)


def test_whoever_knows_the_verb_is_shown_and_whoever_is_away() -> None:
    servers = Server("b", b"250 Done 0\n"), Server("a", b"550 5.7.1 no"), Server("c", b"", "exited")
    outside = Server("ext1", b"500 5.5.2 unrecognized")
    assert ask(*servers, outside) == {"a": "550 5.7.1 no", "b": "250 Done 0", "c": AWAY}


def test_one_server_may_be_asked_alone() -> None:
    assert ask(Server("a", b"250 x"), Server("b", b"250 y"), server="b") == {"b": "250 y"}


def test_a_server_that_is_none_of_it_is_a_wrong_call() -> None:
    with pytest.raises(ScenarioError, match="calm-7 has no server z") as refused:
        ask(Server("a", b"250 x"), server="z")
    assert refused.value.hint == "it has a"
    with pytest.raises(ScenarioError, match=r"calm-7 has no server$"):
        ask()


def test_an_engine_that_does_not_answer_is_a_ground_error() -> None:
    def gone(**_: Any) -> list[Server]:
        raise requests.ConnectionError("gone")

    client: Any = SimpleNamespace(containers=SimpleNamespace(list=gone))
    with pytest.raises(GroundError, match="cannot ask calm-7: gone"):
        ask_servers(client, RUN, "XQUEUES")
