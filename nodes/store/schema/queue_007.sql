-- A fork may be poison: it is kept, and neither done nor tried again.
CREATE TABLE forks_with_poison (
    internal_id INTEGER NOT NULL,
    position INTEGER NOT NULL,
    next_hop TEXT NOT NULL,
    recipients TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('queued', 'sending', 'done', 'expired', 'poison')),
    done_ms INTEGER,
    PRIMARY KEY (internal_id, position)
) STRICT, WITHOUT ROWID;
INSERT INTO forks_with_poison SELECT internal_id, position, next_hop, recipients, state, done_ms FROM forks;
DROP TABLE forks;
ALTER TABLE forks_with_poison RENAME TO forks;
CREATE INDEX forks_by_delivery ON forks (done_ms, internal_id, position) WHERE state = 'done';
