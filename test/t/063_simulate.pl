# A simulation: the same settings come to what was recorded, others to more or fewer vacuums, and
# too little that is recorded is refused.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use InstallTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

# ten seconds into an hour
my $offset = 3600 - time % 3600 + 10;
my $install = make_install();
my $node = sweep_node('simulate', install_path => $install, conf => <<"END");
sweep.naptime = 100ms
sweep.debug_clock_offset = ${offset}s
autovacuum_vacuum_threshold = 1000
autovacuum_vacuum_scale_factor = 0
autovacuum_vacuum_insert_threshold = -1
END

sub next_hour
{
	my ($hours) = @_;

	$offset += 3600 * ($hours // 1);
	reload_with($node, 'sweep.debug_clock_offset' => "${offset}s");
	return;
}

sub simulate
{
	my ($columns, $settings) = @_;

	$settings //= '{}';
	return sql($node, "SELECT $columns FROM sweep.simulate('$settings', '2 days')");
}

sub refused
{
	my ($query, $error, $name) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', $query);

	isnt($rc, 0, $name);
	like($err, $error, '... says what is wrong');
	return;
}

sql($node, <<'END');
CREATE TABLE orders (id int PRIMARY KEY, status int);
INSERT INTO orders SELECT i, 0 FROM generate_series(1, 20000) i;
CREATE INDEX ON orders (status);
CREATE TABLE quiet (id int);
VACUUM ANALYZE;
END

refused('SELECT * FROM sweep.simulate()', qr/ERROR:  too little is recorded for a simulation\nDETAIL:  .*: 0\.  At least 2 are needed\./,
	'nothing is recorded');

# ---- four hours, a vacuum in each

next_hour();
poll_ok($node, 'SELECT count(DISTINCT hour) = 1 FROM sweep.activity', 'the hour that filled the tables is recorded');
refused('SELECT * FROM sweep.simulate_summary()', qr/too little is recorded.*: 1\.  At least 2/s, 'one hour is too little');
for my $hour (1 .. 4)
{
	sql($node, "UPDATE orders SET status = status + 1 WHERE id <= 1100; SELECT pg_stat_force_next_flush()");
	poll_ok($node, "SELECT count(*) >= $hour FROM sweep.runs WHERE relname = 'orders' AND started_by = 'sweep'",
		"hour $hour: a vacuum");
	next_hour();
	poll_ok($node, "SELECT count(DISTINCT hour) >= $hour FROM sweep.activity WHERE relname = 'orders'", '... is recorded');
}

my $of_orders = "FROM sweep.simulate_tables('%s', '2 days', %s) WHERE relname = 'orders'";

is(sql($node, 'SELECT recorded_vacuums, vacuums BETWEEN 3 AND 5, insert_vacuums ' . sprintf($of_orders, '{}', 'false')), '4|t|0',
	'the same settings come to what was recorded');
my $pages = 'SELECT blks_read + blks_dirtied, recorded_blks_read + recorded_blks_dirtied ';
my ($said, $was) = split /\|/, sql($node, $pages . sprintf($of_orders, '{}', 'false'));
ok($said <= 2.5 * $was && 2.5 * $said >= $was, "in pages as well, few as they are ($said, $was)");
($said, $was) = split /\|/, sql($node, $pages . sprintf($of_orders, '{}', 'true'));
cmp_ok($said, '>', 0, "the back-test learns from the other half ($said, $was)");
is(sql($node, 'SELECT vacuums BETWEEN 15 AND 19 ' . sprintf($of_orders, '{autovacuum_vacuum_threshold=250}', 'false')), 't',
	'with a quarter of the threshold there are four times as many');
is(sql($node, 'SELECT vacuums ' . sprintf($of_orders, '{autovacuum_vacuum_threshold=1000000}', 'false')), '0', 'with a large one none');
is(sql($node, 'SELECT vacuums, max_dead_tuples > 4000 ' . sprintf($of_orders, '{sweep.max_workers=0}', 'false')), '0|t',
	'without workers none either');
is(sql($node, 'SELECT vacuums BETWEEN 3 AND 5 ' . sprintf($of_orders, '{sweep.mode=off}', 'false')), 'f',
	'the server alone does nothing while autovacuum is off');
is(sql($node, 'SELECT vacuums BETWEEN 3 AND 5 ' . sprintf($of_orders, '{sweep.mode=off,autovacuum=on}', 'false')), 't',
	'and its daemon comes by the same threshold');
is(sql($node, 'SELECT max_dead_tuples > 2000 ' . sprintf($of_orders, '{sweep.min_interval=2h}', 'false')), 't',
	'a unit is understood: with two hours between two vacuums more is left');
is(sql($node, "SELECT count(*) FROM sweep.simulate_tables('{}', '2 days') WHERE relname = 'quiet'"), '0',
	'a table that nobody changes is not there');

# a write limit that binds
my $limited = sql($node, 'SELECT run_time ' . sprintf($of_orders, '{sweep.write_limit=0.01}', 'false'));
my $free = sql($node, 'SELECT run_time ' . sprintf($of_orders, '{}', 'false'));
cmp_ok($limited, '>', 10 * $free, 'a small write_limit makes vacuums take long');
is(sql($node, 'SELECT run_time ' . sprintf($of_orders, '{"sweep.windows=00:00-24:00 write_limit=0.01"}', 'false')), $limited,
	'and so does a window');

# ---- the hours, and what it goes by

is(simulate('count(*), count(*) FILTER (WHERE span BETWEEN interval \'59 min\' AND interval \'61 min\') >= 4, sum(recorded_vacuums) >= 4'), '5|t|t',
	'a row for each hour');
is(sql($node, 'SELECT hours, missing_hours, xid_age > 0, xids_per_hour > 0, freeze_max_age, freeze_max_age_at > now(), '
	  . "wraparound_at IS NULL FROM sweep.simulate_summary('{autovacuum_freeze_max_age=100000}')"),
	'5|0|t|t|100000|t|t', 'the summary: no wraparound within a hundred years');
is(sql($node, q(SELECT a.freeze_max_age_at < b.freeze_max_age_at
	FROM sweep.simulate_summary('{autovacuum_freeze_max_age=100000}') a, sweep.simulate_summary('{autovacuum_freeze_max_age=120000}') b)),
	't', 'another autovacuum_freeze_max_age is reached at another time');
is(sql($node, 'SHOW autovacuum_freeze_max_age'), '200000000', 'and nothing was set');

# what is frozen within as long a time: all that is old enough by these settings
sub to_freeze
{
	my ($settings) = @_;

	return sql($node, "SELECT tables_to_freeze, pages_to_freeze FROM sweep.simulate_summary('{$settings}', '2 days')");
}

sql($node, 'CREATE PROCEDURE burn(n int) LANGUAGE plpgsql AS $$ BEGIN FOR i IN 1..n LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$');
sql($node, 'CALL burn(76000)');
is(to_freeze(''), '0|0', 'no table is frozen soon');
is(to_freeze('autovacuum_freeze_max_age=100000'),
	sql($node, 'SELECT count(*), sum(pages - greatest(frozen_pages, 0)) FROM sweep.tables WHERE xid_limit IS NOT NULL'),
	'with a small limit pg_sweep freezes all of them');
is(to_freeze('autovacuum_freeze_max_age=100000,sweep.mode=off'), '0|0', 'and autovacuum does so later');
is(to_freeze('autovacuum_freeze_max_age=100000,sweep.mode=off,sweep.scope=catalog'), '0|0', '... in any scope');
my $catalogs = sql($node, "SELECT count(*) FROM sweep.tables WHERE xid_limit IS NOT NULL AND lane = 'catalog'");
like(to_freeze('autovacuum_freeze_max_age=100000,sweep.scope=catalog'), qr/^$catalogs\|/, 'nor is it pg_sweep that freezes what is not in its scope');

# hours in which pg_sweep was off are missing
reload_with($node, 'sweep.mode' => 'off');
poll_ok($node, "SELECT effective_mode = 'off' FROM sweep.status", 'pg_sweep is off');
next_hour(3);
reload_with($node, 'sweep.mode' => 'act');
poll_ok($node, "SELECT effective_mode = 'act' FROM sweep.status", 'and on again');
rounds($node, 3);
next_hour();
poll_ok($node, 'SELECT hours >= 5 AND missing_hours >= 2 FROM sweep.simulate_summary()', 'hours that are missing are told');
is(simulate('sum(vacuums) BETWEEN 3 AND 12'), 't', 'and no vacuum is made up for them');

# ---- a session without rights

sql($node, 'CREATE ROLE monitor LOGIN IN ROLE pg_monitor; CREATE ROLE nobody LOGIN');
is($node->safe_psql('postgres', 'SELECT count(*) > 0 FROM sweep.simulate()', extra_params => [ '-U', 'monitor' ]), 't', 'pg_monitor may ask');
my ($rc, $out, $err) = $node->psql('postgres', 'SELECT * FROM sweep.simulate()', extra_params => [ '-U', 'nobody' ]);
like($err, qr/permission denied/, 'others may not');

# ---- the library that does it

my $session = session($node);
my $maps = '/proc/' . $session->query_safe('SELECT pg_backend_pid()') . '/maps';
unlike(slurp_file($maps), qr/pg_sweep_simulate/, 'a session that does not ask has not loaded the library');
$session->query_safe('SELECT count(*) FROM sweep.simulate()');
like(slurp_file($maps), qr/pg_sweep_simulate/, 'who asks has');
$session->quit;
put_library($install, 'pg_sweep_simulate', build_simulate('99.9'));
refused('SELECT * FROM sweep.simulate()', qr/library "pg_sweep_simulate" does not fit the "pg_sweep" that the server has loaded.*HINT:  Restart the server/s,
	'one of another version');
is(sql($node, 'SELECT count(*) FROM sweep.status'), '1', 'all else works');

$node->stop;
done_testing();
