# What the cleaner saw in shared buffers is not there any more: the table was truncated, cut at
# its end, rewritten or dropped, or its pages have left. Several workers share one database.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

# Pages stay dirty, so that nothing but their identity decides.
my $node = sweep_node('clean_stale', conf => <<'END');
sweep.cleaner_naptime = 1s
sweep.min_interval = 1h
autovacuum_vacuum_cost_delay = 0
autovacuum_vacuum_threshold = 100000000
shared_buffers = 768MB
checkpoint_timeout = 1d
max_wal_size = 10GB
bgwriter_lru_maxpages = 0
END
need_modules($node, 'amcheck');

my $library = $node->config_data('--pkglibdir') . '/pg_sweep_cleaner';
my $session = session($node);
$session->query_safe(<<"END");
CREATE FUNCTION sweep_clean_test_see(regclass) RETURNS int LANGUAGE c STRICT AS '$library';
CREATE FUNCTION sweep_clean_test_seen(regclass) RETURNS text LANGUAGE c STRICT AS '$library';
END

# Rows that can be removed: an update of a row has changed the pages of its entries as well.
sub make
{
	my ($table) = @_;

	sql($node, <<"END");
DROP TABLE IF EXISTS $table;
CREATE TABLE $table (id int, hits int DEFAULT 0, pad text) WITH (autovacuum_enabled = off);
INSERT INTO $table SELECT i, 0, repeat('x', 1900) FROM generate_series(1, 400) i;
CREATE INDEX ${table}_id ON $table (id);
END
	sql($node, "UPDATE $table SET hits = 1 WHERE id % 10 = 7");
	return;
}

sub is_whole
{
	my ($table, $rows, $name) = @_;

	is(sql($node, "SELECT count(bt_index_parent_check('${table}_id', true, true))"), 1, "$name: the index is whole");
	is(sql($node, "SELECT count(*) FROM verify_heapam('$table')"), 0, "$name: so is the table");
	is(sql($node, "SELECT count(*) FROM $table"), $rows, "$name: it has all its rows");
	is(sql($node, "SET enable_seqscan = off; SELECT count(*) FROM $table WHERE id > 0"), $rows, "$name: and so has its index");
	return;
}

# What is done between the look at the buffers and the cleaning, and the rows that are there then.
my @between = (
	[ 'nothing', sub { }, qr/^pages 11\d .* rows 40 /, 400 ],
	[ 'TRUNCATE', sub { sql($node, "TRUNCATE $_[0]") }, qr/^pages 0 .* rows 0 /, 0 ],
	# The same rows are there again, in pages of the same numbers, and dead ones among them.
	[ 'TRUNCATE and as many rows', sub {
		sql($node, "TRUNCATE $_[0]");
		sql($node, "INSERT INTO $_[0] SELECT i, 0, repeat('x', 1900) FROM generate_series(1, 400) i");
		sql($node, "UPDATE $_[0] SET hits = 1 WHERE id % 10 = 7");
		# A buffer may have become the same page of the new file. What is cleaned is that page then.
	}, qr/^pages \d+ /, 400 ],
	# The file is that of before, but shorter.
	[ 'VACUUM that cuts off the end', sub {
		sql($node, "DELETE FROM $_[0] WHERE ctid >= '(40,0)'");
		sql($node, "VACUUM $_[0]");
		is(sql($node, "SELECT pg_relation_size('$_[0]') / 8192"), 40, 'the table was cut off');
		sql($node, "UPDATE $_[0] SET hits = 2 WHERE id <= 5");
	}, qr/^pages 4\d .* rows 5 /, 144 ],
	[ 'CLUSTER', sub { sql($node, "CLUSTER $_[0] USING $_[0]_id") }, qr/^pages 0 .* rows 0 /, 400 ],
	[ 'ALTER TABLE that rewrites', sub { sql($node, "ALTER TABLE $_[0] ALTER id TYPE bigint") }, qr/^pages 0 .* rows 0 /, 400 ],
);

for my $case (@between)
{
	my ($name, $do, $expected, $rows) = @$case;

	make('seen');
	cmp_ok($session->query_safe("SELECT sweep_clean_test_see('seen')"), '>=', 100, "$name: all pages are seen");
	$do->('seen');
	like($session->query_safe("SELECT sweep_clean_test_seen('seen')"), $expected, "$name: only what is still there is cleaned");
	is_whole('seen', $rows, $name);
}

# Its buffers belong to another table now.
make('seen');
make('other');
$session->query_safe("SELECT sweep_clean_test_see('seen')");
like($session->query_safe("SELECT sweep_clean_test_seen('other')"), qr/^pages 0 .* rows 0 /, 'pages of another table are left alone');
is_whole('other', 400, 'another table');

make('seen');
my $oid = sql($node, "SELECT 'seen'::regclass::oid");
$session->query_safe("SELECT sweep_clean_test_see('seen')");
sql($node, 'DROP TABLE seen');
like($session->query_safe("SELECT sweep_clean_test_seen($oid)"), qr/^(?!pages)/, 'a table that was dropped is not cleaned');

# ---- four workers: one cleans at a time, and each row once

my @tables = map { "shared_$_" } 1 .. 4;
sql($node, "SELECT sweep.hold('1 h')");
for my $table (@tables)
{
	sql($node, <<"END");
CREATE TABLE $table (id int, hits int DEFAULT 0, pad text);
INSERT INTO $table SELECT i, 0, repeat('x', 1900) FROM generate_series(1, 36000) i;
CREATE INDEX ${table}_id ON $table (id);
END
	sql($node, "VACUUM (FREEZE, ANALYZE) $table");
}
sql($node, "SELECT sweep.hold('0')");
reload_with($node, 'sweep.max_workers' => 4, 'sweep.cleaner' => 'on');
sql($node, "UPDATE $_ SET hits = 1 WHERE id <= 60") for @tables;
poll_ok($node, "SELECT count(*) = 4 FROM sweep.cleanings WHERE relname LIKE 'shared%' AND decision = 'watched'", 'all are watched first')
  or diag(sql($node, 'TABLE sweep.cleanings'));

for my $turn (1 .. 5)
{
	sql($node, "UPDATE $_ SET hits = $turn WHERE id % 100 = $turn") for @tables;
	poll_ok($node, "SELECT count(*) = 4 FROM (SELECT relname FROM sweep.runs WHERE command = 'CLEAN' AND relname LIKE 'shared%' GROUP BY 1 HAVING sum(tuples_removed) >= 360 * $turn) t",
		"turn $turn: the garbage of all is removed") or diag(sql($node, 'TABLE sweep.cleanings'));
}
is(sql($node, <<'END'), 0, 'no table was cleaned twice at a time');
SELECT count(*) FROM sweep.runs a JOIN sweep.runs b ON a.relid = b.relid AND a.run_id < b.run_id
WHERE a.command = 'CLEAN' AND b.command = 'CLEAN' AND a.started_at < b.ended_at AND b.started_at < a.ended_at
END
is(sql($node, "SELECT max(t) <= 60 + 5 * 360 FROM (SELECT sum(tuples_removed) AS t FROM sweep.runs WHERE command = 'CLEAN' AND relname LIKE 'shared%' GROUP BY relname) s"), 't',
	'no row was removed twice');
is_whole($_, 36000, $_) for @tables;

$node->stop;
done_testing();
