-- Every message acknowledged with 250 is, at the end, visible to every recipient it was promised to;
-- or is excused: all of at least two servers that answered for it have lost their queue databases since
-- (SM-15), or the only one did that had accepted it unprotected (SR-5), or it failed and its sender sees
-- the notification. More excuses than the scenario expects, none by default, are a violation.

CREATE OR REPLACE TABLE no_loss_cases AS
WITH asked AS (
    SELECT DISTINCT run, message_id, recipient, sender
    FROM promised SEMI JOIN acknowledged USING (run, message_id)
),
-- received as primary message, or taken up anew from a queue or a Safety Net
answered_for AS (
    SELECT DISTINCT run, message_id, server, database_id, internal_id
    FROM tracking
    WHERE event IN ('RECEIVE', 'RESUBMIT') OR (event = 'LOAD' AND context = 'delivery')
),
-- or as shadow of such a message; an attempt that was refused in the end promises nobody anything
custody AS (
    SELECT run, message_id, server, database_id FROM answered_for
    UNION
    SELECT held.run, held.message_id, held.server, held.database_id
    FROM tracking AS held SEMI JOIN answered_for AS owner
      ON owner.run = held.run AND owner.server = held.primary_server
         AND owner.database_id = held.primary_database_id
         AND owner.internal_id = held.primary_internal_id
    WHERE held.event = 'HARECEIVE'
),
unprotected AS (
    SELECT DISTINCT run, message_id, true AS is_unprotected
    FROM tracking WHERE event = 'HAREDIRECTFAIL'
),
fate AS (
    SELECT run, message_id, bool_and(custody.database_id <> kept.database_id)
               AND (count(*) > 1 OR any_value(is_unprotected)) AS is_gone
    FROM custody JOIN last_databases AS kept USING (run, server)
    LEFT JOIN unprotected USING (run, message_id)
    GROUP BY ALL
),
seen AS (
    SELECT DISTINCT run, message_id, recipient, true AS is_visible FROM visible
),
failed AS (
    SELECT DISTINCT run, message_id, unnest(recipients) AS recipient, true AS is_failed
    FROM tracking WHERE event = 'FAIL' AND source = 'QUEUE'
),
-- the notification is a message of its own, which refers to the one that failed and names whoever
-- it failed for; one that is late has not
notified AS (
    SELECT DISTINCT dsn.run, dsn.reference AS message_id, visible.recipient AS sender,
           unnest(list_transform(
               list_filter(from_json(visible.reports, '[{"recipient": "VARCHAR", "action": "VARCHAR"}]'),
                           lambda report: report.action = 'failed'),
               lambda report: lower(report.recipient))) AS recipient,
           true AS is_notified
    FROM tracking AS dsn JOIN visible USING (run, message_id) WHERE dsn.event = 'DSN'
      AND dsn.context IS DISTINCT FROM 'delayed'
),
-- of mail that came back from a Safety Net the sender hears nothing (SN-10)
suppressed AS (
    SELECT DISTINCT run, message_id, unnest(recipients) AS recipient, true AS is_suppressed
    FROM tracking WHERE event = 'SUPPRESSED'
),
decided AS (
    SELECT run, message_id, recipient,
           CASE WHEN is_visible THEN 'holds'
                WHEN is_gone OR (is_failed AND (is_notified OR is_suppressed)) THEN 'excused'
                ELSE 'violated' END AS status
    FROM asked
    LEFT JOIN fate USING (run, message_id)
    LEFT JOIN seen USING (run, message_id, recipient)
    LEFT JOIN failed USING (run, message_id, recipient)
    LEFT JOIN suppressed USING (run, message_id, recipient)
    LEFT JOIN notified USING (run, message_id, sender, recipient)
),
excuses AS (
    SELECT run, count(DISTINCT message_id) FILTER (status = 'excused') AS excused
    FROM decided GROUP BY run
)
SELECT run, message_id || ' to ' || recipient AS subject,
       replace(status, 'excused', 'holds') AS status
FROM decided
UNION ALL
-- bounds are about messages
SELECT run, 'expect.unprotected_loss',
       if(excused BETWEEN coalesce(least_loss, 0) AND coalesce(most_loss, 0), 'holds', 'violated')
FROM excuses JOIN runs USING (run)
WHERE most_loss IS NOT NULL OR excused > 0;
