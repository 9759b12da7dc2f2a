# sweep.clean(): dead rows are removed one by one, with their index entries.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

my $node = sweep_node('clean', conf => "log_autovacuum_min_duration = 0\n");
need_modules($node, 'amcheck');

sub clean_once
{
	my ($table) = @_;
	my $before = sql($node, 'SELECT coalesce(max(run_id), 0) FROM sweep.runs');

	# a worker that looks at the catalogs just now may need what has died
	poll_until($node, 'SELECT count(*) = 0 FROM sweep_internal.get_horizon_holders()') or die 'somebody holds the horizon';
	sql($node, "SELECT sweep.clean('$table', by_row => true)");
	return poll_value($node,
		"SELECT outcome, tuples_removed FROM sweep.runs WHERE run_id > $before AND relname = '$table' AND command = 'CLEAN'");
}

# All indexes of a table against the table, and the table itself.
sub check_table
{
	my ($table, $name) = @_;
	my $wrong = sql($node, <<"END");
SELECT count(*) FROM verify_heapam('$table');
END

	sql($node, <<"END");
SELECT bt_index_parent_check(indexrelid, true, true) FROM pg_index i JOIN pg_class c ON c.oid = indexrelid
WHERE indrelid = '$table'::regclass AND relam = (SELECT oid FROM pg_am WHERE amname = 'btree')
END
	is($wrong, 0, "$name: nothing is corrupt");
}

# ---- off by default

my ($rc, $out, $err) = $node->psql('postgres', 'CREATE TABLE t0 (a int); SELECT sweep.clean(\'t0\', true)');
isnt($rc, 0, 'off by default');
like($err, qr/"sweep\.cleaner" is off.*HINT:/s, 'and it says how to switch it on');
reload_with($node, 'sweep.cleaner' => 'on');

# ---- what it removes

sql($node, <<'END');
CREATE TABLE t (id int PRIMARY KEY, k int, s text, f float8) WITH (autovacuum_enabled = off);
INSERT INTO t SELECT i, i % 1000, md5(i::text), i FROM generate_series(1, 100000) i;
CREATE INDEX t_k ON t (k);
CREATE INDEX t_s ON t (s) INCLUDE (f);
CREATE INDEX t_lower ON t (lower(s), k DESC);
CREATE INDEX t_brin ON t USING brin (f);
VACUUM (FREEZE) t;
DELETE FROM t WHERE id % 500 = 7;
END
is(clean_once('t'), 'done|200', 'it removes the dead rows');
check_table('t', 'afterwards');
$out = sql($node, 'SELECT count(*), sum(id) FROM t');
is($out, sql($node, 'SET enable_seqscan = off; SET enable_bitmapscan = off; SELECT count(*), sum(id) FROM t WHERE id > 0'),
	'a scan of the table and one of an index have the same rows');
($rc, $out, $err) = $node->psql('postgres', 'VACUUM (VERBOSE, INDEX_CLEANUP on) t');
like($err, qr/tuples: 0 removed/, 'a vacuum finds no dead row');
like($err, qr/index scan not needed: 0 pages/, 'no dead item identifier, and reads no index');
my $log = slurp_file($node->logfile);
like($log, qr/automatic clean-up of table "postgres\.public\.t": requested by \w+\n.*tuples: 200 removed.*index entries: 800 removed/s,
	'the log says what was done');

# ---- HOT chains, updates, rows of a posting list

sql($node, <<'END');
CREATE TABLE hot (id int PRIMARY KEY, k int, n int) WITH (autovacuum_enabled = off, fillfactor = 50);
INSERT INTO hot SELECT i, i / 100, 0 FROM generate_series(1, 20000) i;
CREATE INDEX hot_k ON hot (k);
VACUUM hot;
-- in one transaction, or the next statement would prune what the last one has left
BEGIN;
UPDATE hot SET n = 1 WHERE id % 100 = 3;
UPDATE hot SET n = 2 WHERE id % 100 = 3;
UPDATE hot SET k = -1 - k WHERE id % 200 = 8;
DELETE FROM hot WHERE id % 200 = 3;
COMMIT;
END
is(clean_once('hot'), 'done|400', 'a chain that is dead as a whole is a row and its further members, one whose end lives is none');
check_table('hot', 'HOT chains');
is(sql($node, 'SELECT count(*) FROM hot WHERE n = 2'), 100, 'those that live are there');

# ---- partial indexes, values in the TOAST table, unique keys again

