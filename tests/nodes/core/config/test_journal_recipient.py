"""A journaled database names a mailbox (SM-10)."""

from __future__ import annotations

import pytest

from nodes.core.config.config import NodeConfig
from nodes.core.config.error import ConfigurationError
from tests.nodes.core.world import USER2, config


def journaled_by(address: str) -> NodeConfig:
    first = {"Name": "DB1", "Server": "par2", "JournalRecipient": address}
    return config("par1", Databases=[first, {"Name": "DB2", "Server": "lyo2"}])


def test_a_journal_mailbox_is_a_mailbox_in_whatever_case() -> None:
    assert journaled_by(USER2.upper()).journal_recipients == {"DB1": USER2}


def test_another_address_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"JournalRecipient: .*is no mailbox"):
        journaled_by("nobody@lab.example")
