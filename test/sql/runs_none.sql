-- Other commands record nothing, also those that take the same lock as VACUUM.
\set ECHO none
\getenv srcdir PG_ABS_SRCDIR
\set common :srcdir /sql/common.psql
\i :common

CREATE TABLE t (a int PRIMARY KEY, b text);
CREATE TABLE u (a int REFERENCES t);
INSERT INTO t SELECT g, g FROM generate_series(1, 1000) g;
-- as in a session that has vacuumed before
VACUUM (PROCESS_TOAST false) t;
SELECT * FROM pg_temp.new_runs();

CREATE INDEX CONCURRENTLY i ON t (b);
REINDEX INDEX CONCURRENTLY i;
REINDEX TABLE t;
REINDEX TABLE CONCURRENTLY t;
CLUSTER t USING t_pkey;
DROP INDEX CONCURRENTLY i;
-- from 19 on
\set ECHO none
SELECT 'REPACK t USING INDEX t_pkey' WHERE current_setting('server_version_num')::int >= 190000
\gexec
\set ECHO all
ALTER TABLE t ADD CONSTRAINT c CHECK (a > 0) NOT VALID;
ALTER TABLE t VALIDATE CONSTRAINT c;
ALTER TABLE t SET (fillfactor = 90);
ALTER TABLE t ALTER a SET STATISTICS 10;
ALTER TABLE u DROP CONSTRAINT u_a_fkey;
CREATE STATISTICS s ON a, b FROM t;
COMMENT ON TABLE t IS 'x';
BEGIN;
LOCK TABLE t IN SHARE UPDATE EXCLUSIVE MODE;
LOCK TABLE t IN ACCESS EXCLUSIVE MODE;
UPDATE t SET b = 'x';
DELETE FROM t WHERE a > 500;
COMMIT;
BEGIN;
LOCK TABLE t IN SHARE UPDATE EXCLUSIVE MODE;
SELECT 1 / 0;
ROLLBACK;
TRUNCATE u;
CREATE MATERIALIZED VIEW mv AS SELECT * FROM t;
CREATE UNIQUE INDEX ON mv (a);
REFRESH MATERIALIZED VIEW mv;
CHECKPOINT;
SET client_min_messages = error;
PREPARE q AS SELECT count(*) FROM t;
EXECUTE q;
RESET client_min_messages;
SELECT * FROM pg_temp.new_runs();

-- except for the ANALYZE of its temporary tables that core itself runs here
REFRESH MATERIALIZED VIEW CONCURRENTLY mv;
SELECT command, regexp_replace(relation, '\d+', 'N') AS relation, started_by, outcome FROM pg_temp.new_runs();

-- VACUUMs that find nothing to do
SET client_min_messages = error;
CREATE ROLE regress_sweep_other;
SET ROLE regress_sweep_other;
VACUUM t;
VACUUM FULL t;
VACUUM ANALYZE t, u;
RESET ROLE;
DROP ROLE regress_sweep_other;
RESET client_min_messages;
SELECT * FROM pg_temp.new_runs();

DROP MATERIALIZED VIEW mv;
DROP TABLE t, u;
