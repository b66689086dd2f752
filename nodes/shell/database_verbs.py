"""The grammar of XACTIVE, by which Active Manager tells servers which copy of a mailbox database is
active: this project's own.

    XACTIVE <database> <server> <epoch>
        250 2.0.0 <epoch ms from which on nothing was brought to the copy before>

As strict as `shadow_verbs`; who may use it is the core's to say.
"""

from __future__ import annotations

import re

from nodes.core.inputs import ActiveCopyNamed

_WORD = re.compile(r"[!-~]{1,128}")
_NUMBER = re.compile(r"[0-9]{1,18}", re.ASCII)


def parse_active_copy(session: str, arguments: str) -> ActiveCopyNamed | None:
    """None for arguments that are not of the grammar."""
    words = arguments.split(" ")
    if len(words) != 3 or not all(_WORD.fullmatch(word) for word in words):
        return None
    if not _NUMBER.fullmatch(words[2]):
        return None
    return ActiveCopyNamed(session, words[0], words[1], int(words[2]))
