-- Background workers are the processes that are none of the server's own kinds; pg_sweep's are
-- left out. One without a connection to shared statistics is not listed: "at least".
SELECT count(*) AS others
FROM pg_stat_activity
WHERE backend_type IS NOT NULL
  AND backend_type NOT IN ('sweep launcher', 'sweep governor', 'sweep worker',
                           'archiver', 'autovacuum launcher', 'autovacuum worker',
                           'background writer', 'checkpointer', 'client backend',
                           'io worker', 'slotsync worker', 'standalone backend', 'startup',
                           'walreceiver', 'walsender', 'walsummarizer', 'walwriter')
