-- SR-1: whatever a server received from outside its boundary had a copy on another server of the
-- boundary before the server acknowledged it; SR-5: or it is logged as accepted unprotected, where
-- the settings accept that, else refused in SR-5's words and not kept. An order of events on one
-- monotonic clock. Inside the boundary one hop leads into the mailbox (SR-12).

CREATE OR REPLACE TABLE refused AS
WITH attempts AS (
    SELECT run, row ->> '$.message_id' AS message_id, row ->> '$.server' AS server,
           (row ->> '$.attempt')::INT AS attempt,
           max((row ->> '$.mono_ns')::BIGINT) FILTER (row ->> '$.type' = 'attempt') AS from_ns,
           max((row ->> '$.mono_ns')::BIGINT) FILTER (row ->> '$.type' = 'outcome') AS to_ns,
           max(row ->> '$.outcome') AS outcome, max(row ->> '$.reply') AS reply
    FROM ledger WHERE row ->> '$.type' IN ('attempt', 'outcome') GROUP BY ALL
)
SELECT attempts.run, attempts.message_id, attempts.server, attempt, any_value(reply) AS reply,
       coalesce(bool_or(event = 'RECEIVE'), false) AS is_kept
FROM attempts
LEFT JOIN servers AS called ON called.run = attempts.run AND called.server = attempts.server
LEFT JOIN tracking AS kept ON kept.run = attempts.run
    AND (kept.server = attempts.server OR (called.role = 'frontend' AND kept.server IN
         (SELECT server FROM servers AS near WHERE near.run = called.run AND near.site = called.site)))
    AND kept.message_id = attempts.message_id
    AND kept.at_ns BETWEEN from_ns AND to_ns
    AND (event = 'RECEIVE' OR (event = 'HAREDIRECTFAIL' AND kept.outcome = 'rejected'))
WHERE attempts.outcome = 'failed'
GROUP BY ALL
HAVING starts_with(any_value(reply), '451 4.4.0') OR bool_or(event = 'HAREDIRECTFAIL');

CREATE OR REPLACE TABLE hops AS
WITH sent AS (
    SELECT tracking.run, message_id, receiver.server,
           nullif(regexp_extract(context, 'InternalId=(\d+)', 1), '')::BIGINT AS internal_id
    FROM tracking
    JOIN servers AS receiver ON receiver.run = tracking.run AND receiver.fqdn = tracking.peer
    JOIN servers AS sender ON sender.run = tracking.run AND sender.server = tracking.server
    WHERE event = 'SEND' AND receiver.role = 'mailbox' AND receiver.boundary = sender.boundary
      AND NOT starts_with(coalesce(fork, ''), 'redirect:')
),
taken AS (
    SELECT run, server, internal_id, message_id, bool_or(event = 'RECEIVE') AS is_received_anew
    FROM tracking WHERE event IN ('RECEIVE', 'DELIVER', 'DUPLICATEDELIVER') GROUP BY ALL
)
-- what nobody took went nowhere: whether it is lost, no_loss asks
SELECT sent.run, sent.message_id, is_received_anew
FROM sent JOIN taken USING (run, server, internal_id, message_id);

CREATE OR REPLACE TABLE redundant_before_ack_cases AS
-- who heard 250: the sender, and a server of another boundary that sent the message on, or one
-- whose messages an administrator had redirected
WITH heard AS (
    SELECT run, message_id, server, internal_id, at_ns, 'sender' AS from_whom FROM acknowledged
    UNION ALL
    SELECT sent.run, sent.message_id, receiver.server,
           nullif(regexp_extract(context, 'InternalId=(\d+)', 1), '')::BIGINT, sent.at_ns,
           sent.server
    FROM tracking AS sent
    JOIN servers AS receiver ON receiver.run = sent.run AND receiver.fqdn = sent.peer
    JOIN servers AS sender ON sender.run = sent.run AND sender.server = sent.server
    WHERE sent.event = 'SEND' AND receiver.role = 'mailbox'
      AND (receiver.boundary <> sender.boundary OR starts_with(coalesce(sent.fork, ''), 'redirect:'))
),
-- the primary message: the key of its shadow names server, database and internal id
received AS (
    SELECT run, server, internal_id, message_id, max(at_ns) AS at_ns, max(database_id) AS database_id
    FROM tracking WHERE event = 'RECEIVE' GROUP BY ALL
),
shadowed AS (
    SELECT held.run, held.primary_server AS server, held.primary_database_id AS database_id,
           held.primary_internal_id AS internal_id, min(held.at_ns) AS at_ns
    FROM tracking AS held
    JOIN servers AS holder ON holder.run = held.run AND holder.server = held.server
    JOIN servers AS owner ON owner.run = held.run AND owner.server = held.primary_server
    WHERE held.event = 'HARECEIVE' AND holder.boundary = owner.boundary
      AND holder.server <> owner.server
    GROUP BY ALL
),
failed AS (
    SELECT run, server, internal_id, message_id, min(at_ns) AS at_ns
    FROM tracking WHERE event = 'HAREDIRECTFAIL' GROUP BY ALL
)
SELECT heard.run, heard.message_id AS subject,
       CASE WHEN heard.internal_id IS NULL OR heard.at_ns IS NULL THEN 'unknown'
            WHEN received.at_ns IS NULL THEN 'violated'  -- nobody took it in as a primary message
            -- the shadow server's 250 first, then the primary's own commit, then the 250 that is heard
            WHEN shadowed.at_ns < received.at_ns AND received.at_ns < heard.at_ns THEN 'holds'
            WHEN failed.at_ns < heard.at_ns AND NOT rejects THEN 'holds'
            ELSE 'violated' END AS status
FROM heard
JOIN runs ON runs.run = heard.run AND is_redundant
LEFT JOIN received ON received.run = heard.run AND received.server = heard.server
    AND received.internal_id = heard.internal_id AND received.message_id = heard.message_id
LEFT JOIN shadowed ON shadowed.run = heard.run AND shadowed.server = heard.server
    AND shadowed.internal_id = heard.internal_id
    AND shadowed.database_id = received.database_id
LEFT JOIN failed ON failed.run = heard.run AND failed.server = heard.server
    AND failed.internal_id = heard.internal_id AND failed.message_id = heard.message_id
UNION ALL
SELECT attempts.run, attempts.message_id,
       CASE WHEN NOT rejects OR is_kept THEN 'violated'
            WHEN starts_with(reply, '451 4.4.0 Message failed to be made redundant') THEN 'holds'
            ELSE 'violated' END
FROM refused AS attempts JOIN runs ON runs.run = attempts.run AND is_redundant
UNION ALL
SELECT run, message_id, CASE WHEN is_received_anew THEN 'violated' ELSE 'holds' END FROM hops;
