-- A mailbox database: what its users see, and the DeliveredTo table that hides duplicates (DD-1, DD-3).
-- Times are lab time in Unix epoch milliseconds.

CREATE TABLE meta (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    name TEXT NOT NULL,
    server TEXT NOT NULL
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
