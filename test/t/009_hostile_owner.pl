# The owner of a database, who is no superuser, plants settings, functions and operators in
# it. Our workers are superuser processes that come by themselves. They obey none of it, run
# nothing of it but as its owner, and vacuum all the same.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

my $node = sweep_node('hostile', conf => <<'END');
sweep.debug_clock_rate = 20
log_autovacuum_min_duration = 0
END

sql($node, 'CREATE ROLE mallory LOGIN CREATEROLE; CREATE ROLE victim SUPERUSER LOGIN; CREATE ROLE powerless; GRANT powerless TO mallory;'
	  . ' CREATE DATABASE prey OWNER mallory');
sql($node, 'CREATE EXTENSION pg_sweep', 'prey');
sql($node, 'GRANT ALL ON SCHEMA public TO PUBLIC', 'prey');

# The test's own sessions must not obey what was planted either.
my @unplanted = map { "-c $_" } qw(search_path=public role=none statement_timeout=0 lock_timeout=0
  default_transaction_read_only=off default_transaction_deferrable=off exit_on_error=off idle_in_transaction_session_timeout=0
  idle_session_timeout=0 synchronous_commit=on client_min_messages=notice);
$ENV{PGOPTIONS} = join ' ', @unplanted, '-c default_transaction_isolation=read\\ committed', $node->pg_version >= 17 ? '-c transaction_timeout=0' : ();

sub as_mallory
{
	my ($query) = @_;
	my ($rc, $out, $err) = $node->psql('prey', $query, extra_params => [ '-U', 'mallory' ]);

	die "mallory: $err" if $rc != 0 || $err =~ /ERROR/;
	return $out;
}

# A worker has to connect again to meet what was planted.
sub new_worker
{
	poll_until($node, "SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'sweep worker' AND datname = 'prey'")
	  or die 'the worker does not leave';
	return;
}

my $tables = 0;

