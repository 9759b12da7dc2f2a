# Partitioned tables get statistics of their own.
#
# Autovacuum analyzes partitions only. A worker analyzes the tables above them, at every
# level, when enough has changed in the partitions. It does not analyze the partitions again,
# does not repeat itself, and does not make anybody wait for a partition that is locked.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

# min_interval is 3 s. A locked table is tried again after 0.5 s, and each further time
# after twice as long. There is one worker, so that what it did last is over when the next
# visit begins.
my $node = sweep_node('partitioned', conf => <<'END');
sweep.debug_clock_rate = 20
sweep.max_workers = 1
END
# 19 logs analyzes by a setting of their own
reload_with($node, (major($node) >= 19 ? 'log_autoanalyze_min_duration' : 'log_autovacuum_min_duration') => '0');

# Waits for two visits that began after this, both with a survey, because a worker looks at
# partitioned tables only then. A table that was made due after the first one's vacuum has
# been vacuumed.
my $canaries = 0;

sub two_visits
{
	my ($name, $dbname) = @_;

	$dbname //= 'postgres';
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	for (1, 2)
	{
		my $canary = 'canary' . ++$canaries;
		my $surveys = sql($node, 'SELECT surveys FROM sweep.status');

		garbage($node, $dbname, $canary);
		# whoever changes a setting asks for a survey, and elsewhere one comes in its time
		sql($node, "SELECT sweep.set('$canary', 'min_interval', '3s')", $dbname) if $dbname eq 'postgres';
		poll_ok($node,
			"SELECT count(*) >= 1 AND (SELECT surveys > $surveys FROM sweep.status) FROM sweep.runs WHERE relname = '$canary' AND datname = '$dbname'",
			"$name: a worker was there");
	}
	return;
}

sub analyzes
{
	my ($table, $extra) = @_;

	return sql($node,
		"SELECT count(*) FROM sweep.runs WHERE command = 'ANALYZE' AND relname = '$table'"
		  . ($extra ? " AND $extra" : ''));
}

sub last_reason
{
	my ($table) = @_;

	return sql($node,
		"SELECT reason FROM sweep.runs WHERE command = 'ANALYZE' AND relname = '$table' ORDER BY run_id DESC LIMIT 1");
}

# One statement, whose statistics are there when it returns. No worker comes meanwhile: it could
# see rows that are not counted yet, and analyze the table once for them and once for the counters.
sub change
{
	my ($query) = @_;

	sql($node, 'SELECT sweep.hold()');
	poll_ok($node, "SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'sweep worker'",
		'no worker is there');
	sql($node, "$query;\nSELECT pg_stat_force_next_flush()");
	sql($node, "SELECT sweep.hold('0')");
	return;
}

# ---- 20 partitions on two levels, 100 rows each, and no leaf is over a threshold of its own

sql($node, <<'END');
CREATE TABLE top (id int, word text) PARTITION BY RANGE (id);
CREATE TABLE half1 PARTITION OF top FOR VALUES FROM (0) TO (1000) PARTITION BY RANGE (id);
CREATE TABLE half2 PARTITION OF top FOR VALUES FROM (1000) TO (2000) PARTITION BY RANGE (id);
DO $$
BEGIN
	FOR i IN 0..19 LOOP
		EXECUTE format('CREATE TABLE leaf%s PARTITION OF half%s FOR VALUES FROM (%s) TO (%s)',
			i, CASE WHEN i < 10 THEN 1 ELSE 2 END, i * 100, (i + 1) * 100);
	END LOOP;
END $$;
CREATE TABLE empty_top (id int) PARTITION BY LIST (id);
CREATE TABLE empty_leaf PARTITION OF empty_top DEFAULT;
END
my $offset = log_size($node);
change('INSERT INTO top SELECT i, i % 7 FROM generate_series(0, 1999) i');
two_visits('new rows');

poll_ok($node, <<'END', 'all partitioned tables have statistics of their own');
SELECT array_agg(tablename || ' ' || n_distinct ORDER BY tablename)::text = '{"half1 7","half2 7","top 7"}'
FROM pg_stats WHERE inherited AND attname = 'word' AND tablename IN ('top', 'half1', 'half2')
END
is(sql($node, "SELECT count(*) FROM pg_stats WHERE tablename LIKE 'leaf%'"), '0', 'their leaves have not been analyzed');
is(sql($node, "SELECT sum(analyze_count + autoanalyze_count) FROM pg_stat_user_tables WHERE relname LIKE 'leaf%'"),
	'0', '... says the server, too');
