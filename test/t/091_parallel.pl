# Large indexes are vacuumed with parallel workers, while processors and background workers are
# free. They keep to the limits and give way as their leader does. Where they fail, vacuums go on
# without them.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use File::Path qw(make_path);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

# a vacuum by itself takes one
plan skip_all => 'NOT TESTED: there is one processor' if qx(nproc) < 2;

my $node = sweep_node('parallel', start => 0, conf => <<'END');
deadlock_timeout = 100s
max_worker_processes = 16
min_parallel_index_scan_size = 0
sweep.naptime = 100ms
sweep.max_workers = 1
sweep.adaptive = off
autovacuum_vacuum_cost_delay = 0
sweep.write_limit = 3
sweep.min_interval = 0
END

# the processors are idle, whatever the machine does
my $root = $node->basedir . '/kernel';
my $group = "$root/sys/fs/cgroup/pod";
make_path("$root/proc/self", "$group/postgres");

sub load_is { return kernel_says("$root/proc/loadavg", "$_[0] 0.00 0.00 1/1 1") }

load_is('0.00');
$node->append_conf('postgresql.conf', "sweep.debug_sensor_root = '$root'");
$node->start;
sql($node, 'CREATE EXTENSION IF NOT EXISTS pg_sweep');

# A table whose indexes are large, as far as pg_class knows.
sub make_table
{
	my ($table, $rows) = @_;

	sql($node, <<"END");
CREATE TABLE $table (a int, b int, c int) WITH (autovacuum_enabled = off);
INSERT INTO $table SELECT i, i, i FROM generate_series(1, $rows) i;
CREATE INDEX ON $table (a); CREATE INDEX ON $table (b); CREATE INDEX ON $table (c);
VACUUM (ANALYZE, FREEZE) $table;
END
	return;
}

sub dies_in
{
	my ($table) = @_;

	sql($node, <<"END");
ALTER TABLE $table SET (autovacuum_enabled = on);
BEGIN;
UPDATE pg_class SET relpages = 10000 WHERE oid IN (SELECT indexrelid FROM pg_index WHERE indrelid = '$table'::regclass);
DELETE FROM $table WHERE a % 3 = 0;
UPDATE $table SET a = a WHERE a % 3 = 1;
CHECKPOINT;
COMMIT;
SELECT pg_stat_force_next_flush();
END
	return;
}

my $workers = q{SELECT count(*) > 0 FROM sweep.progress l JOIN sweep.progress w ON w.leader_pid = l.pid WHERE l.relname = '%s' AND l.started_by = 'sweep'};
my $done = q{SELECT count(*) = %d FROM sweep.runs WHERE relname = '%s' AND command = 'VACUUM' AND started_by = 'sweep' AND outcome = 'done'};

make_table($_, 200000) for qw(large wanted);
make_table($_, 20000) for qw(busy quota foreign_am off no_memory);

# ---- they come, are measured, and keep to the limit

dies_in('large');
poll_ok($node, sprintf($workers, 'large'), 'a table with large indexes has parallel workers');
ok($node->poll_query_until('postgres', sprintf($done, 1, 'large')), 'and is vacuumed');
my ($dirtied, $mb_s) = split /\|/, sql($node, <<"END");
SELECT blks_dirtied, blks_dirtied / 128.0 / extract(epoch FROM ended_at - started_at)
FROM sweep.runs WHERE relname = 'large' AND command = 'VACUUM' AND started_by = 'sweep'
END
cmp_ok($dirtied, '>', 700, 'what its workers did counts');
cmp_ok($mb_s, '<', 4.5, "together they keep the limit of 3 MB/s ($mb_s)");
is(sql($node, 'SET enable_seqscan = off; SET enable_bitmapscan = off; SELECT count(*) FROM large WHERE b > 0'), '133334', 'no index entry is missing');

# ---- they give way with it

dies_in('wanted');
poll_ok($node, sprintf($workers, 'wanted'), 'another one is');
my ($rc, $out, $err) = $node->psql('postgres', "SET lock_timeout = '1s'; ALTER TABLE wanted ADD d int");
is($rc, 0, 'who wants the table has it') or diag($err);
poll_ok($node, "SELECT count(*) > 0 FROM sweep.runs WHERE relname = 'wanted' AND outcome = 'cancelled' AND reason ~ 'gave way'", 'which is why');
poll_ok($node, "SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'parallel worker'", 'no worker is left');
sql($node, 'DROP TABLE wanted');

