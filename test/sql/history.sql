-- sweep.totals and sweep.history: what runs came to, by time, table and who started them.
\set ECHO none
\getenv srcdir PG_ABS_SRCDIR
\set common :srcdir /sql/common.psql
\i :common
CREATE TABLE summed (i int PRIMARY KEY) WITH (autovacuum_enabled = false);
INSERT INTO summed SELECT generate_series(1, 1000);
DELETE FROM summed WHERE i > 900;
SELECT sum(vacuums) AS vacuums, sum(analyzes) AS analyzes FROM sweep.totals WHERE span = 'day' AND started_by = 'manual' \gset before_
VACUUM summed;
VACUUM summed;
VACUUM ANALYZE summed;

-- its transaction is undone, its work is not
BEGIN;
ANALYZE summed;
ROLLBACK;

-- what single runs were adds up
SELECT command, started_by, sum(runs) AS runs, sum(failed) AS failed, sum(cancelled) AS cancelled, sum(skipped) AS skipped
FROM sweep.history WHERE relname = 'summed' AND datname = current_database() GROUP BY 1, 2 ORDER BY 1, 2;
SELECT h.command, h.runs = r.runs AS runs, h.cost = r.cost AS cost, h.hit = r.hit AS hit, h.dirtied = r.dirtied AS dirtied, h.wal = r.wal AS wal,
	abs(h.ms - r.ms) < 1 AS took, h.last BETWEEN r.last AND r.last + interval '10 s' AS last
FROM (SELECT command, sum(runs) AS runs, sum(cost) AS cost, sum(blks_hit) AS hit, sum(blks_dirtied) AS dirtied, sum(wal_bytes) AS wal, sum(run_time) AS ms, max(last_ended_at) AS last
		FROM sweep.history WHERE relid = 'summed'::regclass GROUP BY 1) h
	JOIN (SELECT command, count(*) AS runs, sum(cost) AS cost, sum(blks_hit) AS hit, sum(blks_dirtied) AS dirtied, sum(wal_bytes) AS wal,
			sum(EXTRACT(epoch FROM ended_at - started_at) * 1000) AS ms, max(ended_at) AS last
		FROM sweep.runs WHERE relid = 'summed'::regclass GROUP BY 1) r ON r.command = h.command
ORDER BY 1;
SELECT vacuums - :before_vacuums AS vacuums, analyzes - :before_analyzes AS analyzes FROM sweep.totals WHERE span = 'day' AND started_by = 'manual';

-- an hour is no more than a day, and all starters are there
SELECT h.started_by, h.vacuums <= d.vacuums AND h.cost <= d.cost AS less, h.since > d.since AS later
FROM sweep.totals h JOIN sweep.totals d USING (started_by) WHERE h.span = 'hour' AND d.span = 'day' ORDER BY 1;
DROP TABLE summed;
