# When the statistics are lost nobody knows of the garbage that was there before. It is found
# all the same, within ten minutes, and not all of it at once.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

# Ten minutes are six seconds by this clock. autovacuum_naptime is a minute all the same:
# vacuums keep to it for the sake of a standby without feedback.
my $rate = 100;
my $spread = 600 / $rate;
my $node = sweep_node('lost', init => [ allows_streaming => 1 ], conf => <<"END");
sweep.debug_clock_rate = $rate
sweep.naptime = 10s
autovacuum_vacuum_cost_delay = 0
max_worker_processes = 12
sweep.standby_conflicts = off
END
my $tables = 16;

sql($node, 'CREATE DATABASE lost');
$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->start;

# ---- large tables and small ones, all vacuumed once

sub hold_off { reload_with($node, 'sweep.exclude_databases' => 'lost'); rounds($node, 3); return }

hold_off();
sql($node, <<"END", 'lost');
DO \$\$
BEGIN
	FOR i IN 1 .. $tables LOOP
		EXECUTE format('CREATE TABLE large%s AS SELECT i AS id, repeat(''x'', 80) AS pad FROM generate_series(1, 12000) i', i);
	END LOOP;
	FOR i IN 1 .. 3 LOOP
		EXECUTE format('CREATE TABLE small%s AS SELECT i AS id, repeat(''x'', 80) AS pad FROM generate_series(1, 1000) i', i);
	END LOOP;
END \$\$;
CREATE TABLE clean AS SELECT i AS id, repeat('x', 80) AS pad FROM generate_series(1, 100000) i;
CREATE TABLE load (id int PRIMARY KEY, n int);
INSERT INTO load SELECT i, 0 FROM generate_series(1, 1000) i;
VACUUM (ANALYZE);
END

# Kills another three of twelve rows of each, on all pages.
my $digit = 0;

sub delete_some
{
	my $digits = join(', ', map { ($digit++) % 12 } 1 .. 3);

	sql($node, <<"END", 'lost');
DO \$\$
BEGIN
	FOR i IN 1 .. $tables LOOP EXECUTE format('DELETE FROM large%s WHERE id %% 12 IN ($digits)', i); END LOOP;
	FOR i IN 1 .. 3 LOOP EXECUTE format('DELETE FROM small%s WHERE id %% 12 IN ($digits)', i); END LOOP;
END \$\$;
SELECT pg_stat_force_next_flush();
END
	return;
}

# The garbage that was there at that time is removed, in turn.
sub found_in_turn
{
	my ($server, $since, $what) = @_;
	my $after = "datname = 'lost' AND started_by = 'sweep' AND started_at > '$since'";
	my $of_lost = "FROM sweep.runs WHERE $after AND reason LIKE 'statistics lost, %'";
	my $in_time = within($spread + 6);

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	poll_ok($server, "SELECT count(DISTINCT relname) = $tables $of_lost AND relname LIKE 'large%' AND tuples_removed > 2000",
		"$what: the garbage of all large tables is found",
		timeout => 2 * $in_time)
	  or diag(sql($server, "SELECT * FROM sweep.runs WHERE $after ORDER BY relname, started_at"),
		sql($server, "SELECT * FROM sweep.decisions WHERE datname = 'lost' ORDER BY relname"));
	poll_ok($server, "SELECT count(DISTINCT relname) = 3 $of_lost AND relname LIKE 'small%' AND tuples_removed > 200", "$what: and that of the small ones",
		timeout => 2 * $in_time);
	is(sql($server, "SELECT bool_and(started_at < '$since'::timestamptz + '$in_time s') $of_lost"), 't', "$what: within ten minutes");
	note(sql($server, "SELECT string_agg(relname || ' ' || round(EXTRACT(epoch FROM started_at - '$since'), 2), ', ' ORDER BY started_at) $of_lost"));
	my $early = sql($server, "SELECT count(*) $of_lost AND relname LIKE 'large%' AND started_at < '$since'::timestamptz + '$spread s'::interval / 10");
	cmp_ok($early, '<=', $tables / 3, "$what: not all at once ($early in the first minute)");
	# On a slow machine the database is let in late. Then all that is overdue comes at once.
	is(sql($server, <<"END"), '', "$what: at no time");
WITH run AS (SELECT EXTRACT(epoch FROM started_at - '$since') AS at $of_lost AND relname LIKE 'large%'),
	step AS (SELECT floor(at * 10 / $spread) AS step, count(*) AS n, min(at) AS at FROM run GROUP BY 1)
SELECT string_agg(format('%s at %s s', n, round(at, 2)), ', ') FROM step
WHERE n > $tables / 2 + CASE WHEN at = (SELECT min(at) FROM run) THEN $tables * at / $spread ELSE 0 END
END
	is(sql($server, "SELECT count(*) FROM sweep.runs WHERE $after AND relname = 'clean'"), '0', "$what: a table without is left alone");
	is(sql($server, "SELECT count(*) FROM (SELECT relname $of_lost AND outcome = 'done' GROUP BY relname HAVING count(*) > 1) x"), '0',
		"$what: no table has two turns");
	return;
}

