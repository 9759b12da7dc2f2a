# An uncommitted GRANT holds up the last step of a vacuum, which updates the table's row of
# pg_class in place. The vacuum waits for it, however long that takes, because its work is done.
# It is said who has to end. Users who want the table do not wait for that vacuum.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

my $node = sweep_node('row', conf => <<'END2');
deadlock_timeout = 100s
sweep.naptime = 100ms
sweep.max_workers = 1
autovacuum_vacuum_cost_delay = 0
END2

sub runs_of
{
	my ($table) = @_;

	return sql($node, "SELECT count(*) || '|' || coalesce(string_agg(outcome, ','), '') FROM sweep.runs WHERE relname = '$table' AND command = 'VACUUM'");
}

# ---- a vacuum

sql($node, 'CREATE ROLE reader');
$node->safe_psql('postgres', <<'END2');
BEGIN;
CREATE TABLE granted (i int) WITH (autovacuum_enabled = off);
INSERT INTO granted SELECT generate_series(1, 10000);
COMMIT;
DELETE FROM granted;
END2
my $granter = session($node);
$granter->query_safe('BEGIN; GRANT SELECT ON granted TO reader');
my $granter_pid = $granter->query_safe('SELECT pg_backend_pid()');
sql($node, "SELECT sweep.vacuum('granted')");
poll_ok($node, "SELECT count(*) = 1 FROM sweep.progress WHERE relname = 'granted' AND waits_for = 'pid $granter_pid'", 'sweep.progress says whom the vacuum waits for');
my $worker = sql($node, "SELECT pid FROM sweep.progress WHERE relname = 'granted'");

is(sql($node, "SELECT verdict || '|' || cause || '|' || fix FROM sweep.explain('granted') WHERE rank = 1"),
	"being vacuumed now|its vacuum waits for pid $granter_pid, whose transaction has to end first|SELECT pg_catalog.pg_terminate_backend($granter_pid);",
	'sweep.explain() says it, and who has to end');
is(sql($node, "SELECT state || '|' || waiting_for FROM sweep.queue WHERE relname = 'granted'"),
	"running|lock: its vacuum waits for pid $granter_pid", 'sweep.queue says it of a vacuum that was asked for');
garbage($node, 'postgres', 'behind');
poll_ok($node, "SELECT waiting_for FROM sweep.queue WHERE relname = 'behind'", 'and whom the table waits for that comes next',
	expected => "worker slot: all 1 busy with public.granted (waits for pid $granter_pid)");

# longer than lock_timeout anywhere else, and than the governor waits for a worker that waits
poll_ok($node, "SELECT clock_timestamp() - waitstart > interval '12 s' FROM pg_locks WHERE pid = $worker AND NOT granted",
	'the vacuum waits as long as it takes');
is(runs_of('granted'), '0|', 'and was not begun anew');
$granter->query_safe('COMMIT');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'granted' AND outcome = 'done' AND pid = $worker AND tuples_removed = 10000",
	'it is done when that transaction has ended');
is(runs_of('granted'), '1|done', 'once');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'behind' AND outcome = 'done'", 'the next one is vacuumed, too');

# ---- it lets users through while it waits

$node->safe_psql('postgres', 'INSERT INTO granted SELECT generate_series(1, 10000)');
$granter->query_safe('BEGIN; GRANT INSERT ON granted TO reader');
sql($node, "SELECT sweep.vacuum('granted')");
poll_ok($node, "SELECT count(*) = 1 FROM sweep.progress WHERE relname = 'granted' AND waits_for IS NOT NULL", 'another one waits');
my ($rc, undef, $err) = $node->psql('postgres', "SET lock_timeout = '2s'; BEGIN; LOCK TABLE granted IN SHARE MODE; COMMIT");
is($rc, 0, 'who wants the table gets it') or diag($err);
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'granted' AND outcome = 'cancelled' AND reason ~ 'gave way to pid'", 'the vacuum gave way');

# ---- and leaves when it is told to

$node->safe_psql('postgres', 'INSERT INTO granted SELECT generate_series(1, 10000)');
sql($node, "SELECT sweep.vacuum('granted')");
poll_ok($node, "SELECT count(*) = 1 FROM sweep.progress WHERE relname = 'granted' AND waits_for IS NOT NULL", 'a third one waits');
reload_with($node, 'sweep.mode' => 'off');
poll_ok($node, "SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'sweep worker'", 'it ends with sweep.mode = off');
$granter->query_safe('COMMIT');
reload_with($node, 'sweep.mode' => 'act');

# ---- an ANALYZE does not begin what it could not end: it holds a snapshot and locks

# where a survey takes much there are few
$granter->quit;
restart_with($node, 'sweep.debug_clock_rate' => 100);
$granter = session($node);
my $analyzes = q{FROM sweep.runs WHERE relname = 'parted' AND command = 'ANALYZE' AND started_by = 'sweep'};
$node->safe_psql('postgres', <<'END2');
BEGIN;
CREATE TABLE parted (i int) PARTITION BY RANGE (i);
CREATE TABLE leaf PARTITION OF parted FOR VALUES FROM (0) TO (1000000);
COMMIT;
END2
$granter->query_safe('BEGIN; GRANT SELECT ON parted TO reader');
$node->safe_psql('postgres', 'INSERT INTO parted SELECT generate_series(1, 20000); SELECT pg_stat_force_next_flush()');
poll_ok($node, "SELECT count(*) > 0 $analyzes AND reason LIKE '%; lock not available'", 'it is put off before it has begun');
is(sql($node, "SELECT count(*) $analyzes AND (outcome <> 'skipped' OR blks_hit + blks_read > 0)"), '0', 'and has read nothing');
$granter->query_safe('COMMIT');
poll_ok($node, "SELECT count(*) = 1 $analyzes AND outcome = 'done'", 'it comes when the transaction has ended');

$granter->quit;
$node->stop;
done_testing();