sql($node, <<'END');
CREATE TABLE odd (id int, t text, p bool) WITH (autovacuum_enabled = off);
ALTER TABLE odd ALTER t SET STORAGE EXTERNAL;
INSERT INTO odd SELECT i, CASE WHEN i % 10 = 0 THEN repeat(md5(i::text), 100) ELSE i::text END, i % 3 = 0 FROM generate_series(1, 3000) i;
CREATE UNIQUE INDEX odd_id ON odd (id);
CREATE INDEX odd_partial ON odd (id) WHERE p;
CREATE INDEX odd_md5 ON odd (md5(t));
VACUUM odd;
BEGIN;
DELETE FROM odd WHERE id % 5 = 0;
INSERT INTO odd SELECT i, 'again', false FROM generate_series(5, 3000, 5) i;
COMMIT;
END
is(clean_once('odd'), 'done|300', 'entries of rows with a value in the TOAST table that an index needs are left');
check_table('odd', 'partial and unique indexes');

# ---- rows that were never committed

sql($node, <<'END');
CREATE TABLE aborted (id int PRIMARY KEY) WITH (autovacuum_enabled = off);
INSERT INTO aborted SELECT generate_series(1, 100);
BEGIN;
INSERT INTO aborted SELECT generate_series(101, 150);
ROLLBACK;
END
is(clean_once('aborted'), 'done|0', 'rows of an aborted transaction are left');
check_table('aborted', 'they are still in the index');

# ---- and that had columns which were never there

sql($node, <<'END');
CREATE TABLE altered (id int) WITH (autovacuum_enabled = off);
BEGIN;
ALTER TABLE altered ADD COLUMN c int8;
INSERT INTO altered SELECT i, x'7ffffffffffffffc'::int8 - i FROM generate_series(1, 100) i;
ROLLBACK;
ALTER TABLE altered ADD COLUMN d text;
CREATE INDEX altered_d ON altered (d);
INSERT INTO altered SELECT i, i::text FROM generate_series(1, 10) i;
DELETE FROM altered WHERE id > 5;
END
is(clean_once('altered'), 'done|5', 'values of a column that was never committed are not looked at');
check_table('altered', 'a column that was rolled back');

# ---- functions run as the table's owner, also those of constants

