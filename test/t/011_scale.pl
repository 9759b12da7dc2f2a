# What cannot be vacuumed is not asked about all the time, however much of it there is.
#
# A thousand tables over their threshold that are disabled, held back, or only observed
# start at most one worker a minute. If there are more tables than can be remembered,
# the rest are counted. Neither they nor anything else make pg_sweep run in circles.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

# Two minutes pass in a second. The launcher looks every second of that time.
my $rate = 120;
my $node = sweep_node('scale', conf => <<"END");
sweep.debug_clock_rate = $rate
sweep.max_decisions = 1024
autovacuum_vacuum_cost_delay = 0
autovacuum_vacuum_scale_factor = 0
END

# That many tables, each with 60 dead rows.
sub due_tables
{
	my ($dbname, $prefix, $n, $with) = @_;

	sql($node, <<"END", $dbname);
DO \$\$
BEGIN
	FOR i IN 1 .. $n LOOP
		EXECUTE format('CREATE TABLE %I (i int) WITH ($with)', '$prefix' || i);
		EXECUTE format('INSERT INTO %I SELECT generate_series(1, 60)', '$prefix' || i);
		EXECUTE format('DELETE FROM %I', '$prefix' || i);
		IF i % 100 = 0 THEN COMMIT; END IF;
	END LOOP;
END \$\$;
END
	return;
}

# How much do counters of sweep.status grow in that many minutes of pg_sweep's time? It goes by
# their rate, because the test may be kept waiting.
sub grows_in
{
	my ($minutes, $columns) = @_;
	my ($began, @before) = split /\|/, status($node, "extract(epoch FROM clock_timestamp()), $columns");
	my $window = 60 * $minutes / $rate;

	poll_until($node, "SELECT extract(epoch FROM clock_timestamp()) >= $began + $window");
	my ($ended, @after) = split /\|/, status($node, "extract(epoch FROM clock_timestamp()), $columns");
	return map { ($after[$_] - $before[$_]) * $window / ($ended - $began) } 0 .. $#before;
}

sub starts_in { return (grows_in($_[0], 'worker_starts'))[0] }

sub settled
{
	my ($name) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	# what is due and waits for something is decided, too
	return poll_ok($node, q{SELECT workers = 0 AND NOT EXISTS (SELECT FROM sweep.queue WHERE waiting_for ~ '^(next round|worker)') FROM sweep.status},
		"$name: everything is decided");
}

# ---- disabled

sql($node, 'CREATE DATABASE disabled');
due_tables('disabled', 'off', 900, 'autovacuum_enabled = false');
poll_ok($node, "SELECT count(*) = 900 FROM sweep.decisions WHERE decision = 'disabled' AND relname LIKE 'off%'", '900 disabled tables: a decision about each');
settled('disabled');
cmp_ok(starts_in(8), '<=', 8, '900 disabled tables: at most one worker start a minute');
is(sql($node, "SELECT count(*) FROM sweep.runs WHERE datname = 'disabled' AND relname LIKE 'off%'"), '0', '900 disabled tables: none is vacuumed');
is(status($node, 'decisions_dropped'), '0', '900 disabled tables: all are remembered');

# activity in that database does not change that: a due table among them is found and vacuumed
garbage($node, 'disabled', 'among');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'among'", 'one that may be vacuumed among them is');

# ---- more than can be remembered

due_tables('disabled', 'over', 600, 'autovacuum_enabled = false');
poll_ok($node, 'SELECT decisions_dropped > 0 FROM sweep.status', 'more tables than can be remembered: counted');
is(sql($node, 'SELECT decisions_used <= decisions_size AND decisions_size = 1024 FROM sweep.status'), 't', 'not more than sweep.max_decisions');

# Each visit fails to remember at least 1500 - 1024 of them.
my ($starts, $visits) = grows_in(10, 'worker_starts, decisions_dropped');
$visits /= 1500 - 1024;
cmp_ok($visits, '<=', 25, 'that database is visited less and less often: a minute between two visits in the end');
cmp_ok($starts, '<=', 25, 'and as few workers are started');
garbage($node, 'postgres', 'elsewhere');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'elsewhere'", 'other databases do not suffer');
garbage($node, 'disabled', 'among2');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'among2'", 'nor a table of the same, in the end');

sql($node, 'DROP DATABASE disabled');
settled('a dropped database');
poll_ok($node, 'SELECT decisions_used < 100 FROM sweep.status', 'what was known of a dropped database is forgotten');

# ---- tables that come and go: what was known of dropped ones makes room