# Garbage in prey is vacuumed as it would be anywhere else.
sub vacuums_all_the_same
{
	my ($name, $more) = @_;
	my $table = 'due' . ++$tables;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	new_worker();
	garbage($node, 'prey', $table);
	return poll_ok($node,
		"SELECT count(*) = 1 FROM sweep.runs WHERE relname = '$table' AND started_by = 'sweep' AND outcome = 'done' AND tuples_removed = 500" . ($more // ''),
		"$name: the table is vacuumed", timeout => 20);
}

# ---- settings, one by one, so that each is seen to be harmless

for my $setting (
	[ 'search_path', 'public, pg_catalog' ],
	[ 'default_transaction_read_only', 'on' ],
	[ 'default_transaction_isolation', 'serializable' ],
	[ 'default_transaction_deferrable', 'on' ],
	[ 'statement_timeout', '1' ],
	[ 'lock_timeout', '1' ],
	[ 'idle_in_transaction_session_timeout', '1' ],
	[ 'idle_session_timeout', '1' ],
	($node->pg_version >= 17 ? [ 'transaction_timeout', '1' ] : ()),
	[ 'client_min_messages', 'debug5' ],
	[ 'exit_on_error', 'on' ],
	[ 'row_security', 'off' ],
	[ 'synchronous_commit', 'remote_apply' ],
	[ 'enable_seqscan', 'off' ],
	[ 'bytea_output', 'escape' ],
	[ 'DateStyle', 'German' ],
	[ 'IntervalStyle', 'iso_8601' ],
	[ 'extra_float_digits', '-15' ],
	[ 'TimeZone', "'Pacific/Apia'" ],
	[ 'stats_fetch_consistency', 'snapshot' ],
	[ 'work_mem', "'64kB'" ],
	[ 'session_authorization', 'mallory' ],
	[ 'role', 'mallory' ],
	[ 'role', 'powerless' ])
{
	my ($name, $value) = @$setting;

	as_mallory("ALTER DATABASE prey SET $name = $value");
	vacuums_all_the_same("$name = $value");

	# Settings that would be in the test's own way are taken back by the superuser.
	sql($node, "ALTER DATABASE prey RESET $name");
}

# VACUUM's own settings: it runs as the server says.
as_mallory("ALTER DATABASE prey SET vacuum_cost_delay = 100; ALTER DATABASE prey SET vacuum_cost_limit = 1;"
	  . " ALTER DATABASE prey SET vacuum_cost_page_hit = 1000; ALTER DATABASE prey SET maintenance_work_mem = '1MB';"
	  . " ALTER DATABASE prey SET vacuum_freeze_min_age = 0; ALTER DATABASE prey SET vacuum_freeze_table_age = 0;"
	  . " ALTER DATABASE prey SET vacuum_failsafe_age = 0"
	  . ($node->pg_version >= 18 ? '; ALTER DATABASE prey SET vacuum_truncate = off' : ''));
vacuums_all_the_same('settings of VACUUM', ' AND cost_limit = 200 AND cost_delay = 2 AND cost < 1000');
is(sql($node, "SELECT count(*) FROM sweep.runs WHERE datname = 'prey' AND mode <> 'normal'"), '0', 'settings of VACUUM: none was aggressive or failsafe');
sql($node, 'ALTER DATABASE prey RESET ALL');

# pg_sweep's own cannot be planted.
for my $setting ("sweep.mode = 'off'", "sweep.naptime = 100", "sweep.debug_clock_rate = 100000", "sweep.nonsense = 1")
{
	my ($rc, $out, $err) = $node->psql('prey', "ALTER DATABASE prey SET $setting", extra_params => [ '-U', 'mallory' ]);
	isnt($rc, 0, "ALTER DATABASE SET $setting is refused");
}

# ---- functions and operators in everybody's path

as_mallory(<<'END');
CREATE TABLE seen (who text, session text, what text);
CREATE FUNCTION public.note(what text) RETURNS bool LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO public.seen VALUES (current_user, session_user, what);
	BEGIN EXECUTE 'ALTER ROLE mallory SUPERUSER'; EXCEPTION WHEN OTHERS THEN NULL; END;
	RETURN true;
END $$;
GRANT ALL ON public.seen TO PUBLIC;
CREATE FUNCTION public.eq(oid, oid) RETURNS bool LANGUAGE sql AS $$ SELECT public.note('oid = oid') $$;
CREATE FUNCTION public.eq(name, name) RETURNS bool LANGUAGE sql AS $$ SELECT public.note('name = name') $$;
CREATE FUNCTION public.eq(name, text) RETURNS bool LANGUAGE sql AS $$ SELECT public.note('name = text') $$;
CREATE FUNCTION public.eq(text, text) RETURNS bool LANGUAGE sql AS $$ SELECT public.note('text = text') $$;
CREATE OPERATOR public.= (LEFTARG = oid, RIGHTARG = oid, FUNCTION = public.eq);
CREATE OPERATOR public.= (LEFTARG = name, RIGHTARG = name, FUNCTION = public.eq);
CREATE OPERATOR public.= (LEFTARG = name, RIGHTARG = text, FUNCTION = public.eq);
CREATE OPERATOR public.= (LEFTARG = text, RIGHTARG = text, FUNCTION = public.eq);
CREATE FUNCTION public.count(bigint) RETURNS bigint LANGUAGE sql AS $$ SELECT public.note('count')::int::bigint $$;
CREATE FUNCTION public.current_setting(text) RETURNS text LANGUAGE sql AS $$ SELECT public.note('current_setting')::text $$;
CREATE FUNCTION public.current_database() RETURNS name LANGUAGE sql AS $$ SELECT public.note('current_database')::text::name $$;
CREATE FUNCTION public.age(xid) RETURNS int LANGUAGE sql AS $$ SELECT public.note('age')::int $$;
CREATE TABLE public.pg_class (oid oid, relname name);
CREATE TABLE public.pg_database (oid oid, datname name);
ALTER DATABASE prey SET search_path = public, pg_catalog;
END
vacuums_all_the_same('planted functions and operators');

# The views, read by a superuser whose path leads through public.
for my $view (qw(progress runs databases decisions status features))
{
	my ($rc, $out, $err) = $node->psql('prey', "SET search_path = public, pg_catalog; TABLE sweep.$view");
	is("$rc$err", '0', "planted functions and operators: sweep.$view works");
}
sql($node, 'DROP EXTENSION pg_sweep; CREATE EXTENSION pg_sweep', 'prey');
is(as_mallory('SELECT pg_catalog.count(*) FROM seen'), '0', 'planted functions and operators: none was called');

# ---- code that a vacuum does run: an index on an expression

as_mallory(<<'END');
CREATE FUNCTION public.innocent(i int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN i; END $$;
CREATE TABLE trap (id int) WITH (autovacuum_enabled = off);
INSERT INTO trap SELECT generate_series(1, 1000);
CREATE INDEX ON trap (public.innocent(id));
CREATE INDEX ON trap (id) WHERE public.innocent(id) > 3;
CREATE OR REPLACE FUNCTION public.innocent(i int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	PERFORM public.note('index');
	BEGIN SET SESSION AUTHORIZATION victim; EXCEPTION WHEN OTHERS THEN NULL; END;
	BEGIN RESET SESSION AUTHORIZATION; EXCEPTION WHEN OTHERS THEN NULL; END;
	BEGIN SET ROLE victim; EXCEPTION WHEN OTHERS THEN NULL; END;
	BEGIN RESET ROLE; EXCEPTION WHEN OTHERS THEN NULL; END;
	BEGIN EXECUTE 'CREATE ROLE planted SUPERUSER'; EXCEPTION WHEN OTHERS THEN NULL; END;
	BEGIN EXECUTE 'ALTER ROLE mallory SUPERUSER'; EXCEPTION WHEN OTHERS THEN NULL; END;
	RETURN i;
END $$;
DELETE FROM trap WHERE id <= 500;
CREATE EXTENSION IF NOT EXISTS plpgsql;
ALTER TABLE trap RESET (autovacuum_enabled);
INSERT INTO trap SELECT generate_series(-300, -1);
DELETE FROM trap WHERE id < 0;
END
poll_ok($node, "SELECT count(*) >= 1 FROM sweep.runs WHERE relname = 'trap' AND started_by = 'sweep' AND outcome = 'done'",
	'an index on an expression: the table is vacuumed');
is(sql($node, "SELECT DISTINCT who, session FROM seen WHERE what OPERATOR(pg_catalog.=) 'index'", 'prey'),
	'mallory|mallory', 'an index on an expression: it ran for its owner only, and in its owner\'s session');

# An index that raises.
as_mallory("CREATE OR REPLACE FUNCTION public.innocent(i int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RAISE EXCEPTION ''trap''; END'");
vacuums_all_the_same('an index that raises');

# ---- what they gained

is(sql($node, "SELECT string_agg(rolname, ',' ORDER BY rolname) FROM pg_roles WHERE rolsuper"),
	sql($node, "SELECT string_agg(r, ',' ORDER BY r) FROM unnest(ARRAY['victim', (SELECT rolname FROM pg_roles WHERE oid = 10)]) r"),
	'nobody became a superuser');
is(sql($node, "SELECT count(*) FROM pg_roles WHERE rolname = 'planted'"), '0', 'no role was planted');
ok(sql($node, "SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type LIKE 'sweep%' AND NOT pid IN (SELECT pid FROM pg_stat_activity"
	  . " WHERE usename IS NULL OR usesysid = 10)"),
	'our processes are what they were');

# What mallory sees and may do: nothing of pg_sweep.
for my $query ('TABLE sweep.runs', 'TABLE sweep.progress', 'SELECT * FROM sweep_internal.get_runs()', 'SELECT sweep.reset_runs()', 'SELECT sweep.cancel(1)',
	'SELECT sweep.rearm()')
{
	my ($rc, $out, $err) = $node->psql('prey', $query, extra_params => [ '-U', 'mallory' ]);
	like($err, qr/permission denied/, "a database's owner may not: $query");
}

# ---- names that are code in other languages

sql($node, 'RESET search_path; CREATE SCHEMA "s""; DROP TABLE x; --"', 'prey');
garbage($node, 'prey', '"s""; DROP TABLE x; --"."t.""%s%n%d\\"""');
poll_ok($node, q{SELECT count(*) = 1 FROM sweep.runs WHERE schemaname = 's"; DROP TABLE x; --' AND relname = 't."%s%n%d\"' AND outcome = 'done'},
	'a name full of quotes and percent signs');
log_poll_ok($node, qr/automatic vacuum of table "prey\.s"; DROP TABLE x; --\.t\."%s%n%d\\"": index scans/, 0, 'is logged as it is');

unlike(log_since($node), qr/server process|terminated by signal/, 'nothing crashed');
$node->stop;
done_testing();
