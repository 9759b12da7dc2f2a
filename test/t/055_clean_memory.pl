# Rows that died on pages in shared buffers are removed there, where that takes no I/O.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

# Checkpoints come only when the test asks for them, and nobody writes pages before.
my $node = sweep_node('clean_memory', conf => <<'END');
sweep.cleaner_naptime = 1s
sweep.min_interval = 1h
autovacuum_vacuum_cost_delay = 0
shared_buffers = 512MB
autovacuum_vacuum_threshold = 100000000
checkpoint_timeout = 1d
max_wal_size = 10GB
bgwriter_lru_maxpages = 0
END

# Full pages: what is updated goes to another page, and has new entries in all indexes.
sub make
{
	my ($table) = @_;

	sql($node, "SELECT sweep.hold('1 h')");
	sql($node, <<"END");
CREATE TABLE $table (id int, name text, hits int DEFAULT 0, pad text);
INSERT INTO $table SELECT i, md5(i::text), 0, repeat('x', 1900) FROM generate_series(1, 40000) i;
CREATE INDEX ${table}_id ON $table (id);
CREATE INDEX ${table}_name ON $table (name);
END
	sql($node, "VACUUM (FREEZE, ANALYZE) $table");
	sql($node, "SELECT sweep.hold('0')");
	return;
}

sub runs_of
{
	my ($table, $what) = @_;

	return sql($node, "SELECT $what FROM sweep.runs WHERE command = 'CLEAN' AND relname = '$table'");
}

# What was decided since the last call. A first look has seen how fast garbage comes.
sub is_watched
{
	my ($table) = @_;

	sql($node, "UPDATE $table SET hits = hits + 1 WHERE id <= 60");
	poll_ok($node, "SELECT count(*) = 1 FROM sweep.cleanings WHERE relname = '$table' AND decision = 'watched'",
		"$table is watched first");
	return;
}

sub dead_of { return sql($node, "SELECT n_dead_tup FROM pg_stat_user_tables WHERE relname = '$_[0]'") }

make('changed');
make('gone');

# ---- updated rows: their entries are beside the new ones

# its pages have room for new versions of their rows
sql($node, 'UPDATE changed SET hits = 1 WHERE id % 100 = 7');
sql($node, 'VACUUM changed');
reload_with($node, 'sweep.cleaner' => 'on');
is_watched('changed');
sql($node, 'CHECKPOINT');
sql($node, 'UPDATE changed SET hits = 2 WHERE id % 100 = 7');
poll_ok($node, "SELECT sum(tuples_removed) >= 400 FROM sweep.runs WHERE command = 'CLEAN' AND relname = 'changed'",
	'they are removed') or diag(sql($node, 'TABLE sweep.cleanings'));
cmp_ok(runs_of('changed', 'sum(blks_read)'), '<=', 2, 'no page is read for that, but for one of the free space map');
cmp_ok(runs_of('changed', 'sum(wal_fpi)'), '<=', 2, 'and no full-page image written, but for one of the free space map');
cmp_ok(runs_of('changed', 'sum(blks_dirtied)'), '<=', 2, 'nor a page made dirty');
like(runs_of('changed', 'max(reason)'), qr/^dead tuples \d+, \d+ changed pages in shared buffers$/, 'the run says why');
poll_ok($node, "SELECT n_dead_tup <= 60 FROM pg_stat_user_tables WHERE relname = 'changed'", 'they are not counted any more');
like(sql($node, "SELECT cause || ': ' || evidence FROM sweep.explain('changed')"),
	qr/its dead rows are removed one by one: \d+ rows removed in memory/, 'explain says so');
my ($rc, $out, $err) = $node->psql('postgres', 'VACUUM (VERBOSE) changed');
like($err, qr/index scan (?:not needed|bypassed)/, 'the vacuum that follows passes no index');

# ---- deleted rows: their entries are on leaves that nobody has changed

is_watched('gone');
sql($node, 'CHECKPOINT');
sql($node, 'DELETE FROM gone WHERE id % 100 = 7');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.cleanings WHERE relname = 'gone' AND reason ~ '[1-9]\\d+ left that would take I/O'",
	'they are left, because it would take I/O') or diag(sql($node, 'TABLE sweep.cleanings'));
cmp_ok(runs_of('gone', 'sum(wal_fpi)'), '<=', 2, 'no full-page image is written to find that out');
cmp_ok(dead_of('gone'), '>=', 400, 'they are still counted');

# ---- a checkpoint has come first: the pages are written already

