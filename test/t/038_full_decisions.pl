# There are more tables than decisions can be remembered of. What matters is kept, and what
# matters least makes room. What cannot be remembered of one database does not concern
# another.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

my $node = sweep_node('full', conf => <<'END');
sweep.debug_clock_rate = 10
sweep.max_decisions = 1024
autovacuum_vacuum_cost_delay = 0
END

# Makes that many tables with a row each and storage parameters.
sub tables
{
	my ($dbname, $prefix, $n, $with) = @_;

	sql($node, <<"END", $dbname);
DO \$\$
BEGIN
	FOR i IN 1 .. $n LOOP
		EXECUTE format('CREATE TABLE %I WITH ($with) AS SELECT 1 AS i', '$prefix' || i);
		IF i % 100 = 0 THEN COMMIT; END IF;
	END LOOP;
END \$\$;
SELECT pg_stat_force_next_flush();
END
	return;
}

# A worker has seen that many tables of that database.
sub seen
{
	my ($dbname, $n) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return poll_ok($node, "SELECT relations >= $n AND last_visit > (SELECT launcher_started_at FROM sweep.status) FROM sweep.databases WHERE datname = '$dbname'",
		"$dbname is looked at");
}

# ---- storage parameters that change nothing need no place

sql($node, 'CREATE DATABASE many');
sql($node, 'CREATE EXTENSION pg_sweep', 'many');
poll_ok($node, "SELECT last_visit IS NOT NULL FROM sweep.databases WHERE datname = 'many'", 'the database is known');
tables('many', 'filled', 1200, 'fillfactor = 90');
garbage($node, 'many', 'caller');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'caller' AND outcome = 'done'", 'a worker is there');
cmp_ok(status($node, 'decisions_used'), '<', 200, 'storage parameters that have nothing to do with vacuums take no place');
is(status($node, 'decisions_dropped'), '0', 'and nothing is dropped');

# ---- thresholds of their own: more than can be remembered

tables('many', 'low', 1200, 'autovacuum_vacuum_threshold = 5, autovacuum_vacuum_scale_factor = 0');
garbage($node, 'many', 'caller2');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'caller2' AND outcome = 'done'", 'a worker is there again');
poll_ok($node, 'SELECT decisions_used >= 900 FROM sweep.status', 'the decisions are full');
is(sql($node, 'SELECT decisions_used <= decisions_size FROM sweep.status'), 't', 'and no more than that');

# The minimum interval is six seconds here.
sub least_interval
{
	my ($dbname, $table, $times) = @_;

	garbage($node, $dbname, $table);
	for (1 .. $times)
	{
		poll_ok($node, "SELECT count(*) >= $_ FROM sweep.runs WHERE relname = '$table' AND outcome = 'done' AND started_by = 'sweep'", "$table is vacuumed, $_");
		more_garbage($node, $dbname, $table);
	}
	return sql($node, <<"END");
SELECT coalesce(min(extract(epoch FROM started_at - before)), 0) FROM
 (SELECT started_at, lag(ended_at) OVER (ORDER BY run_id) AS before FROM sweep.runs
  WHERE relname = '$table' AND outcome = 'done' AND started_by = 'sweep') r
END
}
cmp_ok(least_interval('many', 'hot', 3), '>=', 5.9, 'a table in that database: the minimum interval holds');
cmp_ok(least_interval('postgres', 'hot2', 2), '>=', 5.9, 'and in another one');
is(sql($node, 'SELECT count(*) FROM sweep.databases WHERE next_visit > now()'), '0', 'no database is in back-off');

# What a user has said makes room for itself, and stays.
sql($node, "SELECT sweep.snooze('filled1', '1 hour')", 'many');
tables('many', 'more', 600, 'autovacuum_vacuum_threshold = 5, autovacuum_vacuum_scale_factor = 0');
garbage($node, 'many', 'caller3');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'caller3' AND outcome = 'done'", 'a worker is there once more');
is(sql($node, "SELECT count(*) FROM sweep.decisions WHERE relname = 'filled1' AND decision = 'snoozed'"), '1', 'a snooze is not forgotten for others');

$node->stop;
done_testing();
