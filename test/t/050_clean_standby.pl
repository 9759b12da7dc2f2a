# A standby replays clean-ups. Every page is compared with the primary's
# (wal_consistency_checking), queries that are open on it see their rows, and it is sound when
# it is promoted.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

my $rounds = $ENV{PG_SWEEP_STANDBY_ROUNDS} // 4;

my $primary = sweep_node('clean_primary', init => [ allows_streaming => 1 ], conf => <<'END');
sweep.cleaner = on
sweep.min_interval = 1h
log_autovacuum_min_duration = 0
autovacuum_vacuum_cost_delay = 0
wal_consistency_checking = all
END
need_modules($primary, 'amcheck');
sql($primary, <<'END');
CREATE TABLE t (id int, k int, s text) WITH (autovacuum_enabled = off, fillfactor = 70);
INSERT INTO t SELECT i, i % 100, md5(i::text) FROM generate_series(1, 20000) i;
CREATE INDEX t_id ON t (id);
CREATE INDEX t_k ON t (k);
CREATE INDEX t_s ON t (s) INCLUDE (k);
VACUUM t;
END
$primary->backup('base');

my $standby = PostgreSQL::Test::Cluster->new('clean_standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
# queries are never cancelled, replay waits for them
$standby->append_conf('postgresql.conf', "max_standby_streaming_delay = -1\nhot_standby_feedback = on\nwal_receiver_status_interval = 1s\n");
$standby->start;
$primary->wait_for_catchup($standby);

for my $round (1 .. $rounds)
{
	my $reader = session($standby);

	my $xid = sql($primary, <<"END");
BEGIN;
DELETE FROM t WHERE id % 50 = $round;
UPDATE t SET k = k + 1 WHERE id % 50 = $round + 10;
INSERT INTO t SELECT 20000 * $round + i, i % 100, md5(i::text) FROM generate_series(1, 1000) i;
SELECT pg_current_xact_id();
COMMIT;
END
	$primary->wait_for_catchup($standby);
	# An index-only scan in the middle of a leaf. It ends before the test waits for replay. Its
	# snapshot is newer than the deletes, so the rows can be removed.
	$reader->query_safe(<<'END');
SET enable_seqscan = off;
SET enable_bitmapscan = off;
BEGIN ISOLATION LEVEL REPEATABLE READ;
DECLARE c CURSOR FOR SELECT id FROM t WHERE id > 0 ORDER BY id;
FETCH 1000 FROM c;
END
	my $expected = $reader->query('SELECT count(*) FROM t');

	# The standby says only once a second which transactions it still needs.
	poll_ok($primary, "SELECT count(*) = 1 FROM pg_stat_replication WHERE backend_xmin::text::bigint > $xid",
		"round $round: the standby no longer needs the rows");

	my $before = sql($primary, "SELECT count(*) FROM sweep.runs WHERE command = 'CLEAN'");

	sql($primary, "SELECT sweep.clean('t', by_row => true)");
	poll_until($primary, "SELECT count(*) > $before FROM sweep.runs WHERE command = 'CLEAN'") or die 'no clean-up';
	poll_ok($primary, "SELECT count(*) = 0 FROM sweep.queue WHERE request_id IS NOT NULL", "round $round: the table is cleaned");
	sql($primary, 'VACUUM t') if $round == 2;

	my $left = () = $reader->query('FETCH ALL FROM c') =~ /^\d+$/mg;
	is($left + 1000, $expected, "round $round: an open scan on the standby has its rows");
	$reader->query_safe('COMMIT');
	$reader->quit;
	$primary->wait_for_catchup($standby);
	my $rows = 'SELECT count(*), sum(id), sum(hashtext(s)::bigint) FROM t';
	my $by_index = "SET enable_seqscan = off; SET enable_bitmapscan = off; $rows WHERE id > 0";
	is(sql($standby, $rows), sql($primary, $rows), "round $round: the standby has the primary's rows");
	is(sql($standby, $by_index), sql($primary, $rows), "round $round: by an index as well");
}

my $log = slurp_file($primary->logfile);
my ($entries, $recycled) = (0, 0);
while ($log =~ /automatic clean-up of table.*?index entries: (\d+) removed.*?identifiers: (\d+) recycled/sg)
{
	$entries += $1;
	$recycled += $2;
}
cmp_ok($entries, '>', 1000, "entries were removed ($entries)");

$standby->promote;
poll_until($standby, 'SELECT NOT pg_is_in_recovery()');
my ($rc, undef, $said) = $standby->psql('postgres',
	"SELECT bt_index_parent_check(indexrelid, true, true) FROM pg_index WHERE indrelid = 't'::regclass");
is($rc, 0, 'promoted: no index is corrupt') or diag($said);
is(sql($standby, "SELECT count(*) FROM verify_heapam('t')"), 0, 'promoted: nor is the table');
unlike(slurp_file($standby->logfile), qr/inconsistent page found/, 'no page differed from the primary\'s');

$standby->stop;
$primary->stop;
done_testing();
