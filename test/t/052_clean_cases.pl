# Cases of cleaning that need a server of their own: an error at each point of a clean-up, an
# index in an older format, and a library that was built for a later server. And what is locked
# or pinned by others in an index, and what is not cleaned.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use CleanerTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

my $install = install_cleaner(build_cleaner('points', '-DCLEAN_POINTS'));
# a page of an index is changed by hand, and from 18 on its checksum is wrong then
my $node = sweep_node('clean_cases', install_path => $install, conf => <<'END');
sweep.cleaner = on
sweep.min_interval = 1h
log_autovacuum_min_duration = 0
autovacuum_vacuum_cost_delay = 0
ignore_checksum_failure = on
END
need_modules($node, 'amcheck', 'pageinspect');

# a worker that looks at the catalogs just now may need what has died
sub nobody_needs_it
{
	poll_until($node, 'SELECT count(*) = 0 FROM sweep_internal.get_horizon_holders()') or die 'somebody holds the horizon';
	return;
}

# The counts of the clean-up that the log, from offset on, comes to tell of.
sub report_like
{
	my ($table, $regexp, $offset, $name) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return log_poll_ok($node, qr/clean-up of table "postgres\.public\.$table": requested.*$regexp/s, $offset, $name);
}

sub vacuum_removes_the_rest
{
	my ($table, $name) = @_;

	sql($node, "VACUUM (INDEX_CLEANUP on) $table");
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return is(dead_items($node, $table), 0, $name);
}

# ---- an error at each point

my $rows = 2000;
my %condition = (t_id => 'id > 0', t_k => 'k > -1', t_s => "s >= ''");
my $part = 0;

sql($node, <<"END");
CREATE TABLE t (id int, k int, s text) WITH (autovacuum_enabled = off);
INSERT INTO t SELECT i, i % 100, md5(i::text) FROM generate_series(1, $rows) i;
CREATE INDEX t_id ON t (id);
CREATE INDEX t_k ON t (k);
CREATE INDEX t_s ON t (s);
VACUUM t;
END
for my $point (
	qw(keys_computed page_pruned page_done entries_sorted leaf_done index_done indexes_done batch_made batch_committed
	page_before_recycling page_recycled all_recycled space_known recycling_committed))
{
	my $before = $part++;
	# those of pages, leaves and indexes: in the middle
	my $pass = $point =~ /^(?:keys|page_|leaf|index_)/ ? 2 : 1;

	# one transaction, or the second statement would prune what the first one has deleted
	sql($node, <<"END");
BEGIN;
INSERT INTO t SELECT i, i % 100, md5(i::text) FROM generate_series(1, $rows) i WHERE i % 20 = $before - 1;
DELETE FROM t WHERE id % 20 = $part - 1;
COMMIT;
END
	nobody_needs_it();
	point_order($node, $point, $pass, 'error');
	like(clean_once($node, 't'), qr/^failed\|/, "an error at $point: the clean-up fails");
	cmp_ok(dead_items($node, 't'), '>', 0, 'what was pruned until then has left its row pointers') if $point eq 'page_pruned';
	my $expected = sql($node, "SELECT count(*), sum(i) FROM generate_series(1, $rows) i WHERE i % 20 <> $part - 1");
	check_rows($node, 't', $expected, \%condition, "an error at $point: nothing is corrupt");
}
vacuum_removes_the_rest('t', 'a vacuum removes what all these have left');
sql($node, 'DELETE FROM t WHERE id % 20 = 19');
nobody_needs_it();
is(clean_once($node, 't'), 'done|100', 'and the table can be cleaned');

# ---- an index that is not ready

sql($node, <<'END');
CREATE TABLE unready (id int PRIMARY KEY, k int) WITH (autovacuum_enabled = off);
INSERT INTO unready SELECT i, i / 2 FROM generate_series(1, 1000) i;
END
my ($rc) = $node->psql('postgres', 'CREATE UNIQUE INDEX CONCURRENTLY unready_k ON unready (k)');
isnt($rc, 0, 'CREATE INDEX CONCURRENTLY fails');
is(sql($node, "SELECT indisready FROM pg_index WHERE indexrelid = 'unready_k'::regclass"), 'f', 'and leaves an index that is not ready');
sql($node, 'DELETE FROM unready WHERE id % 10 = 0');
nobody_needs_it();
my $offset = log_size($node);
is(clean_once($node, 'unready'), 'done|100', 'the table is cleaned');
report_like('unready', qr/entries: 100 removed.*, 0 not found.*identifiers: 100 recycled/s, $offset, 'no entry is looked for in that index');
check_rows($node, 'unready', '900|450000', { unready_pkey => 'id > 0' }, 'beside an index that is not ready');

