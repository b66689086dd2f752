-- DD-1: one copy in each mailbox, by Message-Id and submit time; what comes after the window of DD-2 is
-- seen again, and DD-4 says so. Outside the organisation nobody detects duplicates: two copies there are
-- explained where a shadow server took over while the primary server delivered as well (SM-9), where the
-- sender sent again (SR-7), and where a server tried again, since a 250 may have been lost. A mailbox that
-- moves takes its messages along, and not what its old database remembers of them (DD-3).

CREATE OR REPLACE TABLE no_visible_duplicate_cases AS
WITH windows AS (
    SELECT run, database ->> '$.name' AS place,
           coalesce((database ->> '$.duplicate_detection_window_ms')::BIGINT, 604800000) AS window_ms
    FROM (SELECT run, unnest(from_json(plan -> '$.topology.databases', '["JSON"]')) AS database
          FROM plans)
),
moved AS (
    SELECT run, text ->> '$.mailbox' AS recipient, text ->> '$.database' AS before,
           max((text ->> '$.at_ms')::BIGINT) AS moved_ms
    FROM lifecycle_lines WHERE text ->> '$.event' = 'mailbox-moved' GROUP BY ALL
),
taken AS (
    SELECT run, message_id, recipient, submitted_ms, at_ms,
           if(coalesce(at_ms < moved_ms AND place <> before, false), before, place) AS place
    FROM visible LEFT JOIN moved USING (run, recipient) WHERE NOT is_outside
),
apart AS (
    SELECT *, at_ms - lag(at_ms) OVER (
               PARTITION BY run, message_id, recipient, submitted_ms, place ORDER BY at_ms) AS after_ms
    FROM taken
),
in_each AS (
    SELECT run, message_id, recipient, submitted_ms, place,
           coalesce(min(after_ms) > any_value(window_ms), count(*) = 1) AS is_single
    FROM apart LEFT JOIN windows USING (run, place) GROUP BY ALL
),
in_mailboxes AS (
    SELECT run, message_id, recipient, submitted_ms, bool_and(is_single) AS is_single
    FROM in_each GROUP BY ALL
),
outside AS (
    SELECT run, message_id, recipient FROM visible WHERE is_outside
    GROUP BY ALL HAVING count(*) > 1
),
tried_again AS (
    SELECT run, message_id FROM tracking
    WHERE event IN ('DEFER', 'LOAD') OR (event = 'RESUBMIT' AND source = 'REDUNDANCY')
    UNION
    SELECT run, row ->> '$.message_id' FROM ledger
    WHERE row ->> '$.type' = 'outcome' AND row ->> '$.outcome' IN ('ok', 'unknown')
    GROUP BY ALL HAVING count(*) > 1
)
SELECT run, message_id || ' in ' || recipient AS subject,
       if(is_single, 'holds', 'violated') AS status
FROM in_mailboxes
UNION ALL
SELECT run, message_id || ' at ' || recipient,
       if((run, message_id) IN (SELECT (run, message_id) FROM tried_again), 'holds', 'violated')
FROM outside;