sql($node, 'VACUUM changed');
reload_with($node, 'sweep.cleaner' => 'off');
sql($node, 'UPDATE changed SET hits = 2 WHERE id % 100 = 9');
sql($node, 'CHECKPOINT');
reload_with($node, 'sweep.cleaner' => 'on');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.cleanings WHERE relname = 'changed' AND reason = 'none of its dead rows can be removed in memory'",
	'pages that are written are left') or diag(sql($node, 'TABLE sweep.cleanings'));

# ---- HOT chains have no entries of their own

sql($node, 'CREATE TABLE wide (id int PRIMARY KEY, hits int DEFAULT 0, pad text) WITH (fillfactor = 50)');
sql($node, q{INSERT INTO wide SELECT i, 0, repeat('x', 1000) FROM generate_series(1, 40000) i});
sql($node, 'VACUUM (FREEZE, ANALYZE) wide');
is_watched('wide');
sql($node, 'CHECKPOINT');
sql($node, 'UPDATE wide SET hits = 1 WHERE id % 100 = 7');
poll_ok($node, "SELECT sum(tuples_removed) >= 400 FROM sweep.runs WHERE command = 'CLEAN' AND relname = 'wide'",
	'their dead members are removed as well') or diag(sql($node, 'TABLE sweep.cleanings'));
cmp_ok(runs_of('wide', 'sum(wal_fpi)'), '<=', 2, 'without a full-page image, but for one of the free space map');
cmp_ok(runs_of('wide', 'sum(blks_read)'), '<=', 2, 'and no page is read, but for one of the free space map');

# ---- who cancels the worker while it looks at the buffers does not end it

sql($node, 'VACUUM wide');
reload_with($node, 'sweep.cleaner_scan_rate' => '1000', 'sweep.debug_linger' => '0');
sql($node, 'UPDATE wide SET hits = 2 WHERE id % 50 = 7');
# between two steps; elsewhere it would end as an autovacuum worker does
poll_ok($node, q{SELECT count(pg_cancel_backend(pid)) > 0 FROM pg_stat_activity WHERE backend_type = 'sweep worker' AND wait_event_type = 'Extension'},
	'a worker looks, and is cancelled');
rounds($node, 5);
reload_with($node, 'sweep.cleaner_scan_rate' => '100000', 'sweep.debug_linger' => '3');
poll_ok($node, "SELECT sum(tuples_removed) >= 1200 FROM sweep.runs WHERE command = 'CLEAN' AND relname = 'wide'", 'what it looked for is removed') or diag(sql($node, 'TABLE sweep.cleanings'));
unlike(slurp_file($node->logfile), qr/"sweep worker" \(PID \d+\) exited with exit code 1/, 'no worker has ended in an error');

# ---- nothing was damaged

my $has_amcheck = has_module($node, 'amcheck');
SKIP:
{
	skip 'this server lacks the contrib module amcheck', 2 unless $has_amcheck;
	is(sql($node, "SELECT count(bt_index_parent_check(c.oid, true, true)) FROM pg_class c WHERE relname ~ '^(changed|gone|wide)_'"), 5,
		'the indexes are whole');
	is(sql($node, "SELECT count(*) FROM (VALUES ('changed'), ('wide')) t (name), verify_heapam(t.name)"), 0, 'and the tables');
}
is(sql($node, 'SET enable_seqscan = off; SELECT count(*) FROM changed WHERE id > 0'), 40000, 'no row is missing');

# ---- a crash afterwards

sql($node, 'VACUUM changed');
# more than were counted at the last look
sql($node, 'UPDATE changed SET hits = 3 WHERE id % 50 = 8');
poll_ok($node, "SELECT reason LIKE '%rows removed in memory%' AND dead_tuples < 400 FROM sweep.cleanings WHERE relname = 'changed'",
	'rows are removed again');
$node->stop('immediate');
$node->start;
SKIP:
{
	skip 'this server lacks the contrib module amcheck', 1 unless $has_amcheck;
	is(sql($node, "SELECT count(bt_index_parent_check(c.oid, true, true)) FROM pg_class c WHERE relname ~ '^(changed|gone|wide)_'"), 5,
		'the indexes are whole after a crash');
}
is(sql($node, 'SET enable_indexscan = off; SET enable_bitmapscan = off; SELECT sum(hits) FROM changed')
	- sql($node, 'SET enable_seqscan = off; SELECT sum(hits) FROM changed WHERE id > 0'), 0, 'both ways find the same');

$node->stop;
done_testing();
