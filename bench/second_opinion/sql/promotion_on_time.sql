-- SM-6: a shadow server that has no contact with a primary server for ShadowResubmitTimeSpan promotes
-- what it holds for it, late by at most one heartbeat and one attempt's time-out. SM-7: a primary server
-- that answers with another database id than a shadow message was made under has lost it: promoted at
-- once, so at most one heartbeat after it is back. A shadow server that a fault kept from its work has
-- the same time again from the end of the fault. Where a server may have a session or two to another
-- one (MaxPerDomainOutboundConnections), they may hang for a time-out before the attempt begins.

CREATE OR REPLACE MACRO never() AS 4611686018427387904;  -- half of what a BIGINT holds

CREATE OR REPLACE TABLE moments AS
SELECT run, server, boundary,
       (heartbeat_ms * ns_per_ms)::BIGINT AS heartbeat_ns,
       (span_ms * ns_per_ms)::BIGINT AS span_ns,
       (resolution_ms * ns_per_ms)::BIGINT AS resolution_ns,
       (time_out_ms * CASE WHEN connections <= 2 THEN 2 ELSE 1 END * ns_per_ms)::BIGINT
           AS time_out_ns,
       (zero_ns + duration_ms * ns_per_ms)::BIGINT AS end_ns
FROM runs JOIN servers USING (run) WHERE is_redundant;

-- a shadow message from the moment that it was taken in; it is known by the primary message that it
-- protects, and leaves by a notification, by promotion, or with its holder's queue database
CREATE OR REPLACE TABLE held AS
WITH taken AS (
    SELECT run, server, primary_server, primary_database_id, primary_internal_id, message_id,
           arg_min(database_id, at_ns) AS database_id, min(at_ns) AS from_ns
    FROM tracking WHERE event = 'HARECEIVE' GROUP BY ALL
),
ended AS (
    SELECT run, server, primary_server, primary_database_id, primary_internal_id, message_id,
           min(at_ns) FILTER (event = 'HADISCARD') AS discarded_ns,
           min(at_ns) FILTER (event = 'RESUBMIT' AND source = 'REDUNDANCY') AS promoted_ns
    FROM tracking WHERE event IN ('HADISCARD', 'RESUBMIT') AND primary_server IS NOT NULL
    GROUP BY ALL
),
vanished AS (
    SELECT taken.run, taken.server, taken.database_id, min(at_ns) AS vanished_ns
    FROM (SELECT DISTINCT run, server, database_id FROM taken) AS taken
    JOIN lifecycle ON lifecycle.run = taken.run AND lifecycle.server = taken.server
        AND event = 'database-created' AND lifecycle.database_id > ''
    JOIN (SELECT run, server, database_id, min(at_ns) AS made_ns FROM lifecycle
          WHERE event = 'database-created' GROUP BY ALL) AS own
        ON own.run = taken.run AND own.server = taken.server
        AND own.database_id = taken.database_id
    WHERE lifecycle.at_ns > made_ns
    GROUP BY ALL
)
SELECT taken.*, discarded_ns, promoted_ns, vanished_ns,
       least(coalesce(discarded_ns, never()), coalesce(promoted_ns, never()),
             coalesce(vanished_ns, never()), end_ns) AS until_ns
FROM taken
JOIN moments USING (run, server)
LEFT JOIN ended USING (run, server, primary_server, primary_database_id, primary_internal_id,
                       message_id)
LEFT JOIN vanished USING (run, server, database_id);

-- SM-6: stretches without contact that are longer than the span
CREATE OR REPLACE TABLE silences AS
WITH spoken AS (
    SELECT run, server, peer AS primary_server, at_ns FROM contacts
    UNION ALL
    SELECT DISTINCT run, server, primary_server, -1 FROM held
),
followed AS (
    SELECT *, lead(at_ns, 1, never()) OVER (PARTITION BY run, server, primary_server
                                            ORDER BY at_ns) AS next_ns
    FROM spoken
)
SELECT followed.*, span_ns FROM followed JOIN moments USING (run, server)
WHERE next_ns - at_ns > span_ns;

CREATE OR REPLACE TABLE due_by_silence AS
WITH within AS (
    SELECT held.*, silences.at_ns AS contact_ns, next_ns, span_ns,
           greatest(silences.at_ns, min(from_ns) OVER (
               PARTITION BY held.run, held.server, held.primary_server, silences.at_ns)) + span_ns
               AS first_due_ns
    FROM held JOIN silences ON silences.run = held.run AND silences.server = held.server
        AND silences.primary_server = held.primary_server
        AND held.from_ns < next_ns AND held.until_ns > silences.at_ns
    -- what is let go within the silence was notified by the contact before it, and is held no more
    WHERE coalesce(discarded_ns > silences.at_ns + span_ns, true)
)
-- what came after the others were due starts a span of its own
SELECT *, CASE WHEN from_ns < first_due_ns THEN first_due_ns ELSE from_ns + span_ns END AS due_ns
FROM within
-- or it went with the others, when its own time had not come
WHERE (due_ns < next_ns AND due_ns <= until_ns) OR (promoted_ns BETWEEN first_due_ns AND next_ns);

