# What garbage costs index scans, and what a vacuum brought: losses appear under garbage and
# end with a vacuum, a run shows before and after, and whatever spoils the measurement is left out.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

# Nothing is vacuumed but by this test. The cache is so small that most blocks are read. What
# is counted every five seconds is counted more than twenty times a second here.
my $node = sweep_node('worth', conf => <<'END');
sweep.mode = observe
sweep.naptime = 100ms
sweep.debug_clock_rate = 120
shared_buffers = 1MB
autovacuum = off
END

sub worth
{
	my ($columns, $table) = @_;

	return sql($node, "SELECT $columns FROM sweep.worth WHERE relname = '$table'");
}

# Runs it. What it did is in the statistics when this returns, and not some time after its process
# has ended: a loaded machine may take longer for that than the launcher for its next rounds.
sub reported
{
	my ($query) = @_;

	sql($node, "$query;\nSELECT pg_stat_force_next_flush()");
	return;
}

# What was reported until now is counted. A table is looked at every five seconds of the fast clock,
# and rounds are more often.
sub counted
{
	my $then = sql($node, "SELECT clock_timestamp() + interval '10 s' / 120");

	poll_until($node, "SELECT clock_timestamp() > '$then'") or die "the clock stands still";
	rounds($node, 2);
	return;
}

# So many scans of the primary key, all over the table.
sub scan
{
	my ($table, $scans) = @_;

	reported(<<"END");
SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_indexonlyscan = off;
SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_material = off; SET enable_memoize = off;
SELECT count(x.pad) FROM generate_series(1, $scans) i, LATERAL (SELECT t.pad FROM $table t WHERE t.id = 1 + (i * 7919) % 20000) x
END
	return;
}

# Has all tables looked at.
sub survey
{
	my ($table) = @_;

	sql($node, "SELECT sweep.set('$table', 'min_interval', '1 h')");
	return;
}

# A vacuum that has something to do, and as many scans as make a measurement of a clean table.
sub vacuum_and_measure
{
	my ($table, $name) = @_;

	reported("UPDATE $table SET k = k + 1 WHERE id % 10 = 0");
	sql($node, "VACUUM $table");
	poll_ok($node, "SELECT basis LIKE 'being measured: 0 of 1000 scans since%' FROM sweep.worth WHERE relname = '$table'", $name);
	scan($table, 12000);
	counted();
	is(worth('blks_per_scan_clean BETWEEN 2 AND 5, lost_blks, lost_reads', $table), 't|0|0', '... how many blocks a scan of the clean table takes');
	return;
}

sub make_table
{
	my ($table, $options) = @_;

	sql($node, <<"END");
CREATE TABLE $table (id int PRIMARY KEY, k int, pad text) WITH ($options);
CREATE INDEX ON $table (k);
INSERT INTO $table SELECT i, i, repeat('x', 300) FROM generate_series(1, 20000) i;
UPDATE $table SET k = k + 1 WHERE id = 1;
END
	scan($table, 10);
	survey($table);
	poll_ok($node, "SELECT count(*) = 1 FROM sweep.worth WHERE relname = '$table'", "$table: its scans are followed");
	return;
}

# ---- losses

make_table('orders', 'autovacuum_vacuum_scale_factor = 100, autovacuum_vacuum_insert_threshold = -1');
is(worth('lost_blks IS NULL AND advice IS NULL AND last_vacuum IS NULL', 'orders'), 't', 'without a vacuum nothing is known of losses');
vacuum_and_measure('orders', 'after a vacuum it is measured');
is(worth('vacuum_blks > 500 AND breaks_even_at IS NULL AND blks_per_scan_before IS NULL AND blks_per_scan_after = blks_per_scan_clean', 'orders'), 't',
	'a vacuum has its cost');
scan('orders', 12000);
counted();
is(worth('index_scans >= 24000 AND lost_blks = 0 AND blks_per_scan < 1.05 * blks_per_scan_clean', 'orders'), 't', 'without garbage nothing is lost');
is(worth('advice', 'orders'), '', '... and nothing is advised');

# a row that somebody may still see is neither pruned nor marked
my $holder = session($node, 'postgres');
$holder->query_safe($_) for ('BEGIN ISOLATION LEVEL REPEATABLE READ', 'SELECT 1');
reported('UPDATE orders SET k = k + 1') for 1 .. 3;
counted();
is(worth('lost_blks', 'orders'), 0, 'rows that are written are no loss of scans');
scan('orders', 12000);
counted();
is(worth('lost_blks > 12000 AND lost_reads > 5000 AND lost_reads <= lost_blks', 'orders'), 't', 'with garbage blocks are lost');
is(worth('abs(lost_blks - (blks_per_scan - blks_per_scan_clean) * 12000) < 0.05 * lost_blks', 'orders'), 't', '... as many as each scan takes more');
is(worth('breaks_even_at < now(), not_hot_pct > 99, basis', 'orders'), 't|t|table and indexes. Cost of the last vacuum',
	'a vacuum would have been worth it');
