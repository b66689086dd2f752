-- The queue database: everything that one server must not forget (SM-17).
-- Times are lab time in Unix epoch milliseconds. Lists of addresses are JSON arrays.

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
    side_effect_of INTEGER
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
    expires_ms INTEGER NOT NULL
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
    UNIQUE (primary_server, primary_database_id, primary_internal_id)
) STRICT;
CREATE INDEX shadows_by_expiry ON shadows (expires_ms);

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
    expires_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX shadow_safety_net_by_expiry ON shadow_safety_net (expires_ms);

-- What each shadow server is still to be told (SM-3, SM-5).
CREATE TABLE discards (
    shadow_server TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    internal_id INTEGER NOT NULL,
    delivered_ms INTEGER NOT NULL,
    PRIMARY KEY (shadow_server, sequence)
) STRICT, WITHOUT ROWID;
CREATE INDEX discards_by_delivery ON discards (delivered_ms);

-- Last contact with each primary server (SM-6), and what was taken in up to then (SM-16).
CREATE TABLE contacts (
    primary_server TEXT PRIMARY KEY,
    database_id TEXT NOT NULL,
    last_contact_ms INTEGER NOT NULL,
    confirmed_sequence INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
