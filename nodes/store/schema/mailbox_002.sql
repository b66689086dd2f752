-- A mailbox database with several copies: where this one stands, and its logs (TP-4).

ALTER TABLE meta ADD COLUMN state TEXT NOT NULL DEFAULT 'single'
    CHECK (state IN ('single', 'active', 'dismounted', 'passive'));
ALTER TABLE meta ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;
ALTER TABLE meta ADD COLUMN created_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE meta ADD COLUMN last_log INTEGER NOT NULL DEFAULT 0;
ALTER TABLE meta ADD COLUMN last_log_epoch INTEGER NOT NULL DEFAULT 0;
ALTER TABLE meta ADD COLUMN last_log_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE meta ADD COLUMN mounted_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE meta ADD COLUMN mounted_after_log INTEGER NOT NULL DEFAULT 0;
ALTER TABLE meta ADD COLUMN mounted_after_ms INTEGER NOT NULL DEFAULT 0;

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