# ---- pg_stat_reset(), and one of them is locked when its turn comes

delete_some();
my $locker = session($node, 'lost');
$locker->query_safe('BEGIN; LOCK TABLE large1');
my $since = sql($node, 'SELECT now()');
sql($node, 'SELECT pg_stat_reset()', 'lost');
reload_with($node, 'sweep.exclude_databases' => '');
poll_ok($node, q{SELECT count(*) = 1 FROM sweep.decisions WHERE relname = 'large1' AND decision = 'locked'}, 'reset: a table that is locked has to wait');
$locker->query_safe('COMMIT');
$locker->quit;
found_in_turn($node, $since, 'reset');

# what is in order is not looked at for ever, so no worker comes any more
poll_ok($node, 'SELECT workers = 0 FROM sweep.status', 'then the workers leave');
my $starts = status($node, 'worker_starts');
rounds($node, 20);
cmp_ok(status($node, 'worker_starts') - $starts, '<=', 3, 'and do not come again and again');

# ---- the turns of half of them come while one visit is under way, and those of the other
# ---- half during sweep.hold()

hold_off();
delete_some();
$since = sql($node, 'SELECT now()');
sql($node, 'SELECT pg_stat_reset()', 'lost');
poll_until($node, "SELECT now() > '$since'::timestamptz + '$spread s'::interval / 2");

# a visit reads it after it has weighed the tables, before it decides
$locker = session($node, 'lost');
$locker->query_safe('BEGIN; LOCK TABLE pg_partitioned_table');
reload_with($node, 'sweep.exclude_databases' => '');
poll_ok($node, q{SELECT count(*) > 0 FROM pg_locks WHERE relation = 'pg_partitioned_table'::regclass AND NOT granted}, 'a visit is under way');
poll_until($node, "SELECT now() > '$since'::timestamptz + '$spread s'");
sql($node, 'SELECT sweep.hold()');
$locker->query_safe('COMMIT');
$locker->quit;
poll_ok($node, 'SELECT workers = 0 FROM sweep.status', 'it ends');
is(sql($node, "SELECT count(*) FROM sweep.runs WHERE datname = 'lost' AND started_at > '$since'"), '0', 'and vacuums nothing');
sql($node, "SELECT sweep.hold('0')");
poll_ok($node, "SELECT count(DISTINCT relname) = $tables FROM sweep.runs WHERE datname = 'lost' AND started_at > '$since' AND relname LIKE 'large%'"
	  . " AND tuples_removed > 2000",
	'no turn is lost by that', timeout => within(20));

# ---- a crash

hold_off();
delete_some();
my $victim = session($node, 'lost');
my $pid = $victim->query_safe('SELECT pg_backend_pid()');
my $offset = log_size($node);
kill 'KILL', $pid;
eval { $victim->quit };
log_poll_ok($node, qr/database system is ready to accept connections/, $offset, 'crash: the server is back');
poll_until($node, q{SELECT rounds > 0 AND effective_mode = 'act' FROM sweep.status});
is(sql($node, q{SELECT count(*) FROM pg_stat_all_tables WHERE relname LIKE 'large%' AND n_dead_tup > 0}, 'lost'), '0', 'crash: no statistics');
# turns are counted from then
$since = status($node, 'launcher_started_at');
reload_with($node, 'sweep.exclude_databases' => '');
found_in_turn($node, $since, 'crash');

# ---- a promotion, and those who have used the primary are there at once

hold_off();
delete_some();
$node->wait_for_catchup($standby);
$node->stop('immediate');
append_to_file($standby->basedir . '/load.sql', <<'END');
\set id random(1, 1000)
UPDATE load SET n = n + 1 WHERE id = :id;
SELECT count(*) FROM large1 WHERE id < 10;
END
$since = sql($standby, 'SELECT now()');
$standby->promote;
my $load = IPC::Run::start([ 'pgbench', '-n', '-h', $standby->host, '-p', $standby->port, '-c', '2', '-R', '50', '-T', '60', '-f',
	$standby->basedir . '/load.sql', 'lost' ],
	'>', '/dev/null', '2>', '/dev/null');
found_in_turn($standby, $since, 'promotion');
is(sql($standby, q{SELECT sum(n) > 50 FROM load}, 'lost'), 't', 'promotion: under load');
$load->kill_kill;

$standby->stop;
done_testing();