# ---- a leaf that somebody has pinned

sql($node, <<'END');
CREATE TABLE leaf (id int, pad text) WITH (autovacuum_enabled = off);
INSERT INTO leaf SELECT i, repeat('x', 200) FROM generate_series(1, 200) i;
CREATE INDEX leaf_id ON leaf (id);
VACUUM (FREEZE) leaf;
DELETE FROM leaf WHERE id IN (150, 151);
END
nobody_needs_it();
my $reader = session($node);
# An index-only scan keeps the only leaf pinned. It needs no page of the table for its first
# row, and those two do not live for it.
$reader->query_safe(<<'END');
SET enable_seqscan = off;
SET enable_bitmapscan = off;
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM leaf WHERE id > 0 ORDER BY id;
FETCH 1 FROM c;
END
$offset = log_size($node);
is(clean_once($node, 'leaf'), 'done|2', 'a leaf is pinned: the rows are removed');
report_like('leaf', qr/entries: 0 removed from 0 pages, 0 not found, 1 pages pinned by others.*identifiers: 0 recycled/s,
	$offset, 'their entries are not');
is(dead_items($node, 'leaf'), 2, 'so their row pointers stay dead');
is(scalar(() = $reader->query('FETCH ALL FROM c') =~ /^\d+$/mg), 197, 'the scan has its rows');
$reader->query_safe('COMMIT');
$reader->quit;
check_rows($node, 'leaf', '198|19799', { leaf_id => 'id > 0' }, 'entries of row pointers that are dead');
vacuum_removes_the_rest('leaf', 'a vacuum removes both');
check_rows($node, 'leaf', '198|19799', { leaf_id => 'id > 0' }, 'afterwards');

# ---- an index that somebody has locked

my $holder = session($node);
sql($node, 'DELETE FROM unready WHERE id % 10 = 1');
nobody_needs_it();
$holder->query_safe('BEGIN; ALTER INDEX unready_pkey SET TABLESPACE pg_default');
sql($node, "SELECT sweep.clean('unready', by_row => true)");
poll_ok($node, "SELECT attempts > 0 FROM sweep.queue WHERE relname = 'unready' AND request_id IS NOT NULL",
	'it does not wait for the lock of an index, and comes again');
poll_ok($node, "SELECT count(*) > 0 FROM sweep.runs WHERE relname = 'unready' AND outcome = 'skipped' AND reason LIKE '%lock not available'",
	'and says why');
is(dead_items($node, 'unready'), 0, 'nothing was removed');
$holder->query_safe('ROLLBACK');
$holder->quit;

# ---- what is not cleaned

sub cannot_be_cleaned
{
	my ($table, $regexp, $name) = @_;
	my $from = log_size($node);

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	like(clean_once($node, $table), qr/^failed\|/, "$name cannot be cleaned");
	return log_poll_ok($node, qr/cannot be cleaned: $regexp/, $from, 'and the log says why');
}

sql($node, <<'END');
CREATE TABLE hash (id int PRIMARY KEY) WITH (autovacuum_enabled = off);
CREATE INDEX ON hash USING hash (id);
CREATE TABLE gist (id int PRIMARY KEY, p point) WITH (autovacuum_enabled = off);
CREATE INDEX ON gist USING gist (p);
CREATE TABLE spgist (id int PRIMARY KEY, p point) WITH (autovacuum_enabled = off);
CREATE INDEX ON spgist USING spgist (p);
CREATE TABLE no_index (id int) WITH (autovacuum_enabled = off);
CREATE TABLE used (id int PRIMARY KEY) WITH (autovacuum_enabled = off, user_catalog_table = on);
CREATE FUNCTION sweep_clean_test_table_am(internal) RETURNS table_am_handler LANGUAGE c AS '$libdir/pg_sweep_cleaner';
CREATE ACCESS METHOD other TYPE TABLE HANDLER sweep_clean_test_table_am;
CREATE TABLE method (id int) USING other WITH (autovacuum_enabled = off);
END
cannot_be_cleaned($_, qr/it has an index that is neither btree nor BRIN/, "a table with an index of $_") for qw(hash gist spgist);
cannot_be_cleaned('no_index', qr/it has no btree index/, 'a table without an index');
cannot_be_cleaned('pg_class', qr/it is a catalog/, 'a catalog');
cannot_be_cleaned('method', qr/its table access method is not heap/, 'a table of another access method');
cannot_be_cleaned('used', qr/it is a catalog/, 'a table that is used as a catalog');
sql($node, 'CREATE TABLE toasted (t text)');
cannot_be_cleaned(sql($node, "SELECT reltoastrelid::regclass FROM pg_class WHERE relname = 'toasted'"),
	qr/it is neither a table nor a materialized view/, 'a TOAST table');