sql($node, <<'END');
CREATE ROLE cleaned_owner;
GRANT CREATE ON SCHEMA public TO cleaned_owner;
CREATE TABLE owned (id int) WITH (autovacuum_enabled = off);
ALTER TABLE owned OWNER TO cleaned_owner;
CREATE FUNCTION who(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	IF current_user <> 'cleaned_owner' THEN
		RAISE EXCEPTION 'as %', current_user;
	END IF;
	RETURN $1;
END $$;
SET ROLE cleaned_owner;
CREATE INDEX owned_constant ON owned ((id + who(1)));
CREATE INDEX owned_row ON owned ((who(id)));
INSERT INTO owned SELECT generate_series(1, 100);
DELETE FROM owned WHERE id > 60;
END
is(clean_once('owned'), 'done|40', 'functions of an index run as the owner');

# ---- a function that raises an error, and one that has become another

sql($node, <<'END');
CREATE FUNCTION f(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN $1 / 10; END';
CREATE TABLE computed (id int) WITH (autovacuum_enabled = off);
INSERT INTO computed SELECT generate_series(1, 1000);
CREATE INDEX computed_f ON computed (f(id));
CREATE INDEX computed_id ON computed (id);
DELETE FROM computed WHERE id % 10 = 0;
CREATE OR REPLACE FUNCTION f(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RAISE EXCEPTION $$no$$; END';
END
like(clean_once('computed'), qr/^failed\|/, 'a function raises an error: the clean-up fails');
sql($node, q{CREATE OR REPLACE FUNCTION f(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN -$1; END'});
is(clean_once('computed'), 'done|100', 'it gives other keys: rows are removed');
$log = slurp_file($node->logfile);
like($log, qr/public\.computed": requested.*index entries: 100 removed from \d+ pages, 100 not found.*identifiers: 0 recycled/s,
	'but only entries that were found, and no row pointer is used again');
sql($node, q{CREATE OR REPLACE FUNCTION f(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN $1 / 10; END'});
check_table('computed', 'the index is sound under the function that it was made with');
($rc, $out, $err) = $node->psql('postgres', 'VACUUM (VERBOSE, INDEX_CLEANUP on) computed');
like($err, qr/100 dead item identifiers removed/, 'a vacuum removes what was left');
check_table('computed', 'after the vacuum');

# ---- the last entries of a leaf, and a page that somebody has pinned

sql($node, <<'END');
CREATE TABLE together (id int PRIMARY KEY) WITH (autovacuum_enabled = off);
INSERT INTO together SELECT generate_series(1, 10000);
DELETE FROM together WHERE id BETWEEN 2000 AND 5000;
CREATE TABLE pinned (id int PRIMARY KEY) WITH (autovacuum_enabled = off);
INSERT INTO pinned SELECT generate_series(1, 10);
DELETE FROM pinned WHERE id > 5;
END
is(clean_once('together'), 'done|3001', 'rows that lie together');
$log = slurp_file($node->logfile);
like($log, qr/public\.together": requested.* [1-9]\d* left to be emptied by VACUUM/s, 'leaves that would be empty are left');
check_table('together', 'leaves that were not emptied');
my $pin = session($node);
$pin->query_safe('BEGIN; DECLARE c CURSOR FOR SELECT * FROM pinned; FETCH 1 FROM c');
is(clean_once('pinned'), 'done|0', 'a page that somebody has pinned is left');
$pin->query_safe('COMMIT');
$pin->quit;
is(clean_once('pinned'), 'done|5', 'and cleaned when nobody has');

# ---- what is left alone

sql($node, <<'END');
CREATE TABLE gin (id int PRIMARY KEY, a int[]) WITH (autovacuum_enabled = off);
CREATE INDEX ON gin USING gin (a);
INSERT INTO gin SELECT i, ARRAY[i] FROM generate_series(1, 100) i;
DELETE FROM gin WHERE id < 50;
CREATE UNLOGGED TABLE unlogged (id int PRIMARY KEY);
END
for my $table ('gin', 'unlogged')
{
	my $offset = -s $node->logfile;

	sql($node, "SELECT sweep.clean('$table', by_row => true)");
	log_poll_ok($node, qr/table "postgres\.public\.$table" cannot be cleaned: /, $offset, "$table cannot be cleaned, and the log says why");
}
is(sql($node, "SELECT outcome FROM sweep.runs WHERE relname = 'gin' AND command = 'CLEAN'"), 'failed', 'so does the record');

# ---- somebody has the table

my $holder = session($node);
$holder->query_safe('BEGIN; LOCK TABLE t IN SHARE UPDATE EXCLUSIVE MODE');
sql($node, 'DELETE FROM t WHERE id % 500 = 8');
sql($node, "SELECT sweep.clean('t', by_row => true)");
poll_ok($node, "SELECT count(*) > 0 FROM sweep.runs WHERE relname = 't' AND command = 'CLEAN' AND outcome = 'skipped' AND reason LIKE '%lock not available'",
	'it does not wait for a lock');
poll_ok($node, "SELECT attempts > 0 FROM sweep.queue WHERE relname = 't' AND request_id IS NOT NULL", 'and comes again');
$holder->query_safe('ROLLBACK');
$holder->quit;

# ---- somebody wants the table

sql($node, <<'END');
CREATE TABLE wanted (id int PRIMARY KEY, pad text) WITH (autovacuum_enabled = off, autovacuum_vacuum_cost_delay = 100, autovacuum_vacuum_cost_limit = 20);
INSERT INTO wanted SELECT i, repeat('x', 200) FROM generate_series(1, 20000) i;
DELETE FROM wanted WHERE id % 20 = 0;
SELECT sweep.clean('wanted', by_row => true);
END
poll_ok($node, "SELECT count(*) = 1 FROM sweep.progress WHERE command = 'CLEAN' AND relname = 'wanted' AND phase = 'scanning heap'",
	'a clean-up is shown while it runs');
($rc) = $node->psql('postgres', "SET lock_timeout = '20s'; ALTER TABLE wanted ADD COLUMN more int");
is($rc, 0, 'who wants the table gets it');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE command = 'CLEAN' AND relname = 'wanted' AND outcome = 'cancelled' AND reason LIKE '%gave way to pid%'",
	'the clean-up has given way');
check_table('wanted', 'a clean-up that was cancelled');

# ---- an older transaction: row pointers wait for it, rows do not

my $old = session($node);
sql($node, 'DELETE FROM hot WHERE id % 200 = 5');
$old->query_safe('BEGIN; SELECT 1');
is(clean_once('hot'), 'done|100', 'rows are removed beside a transaction that began later than their end');
$old->quit;
check_table('hot', 'row pointers that nobody recycled');
($rc, $out, $err) = $node->psql('postgres', 'VACUUM (VERBOSE, INDEX_CLEANUP on) hot');
like($err, qr/100 dead item identifiers removed/, 'a vacuum recycles those');

$node->stop;
done_testing();
