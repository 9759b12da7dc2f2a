# A table whose index scans have lost as many reads to garbage as a vacuum costs is vacuumed,
# below any threshold. That is so once for each loss, and not for garbage that is still needed.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

# The cache is so small that most blocks are read. What is counted every five seconds is counted
# more than twenty times a second here.
my $node = sweep_node('lost_reads', conf => <<'END');
sweep.naptime = 100ms
sweep.debug_clock_rate = 120
shared_buffers = 1MB
autovacuum = off
autovacuum_vacuum_scale_factor = 100
autovacuum_vacuum_insert_threshold = -1
END

my $runs = q{SELECT count(*) FROM sweep.runs WHERE started_by = 'sweep' AND command = 'VACUUM'};
my $lost = q{AND reason ~ '^index scans lost \d+ reads to garbage, a vacuum costs \d+'};

sub reported
{
	my ($query) = @_;

	sql($node, "$query;\nSELECT pg_stat_force_next_flush()");
	return;
}

# So many index-only scans of one row each, all over the table.
sub scan
{
	my ($table, $scans) = @_;

	reported(<<"END");
SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_indexscan = off;
SELECT count((SELECT t.id FROM $table t WHERE t.id = 1 + (i * 7919) % 20000)) FROM generate_series(1, $scans) i
END
	return;
}

# One that is followed, and measured while it is clean.
sub make_table
{
	my ($table) = @_;

	sql($node, <<"END");
CREATE TABLE $table (id int PRIMARY KEY, k int, pad text) WITH (fillfactor = 45);
CREATE INDEX ON $table (k);
INSERT INTO $table SELECT i, i, repeat('x', 300) FROM generate_series(1, 20000) i;
UPDATE $table SET k = k + 1 WHERE id = 1;
END
	scan($table, 10);
	sql($node, "SELECT sweep.set('$table', 'min_interval', '10 s')");
	poll_ok($node, "SELECT count(*) = 1 FROM sweep.worth WHERE relname = '$table'", "$table: its scans are followed");
	sql($node, "VACUUM (INDEX_CLEANUP on) $table");
	poll_ok($node, "SELECT basis LIKE 'being measured%' FROM sweep.worth WHERE relname = '$table'", '... and measured after a vacuum');
	scan($table, 12000);
	poll_ok($node, "SELECT blks_per_scan_clean > 0 AND basis NOT LIKE 'being%' FROM sweep.worth WHERE relname = '$table'",
		'... which takes some thousand scans');
	return;
}

# ---- index-only scans fetch the table again where rows were updated

# From 19 on a scan that prunes what HOT updates have left sets the page's bit in the map again.
for my $update ([ 'cold', 'k = k + 1' ], major($node) < 19 ? [ 'hot', "pad = repeat('y', 300)" ] : ())
{
	my ($table, $set) = @$update;

	make_table($table);
	scan($table, 12000);
	reported("UPDATE $table SET $set");
	is(sql($node, "$runs AND relname = '$table'"), 0, 'updates that no scan pays for are no reason');
	scan($table, 12000);
	poll_ok($node, "$runs AND relname = '$table' $lost", 'its scans have paid for a vacuum, and it comes', expected => 1)
	  or diag(sql($node, "SELECT lost_reads, vacuum_blks, basis FROM sweep.worth WHERE relname = '$table'"));
	poll_ok($node, "SELECT lost_reads IS NULL FROM sweep.worth WHERE relname = '$table'", 'what was lost is paid for');
	scan($table, 12000) for 1 .. 2;
	poll_ok($node, "SELECT lost_reads = 0 AND blks_per_scan < 1.1 * blks_per_scan_clean FROM sweep.worth WHERE relname = '$table'",
		'and nothing more is lost');
	is(sql($node, "$runs AND relname = '$table'"), 1, 'so there is no other vacuum');
}

# ---- garbage that is still needed

make_table('held');
my $holder = session($node, 'postgres');
$holder->query_safe($_) for ('BEGIN ISOLATION LEVEL REPEATABLE READ', 'SELECT 1');
reported('UPDATE held SET k = k + 1');
scan('held', 12000);
poll_ok($node, "$runs AND relname = 'held' $lost", 'a vacuum comes', expected => 1);
scan('held', 12000) for 1 .. 2;
poll_ok($node, "SELECT decision = 'held back' FROM sweep.tables WHERE relname = 'held'", 'its scans have paid for another, which would be in vain');
my $surveys = status($node, 'surveys');
sql($node, "SELECT sweep.set('held', 'min_interval', '10 s')");
poll_ok($node, "SELECT surveys > $surveys AND workers = 0 FROM sweep.status", 'a worker looks at all tables');
is(sql($node, "$runs AND relname = 'held'"), 1, 'it has removed nothing, so no other comes');
$holder->query_safe('COMMIT');
scan('held', 12000);
poll_ok($node, "$runs AND relname = 'held' $lost", 'until nothing holds the garbage back', expected => 2, timeout => 90);

# ---- who says no

make_table('own');
sql($node, "SELECT sweep.set('own', 'enabled', 'off')");
reported('UPDATE own SET k = k + 1');
scan('own', 12000);
poll_ok($node, "SELECT lost_reads > vacuum_blks FROM sweep.worth WHERE relname = 'own'", 'a table that is left alone loses');
rounds($node, 3);
is(sql($node, "$runs AND relname = 'own'"), 0, '... and is left alone');

$holder->quit;
$node->stop;
done_testing();
