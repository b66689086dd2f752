-- up_to_sequence: the shadow server has asked for its notifications up to there, so they are kept until it has confirmed
-- them (SM-16); later ones are dropped if nobody asks (SM-11).
CREATE TABLE discards_asked (
    shadow_server TEXT PRIMARY KEY,
    up_to_sequence INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What is dropped is found by shadow server and sequence.
DROP INDEX discards_by_delivery;
