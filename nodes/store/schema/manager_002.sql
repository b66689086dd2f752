-- last_log: the last log that the active copy is known to have; a restart forgets nothing that
-- AutoDatabaseMountDial goes by (TP-6).
ALTER TABLE databases ADD COLUMN last_log INTEGER NOT NULL DEFAULT 0;
