-- delay_notified: a DSN that the message is delayed was made for its sender, and no other will be (RT-5).
ALTER TABLE messages ADD COLUMN delay_notified INTEGER NOT NULL DEFAULT 0;
