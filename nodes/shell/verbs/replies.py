"""A reply of the core in words: the grammar of each verb spells what it reads."""

from __future__ import annotations

from nodes.core.interface.replies import (
    ActiveUnder,
    AnyReply,
    DiscardReply,
    LogExpected,
    LogReplayed,
    QueuesReply,
    Reply,
    ResubmitListReply,
    ResubmitReply,
    Seeded,
)
from nodes.shell.verbs import database, queues, replication, safety_net, shadow


def in_words(reply: AnyReply) -> Reply:
    match reply:
        case Reply():
            return reply
        case DiscardReply():
            return Reply(reply.code, shadow.format_reply(reply))
        case QueuesReply():
            return Reply(reply.code, queues.format_reply(reply))
        case ResubmitListReply():
            return Reply(reply.code, safety_net.format_list(reply))
        case ResubmitReply():
            return Reply(reply.code, (safety_net.format_reply(reply),))
        case LogReplayed() | Seeded() | LogExpected() | ActiveUnder():
            return Reply(reply.code, (replication.format_reply(reply),))
        case _:
            return Reply(reply.code, (database.format_reply(reply),))
