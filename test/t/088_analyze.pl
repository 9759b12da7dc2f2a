# Ordinary tables are analyzed as well, by autovacuum's own thresholds: after a vacuum of ours,
# which keeps autovacuum's ANALYZE away, and where autovacuum does not come. And a small table
# whose vacuums are short is vacuumed again before sweep.min_interval is over.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

my $node = sweep_node('analyze', conf => <<'END');
sweep.naptime = 100ms
sweep.analyze_scope = all
sweep.min_interval = -1
sweep.debug_clock_rate = 20
autovacuum_vacuum_cost_delay = 0
END
my $done = q{FROM sweep.runs WHERE outcome = 'done' AND started_by = 'sweep' AND};

# ---- after a vacuum

$node->safe_psql('postgres', <<'END');
CREATE TABLE busy (i int, t text);
INSERT INTO busy SELECT i, 'x' FROM generate_series(1, 5000) i;
VACUUM ANALYZE busy;
UPDATE busy SET t = 'y';
END
poll_ok($node, "SELECT count(*) >= 1 $done relname = 'busy' AND command = 'VACUUM'", 'a table is vacuumed');
poll_ok($node, "SELECT count(*) >= 1 $done relname = 'busy' AND command = 'ANALYZE' AND reason LIKE 'changed tuples % > 550'",
	'... and analyzed, because it is due for that as well');
is(sql($node, q{SELECT most_common_vals::text FROM pg_stats WHERE tablename = 'busy' AND attname = 't'}), '{y}', '... so its statistics are new');
is(sql($node, q{SELECT n_mod_since_analyze FROM pg_stat_all_tables WHERE relname = 'busy'}), 0, '... and autovacuum has nothing to do there');
my ($vacuums, $analyzes) = map { sql($node, "SELECT count(*) $done relname = 'busy' AND command = '$_'") } qw(VACUUM ANALYZE);
rounds($node, 20);
is(sql($node, "SELECT count(*) $done relname = 'busy' AND command = 'ANALYZE'"), $analyzes, '... and is not analyzed again and again');

# ---- where autovacuum does not come: changes that make no vacuum due

$node->safe_psql('postgres', <<'END');
CREATE TABLE grown (i int);
CREATE TABLE left_alone (i int) WITH (autovacuum_enabled = off);
ALTER TABLE grown SET (autovacuum_vacuum_insert_threshold = -1);
INSERT INTO grown SELECT generate_series(1, 3000);
INSERT INTO left_alone SELECT generate_series(1, 3000);
END
poll_ok($node, "SELECT count(*) = 1 $done relname = 'grown' AND command = 'ANALYZE'", 'autovacuum is off: a table that has changed is analyzed by a survey');
is(sql($node, "SELECT count(*) $done relname = 'left_alone'"), 0, 'not one for which autovacuum is disabled');

# ---- an ANALYZE that fails is not repeated at each vacuum

$node->safe_psql('postgres', <<'END');
CREATE FUNCTION fails(i int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT i';
CREATE TABLE failing (i int);
CREATE INDEX ON failing (fails(i));
INSERT INTO failing SELECT generate_series(1, 2000);
VACUUM ANALYZE failing;
CREATE OR REPLACE FUNCTION fails(i int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE 'not today'; END $$;
DELETE FROM failing WHERE i % 2 = 0;
END
my $failed = q{SELECT count(*) FROM sweep.runs WHERE outcome = 'failed' AND command = 'ANALYZE' AND relname = 'failing'};
poll_ok($node, "SELECT count(*) >= 1 $done relname = 'failing' AND command = 'VACUUM'", 'a table whose index fails is vacuumed');
poll_ok($node, "SELECT ($failed) = 1", '... its ANALYZE fails');
$node->safe_psql('postgres', 'DELETE FROM failing WHERE i % 4 = 1');
poll_ok($node, "SELECT count(*) >= 2 $done relname = 'failing' AND command = 'VACUUM'", '... and it is vacuumed again');
rounds($node, 5);
is(sql($node, $failed), 1, '... but not analyzed');

# ---- small and hot

restart_with($node, 'sweep.debug_clock_rate' => '1');
$node->safe_psql('postgres', 'CREATE TABLE queue (i int); INSERT INTO queue SELECT generate_series(1, 1000); VACUUM ANALYZE queue');
my $count = "SELECT count(*) $done relname = 'queue' AND command = 'VACUUM'";
for my $i (1 .. 3)
{
	$node->safe_psql('postgres', 'UPDATE queue SET i = i + 1');
	poll_ok($node, "SELECT ($count) >= $i", "a queue is vacuumed, time $i", timeout => 180);
}
# on a machine that is so slow that a vacuum takes long it may wait as long as any, or have waited already
poll_ok($node, q{SELECT d.not_before IS NULL OR d.not_before - d.last_at < interval '60s' OR r.ended_at - r.started_at > interval '300ms'
	FROM sweep.decisions d, LATERAL (SELECT * FROM sweep.runs r WHERE r.relname = 'queue' AND r.command = 'VACUUM' ORDER BY run_id DESC LIMIT 1) r
	WHERE d.relname = 'queue'}, 'it does not wait for sweep.min_interval');
sql($node, "SELECT sweep.set('queue', 'min_interval', '60s')");
$node->safe_psql('postgres', 'UPDATE queue SET i = i + 1');
poll_ok($node, "SELECT ($count) >= 4", 'once more', timeout => 180);
my $then = sql($node, $count);
$node->safe_psql('postgres', 'UPDATE queue SET i = i + 1');
rounds($node, 30);
is(sql($node, $count), $then, 'a value of its own holds');

# ---- tables that no statistics know of, as after pg_upgrade: too few rows for autovacuum

$node->safe_psql('postgres', <<'END');
CREATE TABLE empty (i int);
CREATE TABLE unknown_read AS SELECT i FROM generate_series(1, 40) i;
CREATE TABLE unknown_unread AS SELECT i FROM generate_series(1, 40) i;
CREATE TABLE unknown_own WITH (autovacuum_vacuum_threshold = 30) AS SELECT i FROM generate_series(1, 20) i;
CHECKPOINT;
END
rounds($node, 20);
is(sql($node, q{SELECT count(*) FROM sweep.runs WHERE relname LIKE 'unknown%'}), 0, 'a new table with few rows waits for more, as for autovacuum');
# what the statistics know is lost with it; a survey's distance to the next grows with what it takes
$node->safe_psql('postgres', 'ALTER SYSTEM SET sweep.debug_clock_rate = 100');
$node->stop('immediate');
$node->start;
$node->safe_psql('postgres', 'SELECT count(*) FROM unknown_read');
poll_ok($node, "SELECT count(*) = 1 $done relname = '$_' AND command = 'ANALYZE' AND reason = 'no statistics'", "$_: rows that nobody has counted are analyzed")
	for qw(unknown_read unknown_unread unknown_own);
is(sql($node, q{SELECT count(*) FROM pg_stats WHERE tablename LIKE 'unknown%'}), 3, '... and have statistics');
is(sql($node, q{SELECT count(*) FROM sweep.runs WHERE relname = 'empty'}), 0, 'a table without rows is not');

$node->stop;
done_testing();