is(worth('advice', 'orders'), 'vacuum earlier: scale factor 0.05', 'it is advised');
my $cause = "FROM sweep.explain('orders') WHERE cause LIKE 'index scans lost%'";
like(sql($node, "SELECT cause $cause"), qr/^index scans lost [\d,]+ blocks, a vacuum costs [\d,]+$/, 'and sweep.explain() says so');
like(sql($node, "SELECT fix || '|' || risk $cause"),
	qr/^ALTER TABLE public.orders SET \(autovacuum_vacuum_scale_factor = 0.05\);\|it is vacuumed 2000.0 times as often/, 'with what to do, and its risk');
sql($node, 'ALTER TABLE orders SET (autovacuum_vacuum_scale_factor = 0.2)');
is(worth('advice', 'orders'), '', 'a table that is due anyway needs no advice');
is(sql($node, "SELECT count(*) $cause"), 0, '... from sweep.explain() neither');
sql($node, 'ALTER TABLE orders SET (autovacuum_vacuum_scale_factor = 100)');

# ---- statistics are reset

my $lost = worth('lost_blks', 'orders');
sql($node, 'SELECT pg_stat_reset()');
counted();
is(worth('lost_blks', 'orders'), $lost, 'reset statistics change nothing of what was measured');
scan('orders', 12000);
counted();
is(worth("lost_blks BETWEEN 1.5 * $lost AND 2.5 * $lost", 'orders'), 't', 'and it goes on from there');

# sequential scans hide what index scans read of the table
reported('SELECT count(pad) FROM orders');
counted();
is(worth("lost_blks BETWEEN 1.5 * $lost AND 2.5 * $lost", 'orders'), 't', 'a sequential scan loses nothing')
  or diag("$lost|" . worth('lost_blks, blks_per_scan, blks_per_scan_clean, index_scans, basis', 'orders'));

# ---- a vacuum

my $before = worth('blks_per_scan', 'orders');
$holder->query_safe('COMMIT');
vacuum_and_measure('orders', 'a vacuum ends the losses');
is(worth("abs(blks_per_scan_before - $before) < 0.01 AND blks_per_scan_after < 0.8 * blks_per_scan_before AND saved_blks_per_hour > 0", 'orders'),
	't', 'what it brought');
is(sql($node, <<'END'), 't', 'sweep.runs shows it with the run');
SELECT r.blks_per_scan_before = w.blks_per_scan_before AND r.blks_per_scan_after = w.blks_per_scan_after
FROM sweep.worth w JOIN sweep.runs r ON r.relid = w.relid
WHERE w.relname = 'orders' AND r.run_id = (SELECT max(run_id) FROM sweep.runs WHERE relname = 'orders' AND command = 'VACUUM')
END
is(sql($node, "SELECT count(blks_per_scan_after) FROM sweep.runs WHERE relname = 'orders'"), 1, 'for the last vacuum of the table');
scan('orders', 12000);
counted();
is(worth('lost_blks = 0 AND advice IS NULL', 'orders'), 't', 'nothing more is lost')
  or diag(worth('lost_blks, advice, blks_per_scan, blks_per_scan_clean, index_scans, basis', 'orders'));

# ---- vacuums of autovacuum, whose fetches come into the statistics when its process ends

sql($node, 'ALTER TABLE orders SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)');
reported('UPDATE orders SET k = k + 1');
my $clean = worth('blks_per_scan_clean', 'orders');
reload_with($node, autovacuum => 'on', autovacuum_naptime => '1s');
poll_ok($node, "SELECT count(*) >= 1 FROM sweep.runs WHERE relname = 'orders' AND started_by = 'autovacuum' AND command = 'VACUUM'", 'autovacuum comes');
reload_with($node, autovacuum => 'off');
poll_ok($node, "SELECT basis LIKE 'being measured: 0 of%' FROM sweep.worth WHERE relname = 'orders'", 'when its process has ended it is measured');
scan('orders', 12000);
counted();
is(worth("blks_per_scan_clean < 1.1 * $clean", 'orders'), 't', 'what it has fetched is not taken for that of scans')
  or diag("$clean|" . worth('lost_blks, blks_per_scan, blks_per_scan_clean, index_scans, basis', 'orders'));

# ---- HOT updates

