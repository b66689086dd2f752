-- Resubmission from both Safety Nets.

-- resubmit_request: the request that made this message, so that it causes no DSN (SN-10); NULL for any other.
ALTER TABLE messages ADD COLUMN resubmit_request TEXT;
ALTER TABLE primary_safety_net ADD COLUMN resubmit_request TEXT;
ALTER TABLE shadows ADD COLUMN resubmit_request TEXT;
ALTER TABLE shadow_safety_net ADD COLUMN resubmit_request TEXT;

-- The Safety Nets are read by delivery time. A fork counts from the moment that it is done, wherever its message is.
CREATE INDEX forks_by_delivery ON forks (done_ms, internal_id, position) WHERE state = 'done';
CREATE INDEX shadow_safety_net_by_delivery ON shadow_safety_net (delivered_ms, internal_id);

-- progress_…: what has been resubmitted, up to and with this place (SN-16).
-- head_end_ms: the Primary Safety Net is missing before it, NULL where nothing is missing (SN-9).
CREATE TABLE resubmit_requests (
    request_id TEXT PRIMARY KEY,
    source TEXT NOT NULL CHECK (source IN ('primary', 'shadow')),
    destination TEXT NOT NULL,
    start_ms INTEGER NOT NULL,
    end_ms INTEGER NOT NULL,
    primaries TEXT NOT NULL,
    requested_by TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    progress_ms INTEGER NOT NULL,
    progress_id INTEGER NOT NULL,
    progress_fork INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('running', 'disabled', 'completed')),
    resubmitted INTEGER NOT NULL,
    head_end_ms INTEGER
) STRICT, WITHOUT ROWID;

-- Servers that have not yet taken on the head of a request.
CREATE TABLE resubmit_heads (
    request_id TEXT NOT NULL,
    server TEXT NOT NULL,
    PRIMARY KEY (request_id, server)
) STRICT, WITHOUT ROWID;