my ($failed, undef, $error) = $node->psql('postgres',
	"CREATE TEMPORARY TABLE own (id int PRIMARY KEY); SELECT sweep.clean('own', by_row => true)");
isnt($failed, 0, 'a temporary table cannot be cleaned');
like($error, qr/"own" is a temporary table/, 'and who asks is told why');

# ---- a btree from before PostgreSQL 12

# entries of this type are never put together, as none were then
sql($node, <<'END');
CREATE TABLE early (id float8) WITH (autovacuum_enabled = off);
CREATE INDEX early_id ON early (id);
INSERT INTO early SELECT generate_series(1, 100);
DELETE FROM early WHERE id > 60;
END
my $path = $node->data_dir . '/' . sql($node, "SELECT pg_relation_filepath('early_id')");
$node->stop;
# the first page, after its header: a magic number, and the version
open(my $file, '+<:raw', $path) or die "$path: $!";
seek($file, 24, 0) or die $!;
read($file, my $magic, 4) == 4 or die "$path: $!";
is(unpack('L', $magic), 0x053162, 'it is a btree');
seek($file, 28, 0) or die $!;
print $file pack('L', 3);
close $file or die "$path: $!";
$node->start;
is(sql($node, "SELECT version FROM bt_metap('early_id')"), 3, 'it is in the format of PostgreSQL 11');
cannot_be_cleaned('early', qr/it has a btree from before PostgreSQL 12/, 'a table with an early btree');
is(dead_items($node, 'early'), 0, 'nothing was removed');
# a REINDEX leaves out what is dead, so it is not found there
sql($node, 'VACUUM early');
sql($node, 'REINDEX INDEX early_id');
sql($node, 'DELETE FROM early WHERE id > 50');
nobody_needs_it();
is(clean_once($node, 'early'), 'done|10', 'it is cleaned when the index was built anew');
check_rows($node, 'early', '50|1275', { early_id => 'id > 0' }, 'an index that was built anew');

# ---- a server of a minor release that is too old for the library

# To a library that was built so, this server is one.
replace_cleaner($install, build_cleaner('later', '-DCLEAN_OLDEST_SERVER=990000'));
$node->restart;
sql($node, 'DELETE FROM early WHERE id > 40');
cannot_be_cleaned('early', qr/the cleaner does not know this release of the server/, 'on an older server a table');
is(dead_items($node, 'early'), 0, 'nothing was removed');

# ---- a prerelease: its functions may be others than the next one's

replace_cleaner($install, build_cleaner('beta', '-DCLEAN_BUILT_FOR=\"19beta9\"'));
$node->restart;
cannot_be_cleaned('early', qr/the cleaner does not know this release of the server/, 'by a library of a prerelease a table');
is(dead_items($node, 'early'), 0, 'nothing was removed');

# ---- a library of another version than the running pg_sweep

# A package's upgrade replaces it under the running server, and new workers load it.
replace_cleaner($install, build_cleaner('other', '-DCLEAN_JOB_SIZE=8'));
$node->restart;
like(clean_once($node, 'early'), qr/^failed\|/, 'with a library of another version the clean-up fails');
like(slurp_file($node->logfile), qr/library "pg_sweep_cleaner" does not fit the "pg_sweep" that the server has loaded/,
	'the log says why');
is(dead_items($node, 'early'), 0, 'nothing was removed');

unlike(slurp_file($node->logfile), qr/PANIC|TRAP|terminated by signal/, 'nothing has crashed');
$node->stop;
done_testing();