make_table('hot', 'fillfactor = 40, autovacuum_vacuum_scale_factor = 100, autovacuum_vacuum_insert_threshold = -1');
vacuum_and_measure('hot', 'a table with HOT updates');
reported("UPDATE hot SET pad = repeat('y', 300)");
counted();
scan('hot', 12000);
counted();
# From 19 on a scan that prunes a page also sets its bit in the visibility map, which is a block more.
is(worth('lost_blks = 0 AND advice IS NULL AND not_hot_pct < 5 AND blks_per_scan < 1.1 * blks_per_scan_clean', 'hot'), 't', 'loses nothing by them')
  or diag(worth('lost_blks, advice, not_hot_pct, blks_per_scan, blks_per_scan_clean, index_scans, basis', 'hot'));

# ---- indexes come and go

# a survey comes soon after that, but none while nothing is begun
sql($node, "SELECT sweep.hold('1 h')");
sql($node, 'CREATE INDEX hot_extra ON hot (id, k)');
is(worth('blks_per_scan IS NULL AND lost_blks IS NULL, basis', 'hot'), 't|its indexes have changed, and are counted anew after the next survey',
	'with another index what was measured tells nothing');
sql($node, "SELECT sweep.hold('0')");
survey('hot');
poll_ok($node, "SELECT basis NOT LIKE 'its indexes%' FROM sweep.worth WHERE relname = 'hot'", 'it begins anew');
vacuum_and_measure('hot', 'and is measured after the next vacuum');
sql($node, "SELECT sweep.hold('1 h')");
sql($node, 'DROP INDEX hot_extra');
scan('hot', 100);
counted();
is(worth('blks_per_scan IS NULL AND lost_blks IS NULL', 'hot'), 't', 'the same with one less');
sql($node, "SELECT sweep.hold('0')");
survey('hot');
poll_ok($node, "SELECT basis NOT LIKE 'its indexes%' FROM sweep.worth WHERE relname = 'hot'", '... it begins anew');
sql($node, 'DROP TABLE hot');
is(sql($node, "SELECT count(*) FROM sweep.worth WHERE relname = 'hot'"), 0, 'a table that is gone is not shown');

# ---- a table that is vacuumed too often

make_table('idle', 'autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 0, autovacuum_vacuum_insert_threshold = -1');
for (1 .. 2)
{
	my $run = sql($node, "SELECT max(run_id) FROM sweep.runs WHERE relname = 'idle'") || 0;
	# a session that changed rows tells of it after its vacuum, as of new garbage
	reported('UPDATE idle SET k = k + 1');
	sql($node, 'VACUUM idle');
	poll_ok($node, "SELECT basis LIKE 'being measured%' FROM sweep.worth WHERE relname = 'idle' AND last_vacuum >= (SELECT max(ended_at) FROM sweep.runs WHERE relname = 'idle' AND command = 'VACUUM' AND run_id > $run)",
		'it is vacuumed');
}
is(worth('advice', 'idle'), 'vacuum later: scale factor 0.2', 'a table that nobody reads is vacuumed for nothing');
is(sql($node, "SELECT fix FROM sweep.explain('idle') WHERE cause LIKE 'it is vacuumed more often%'"), 'ALTER TABLE public.idle RESET (autovacuum_vacuum_scale_factor);',
	'what to do');

# ---- who may read it

sql($node, 'CREATE ROLE watcher LOGIN IN ROLE pg_monitor; CREATE ROLE nobody_special LOGIN');
is(sql($node, 'SET ROLE watcher; SELECT count(*) >= 2 FROM sweep.worth'), 't', 'a monitoring role reads it');
my ($rc, $out, $err) = $node->psql('postgres', 'SET ROLE nobody_special; SELECT FROM sweep.worth');
like($err, qr/permission denied/, 'others do not');

# ---- off and on, and a restart

reload_with($node, 'sweep.mode' => 'off');
my $tries = 0;
my $runs;
do
{
	$runs = sql($node, 'SELECT max(run_id) FROM sweep.runs');
	sql($node, 'VACUUM orders');
} while (sql($node, 'SELECT max(run_id) FROM sweep.runs') != $runs && $tries++ < 100);
cmp_ok($tries, '<', 100, 'while the mode is off vacuums are not seen');
reload_with($node, 'sweep.mode' => 'observe');
poll_ok($node, "SELECT last_vacuum IS NULL AND lost_blks IS NULL FROM sweep.worth WHERE relname = 'orders'", 'so it all begins anew');

$holder->quit;
$node->restart;
survey('orders');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.worth WHERE relname = 'orders'", 'after a restart it is followed again');
is(worth('blks_per_scan_clean IS NULL AND lost_blks IS NULL AND advice IS NULL AND vacuum_blks > 500', 'orders'), 't',
	'it knows what a vacuum costs, from the ledger, and nothing else');
is(sql($node, 'SELECT count(blks_per_scan_after) FROM sweep.runs'), 0, 'of earlier runs it is not known any more');
vacuum_and_measure('orders', 'the next vacuum');

$node->stop;
done_testing();
