"""A node that goes by other settings than it was given; its host knows the right ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from defects.defect import Context
from defects.door import Core
from nodes.core.config.config import NodeConfig, ServerConfig, TransportConfig
from nodes.core.node import Node


@contextmanager
def goes_by(change: Callable[[NodeConfig], NodeConfig], core: type[Core] = Node) -> Iterator[None]:
    begin = core.__init__

    def __init__(self: Any, config: NodeConfig) -> None:
        begin(self, change(config))

    with patch.object(core, "__init__", __init__):
        yield


def transport(change: Callable[[TransportConfig], TransportConfig]) -> Context:
    """With other parameters of the organisation."""
    return goes_by(lambda config: replace(config, transport=change(config.transport)))


def server(change: Callable[[ServerConfig], ServerConfig]) -> Context:
    """With other parameters of the server and its connectors."""
    return goes_by(lambda config: replace(config, server=change(config.server)))
