-- sweep.simulate(): which settings it takes, and what it refuses. What comes of them is in test/t/063_simulate.pl.
\set ECHO none
\getenv srcdir PG_ABS_SRCDIR
\set common :srcdir /sql/common.psql
\i :common
\set VERBOSITY default
CREATE FUNCTION try(settings text[], since interval DEFAULT '7 days') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	message text;
	hint text;
BEGIN
	PERFORM FROM sweep.simulate(settings, since);
	RETURN 'ok';
EXCEPTION WHEN others THEN
	GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
	RETURN message || CASE WHEN hint <> '' THEN ' / ' || hint ELSE '' END;
END $$;

-- all that can be simulated, in whatever form the server takes it (then it says that too little is recorded)
SELECT setting, try(ARRAY[setting]) LIKE 'too little is recorded%' AS taken FROM unnest(ARRAY[
	'autovacuum_vacuum_threshold=100', 'autovacuum_vacuum_scale_factor=0.05', 'autovacuum_vacuum_insert_threshold=-1',
	'autovacuum_vacuum_insert_scale_factor=0', 'autovacuum_naptime=1min', 'autovacuum_max_workers=5', 'autovacuum_freeze_max_age=500000000',
	'autovacuum=off', 'checkpoint_timeout=1h', 'sweep.mode=act', 'sweep.scope=catalog', 'sweep.vacuum_threshold=-1',
	'sweep.vacuum_scale_factor=1e-2', 'sweep.insert_cache_fraction=0',
	'sweep.checkpoint_aware=no', 'sweep.catalog_threshold=50', 'sweep.catalog_scale_factor=0.1',
	'sweep.naptime=5s', 'sweep.min_interval=2min', 'sweep.max_workers=4',
	'sweep.read_limit=20', 'sweep.write_limit=12.5', 'sweep.windows=08:00-20:00 write_limit=10, else write_limit=100',
	'  Sweep.Min_Interval  =  5s', 'sweep.windows=']) AS setting;

-- and what is refused, as the server would refuse it
SELECT setting, try(ARRAY[setting]) AS said FROM unnest(ARRAY[
	'autovacuum_vacuum_scale_factor=x', 'autovacuum_vacuum_scale_factor=101', 'autovacuum_vacuum_threshold=1.5GB',
	'sweep.min_interval=5 fortnights', 'sweep.max_workers=33', 'sweep.windows=8-20 write_limit=10', 'sweep.mode=perhaps',
	'sweep.checkpoint_aware=maybe', 'sweep.write_limit=', 'autovacuum_vacuum_threshold', '']) AS setting;
SELECT try('{work_mem=1GB}') LIKE 'setting "work_mem" cannot be simulated / These can: autovacuum_vacuum_threshold, %' AS said;
SELECT try('{nothing.at_all=1}') LIKE 'setting "nothing.at_all" cannot be simulated / %' AS said;
SELECT try('{sweep.write_limit=1,NULL}') AS said;
SELECT try('{sweep.write_limit=1,sweep.write_limit=bad}') AS said;
SELECT try('{}', '0') AS said;
SELECT try('{}', '-1 day') AS said;
SELECT count(*) AS for_null FROM sweep.simulate(NULL);

-- nothing was set
SHOW autovacuum_vacuum_scale_factor;
SHOW sweep.write_limit;
SELECT count(*) AS placeholders FROM pg_settings WHERE name LIKE 'nothing.%';
DROP FUNCTION try;
