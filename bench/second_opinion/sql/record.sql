-- The record as tables, from views of lines (`sources.py`): run, file, text, fields. Times are nanoseconds of the host's monotonic clock, which
-- all machines of a run share; nothing here trusts a server's own date.

-- without its messages, which are as many as the ledger's
CREATE OR REPLACE TABLE plans AS
SELECT run, json_merge_patch(text::JSON, '{"messages": null}'::JSON) AS plan FROM plan_files;

CREATE OR REPLACE TABLE runs AS
SELECT
    plans.run,
    -- a simulated clock is lab time itself; on containers lab time runs `speed` times as fast
    CASE WHEN manifest.text ->> '$.host' = 'simulator' THEN 1e6
         ELSE 1e6 / (manifest.text ->> '$.speed')::DOUBLE END AS ns_per_ms,
    (host.text ->> '$.monotonic_zero_ns')::BIGINT AS zero_ns,
    (host.text ->> '$.clock_resolution_ms')::DOUBLE AS resolution_ms,
    (plan ->> '$.duration_ms')::BIGINT AS duration_ms,
    coalesce((plan ->> '$.settings.TransportConfig.ShadowRedundancyEnabled')::BOOLEAN, true)
        AS is_redundant,
    coalesce((plan ->> '$.settings.TransportConfig.RejectMessageOnShadowFailure')::BOOLEAN, false)
        AS rejects,
    coalesce((plan ->> '$.settings.TransportConfig.ShadowHeartbeatFrequency')::BIGINT, 120000)
        AS heartbeat_ms,
    coalesce((plan ->> '$.settings.TransportConfig.ShadowResubmitTimeSpan')::BIGINT, 10800000)
        AS span_ms,
    -- [least, most]: how many messages may be lost for a reason that is named
    (plan ->> '$.expect.unprotected_loss[0]')::BIGINT AS least_loss,
    (plan ->> '$.expect.unprotected_loss[1]')::BIGINT AS most_loss
FROM plans
LEFT JOIN manifest_files AS manifest ON manifest.run = plans.run
LEFT JOIN host_files AS host ON host.run = plans.run;

CREATE OR REPLACE TABLE servers AS
WITH listed AS (
    SELECT run, plan, unnest(from_json(plan -> '$.topology.servers', '["JSON"]')) AS server
    FROM plans
)
SELECT
    run,
    server ->> '$.name' AS server,
    lower(server ->> '$.fqdn') AS fqdn,
    server ->> '$.role' AS role,
    server ->> '$.site' AS site,
    -- TP-3: the boundary is the DAG, or the site of a server that is in none
    coalesce('DAG ' || (server ->> '$.dag'), 'site ' || (server ->> '$.site')) AS boundary,
    coalesce(json_extract_string(plan, '$.settings.servers."' || (server ->> '$.name')
                 || '".SendConnector.ConnectionInactivityTimeOut')::BIGINT, 600000) AS time_out_ms,
    coalesce(json_extract_string(plan, '$.settings.servers."' || (server ->> '$.name')
                || '".TransportService.MaxPerDomainOutboundConnections')::BIGINT, 20) AS connections
FROM listed;

CREATE OR REPLACE TABLE ledger AS
SELECT run, text::JSON AS row FROM ledger_lines;

CREATE OR REPLACE TABLE promised AS
SELECT DISTINCT run, row ->> '$.message_id' AS message_id, lower(row ->> '$.sender') AS sender,
       lower(unnest(from_json(row -> '$.recipients', '["VARCHAR"]'))) AS recipient
FROM ledger WHERE row ->> '$.type' = 'message';

CREATE OR REPLACE TABLE acknowledged AS
-- TP-7: what a front end says is what the server behind it has said, which the words name
SELECT ledger.run, row ->> '$.message_id' AS message_id,
       CASE WHEN called.role = 'frontend'
            THEN regexp_extract(row ->> '$.reply', 'Hostname=([^.,\]\s]+)', 1)
            ELSE row ->> '$.server' END AS server,
       (row ->> '$.mono_ns')::BIGINT AS at_ns,
       nullif(regexp_extract(row ->> '$.reply', 'InternalId=(\d+)', 1), '')::BIGINT AS internal_id
FROM ledger
LEFT JOIN servers AS called ON called.run = ledger.run AND called.server = row ->> '$.server'
WHERE row ->> '$.type' = 'outcome' AND row ->> '$.outcome' = 'ok';

CREATE OR REPLACE TABLE faults AS
WITH planned AS (
    SELECT run, unnest(from_json(plan -> '$.faults', '["JSON"]')) AS wanted FROM plans
),
noted AS (
    SELECT run, text ->> '$.fault' AS fault,
           min((text ->> '$.mono_ns')::BIGINT) FILTER (text ->> '$.phase' = 'intended') AS began_ns,
           max((text ->> '$.mono_ns')::BIGINT) FILTER (text ->> '$.phase' = 'healed') AS healed_ns
    FROM fault_lines GROUP BY ALL
)
SELECT
    planned.run, wanted ->> '$.id' AS fault, wanted ->> '$.kind' AS kind,
    wanted ->> '$.server' AS server,
    from_json(coalesce(wanted -> '$.links', '[]'::JSON),
              '[{"from": "VARCHAR", "to": "VARCHAR", "service": "VARCHAR"}]') AS links,
    began_ns, coalesce(healed_ns, 4611686018427387904) AS healed_ns
