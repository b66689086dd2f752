"""Each recipient is one recipient, and no two are made one."""

from __future__ import annotations

from nodes.core.model.message import Fork
from nodes.core.routing.categorizer import forks_of
from tests.nodes.core.world import USER1, config
from tests.nodes.next_hops import DB1


def test_a_mailbox_is_the_same_in_any_case() -> None:
    assert forks_of(config("par1"), (USER1.upper(), USER1)) == (Fork(DB1, (USER1,)),)


def test_whose_case_means_what_outside_is_left_as_it_is() -> None:
    """RFC 5321 section 2.4."""
    outside = ("Bob@partner.example", "bob@Partner.example", "Bob@partner.example")
    (fork,) = forks_of(config("par1"), outside)
    assert fork.recipients == outside[:2]
