"""A public decision of the core, taken otherwise.

A function is found by what it is, wherever the node's modules have imported it, so it may move; a
method is one of a class. Private names are refused.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch


@contextmanager
def decides(decision: Callable[..., Any], otherwise: Callable[..., Any]) -> Iterator[None]:
    """`otherwise(decision, *arguments)` is called instead of `decision(*arguments)`."""
    _require_public(decision.__name__)

    def decided(*arguments: Any, **named: Any) -> Any:
        return otherwise(decision, *arguments, **named)

    with ExitStack() as stack:
        for module, name in _where(decision):
            stack.enter_context(patch.object(module, name, decided))
        yield


@contextmanager
def does(owner: type, name: str, otherwise: Callable[..., Any]) -> Iterator[None]:
    """`otherwise(method, self, *arguments)` is called instead of `self.name(*arguments)`."""
    _require_public(name)
    method = getattr(owner, name)

    def done(self: Any, *arguments: Any, **named: Any) -> Any:
        return otherwise(method, self, *arguments, **named)

    with patch.object(owner, name, done):
        yield


def _require_public(name: str) -> None:
    is_public = not name.startswith("_") or name.endswith("__")
    assert is_public, f"{name} is private: a defect wraps what has a public name"


def _where(decision: Callable[..., Any]) -> list[tuple[Any, str]]:
    modules = [module for name, module in list(sys.modules.items()) if name.startswith("nodes.")]
    return [
        (module, name)
        for module in modules
        for name, value in list(vars(module).items())
        if value is decision
    ]
