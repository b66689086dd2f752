-- The queue database: everything that one server must not forget (SM-17).
-- Times are lab time in Unix epoch milliseconds. Lists of addresses are JSON arrays.
-- A file of another version is set aside: who changes a table counts the version up.
PRAGMA user_version = 12;

-- starts: how often the file was opened; each start has a block of internal ids of its own.
CREATE TABLE meta (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    database_id TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    starts INTEGER NOT NULL,
    last_discard_sequence INTEGER NOT NULL
) STRICT;

-- Bodies stand by themselves, so that a message changes queue without its bytes being written again.
-- refs: how many rows of the four message tables share the body. It comes before the content, so that
-- reading it does not read the content.
CREATE TABLE bodies (
    body_id INTEGER PRIMARY KEY,
    refs INTEGER NOT NULL CHECK (refs > 0),
    content BLOB NOT NULL
) STRICT;

-- Primary messages with at least one fork still to be done.
-- resubmit_request, in all four message tables: the request that made this message, so that it causes no DSN (SN-10);
-- NULL for any other. shadow_database_id: the queue database that holds the shadow message; empty: not known (SM-17).
-- promoted: it was a shadow message here, and is to be made redundant anew (SM-13).
-- delay_notified: a DSN that the message is delayed was made for its sender, and no other will be (RT-5).
CREATE TABLE messages (
    internal_id INTEGER PRIMARY KEY,
    network_message_id TEXT NOT NULL,
    message_id TEXT NOT NULL,
    submitted_ms INTEGER,
    subject TEXT NOT NULL,
    sender TEXT NOT NULL,
    recipients TEXT NOT NULL,
    size_bytes INTEGER NOT NULL,
    received_ms INTEGER NOT NULL,
    body_id INTEGER NOT NULL,
    shadow_server TEXT,
    side_effect_of INTEGER,
    resubmit_request TEXT,
    shadow_database_id TEXT NOT NULL DEFAULT '',
    delay_notified INTEGER NOT NULL DEFAULT 0,
    promoted INTEGER NOT NULL
) STRICT;

-- A row per next hop (RT-4). It stays while the message is in the Primary Safety Net: the recipients as resolved (SN-11).
CREATE TABLE forks (
    internal_id INTEGER NOT NULL,
    position INTEGER NOT NULL,
    next_hop TEXT NOT NULL,
    recipients TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('queued', 'sending', 'done', 'expired')),
    done_ms INTEGER,
    PRIMARY KEY (internal_id, position)
) STRICT, WITHOUT ROWID;
-- The Safety Nets are read by delivery time. A fork counts from the moment that it is done, wherever its message is.
CREATE INDEX forks_by_delivery ON forks (done_ms, internal_id, position) WHERE state = 'done';

CREATE TABLE primary_safety_net (
    internal_id INTEGER PRIMARY KEY,
    network_message_id TEXT NOT NULL,
    message_id TEXT NOT NULL,
    submitted_ms INTEGER,
    subject TEXT NOT NULL,
    sender TEXT NOT NULL,
    recipients TEXT NOT NULL,
    size_bytes INTEGER NOT NULL,
    received_ms INTEGER NOT NULL,
    body_id INTEGER NOT NULL,
    shadow_server TEXT,
    side_effect_of INTEGER,
    delivered_ms INTEGER NOT NULL,
    expires_ms INTEGER NOT NULL,
    resubmit_request TEXT,
    shadow_database_id TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX primary_safety_net_by_expiry ON primary_safety_net (expires_ms);

-- Shadow messages, as first received. expires_ms: the latest end of one that nobody acknowledges (SN-2).
CREATE TABLE shadows (
    internal_id INTEGER PRIMARY KEY,
    network_message_id TEXT NOT NULL,
    message_id TEXT NOT NULL,
    submitted_ms INTEGER,
    subject TEXT NOT NULL,
    sender TEXT NOT NULL,
    recipients TEXT NOT NULL,
    size_bytes INTEGER NOT NULL,
    received_ms INTEGER NOT NULL,
    body_id INTEGER NOT NULL,
    primary_server TEXT NOT NULL,
    primary_database_id TEXT NOT NULL,
    primary_internal_id INTEGER NOT NULL,
    expires_ms INTEGER NOT NULL,
    resubmit_request TEXT,
    UNIQUE (primary_server, primary_database_id, primary_internal_id)
) STRICT;
CREATE INDEX shadows_by_expiry ON shadows (expires_ms);

-- first_delivered_ms, as in discards. Shadow Safety Net answers for every interval from the first delivery to the last
-- (SN-8, SN-9).
CREATE TABLE shadow_safety_net (
    internal_id INTEGER PRIMARY KEY,
    network_message_id TEXT NOT NULL,
    message_id TEXT NOT NULL,
    submitted_ms INTEGER,
    subject TEXT NOT NULL,
    sender TEXT NOT NULL,
    recipients TEXT NOT NULL,
    size_bytes INTEGER NOT NULL,
    received_ms INTEGER NOT NULL,
    body_id INTEGER NOT NULL,
    primary_server TEXT NOT NULL,
    primary_database_id TEXT NOT NULL,
    primary_internal_id INTEGER NOT NULL,
    delivered_ms INTEGER NOT NULL,
    expires_ms INTEGER NOT NULL,
    resubmit_request TEXT,
    first_delivered_ms INTEGER
) STRICT;
CREATE INDEX shadow_safety_net_by_expiry ON shadow_safety_net (expires_ms);
CREATE INDEX shadow_safety_net_by_delivery ON shadow_safety_net (delivered_ms, internal_id);

-- What each shadow server is still to be notified of (SM-3, SM-5).
-- first_delivered_ms: when the first fork of the message was delivered; NULL: all of them were at delivered_ms.
CREATE TABLE discards (
    shadow_server TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    internal_id INTEGER NOT NULL,
    delivered_ms INTEGER NOT NULL,
    first_delivered_ms INTEGER,
    PRIMARY KEY (shadow_server, sequence)
) STRICT, WITHOUT ROWID;

-- When a shadow server last asked while notifications waited for it: those are kept until it has confirmed them (SM-16),
-- or has not asked again for ShadowMessageAutoDiscardInterval (SM-11).
CREATE TABLE discards_asked (
    shadow_server TEXT PRIMARY KEY,
    asked_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Last contact with each primary server (SM-6), and what was taken in up to then (SM-16).
-- held_up_to: shadow messages with at most this internal id were held when the question was asked that the contact is
-- the answer to. Of those, the ones made under another database id are to be promoted (SM-7), after a restart too.
CREATE TABLE contacts (
    primary_server TEXT PRIMARY KEY,
    database_id TEXT NOT NULL,
    last_contact_ms INTEGER NOT NULL,
    confirmed_sequence INTEGER NOT NULL,
    held_up_to INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- Resubmission from both Safety Nets.
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

-- Which copy of a mailbox database is active, where it is another than the configuration says.
CREATE TABLE active_copies (
    database TEXT PRIMARY KEY,
    server TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    learnt_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
