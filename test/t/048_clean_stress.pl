# Cleaning beside everything that users and DBAs do at the same time. At the end each index
# has exactly the rows that its table has.
#
# PG_SWEEP_STRESS_S is how long (20 s). An hour shows more: it removes millions of entries.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;
use Time::HiRes qw(time usleep);

my $seconds = $ENV{PG_SWEEP_STRESS_S} // 20;
my $rows = 40000;

my $node = sweep_node('clean_stress', conf => <<'END');
sweep.cleaner = on
log_autovacuum_min_duration = 0
sweep.min_interval = 1h
sweep.cleaner_naptime = 1s
sweep.cleaner_scan_rate = 1000000
max_prepared_transactions = 20
autovacuum_vacuum_cost_delay = 0
# nothing is due, so that garbage comes slowly
autovacuum_vacuum_threshold = 1000000000
autovacuum_vacuum_insert_threshold = -1
shared_buffers = 256MB
END
need_modules($node, 'amcheck');
# Its pages are nearly empty, so that it is large enough for the cleaner to come by itself.
sql($node, <<"END");
CREATE TABLE t (id int, k int, s text, f float8, n int, pad char(80) DEFAULT '') WITH (fillfactor = 10);
INSERT INTO t SELECT i, i % 500, md5(i::text), random(), 0 FROM generate_series(1, $rows) i;
CREATE UNIQUE INDEX t_id ON t (id);
CREATE INDEX t_k ON t (k);
CREATE INDEX t_s ON t (s) INCLUDE (f);
CREATE INDEX t_md5 ON t (md5(s), k DESC NULLS FIRST);
CREATE INDEX t_partial ON t (f) WHERE k < 250;
CREATE INDEX t_brin ON t USING brin (k);
VACUUM t;
END

# What users do. Each takes one row by its id, so they meet.
my %scripts = (
	'update@4' => "UPDATE t SET k = (k + 7) % 500, f = random() WHERE id = :id;\n",
	'hot@4' => "UPDATE t SET n = n + 1 WHERE id = :id;\n",
	'replace@4' => "BEGIN;\nDELETE FROM t WHERE id = :id;\nINSERT INTO t VALUES (:id, :id % 500, md5((:id * 3)::text), random(), 0) ON CONFLICT DO NOTHING;\nCOMMIT;\n",
	'delete@2' => "DELETE FROM t WHERE id = :id;\n",
	'insert@2' => "INSERT INTO t VALUES (:id, :id % 500, md5(:id::text), random(), 0) ON CONFLICT DO NOTHING;\n",
	'rollback@1' => "BEGIN;\nUPDATE t SET k = -1, s = 'no' WHERE id = :id;\nROLLBACK;\n",
	'savepoint@1' => "BEGIN;\nUPDATE t SET k = 1 WHERE id = :id;\nSAVEPOINT a;\nDELETE FROM t WHERE id = :id;\nROLLBACK TO a;\nCOMMIT;\n",
	'two_phase@1' => "BEGIN;\nUPDATE t SET k = 2 WHERE id = :id;\nPREPARE TRANSACTION 'p:client_id';\nCOMMIT PREPARED 'p:client_id';\n",
	'serializable@1' => "BEGIN ISOLATION LEVEL SERIALIZABLE;\nSELECT count(*) FROM t WHERE k = :id % 500;\nUPDATE t SET n = n + 1 WHERE id = :id;\nCOMMIT;\n",
	'read@2' => "SELECT s FROM t WHERE k = :id % 500 ORDER BY id LIMIT 5;\n",
);
my $dir = PostgreSQL::Test::Utils::tempdir('scripts');
my @files;
for my $name (sort keys %scripts)
{
	my ($file, $weight) = split /@/, $name;

	append_to_file("$dir/$file.sql", "\\set id random(1, $rows)\n$scripts{$name}");
	push @files, '-f', "$dir/$file.sql\@$weight";
}
# deadlocks and serialization failures end a client's transaction, not the client
my ($out, $err) = ('', '');
my $load = IPC::Run::start(
	['pgbench', '-n', '-h', $node->host, '-p', $node->port, '-c', '6', '-j', '2', '-T', $seconds,
		'-M', 'simple', '--max-tries', '10', @files, 'postgres'],
	'>', \$out, '2>', \$err);

