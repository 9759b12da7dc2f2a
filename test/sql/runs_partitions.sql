-- A partitioned table has no pages: each partition that has some is a run.
\set ECHO none
\getenv srcdir PG_ABS_SRCDIR
\set common :srcdir /sql/common.psql
\i :common

CREATE TABLE p (a int, b text) PARTITION BY LIST (a);
CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1);
CREATE TABLE p2 PARTITION OF p FOR VALUES IN (2) PARTITION BY LIST (b);
CREATE TABLE p2x PARTITION OF p2 FOR VALUES IN ('x');
CREATE TABLE p2y PARTITION OF p2 FOR VALUES IN ('y');
INSERT INTO p SELECT 1 + g % 2, CASE WHEN g % 3 = 0 THEN 'x' ELSE 'y' END FROM generate_series(1, 1000) g;

-- in which order is PostgreSQL's business
VACUUM p;
SELECT * FROM pg_temp.new_runs() ORDER BY relation;
VACUUM (PROCESS_TOAST false) p2;
SELECT * FROM pg_temp.new_runs() ORDER BY relation;

-- ANALYZE gathers statistics of the partitioned tables as well
VACUUM (ANALYZE, PROCESS_TOAST false) p;
SELECT * FROM pg_temp.new_runs() ORDER BY relation, command;

VACUUM FULL p;
SELECT * FROM pg_temp.new_runs() ORDER BY relation;

VACUUM (PROCESS_TOAST false) p1;
ANALYZE p1;
SELECT * FROM pg_temp.new_runs();

-- inheritance: only the table that was named is vacuumed (before 18), with its
-- children from 18 on
CREATE TABLE parent (a int);
CREATE TABLE child () INHERITS (parent);
INSERT INTO parent SELECT generate_series(1, 100);
INSERT INTO child SELECT generate_series(1, 100);
VACUUM parent;
SELECT DISTINCT * FROM pg_temp.new_runs() WHERE relation = 'public.parent';

DROP TABLE p, parent, child;