FROM planned JOIN noted ON noted.run = planned.run AND noted.fault = wanted ->> '$.id'
WHERE began_ns IS NOT NULL;

CREATE OR REPLACE TABLE lifecycle AS
SELECT run, split_part(file, '/', 2) AS server, text ->> '$.event' AS event,
       (text ->> '$.mono_ns')::BIGINT AS at_ns, text ->> '$.database_id' AS database_id
FROM lifecycle_lines;

CREATE OR REPLACE TABLE contacts AS
SELECT run, split_part(file, '/', 2) AS server,
       regexp_extract(text, 'Peer=([^;,"]*)', 1) AS peer,
       regexp_extract(text, 'DatabaseId=([^;,"]*)', 1) AS database_id,
       regexp_extract(text, 'Mono=(\d+)', 1)::BIGINT AS at_ns
FROM contact_lines WHERE text LIKE '%XQDISCARD contact;%Mono=%';

-- sessions that were opened for a heartbeat, with their ends as far as they are told
CREATE OR REPLACE TABLE heartbeats AS
WITH ends AS (
    SELECT run, split_part(file, '/', 2) AS server, split_part(text, ',', 2) AS session,
           split_part(text, ',', 5) AS event, lower(split_part(split_part(text, ',', 4), '.', 1))
               AS peer,
           regexp_extract(text, 'Mono=(\d+)', 1)::BIGINT AS at_ns
    FROM contact_lines WHERE text LIKE '%,+,heartbeat;Mono=%' OR text LIKE '%,-,%Mono=%'
)
SELECT begun.run, begun.server, begun.peer, begun.at_ns AS began_ns, ended.at_ns AS ended_ns
FROM (FROM ends WHERE event = '+') AS begun ASOF LEFT JOIN (FROM ends WHERE event = '-') AS ended
    ON ended.run = begun.run AND ended.server = begun.server AND ended.session = begun.session
    AND begun.at_ns <= ended.at_ns;

CREATE OR REPLACE TABLE visible AS
SELECT run, lower(text ->> '$.mailbox') AS recipient, text ->> '$.message_id' AS message_id,
       text ->> '$.submitted_ms' AS submitted_ms, (text ->> '$.delivered_ms')::BIGINT AS at_ms,
       false AS is_outside, split_part(split_part(file, '/', 2), '.', 1) AS place,
       text -> '$.reports' AS reports
FROM mailbox_lines
UNION ALL
SELECT run, lower(unnest(from_json(text -> '$.recipients', '["VARCHAR"]'))),
       text ->> '$.message_id', NULL, (text ->> '$.received_ms')::BIGINT, true, text ->> '$.peer',
       text -> '$.reports'
FROM external_lines;

-- where lines are all there is, a row is cut at the commas that no quotation marks hold
CREATE OR REPLACE MACRO unquoted(field) AS
    CASE WHEN field[1] = '"' THEN replace(field[2:-2], '""', '"') ELSE field END;
CREATE OR REPLACE MACRO custom(field, name) AS
    nullif(regexp_extract(field, '(?:^|;)S:' || name || '=([^;]*)', 1), '');

CREATE OR REPLACE TABLE tracking AS
WITH cut AS (
    SELECT run, file, string_split(fields, ',') AS names,
           regexp_extract_all(text, '(?:^|,)("(?:[^"]|"")*"|[^,]*)', 1) AS texts
    FROM tracking_lines WHERE text[1] <> '#'
),
named AS (
    SELECT run, split_part(file, '/', 2) AS server,
           texts[list_position(names, 'event-id')] AS event,
           texts[list_position(names, 'source')] AS source,
           try_cast(texts[list_position(names, 'internal-message-id')] AS BIGINT) AS internal_id,
           unquoted(texts[list_position(names, 'message-id')]) AS message_id,
           lower(unquoted(texts[list_position(names, 'recipient-address')])) AS recipients,
           unquoted(texts[list_position(names, 'source-context')]) AS context,
           lower(texts[list_position(names, 'server-hostname')]) AS peer,
           unquoted(texts[list_position(names, 'reference')]) AS reference,
           unquoted(texts[list_position(names, 'custom-data')]) AS custom
    FROM cut
)
SELECT run, server, event, source, internal_id, message_id, string_split(recipients, ';')
           AS recipients, context, peer, reference,
       custom(custom, 'Mono')::BIGINT AS at_ns,
       custom(custom, 'DatabaseId') AS database_id,
       custom(custom, 'ShadowServer') AS shadow_server,
       custom(custom, 'Outcome') AS outcome,
       custom(custom, 'Fork') AS fork,
       custom(custom, 'PrimaryServer') AS primary_server,
       custom(custom, 'PrimaryDatabaseId') AS primary_database_id,
       custom(custom, 'PrimaryInternalId')::BIGINT AS primary_internal_id
FROM named;

-- the queue database that a server had in the end; what is under another id went with it (SM-17)
CREATE OR REPLACE TABLE last_databases AS
SELECT run, server, arg_max(database_id, at_ns) AS database_id
FROM lifecycle WHERE database_id IS NOT NULL GROUP BY ALL;
