-- first_delivered_ms: when the first fork of the message was delivered; NULL: all of them were at delivered_ms. Shadow
-- Safety Net answers for every interval from the first to the last (SN-8, SN-9).
ALTER TABLE discards ADD COLUMN first_delivered_ms INTEGER;
ALTER TABLE shadow_safety_net ADD COLUMN first_delivered_ms INTEGER;