-- faults of a server as long stretches: what falls into the time that is granted after one extends it
CREATE OR REPLACE TABLE hindered AS
WITH touched AS (
    SELECT run, server, server AS peer, began_ns, healed_ns FROM faults WHERE server IS NOT NULL
),
marked AS (
    SELECT touched.*, heartbeat_ns + time_out_ns AS granted_ns,
           max(healed_ns) OVER earlier AS before_ns
    FROM touched JOIN moments USING (run, server)
    WINDOW earlier AS (PARTITION BY run, server ORDER BY began_ns
                       ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
),
numbered AS (
    SELECT *, count_if(before_ns IS NULL OR began_ns - granted_ns > before_ns)
              OVER (PARTITION BY run, server ORDER BY began_ns) AS stretch
    FROM marked
)
SELECT run, server, min(began_ns) AS began_ns, max(healed_ns) AS healed_ns
FROM numbered GROUP BY run, server, stretch;

-- SM-7: the first answer under a later database id; an answer that comes late may name an earlier one
CREATE OR REPLACE TABLE due_by_database AS
WITH created AS (
    SELECT run, server AS primary_server, database_id, min(at_ns) AS created_ns
    FROM lifecycle WHERE event = 'database-created' GROUP BY ALL
),
answered AS (
    SELECT held.run, held.server, held.primary_server, held.primary_database_id,
           held.primary_internal_id, held.message_id, min(contacts.at_ns) AS due_ns
    FROM held JOIN contacts ON contacts.run = held.run AND contacts.server = held.server
        AND contacts.peer = held.primary_server
        AND contacts.database_id <> held.primary_database_id
        AND contacts.at_ns > held.from_ns AND contacts.at_ns <= held.until_ns
    JOIN created AS answering ON answering.run = held.run
        AND answering.primary_server = held.primary_server
        AND answering.database_id = contacts.database_id
    JOIN created AS protected ON protected.run = held.run
        AND protected.primary_server = held.primary_server
        AND protected.database_id = held.primary_database_id
    WHERE answering.created_ns > protected.created_ns
    GROUP BY ALL
),
returned AS (
    SELECT run, server AS primary_server, at_ns FROM lifecycle WHERE event = 'started'
)
SELECT answered.*, max(returned.at_ns) AS back_ns
FROM answered ASOF LEFT JOIN returned
    ON returned.run = answered.run AND returned.primary_server = answered.primary_server
    AND returned.at_ns <= answered.due_ns
GROUP BY ALL;

-- what the scenario itself expects: some promotions of that server, all of them within that time
CREATE OR REPLACE TABLE expected_promotions AS
WITH entries AS (
    SELECT run, unnest(from_json(coalesce(plan -> '$.expect.promotions', '[]'::JSON), '["JSON"]'))
               AS entry
    FROM plans
),
timed AS (
    SELECT run, lower(entry ->> '$.of') AS primary_server, entry ->> '$.cause' AS cause,
           coalesce((entry ->> '$.after_ms')::BIGINT, 0) AS after_ms,
           coalesce((entry ->> '$.within_ms')::BIGINT, duration_ms) AS within_ms
    FROM entries JOIN runs USING (run)
),
seen AS (
    SELECT run, primary_server, context AS cause, (at_ns - zero_ns) / ns_per_ms AS at_ms
    FROM tracking JOIN runs USING (run) WHERE event = 'RESUBMIT' AND source = 'REDUNDANCY'
)
SELECT run, primary_server, cause, after_ms, within_ms,
       count(at_ms) > 0 AND bool_and(at_ms BETWEEN after_ms - resolution_ms
                                     AND after_ms + within_ms + resolution_ms) AS is_met
FROM timed JOIN runs USING (run) LEFT JOIN seen USING (run, primary_server, cause) GROUP BY ALL;

-- Two readings of the same sentences. Strictly: an answer under another database id leaves no time, and a
-- message that is never promoted was due with the oldest of its queue. Loosely: that one has its own span
-- from its arrival, a silence is over with the last fault that explains it, and after the primary server is
-- back there is time for a heartbeat, and a second of the wall clock for a question and its answer.
CREATE OR REPLACE TABLE explained AS
WITH between AS (
    SELECT DISTINCT run, server, primary_server, contact_ns, next_ns FROM due_by_silence
),
touching AS (
    SELECT run, NULL AS server, server AS primary_server, healed_ns
    FROM faults WHERE server IS NOT NULL
    UNION ALL
    SELECT run, link."from", link."to", healed_ns
    FROM (SELECT run, unnest(links) AS link, healed_ns FROM faults) WHERE link.service = 'smtp'
)
SELECT between.*, max(healed_ns) AS healed_ns
FROM between JOIN touching ON touching.run = between.run
    AND touching.primary_server = between.primary_server
    AND coalesce(touching.server, between.server) = between.server
    AND healed_ns BETWEEN contact_ns AND next_ns
GROUP BY ALL;

CREATE OR REPLACE TABLE due AS
WITH keys AS (
    SELECT run, server, primary_server, primary_database_id, primary_internal_id, message_id,
           unnest(['strict', 'loose']) AS reading
    FROM held
),
by_silence AS (
    SELECT *, if(reading = 'strict' OR promoted_ns IS NOT NULL, due_ns,
                 greatest(contact_ns, from_ns) + span_ns) AS read_due_ns
    FROM due_by_silence JOIN keys USING (run, server, primary_server, primary_database_id,
                                         primary_internal_id, message_id)
    LEFT JOIN explained USING (run, server, primary_server, contact_ns, next_ns)
),
-- what is granted to a promotion is what its attempt took: the first that began when the span was over,
-- as far as its session is told. Those that began before and still hang decide nothing.
attempted AS (
    SELECT by_silence.*,
           least(coalesce(ended_ns - began_ns + greatest(10 * resolution_ns, 100_000_000),
                          time_out_ns), time_out_ns) AS attempt_ns
    FROM (SELECT *, read_due_ns - resolution_ns AS span_over_ns
          FROM by_silence JOIN moments USING (run, server)) AS by_silence
    ASOF LEFT JOIN heartbeats ON heartbeats.run = by_silence.run
        AND heartbeats.server = by_silence.server AND heartbeats.peer = by_silence.primary_server
        AND by_silence.span_over_ns <= heartbeats.began_ns
)
SELECT run, server, primary_server, primary_database_id, primary_internal_id, message_id, reading,
       read_due_ns AS due_ns,
       if(reading = 'strict', next_ns, least(next_ns, coalesce(healed_ns, next_ns))) AS next_ns,
       read_due_ns + heartbeat_ns + attempt_ns + resolution_ns AS latest_ns, attempt_ns
FROM attempted
UNION ALL
SELECT run, server, primary_server, primary_database_id, primary_internal_id, message_id, reading,
       if(reading = 'strict', due_ns, coalesce(back_ns, due_ns)), never(),
       -- "at once" has to be committed, too: a tenth of a heartbeat
       greatest(due_ns + heartbeat_ns // 10, coalesce(back_ns, due_ns) + heartbeat_ns
                + if(reading = 'strict', 0, 1_000_000_000)) + resolution_ns,
       time_out_ns
FROM due_by_database
JOIN keys USING (run, server, primary_server, primary_database_id, primary_internal_id, message_id)
JOIN moments USING (run, server);

-- `status` is the strict reading, `loosely` the loose one; null where that reading asks nothing
CREATE OR REPLACE TABLE promotion_on_time_cases AS
WITH granted AS (
    SELECT due.* EXCLUDE (latest_ns, attempt_ns),
           max(greatest(latest_ns, CASE WHEN healed_ns = never() THEN never() ELSE coalesce(
               healed_ns + heartbeat_ns + attempt_ns + resolution_ns, 0) END)) AS latest_ns
    FROM due JOIN moments USING (run, server)
    LEFT JOIN hindered ON hindered.run = due.run AND hindered.server = due.server
        AND hindered.began_ns <= latest_ns AND hindered.healed_ns >= due_ns
    GROUP BY ALL
),
judged AS (
    SELECT granted.*, promoted_ns,
           CASE WHEN promoted_ns <= latest_ns THEN 'holds'
                WHEN promoted_ns IS NOT NULL THEN 'violated'
                -- contact came again, or the message was gone, before its time was over
                WHEN least(next_ns, coalesce(vanished_ns, never())) <= latest_ns THEN NULL
                WHEN latest_ns >= end_ns THEN 'unknown'
                ELSE 'violated' END AS status
    FROM granted JOIN held USING (run, server, primary_server, primary_database_id,
                                  primary_internal_id, message_id)
    JOIN moments USING (run, server)
)
SELECT run, message_id AS subject,
       arg_min(status, latest_ns) FILTER (reading = 'strict') AS status,
       arg_min(status, latest_ns) FILTER (reading = 'loose') AS loosely
FROM judged
GROUP BY run, server, primary_server, primary_database_id, primary_internal_id, message_id
HAVING count(status) > 0
UNION ALL
SELECT run, 'expect.promotions of ' || primary_server, if(is_met, 'holds', 'violated'),
       if(is_met, 'holds', 'violated')
FROM expected_promotions;
