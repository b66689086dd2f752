"""The grammar of this project's own verbs, in both directions (TL-5, F§9.1: Exchange's is not
public).

    XSHADOWREQUEST <primary> <primary's database id> <primary's internal id> <network-message-id>
    XDELIVER <database> <network-message-id>
    XQDISCARD <asking server> <known database id or -> <confirmed sequence>

XSHADOWREQUEST and XDELIVER come before MAIL and are answered 250. The answer to XQDISCARD is
`DatabaseId=<id>`, then `<sequence> <internal id> <delivered epoch ms>` each, then `More <n>` or
`Done <n>`. Nothing here decides anything.
"""

from __future__ import annotations

from dataclasses import dataclass

from nodes.core.effects import AskDiscard, DeliverTo, ShadowRequest

XSHADOWREQUEST = "XSHADOWREQUEST"
XDELIVER = "XDELIVER"
XQDISCARD = "XQDISCARD"

SYNTAX = {
    XSHADOWREQUEST: "XSHADOWREQUEST primary database-id internal-id network-message-id",
    XDELIVER: "XDELIVER database network-message-id",
    XQDISCARD: "XQDISCARD server database-id|- sequence",
}


class GrammarError(ValueError):
    """Arguments that are not of the grammar; the peer's mistake."""


@dataclass(frozen=True, slots=True)
class DiscardQuestion:
    """XQDISCARD's arguments; `known_database_id` is empty where none is known."""

    asking_server: str
    known_database_id: str
    confirmed_sequence: int


@dataclass(frozen=True, slots=True)
class DiscardAnswer:
    """XQDISCARD's answer: (sequence, internal id, delivered epoch ms) in order."""

    database_id: str
    notifications: tuple[tuple[int, int, int], ...]
    more: bool


def format_shadow_request(request: ShadowRequest) -> str:
    return (
        f"{XSHADOWREQUEST} {request.primary} {request.database_id} {request.internal_id}"
        f" {request.network_message_id}"
    )


def parse_shadow_request(arguments: str | None) -> ShadowRequest:
    primary, database_id, internal_id, network_message_id = _words(arguments, 4)
    return ShadowRequest(primary, database_id, _number(internal_id), network_message_id)


def format_delivery(target: DeliverTo) -> str:
    return f"{XDELIVER} {target.database} {target.network_message_id}"


def parse_delivery(arguments: str | None) -> DeliverTo:
    database, network_message_id = _words(arguments, 2)
    return DeliverTo(database, network_message_id)


def format_discard_question(asking_server: str, ask: AskDiscard) -> str:
    return f"{XQDISCARD} {asking_server} {ask.known_database_id or '-'} {ask.confirmed_sequence}"


def parse_discard_question(arguments: str | None) -> DiscardQuestion:
    server, database_id, sequence = _words(arguments, 3)
    return DiscardQuestion(server, "" if database_id == "-" else database_id, _number(sequence))


def parse_discard_answer(text: str) -> DiscardAnswer:
    """Of the lines of a 250, without code."""
    first, *listed, last = text.split("\n")
    key, _, database_id = first.partition("=")
    word, _, count = last.partition(" ")
    if key != "DatabaseId" or not database_id or word not in ("More", "Done"):
        raise GrammarError(f"not an answer to XQDISCARD: {text[:80]!r}")
    if _number(count) != len(listed):
        raise GrammarError(f"XQDISCARD announced {count} notifications and gave {len(listed)}")
    return DiscardAnswer(database_id, tuple(map(_notification, listed)), word == "More")


def _notification(line: str) -> tuple[int, int, int]:
    sequence, internal_id, delivered_ms = _words(line, 3)
    return _number(sequence), _number(internal_id), _number(delivered_ms)


def _words(arguments: str | None, count: int) -> list[str]:
    words = (arguments or "").split(" ")
    if len(words) != count or not all(words):
        raise GrammarError(f"{count} arguments wanted, not {arguments!r}")
    return words


def _number(word: str) -> int:
    if not (word.isascii() and word.isdigit()) or len(word) > 19:
        raise GrammarError(f"a number is wanted, not {word!r}")
    return int(word)