# ---- a vacuum's workers are no query's

is(sql($node, "SELECT count(*) FROM sweep.queue WHERE waiting_for ~ 'background worker'"), '0', 'nobody is short of background workers because of them');

# ---- not while the processors are busy, for an index of an access method that is not the server's,
# or where parallel vacuums have failed

sub has_none
{
	my ($table, $name) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my $at = log_size($node);

	dies_in($table);
	ok($node->poll_query_until('postgres', sprintf($done, 1, $table)), "$name: it is vacuumed");
	unlike(log_since($node, $at), qr/parallel worker for PID/, "$name: no parallel worker began");
	return;
}

reload_with($node, log_min_messages => 'debug1', 'sweep.write_limit' => 0);
load_is('64.00');
has_none('busy', 'the processors are busy');

# from 19 on autovacuum has some where that is set, and so do we
SKIP:
{
	skip 'autovacuum_parallel_workers is from 19 on', 2 if major($node) < 19;
	make_table('told', 20000);
	sql($node, 'ALTER TABLE told SET (autovacuum_parallel_workers = 1)');
	my $at = log_size($node);
	dies_in('told');
	ok($node->poll_query_until('postgres', sprintf($done, 1, 'told')), 'autovacuum_parallel_workers: it is vacuumed');
	like(log_since($node, $at), qr/parallel worker for PID/, 'autovacuum_parallel_workers: with as many');
	# what is counted later may make it due once more
	sql($node, 'DROP TABLE told');
}
load_is('0.00');

# as in a container: its own group has no limit, one above it has
kernel_says("$root/proc/self/cgroup", '0::/pod/postgres');
kernel_says("$group/postgres/cpu.max", 'max 100000');
kernel_says("$group/cpu.max", '150000 100000');
has_none('quota', 'a quota of one processor and a half');
kernel_says("$group/cpu.max", 'max 100000');

sql($node, <<'END');
CREATE ACCESS METHOD theirs TYPE INDEX HANDLER gisthandler;
CREATE OPERATOR CLASS theirs_ops DEFAULT FOR TYPE box USING theirs AS OPERATOR 3 &&,
	FUNCTION 1 gist_box_consistent(internal, box, smallint, oid, internal), FUNCTION 2 gist_box_union(internal, internal),
	FUNCTION 5 gist_box_penalty(internal, internal, internal), FUNCTION 6 gist_box_picksplit(internal, internal),
	FUNCTION 7 gist_box_same(box, box, internal);
CREATE INDEX ON foreign_am USING theirs (box(point(c, c), point(c, c)));
END
has_none('foreign_am', 'an access method of somebody');

reload_with($node, max_parallel_maintenance_workers => 0);
has_none('off', 'max_parallel_maintenance_workers = 0');
reload_with($node, max_parallel_maintenance_workers => 2, maintenance_work_mem => '1TB');
has_none('no_memory', 'too little shared memory');

# ---- without them where they fail

$node->append_conf('postgresql.conf', <<'END');
maintenance_work_mem = 64MB
dynamic_shared_memory_type = mmap
sweep.debug_clock_rate = 120
END
$node->restart;
make_table('refused', 20000);
my $segments = $node->data_dir . '/pg_dynshmem';
chmod 0500, $segments or die "$segments: $!";
my $at = log_size($node);
dies_in('refused');
ok($node->poll_query_until('postgres', sprintf($done, 1, 'refused')), 'they fail: the table is vacuumed in the end');
like(log_since($node, $at), qr/ERROR:  could not .*pg_dynshmem.*pg_sweep vacuums indexes without parallel workers until the server is restarted/s,
	'... without them, which is said');
is(sql($node, "SELECT count(*) FROM sweep.runs WHERE relname = 'refused' AND outcome = 'failed'"), '1', '... after one try');
chmod 0700, $segments or die "$segments: $!";

$node->stop;
done_testing();
