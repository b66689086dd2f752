-- shadow_database_id: the queue database that holds the shadow message; empty: not known (SM-17).
ALTER TABLE messages ADD COLUMN shadow_database_id TEXT NOT NULL DEFAULT '';
ALTER TABLE primary_safety_net ADD COLUMN shadow_database_id TEXT NOT NULL DEFAULT '';
