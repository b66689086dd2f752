-- Which copy of a mailbox database is active, where it is another than the configuration says.
CREATE TABLE active_copies (
    database TEXT PRIMARY KEY,
    server TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    learnt_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