is( sql($node, <<'END'),
SELECT relname, schemaname, started_by, outcome, reason, tuples_removed IS NULL, count(*)
FROM sweep.runs WHERE command = 'ANALYZE' GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1
END
	join("\n", map { "$_|public|sweep|done|partitioned table without statistics of its own|t|1" } qw(half1 half2 top)),
	'each was analyzed once, and says why');
is(sql($node, "SELECT count(*) FROM sweep.decisions WHERE decision = 'analyzed'"), '3', 'sweep.decisions knows them');
is(analyzes('empty_top'), '0', 'one without any row was not');
log_poll_ok($node,
	qr/LOG:  automatic analyze of table "postgres\.public\.top": partitioned table without statistics of its own; elapsed: \d/,
	$offset, 'it is logged');

# ---- not again without changes

sub no_decision_holds_it
{
	my ($table) = @_;

	return poll_ok($node, "SELECT count(*) = 0 FROM sweep.decisions WHERE relname = '$table' AND not_before > now()",
		"$table: the shortest interval is over");
}

no_decision_holds_it('top');
two_visits('no changes');
is(analyzes('top'), '1', 'not again without changes, though no leaf was analyzed');
change('INSERT INTO top SELECT 5, 0 FROM generate_series(1, 50)');
two_visits('a few changes');
is(analyzes('top'), '1', 'nor for a few');

$node->restart;
two_visits('after a restart');
is(analyzes('top'), '1', 'nor because of a restart');

# ---- again after changes: what was counted before does not count

change('INSERT INTO top SELECT 1950, 0 FROM generate_series(1, 220)');
two_visits('changes');
is(last_reason('top'), 'changes in partitions 270 > 50', 'again when changes have come to the threshold');
is(last_reason('half2'), 'changes in partitions 220 > 50', '... at each level');
is(analyzes('half1'), '1', '... but not where there were none');

# ---- a leaf that is analyzed has had its changes: they are not lost, nor counted twice

no_decision_holds_it('top');
sql($node, 'ANALYZE leaf0');
two_visits('a leaf was analyzed');
is(analyzes('top'), '2', 'the ANALYZE of a leaf, right after, is not a change');
# a worker that comes in between would see changes in leaves that are just being analyzed
change('ANALYZE top');
two_visits('all were analyzed');
is(analyzes('top', "started_by = 'sweep'"), '2', 'nor is that of the whole tree by a user');
is(sql($node, "SELECT count(*) FROM pg_stat_user_tables WHERE relname LIKE 'leaf%' AND analyze_count > 0"),
	'20', 'that one has analyzed the leaves');
change('INSERT INTO top SELECT 1950, 1 FROM generate_series(1, 277)');
two_visits('just as many as the threshold');
is(analyzes('top', "started_by = 'sweep'"), '2', 'the threshold has to be exceeded');
change('INSERT INTO top SELECT 1950, 1');
two_visits('and one more');
is(last_reason('top'), 'changes in partitions 278 > 277',
	'changes since are, and the threshold counts the rows of all leaves');

# ---- a locked partition: nobody waits

no_decision_holds_it('top');
no_decision_holds_it('half2');
my $holder = session($node);
$holder->query_safe('BEGIN');
$holder->query_safe('LOCK TABLE leaf3 IN ACCESS EXCLUSIVE MODE');
change('INSERT INTO top SELECT 1950, 1 FROM generate_series(1, 1000)');
garbage($node, 'postgres', 'locked_canary');
poll_ok($node, "SELECT count(*) >= 1 FROM sweep.runs WHERE relname = 'top' AND outcome = 'skipped'",
	'with a partition locked it is skipped');
# This was the first try. When it is tried again the leaf has been vacuumed, and has more rows.
is(sql($node, "SELECT reason FROM sweep.runs WHERE relname = 'top' AND outcome = 'skipped' ORDER BY run_id LIMIT 1"),
	'changes in partitions 1000 > 277; lock not available', '... and says so');
poll_ok($node, "SELECT decision = 'locked' FROM sweep.decisions WHERE relname = 'top'", '... also in sweep.decisions');
is(sql($node, "SELECT max(ended_at - started_at) < interval '1 s' FROM sweep.runs WHERE relname = 'top' AND outcome = 'skipped'"),
	't', '... without waiting for it');
