# The two races of cleaning that are prevented by waiting and by looking again. Each is run
# twice: with the library as it is, and with one that was built without that guard, where the
# wrong rows must appear. Otherwise the test would say nothing.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use CleanerTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('clean_races');
$node->init;
$node->append_conf('postgresql.conf', sweep_conf() . "sweep.mode = off\n");
$node->start;
need_modules($node, 'amcheck');

# A session whose two stages are those of one library.
sub cleaner
{
	my ($library) = @_;
	my $session = session($node);

	$session->query_safe(<<"END");
CREATE OR REPLACE FUNCTION sweep_clean_test_batch(regclass) RETURNS text LANGUAGE c STRICT AS '$library';
CREATE OR REPLACE FUNCTION sweep_clean_test_recycle() RETURNS text LANGUAGE c STRICT AS '$library';
END
	return $session;
}

sub check_table
{
	my ($table) = @_;

	my ($rc) = $node->psql('postgres', <<"END");
SELECT bt_index_parent_check(indexrelid, true, true) FROM pg_index WHERE indrelid = '$table'::regclass
END
	return $rc == 0;
}

# ---- A row pointer is recycled by VACUUM, taken by another row, and dead once more.

sub aba
{
	my ($library) = @_;
	my $session = cleaner($library);
	my $force_index = 'SET enable_seqscan = off; SET enable_bitmapscan = off;';

	sql($node, <<'END');
DROP TABLE IF EXISTS aba;
CREATE TABLE aba (k int, pad text) WITH (autovacuum_enabled = off);
CREATE INDEX aba_k ON aba (k);
INSERT INTO aba VALUES (1, 'first'), (100, 'stays');
DELETE FROM aba WHERE k = 1;
END
	like($session->query("SELECT sweep_clean_test_batch('aba')"), qr/rows 1 .* entries 1 /, 'the entry of the first row is removed');
	sql($node, 'VACUUM (INDEX_CLEANUP on) aba');
	sql($node, "INSERT INTO aba VALUES (2, 'second')");
	is(sql($node, "SELECT ctid FROM aba WHERE k = 2"), '(0,1)', 'another row has its row pointer');
	sql($node, 'DELETE FROM aba WHERE k = 2');
	# its entry stays in the index
	sql($node, 'VACUUM (INDEX_CLEANUP off) aba');
	my $recycled = $session->query('SELECT sweep_clean_test_recycle()');
	$session->quit;
	sql($node, "INSERT INTO aba VALUES (3, 'third')");
	return ($recycled, sql($node, "$force_index SELECT pad FROM aba WHERE k = 2"), check_table('aba'));
}

# ---- A scan has read an entry before it was removed.

sub epoch
{
	my ($library) = @_;
	my $session = cleaner($library);
	my $reader = session($node);

	sql($node, <<'END');
DROP TABLE IF EXISTS epoch;
CREATE TABLE epoch (k float8, pad text) WITH (autovacuum_enabled = off);
INSERT INTO epoch SELECT i, repeat('x', 200) FROM generate_series(1, 200) i;
CREATE INDEX epoch_k ON epoch (k);
VACUUM (FREEZE) epoch;
DELETE FROM epoch WHERE k = 150;
END
	# it has all entries of the only leaf in its memory, and that leaf pinned
	$reader->query_safe(<<'END');
SET enable_seqscan = off;
SET enable_bitmapscan = off;
BEGIN;
DECLARE c CURSOR FOR SELECT k FROM epoch WHERE k > 0 ORDER BY k;
FETCH 1 FROM c;
END
	# The leaf is split: the entry of 150 moves to the right, where nobody has a pin. The new rows
	# go to other pages than that row.
	sql($node, "INSERT INTO epoch SELECT 100 + i / 1000.0, repeat('x', 200) FROM generate_series(1, 600) i");
	like($session->query("SELECT sweep_clean_test_batch('epoch')"), qr/rows 1 .* entries 1 /, 'the entry is removed');
	my $recycled = $session->query('SELECT sweep_clean_test_recycle()');
	# it finds no dead row, and says that all rows of the page are visible
	sql($node, 'VACUUM (INDEX_CLEANUP off) epoch');
	my $rows = $reader->query('FETCH ALL FROM c');
	$reader->query('COMMIT');
	$recycled .= ' later ' . $session->query('SELECT sweep_clean_test_recycle()');
	$reader->quit;
	$session->quit;
	return ($recycled, scalar(grep { $_ eq '150' } split /\n/, $rows), check_table('epoch'));
}

my $library = build_cleaner('whole', '');
my ($recycled, $row, $sound) = aba($library);
like($recycled, qr/recycled 0 changed 1/, 'ABA: the page has changed, nothing is recycled');
is($row, '', 'no row is found under the key of another one');
ok($sound, 'the index is sound');

($recycled, $row, $sound) = aba(build_cleaner('no_lsn', '-DCLEAN_WITHOUT_LSN_CHECK'));
like($recycled, qr/recycled 1 /, 'ABA without the guard: it is recycled');
is($row, 'third', 'and a wrong row is found, so the test can tell');

($recycled, $row, $sound) = epoch($library);
like($recycled, qr/^ later .*recycled 1 /, 'epoch: it is recycled when the reader has ended');
is($row, 0, 'the reader does not see the deleted row');
ok($sound, 'the index is sound');

($recycled, $row, $sound) = epoch(build_cleaner('no_epoch', '-DCLEAN_WITHOUT_EPOCH'));
like($recycled, qr/recycled 1 .* later /, 'epoch without the guard: it is recycled at once');
is($row, 1, 'and the reader sees a deleted row, so the test can tell');

$node->stop;
done_testing();
