"""What a queue database holds though no promise keeps it: each query finds nothing in a sound one.

Columns as the queues of `nodes.store.dump` have them; `state` says what is wrong.
"""

from __future__ import annotations

_MESSAGES = ("messages", "primary_safety_net", "shadows", "shadow_safety_net")
_USED = " UNION ALL ".join(f"SELECT body_id FROM {table}" for table in _MESSAGES)

BODIES = (
    "SELECT NULL, NULL, b.body_id, '[]', NULL, NULL, NULL, NULL, NULL, NULL, "
    "'kept for ' || b.refs || ' messages, used by ' || coalesce(u.times, 0) "
    "FROM bodies AS b "
    f"LEFT JOIN (SELECT body_id, count(*) AS times FROM ({_USED}) GROUP BY body_id) AS u "
    "ON u.body_id = b.body_id WHERE b.refs <> coalesce(u.times, 0) ORDER BY b.body_id"
)
FORKS = (
    "SELECT NULL, NULL, f.internal_id, f.recipients, NULL, NULL, NULL, NULL, NULL, NULL, "
    "f.state || ', of a message that is gone' FROM forks AS f "
    "LEFT JOIN messages AS m ON m.internal_id = f.internal_id "
    "LEFT JOIN primary_safety_net AS k ON k.internal_id = f.internal_id "
    "WHERE m.internal_id IS NULL AND k.internal_id IS NULL ORDER BY f.internal_id, f.position"
)
REQUESTS = (
    "SELECT NULL, NULL, NULL, '[]', NULL, NULL, NULL, created_ms, NULL, NULL, "
    "request_id || ' is running' FROM resubmit_requests WHERE state = 'running' "
    "ORDER BY request_id"
)
HEADS = (
    "SELECT NULL, NULL, NULL, '[]', NULL, NULL, h.server, NULL, NULL, NULL, "
    "'asked for by ' || h.request_id || ', which is over' FROM resubmit_heads AS h "
    "LEFT JOIN resubmit_requests AS r ON r.request_id = h.request_id "
    "WHERE coalesce(r.state, '') <> 'running' ORDER BY h.request_id, h.server"
)

LEFTOVERS = (
    ("left-body", BODIES),
    ("left-fork", FORKS),
    ("running-request", REQUESTS),
    ("left-head", HEADS),
)