poll_ok($node,
	"SELECT count(*) = 1 FROM sweep.runs WHERE command = 'ANALYZE' AND relname = 'half2' AND reason = 'changes in partitions 1001 > 172' AND outcome = 'done'",
	'the other half was analyzed meanwhile');
my $ddl = seconds(sub { sql($node, "ALTER TABLE leaf12 SET (fillfactor = 90); TRUNCATE leaf13; ALTER TABLE half2 ADD CHECK (id > 0)") });
cmp_ok($ddl, '<', within(5), "others can change the other partitions ($ddl s)");

$holder->query_safe('COMMIT');
$holder->quit;
no_decision_holds_it('top');
two_visits('the lock is gone');
poll_ok($node, <<'END', 'when it is gone the table is analyzed');
SELECT count(*) = 1 FROM sweep.runs
WHERE relname = 'top' AND outcome = 'done' AND reason LIKE 'changes in partitions % > %' AND run_id >
	(SELECT max(run_id) FROM sweep.runs WHERE relname = 'top' AND outcome = 'skipped')
END

# ---- what is left to the user, and what is switched off

sql($node, <<'END');
CREATE FOREIGN DATA WRAPPER nothing;
CREATE SERVER nowhere FOREIGN DATA WRAPPER nothing;
CREATE TABLE far (id int) PARTITION BY RANGE (id);
CREATE TABLE far_here PARTITION OF far FOR VALUES FROM (0) TO (1000);
CREATE FOREIGN TABLE far_away PARTITION OF far FOR VALUES FROM (1000) TO (2000) SERVER nowhere;
END
change('INSERT INTO far SELECT i FROM generate_series(0, 999) i');
two_visits('a foreign partition');
is(analyzes('far'), '0', 'a table with a foreign partition is left alone');
is(sql($node, "SELECT decision, reason LIKE 'a partition is a foreign table%' FROM sweep.decisions WHERE relname = 'far'"),
	'not analyzed|t', '... and sweep.decisions says so');

# Locks on so many partitions at once would leave users fewer, with the default size of the lock table, too.
for my $of ([ 256, '1' ], [ 257, '0' ])
{
	my ($n, $analyzed) = @$of;

	sql($node, "CREATE TABLE wide$n (id int) PARTITION BY RANGE (id)");
	sql($node, "DO 'BEGIN FOR i IN 1 .. $n LOOP EXECUTE format(\$f\$CREATE TABLE wide${n}_%s PARTITION OF wide$n FOR VALUES FROM (%s) TO (%s)\$f\$, i, i, i + 1); END LOOP; END'");
	change("INSERT INTO wide$n SELECT 1 + i % $n FROM generate_series(1, 1000) i");
	two_visits("$n partitions");
	is(analyzes("wide$n"), $analyzed, $analyzed ? "a table with $n partitions is analyzed" : "one with $n is left alone");
}
is(sql($node, "SELECT decision, reason FROM sweep.decisions WHERE relname = 'wide257'"),
	'not analyzed|a partition is a foreign table, or there are too many to lock at once: ANALYZE it yourself', '... and sweep.decisions says so');

reload_with($node, 'sweep.analyze_scope' => 'off');
sql($node, "CREATE TABLE switched (id int) PARTITION BY RANGE (id); CREATE TABLE switched1 PARTITION OF switched DEFAULT");
change('INSERT INTO switched SELECT i FROM generate_series(1, 500) i');
two_visits('off');
is(analyzes('switched'), '0', 'sweep.analyze_scope = off: none is analyzed');

reload_with($node, 'sweep.analyze_scope' => 'partitioned', 'sweep.mode' => 'observe');
garbage($node, 'postgres', 'observed');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.decisions WHERE relname = 'switched' AND decision = 'would analyze' AND reason = 'sweep.mode is observe'",
	'sweep.mode = observe: it would be analyzed');
is(analyzes('switched'), '0', '... but is not');
reload_with($node, 'sweep.mode' => 'act');
two_visits('act');
is(analyzes('switched', "reason = 'partitioned table without statistics of its own'"), '1', 'sweep.mode = act: now it is');

# ---- gone

sql($node, 'DROP TABLE switched');
two_visits('dropped');
is(sql($node, "SELECT count(*) FROM sweep.decisions WHERE relname = 'switched'"), '0', 'a dropped one is forgotten');

$node->stop;
done_testing();
