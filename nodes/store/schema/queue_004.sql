-- held_up_to: shadow messages with at most this internal id were held when the question was asked that the contact is
-- the answer to. Of those, the ones made under another database id are to be promoted (SM-7), after a restart too.
ALTER TABLE contacts ADD COLUMN held_up_to INTEGER NOT NULL DEFAULT 0;