sql($node, 'CREATE DATABASE staging');
my $dropped = status($node, 'decisions_dropped');
for my $day (1 .. 3)
{
	due_tables('staging', "day${day}_", 500, 'autovacuum_enabled = false');
	settled("500 new tables on day $day");
	sql($node, "DO 'BEGIN FOR i IN 1 .. 500 LOOP EXECUTE ''DROP TABLE day${day}_'' || i; IF i % 100 = 0 THEN COMMIT; END IF; END LOOP; END'", 'staging');
}
is(status($node, 'decisions_dropped'), $dropped, 'tables that come and go: decisions about dropped tables take no room for ever');
sql($node, 'DROP DATABASE staging');

# ---- held back

sql($node, 'CREATE DATABASE held');
my $holder = session($node, 'held');
$holder->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_class');
due_tables('held', 'held', 500, 'autovacuum_enabled = true');
poll_ok($node, "SELECT count(*) = 500 FROM sweep.decisions WHERE decision = 'held back' AND relname LIKE 'held%'",
	'500 tables that are held back: a decision about each');
settled('held back');
my $before = sql($node, 'SELECT max(run_id) FROM sweep.runs');
cmp_ok(starts_in(6), '<=', 6, '500 tables that are held back: at most one worker start a minute');
cmp_ok(sql($node, "SELECT count(*) FROM sweep.runs WHERE run_id > $before AND relname LIKE 'held%'"), '<=', 0, 'and no further run of any');
$holder->query_safe('COMMIT');
$holder->quit;
poll_ok($node, "SELECT count(DISTINCT relname) = 500 FROM sweep.runs WHERE run_id > $before AND relname LIKE 'held%' AND tuples_removed = 60",
	'when they are no longer, one more run of each');
settled('no longer held back');

# ---- observed

sql($node, 'DROP DATABASE held');
sql($node, 'CREATE DATABASE seen');
reload_with($node, 'sweep.mode' => 'observe');
due_tables('seen', 'seen', 500, 'autovacuum_enabled = true');
poll_ok($node, "SELECT count(*) = 500 FROM sweep.decisions WHERE decision = 'would vacuum' AND relname LIKE 'seen%'",
	'500 tables that are observed: a decision about each');
settled('observed');
cmp_ok(starts_in(6), '<=', 6, '500 tables that are observed: at most one worker start a minute');

# ---- temporary tables, which only their session can vacuum

reload_with($node, 'sweep.mode' => 'act');
my $owner = session($node, 'seen');
$owner->query_safe('CREATE TEMP TABLE mine AS SELECT i FROM generate_series(1, 100000) i; DELETE FROM mine; SELECT pg_stat_force_next_flush()');
$owner->query_safe('SELECT 1');
poll_ok($node, "SELECT n_dead_tup = 100000 FROM pg_stat_all_tables WHERE relname = 'mine'", 'a temporary table with many dead rows', db => 'seen');
rounds($node, 5);
settled('a temporary table');
cmp_ok(starts_in(6), '<=', 6, 'a temporary table: at most one worker start a minute');
$owner->quit;

# ---- nothing to do

settled('nothing to do');
cmp_ok(starts_in(6), '<=', 3, 'nothing to do: hardly any worker starts');
is(sql($node, 'SELECT worker_start_failures, databases_dropped FROM sweep.status'), '0|0', 'nothing failed, no database was left out');

# by this clock a round lets its locks go again and again, by the real one hardly once

sql($node, 'CREATE DATABASE many');
sql($node, "DO 'BEGIN FOR i IN 1 .. 4000 LOOP EXECUTE ''CREATE TABLE t'' || i || '' AS SELECT 1 AS i''; IF i % 500 = 0 THEN COMMIT; END IF; END LOOP; END'",
	'many');
reload_with($node, 'sweep.mode' => 'observe', autovacuum => 'off');
my $entries = q{SELECT relations FROM sweep.status};
my $last = -1;
for (1 .. 100)
{
	rounds($node, 2);
	my $now = sql($node, $entries);
	last if $now == $last && $now > 4000;
	$last = $now;
}
cmp_ok($last, '>', 4000, 'thousands of tables are seen');
for my $step (1 .. 5)
{
	rounds($node, 1);
	is(sql($node, $entries), $last, "a round in slices sees each once ($step)");
}
$node->append_conf('postgresql.conf', 'sweep.debug_clock_rate = 1');
$node->restart;
rounds($node, 2);
is(sql($node, $entries), $last, 'as many as one in one piece');

$node->stop;
done_testing();
