# What is due is counted once. sweep.status, sweep.databases and sweep.queue say the same,
# whatever the tables wait for. They also say how many have waited for too long.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

my $node = sweep_node('due', conf => <<'END');
sweep.debug_clock_rate = 20
sweep.min_interval = 1h
autovacuum_vacuum_cost_delay = 0
END
sql($node, "CREATE DATABASE $_") for qw(other excluded);
reload_with($node, 'sweep.exclude_databases' => 'excluded');

my $counts = q{SELECT (SELECT due FROM sweep.status) || ' ' || (SELECT sum(due) FROM sweep.databases) || ' ' || (SELECT count(*) FROM sweep.queue}
	  . q{ WHERE score IS NOT NULL)};

# The tables wait for that, and all views say the same number, which is at least that large.
sub same
{
	my ($name, $least, $waiting) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	poll_ok($node, $waiting, "$name: it waits") if $waiting;
	poll_ok($node, "SELECT a[1] = a[2] AND a[2] = a[3] AND a[1]::int >= $least FROM string_to_array(($counts), ' ') a", "$name: one count")
	  or diag(sql($node, $counts) . "\n" . sql($node, 'SELECT datname, relname, score, waiting_for FROM sweep.queue') . "\n"
		  . sql($node, 'SELECT datname, due FROM sweep.databases'));
	return;
}

# ---- the minimum interval, the horizon, a snooze

garbage($node, 'postgres', 'again');
poll_ok($node, q{SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'again' AND tuples_removed > 0}, 'a table is vacuumed');
more_garbage($node, 'postgres', 'again');
same('the minimum interval', 1, q{SELECT count(*) = 1 FROM sweep.queue WHERE relname = 'again' AND waiting_for LIKE 'minimum interval%'});

my $reader = session($node);
$reader->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_class');
garbage($node, 'postgres', 'held');
same('the horizon', 2, q{SELECT count(*) = 1 FROM sweep.queue WHERE relname = 'held' AND waiting_for LIKE 'horizon%'});
sql($node, 'CREATE TABLE snoozed (a int)');
sql($node, q{SELECT sweep.snooze('snoozed', '1 day')});
sql($node, 'INSERT INTO snoozed SELECT generate_series(1, 2000); DELETE FROM snoozed; SELECT pg_stat_force_next_flush()');
same('a snooze', 3, q{SELECT count(*) = 1 FROM sweep.queue WHERE relname = 'snoozed' AND waiting_for LIKE 'snoozed%'});

# ---- on hold: another database, a shared catalog, one that is not ours, a request

sql($node, q{SELECT sweep.hold('1 day')});
garbage($node, 'other', 'elsewhere');
garbage($node, 'excluded', 'not_ours');
sql($node, 'DO $$ BEGIN FOR i IN 1 .. 600 LOOP CREATE ROLE transient; DROP ROLE transient; END LOOP; END $$');
same('on hold', 5, q{SELECT count(*) FILTER (WHERE datname = 'other') >= 1 AND count(*) FILTER (WHERE relname = 'pg_authid') = 1 FROM sweep.queue}
	  . q{ WHERE waiting_for LIKE 'hold%'});
is(sql($node, q{SELECT due FROM sweep.databases WHERE datname = 'excluded'}), '0', 'a database that is not ours has nothing due');
cmp_ok(sql($node, q{SELECT due FROM sweep.databases WHERE datid IS NULL}), '>=', 1, 'the shared catalogs have a row');
sql($node, q{CREATE TABLE asked (a int); SELECT sweep.vacuum('asked'), sweep.vacuum('again')});
same('a request', 5, q{SELECT count(*) FILTER (WHERE relname = 'asked' AND score IS NULL) = 1 AND count(*) FILTER (WHERE relname = 'again' AND score > 1) = 1}
	  . q{ FROM sweep.queue WHERE requested_by IS NOT NULL});
is( sql($node, q{SELECT state, reason ~ '^dead tuples \d+ > ', requested_by = current_user, waiting_since < requested_at, aux, attempts FROM sweep.queue WHERE relname = 'again'}),
	'waiting|t|t|t|f|0', 'a table that is due and asked for has one row, which says both');

# ---- waited for too long, the horizon's age, and off

is(status($node, 'overdue'), '0', 'none has waited for too long');
reload_with($node, 'sweep.debug_clock_offset' => '10min');
poll_ok($node, q{SELECT overdue >= 5 AND overdue <= due FROM sweep.status}, 'all have, ten minutes later');
cmp_ok(status($node, 'horizon_age'), '>=', sql($node, q{SELECT max(age) FROM sweep.blockers}), 'the horizon is as old as the oldest blocker');
$reader->quit;
poll_ok($node, q{SELECT horizon_age < 100 FROM sweep.status}, 'and moves on without it');
reload_with($node, 'sweep.mode' => 'off');
poll_ok($node, "$counts = '0 0 0'" =~ s/^SELECT (.*)$/SELECT ($1)/r, 'off: nothing is due');

$node->stop;
done_testing();
