-- A mailbox database: what its users see, and the DeliveredTo table that hides duplicates (DD-1, DD-3).
-- Times are lab time in Unix epoch milliseconds.
-- A file of another version is refused: who changes a table counts the version up.
PRAGMA user_version = 5;

-- With several copies: where this one stands (TP-4).
CREATE TABLE meta (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    name TEXT NOT NULL,
    server TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'single'
        CHECK (state IN ('single', 'active', 'dismounted', 'passive', 'seeding')),
    epoch INTEGER NOT NULL DEFAULT 0,
    created_ms INTEGER NOT NULL DEFAULT 0,
    last_log INTEGER NOT NULL DEFAULT 0,
    last_log_epoch INTEGER NOT NULL DEFAULT 0,
    last_log_ms INTEGER NOT NULL DEFAULT 0,
    mounted_ms INTEGER NOT NULL DEFAULT 0,
    mounted_after_log INTEGER NOT NULL DEFAULT 0,
    mounted_after_ms INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE mailboxes (
    mailbox_id INTEGER PRIMARY KEY,
    address TEXT NOT NULL UNIQUE
) STRICT;

-- Stored once however many mailboxes of the database show it.
CREATE TABLE messages (
    message_row INTEGER PRIMARY KEY,
    message_id TEXT NOT NULL,
    submitted_ms INTEGER,
    subject TEXT NOT NULL,
    sender TEXT NOT NULL,
    size_bytes INTEGER NOT NULL,
    content BLOB NOT NULL
) STRICT;

-- One row per visible copy.
CREATE TABLE copies (
    mailbox_id INTEGER NOT NULL,
    message_row INTEGER NOT NULL,
    delivered_ms INTEGER NOT NULL,
    PRIMARY KEY (mailbox_id, message_row)
) STRICT, WITHOUT ROWID;

-- submitted_ms is -1 where the message has no readable Date.
CREATE TABLE delivered_to (
    mailbox_id INTEGER NOT NULL,
    message_id TEXT NOT NULL,
    submitted_ms INTEGER NOT NULL,
    delivered_ms INTEGER NOT NULL,
    PRIMARY KEY (mailbox_id, message_id, submitted_ms)
) STRICT, WITHOUT ROWID;

-- For the clean-up, which takes the oldest.
CREATE INDEX delivered_to_by_age ON delivered_to (delivered_ms);
-- What a client submitted and Transport has not acknowledged yet (SR-8); `recipients` is JSON.
CREATE TABLE outbox (
    item_id TEXT NOT NULL UNIQUE,
    message_id TEXT NOT NULL,
    submitted_ms INTEGER,
    subject TEXT NOT NULL,
    sender TEXT NOT NULL,
    recipients TEXT NOT NULL,
    size_bytes INTEGER NOT NULL,
    hops INTEGER NOT NULL,
    content BLOB NOT NULL
) STRICT;

-- Of an active copy those that a passive one may lack; of a passive one those not replayed yet.
CREATE TABLE logs (
    number INTEGER PRIMARY KEY,
    epoch INTEGER NOT NULL,
    previous_epoch INTEGER NOT NULL,
    made_ms INTEGER NOT NULL,
    sha256 TEXT NOT NULL,
    content BLOB NOT NULL
) STRICT;

-- From which log on an epoch holds.
CREATE TABLE branches (
    epoch INTEGER PRIMARY KEY,
    after_log INTEGER NOT NULL
) STRICT;
