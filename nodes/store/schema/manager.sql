-- Active Manager's database: which copies are active, and what is still to be done about it (TP-6, SN-7).
-- Times are lab time in Unix epoch milliseconds.
-- A file of another version is set aside: who changes a table counts the version up.
PRAGMA user_version = 3;

CREATE TABLE meta (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    database_id TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    starts INTEGER NOT NULL
) STRICT;

-- last_log: the last log that the active copy is known to have; a restart forgets nothing that
-- AutoDatabaseMountDial goes by (TP-6).
CREATE TABLE databases (
    database TEXT PRIMARY KEY,
    server TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    last_log INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE TABLE failovers (
    database TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('failover', 'switchover')),
    cause TEXT NOT NULL,
    source TEXT NOT NULL,
    target TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('decided', 'mounted', 'over', 'given up')),
    decided_ms INTEGER NOT NULL,
    is_requested INTEGER NOT NULL,
    dismounted_log INTEGER,
    mounted_ms INTEGER,
    start_ms INTEGER,
    before_ms INTEGER,
    PRIMARY KEY (database, epoch)
) STRICT, WITHOUT ROWID;

-- One row a server: only the last failover is told.
CREATE TABLE tellings (
    database TEXT NOT NULL,
    server TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    target TEXT NOT NULL,
    learnt_ms INTEGER,
    PRIMARY KEY (database, server)
) STRICT, WITHOUT ROWID;

CREATE TABLE askings (
    request_id TEXT NOT NULL,
    server TEXT NOT NULL,
    database TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    source TEXT NOT NULL CHECK (source IN ('primary', 'shadow')),
    primary_server TEXT NOT NULL,
    start_ms INTEGER NOT NULL,
    end_ms INTEGER,
    silent_since_ms INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('open', 'completed', 'given up')),
    broadcast_ms INTEGER,
    resubmitted INTEGER NOT NULL,
    PRIMARY KEY (request_id, server)
) STRICT, WITHOUT ROWID;