# Every row of the table by each of its indexes, in one snapshot.
sub check_all
{
	my ($when) = @_;
	my $by_index = '';
	my %condition = (t_id => 'id > 0', t_k => 'k > -10', t_s => "s >= ''", t_md5 => "md5(s) >= ''");

	for my $index (sort keys %condition)
	{
		$by_index .= "SELECT '$index', count(*), sum(hashtext(id || ' ' || coalesce(k, -5) || ' ' || s)::bigint) FROM t WHERE $condition{$index};\n";
	}
	my @answers = split /\n/, sql($node, <<"END");
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT 'scan', count(*), sum(hashtext(id || ' ' || coalesce(k, -5) || ' ' || s)::bigint) FROM t;
SET LOCAL enable_seqscan = off;
SET LOCAL enable_bitmapscan = off;
${by_index}COMMIT;
END
	my %seen;
	s/^\w+\|// for @answers;
	$seen{$_}++ for @answers;
	is(scalar(keys %seen), 1, "$when: all indexes have the rows of the table") or diag(join "\n", @answers);
	is(scalar(@answers), 5, "$when: and all were asked");
	my ($rc, undef, $said) = $node->psql('postgres', <<'END');
SELECT bt_index_parent_check(indexrelid, true, true) FROM pg_index i JOIN pg_class c ON c.oid = indexrelid
WHERE indrelid = 't'::regclass AND indisvalid AND relam = (SELECT oid FROM pg_am WHERE amname = 'btree');
END
	is($rc, 0, "$when: no index is corrupt") or diag($said);
	is(sql($node, "SELECT count(*) FROM verify_heapam('t')"), 0, "$when: nor is the table");
}

# ---- what DBAs do meanwhile, and the cleaner again and again

my @maintenance = (
	'VACUUM t', 'VACUUM (INDEX_CLEANUP on) t', 'VACUUM (INDEX_CLEANUP off) t', 'VACUUM (FREEZE) t',
	'REINDEX INDEX CONCURRENTLY t_k', 'REINDEX INDEX CONCURRENTLY t_md5', 'REINDEX INDEX t_s',
	'CREATE INDEX CONCURRENTLY t_more ON t (n, id)', 'DROP INDEX CONCURRENTLY t_more',
	'ALTER TABLE t ADD COLUMN IF NOT EXISTS more int', 'CLUSTER t USING t_id', 'ANALYZE t');
my $until = time + $seconds;
my $turn = 0;
my $checked = time;
while (time < $until)
{
	# for five seconds whole tables, then what is in memory
	$node->psql('postgres', "SELECT sweep.clean('t', by_row => true)") if int(time / 5) % 2;
	# it meets the cleaner, or the cleaner meets it
	$node->psql('postgres', $maintenance[ rand @maintenance ]) if $turn++ % 4 == 3;
	usleep(100_000);
	if (time - $checked > 30)
	{
		check_all("after $turn turns");
		$checked = time;
	}
}
$load->finish;
is($load->result(0), 0, 'the load has ended well') or diag($err);
poll_ok($node, "SELECT count(*) = 0 FROM sweep.queue WHERE request_id IS NOT NULL", 'so have all clean-ups');
check_all('at the end');

# ---- did it do anything?

my $log = slurp_file($node->logfile);
my ($removed, $entries, $recycled) = (0, 0, 0);
while ($log =~ /automatic clean-up of table.*?tuples: (\d+) removed.*?index entries: (\d+) removed.*?identifiers: (\d+) recycled/sg)
{
	$removed += $1;
	$entries += $2;
	$recycled += $3;
}
my ($in_memory, $times) = (0, 0);
while ($log =~ /automatic clean-up of table [^\n]* changed pages in shared buffers\n.*?tuples: (\d+) removed/sg)
{
	$in_memory += $1;
	$times++;
}
note("rows removed: $removed, of these in memory: $in_memory, in $times clean-ups");
note("index entries: $entries, row pointers recycled: $recycled");
cmp_ok($entries, '>', 100 * $seconds, "index entries were removed ($entries, of $removed rows)");
cmp_ok($in_memory, '>', $seconds, "rows were removed in memory ($in_memory)");
cmp_ok($recycled, '>', 0, "row pointers were recycled ($recycled)");
unlike($log, qr/PANIC|TRAP|terminated by signal/, 'nothing has crashed');
is(sql($node, "SELECT count(*) FROM sweep.runs WHERE command = 'CLEAN' AND outcome = 'failed'"), 0, 'no clean-up has failed');

$node->stop;
done_testing();
