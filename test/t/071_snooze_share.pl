# Snoozes take a part of the places for decisions, not all of them, and a partitioned table is
# snoozed whole or not at all. A table for which there is no place is vacuumed no more often
# than others.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

my $node = sweep_node('share', conf => <<'END2');
sweep.max_decisions = 1024
sweep.naptime = 100ms
sweep.min_interval = 24h
autovacuum_vacuum_cost_delay = 0
max_locks_per_transaction = 2000
fsync = off
END2

sub partitions
{
	my ($table, $n) = @_;

	sql($node, "CREATE TABLE $table (i int) PARTITION BY RANGE (i)");
	sql($node, "DO 'BEGIN FOR i IN 1 .. $n LOOP EXECUTE format(\$f\$CREATE TABLE ${table}%s PARTITION OF $table FOR VALUES FROM (%s) TO (%s)\$f\$, i, i, i + 1); END LOOP; END'");
	return;
}

my $snoozed = q{SELECT count(*) FROM sweep.decisions WHERE decision = 'snoozed'};

partitions('few', 400);
partitions('many', 600);
my ($rc, undef, $err) = $node->psql('postgres', "SELECT sweep.snooze('many', '1 day')");
like($err, qr/cannot snooze 600 tables.*No more than 512 tables/s, 'more partitions than may be snoozed');
is(sql($node, $snoozed), '0', 'and none of them is');
sql($node, "SELECT sweep.snooze('few', '1 day')");
is(sql($node, $snoozed), '400', 'fewer can be');
sql($node, "SELECT sweep.snooze('few', '2 days')");
is(sql($node, $snoozed), '400', 'and snoozed again');
(undef, undef, $err) = $node->psql('postgres', "SELECT sweep.snooze('many', '1 day')");
is(sql($node, $snoozed), '400', 'which stays as it is when another table cannot be');
sql($node, "SELECT sweep.snooze('few', '0')");
is(sql($node, $snoozed), '0', 'a snooze is ended for all');

# ---- the rest of the places is for others

sql($node, "SELECT sweep.snooze('few', '1 day')");
partitions('others', 112);
sql($node, "SELECT sweep.snooze('others', '1 day')");
is(sql($node, $snoozed), '512', 'as many as there may be');

# more of them than there are places left
my $tables = 700;
sql($node, <<"END2");
DO \$\$
BEGIN
	FOR i IN 1 .. $tables LOOP
		EXECUTE format('CREATE TABLE t%s AS SELECT 1 AS i FROM generate_series(1, 200)', i);
		EXECUTE format('DELETE FROM t%s', i);
		IF i % 50 = 0 THEN COMMIT; END IF;
	END LOOP;
END \$\$;
SELECT pg_stat_force_next_flush();
END2
my $runs = q{FROM sweep.runs WHERE relname ~ '^t\d+$' AND outcome = 'done' AND started_by = 'sweep'};
poll_ok($node, "SELECT count(DISTINCT relname) = $tables $runs", 'all other tables are vacuumed');
sql($node, <<"END2");
DO 'BEGIN FOR i IN 1 .. $tables LOOP EXECUTE format(\$f\$INSERT INTO t%s SELECT generate_series(1, 200)\$f\$, i); EXECUTE format(\$f\$DELETE FROM t%s\$f\$, i); END LOOP; END';
SELECT pg_stat_force_next_flush();
END2
poll_ok($node, "SELECT count(*) = $tables FROM sweep.tables WHERE relname ~ '^t\\d+\$' AND do_vacuum AND decision = 'vacuumed'", 'they are due again, and wait');
rounds($node, 30);
is(sql($node, "SELECT count(*) $runs"), $tables, 'but none is vacuumed before its interval is over, place or not');
is(sql($node, $snoozed), '512', 'the snoozes are as they were');
cmp_ok(status($node, 'decisions_used'), '<=', 1024, 'there are no more decisions than places');

$node->stop;
done_testing();
