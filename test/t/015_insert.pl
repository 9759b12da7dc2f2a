# Tables that rows are only inserted into are vacuumed while their new pages are in memory,
# before a checkpoint or when the inserts have ended. They are frozen as they go, and never at
# the expense of those who use them.

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

# A quarter of shared_buffers is 512 pages. By this clock a table has taken no more rows when
# none have come for 2.5 s. With checksums VACUUM freezes a page whenever that costs no more
# full-page images (16 on).
my $node = sweep_node('insert', init => [ no_data_checksums => 1 ], conf => <<'END');
shared_buffers = 16MB
sweep.debug_clock_rate = 2
sweep.min_interval = 1s
sweep.max_workers = 3
checkpoint_timeout = 30s
log_checkpoints = on
autovacuum_vacuum_cost_delay = 0
END
my $rows_per_page = 70;
my $file = $node->basedir . '/rows';
my $is_17 = major($node) >= 17;
my $is_18 = major($node) >= 18;

need_modules($node, 'pg_visibility');
sql($node, "COPY (SELECT i, repeat('x', 80), ARRAY[i % 100] FROM generate_series(1, 420000) i) TO '$file'");

sub runs_of { return sql($node, "SELECT count(*) FROM sweep.runs WHERE started_by = 'sweep' AND relname = '$_[0]'") }
sub pages_of { return sql($node, "SELECT pg_relation_size('$_[0]') / 8192") }

# PostgreSQL 18 knows in pg_class how much of a table is frozen, and its own threshold follows
# that. Without it the threshold is the same everywhere, a fifth of the table.
sub forget_frozen
{
	my ($table) = @_;

	sql($node, "UPDATE pg_class SET relallfrozen = 0 WHERE oid = '$table'::regclass") if $is_18;
	return;
}

# Makes a table of 6000 pages that was vacuumed once and is all frozen. Core would vacuum
# it again after 85,000 rows, or 1214 pages.
sub frozen_table
{
	my ($table, %args) = @_;

	sql($node, <<"END");
BEGIN;
CREATE TABLE $table (id int, pad text, tags int[]) WITH (@{[ $args{with} // 'fillfactor = 100' ]});
COPY $table FROM '$file' WITH (FREEZE);
@{[ $args{after} // '' ]};
COMMIT;
END
	poll_until($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = '$table' AND command = 'VACUUM' AND outcome = 'done'")
	  or die "$table was not vacuumed after it was loaded";
	# only one table is to wait for the checkpoint that begins meanwhile
	sql($node, "SELECT sweep.set('$table', 'checkpoint_aware', 'off')") unless $args{checkpoint_aware};

	# a vacuum that may skip all pages counts no rows
	sql($node, "ANALYZE $table");
	forget_frozen($table);
	return;
}

my $inserted = 1000000;

# Inserts as many rows as fill so many pages, in one transaction with what else there is to do.
sub insert_pages
{
	my ($table, $pages, $more) = @_;
	my $rows = int($pages * $rows_per_page);

	$more = $more->($inserted) if ref $more;
	sql($node, "BEGIN; INSERT INTO $table SELECT $inserted + i, repeat('x', 80), ARRAY[i % 100] FROM generate_series(1, $rows) i; " . ($more // '') . '; COMMIT');
	$inserted += $rows;
	return;
}

sub vacuumed_ok
{
	my ($table, $runs, $reason, $name) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my $ok = poll_ok($node,
		"SELECT count(*) = $runs AND bool_and(reason LIKE '$reason' AND outcome = 'done') FILTER (WHERE nr = 1)"
		  . " FROM (SELECT *, row_number() OVER (ORDER BY run_id DESC) AS nr FROM sweep.runs WHERE started_by = 'sweep' AND command = 'VACUUM' AND relname = '$table') r",
		$name);
	forget_frozen($table);
	return $ok;
}

# How many pages are there from that one on, and how many are all-visible and all-frozen?
sub map_from
{
	my ($table, $page) = @_;

	return split /\|/,
		sql($node, "SELECT count(*), count(*) FILTER (WHERE all_visible), count(*) FILTER (WHERE all_frozen) FROM pg_visibility_map('$table') WHERE blkno >= $page");
}

# ---- rows that trickle in all the time, for the checkpoint that begins after 30 s

frozen_table('trickle', checkpoint_aware => 1);
$rows_per_page = sql($node, q{SELECT floor(reltuples / relpages) FROM pg_class WHERE relname = 'trickle'});
append_to_file($node->basedir . '/trickle.sql', "INSERT INTO trickle SELECT i, repeat('x', 80), '{1}' FROM generate_series(1, 20) i;\n");
insert_pages('trickle', 140);
my $trickle = IPC::Run::start([ 'pgbench', '-n', '-h', $node->host, '-p', $node->port, '-R', '10', '-T', '300', '-f', $node->basedir . '/trickle.sql',
	'postgres' ],
	'>', '/dev/null', '2>', '/dev/null');
my $trickle_began = time;

# ---- rows that a snapshot may not see yet: once in vain, then not before it is gone

frozen_table('unseen');
my $snapshot = session($node);
$snapshot->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_class');
insert_pages('unseen', 520);
poll_ok($node, q{SELECT count(*) = 1 FROM sweep.decisions WHERE relname = 'unseen' AND decision = 'held back'},
	'new rows that nobody may see yet: their vacuum was in vain, and the table is held back');
my $in_vain = runs_of('unseen');
insert_pages('unseen', 520);
rounds($node, 8);
is(runs_of('unseen'), $in_vain, 'it is not vacuumed again as long as the snapshot is there');
$snapshot->query_safe('COMMIT');
$snapshot->quit;
poll_ok($node, "SELECT count(*) > $in_vain FROM sweep.runs WHERE started_by = 'sweep' AND relname = 'unseen'", 'when it is gone it is');
poll_ok($node, q{SELECT all_visible > 6500 FROM pg_visibility_map_summary('unseen')}, 'and all is all-visible');
sql($node, 'DROP TABLE unseen');

# ---- more than the cache holds: at once

frozen_table('cached');
my $pages = pages_of('cached');
my $rolled_back = int(500 * $rows_per_page);
insert_pages('cached', 520, "SAVEPOINT a; INSERT INTO cached SELECT i, repeat('x', 80), '{1}' FROM generate_series(1, $rolled_back) i; ROLLBACK TO a");
vacuumed_ok('cached', 2, 'inserted tuples %', 'more new pages than a quarter of shared_buffers: vacuumed');
my $core = sql($node, q{SELECT 1000 + 0.2 * reltuples FROM pg_class WHERE relname = 'cached'});
my ($new, $visible, $frozen) = map_from('cached', $pages);
# it is 1020, less what the bulk extension of 16 and later had left over at the end
cmp_ok($new, '>=', 900, 'the file was not cut, though its last 500 pages are empty');
is("$visible|$frozen", "$new|$new", 'all new pages are all-visible and all-frozen');
cmp_ok(sql($node, q{SELECT substring(reason, '> (\d+)')::int FROM sweep.runs WHERE relname = 'cached' AND started_by = 'sweep' ORDER BY run_id DESC LIMIT 1}),
	'<', 0.5 * $core, 'long before core\'s threshold');
sql($node, 'VACUUM cached');
cmp_ok(pages_of('cached'), '<', $pages + 600, 'a vacuum by hand cuts it');
sql($node, 'DROP TABLE cached');

# ---- fewer, and then no more

my ($ended, $vacuumed_early, $last_insert);
for my $try (1 .. 3)
{
	$ended = "ended$try";
	frozen_table($ended);
	$pages = pages_of($ended);
	insert_pages($ended, 140);
	my ($until, $before, $pause) = (time + 5, time, 0);
	$vacuumed_early = 0;
	while (time < $until)
	{
		$last_insert = sql($node, 'SELECT now()');
		insert_pages($ended, 1);
		$pause = time - $before if time - $before > $pause;
		$before = time;
		$vacuumed_early = 1 if runs_of($ended) != 1;
		usleep(100_000);
	}
	last if !$vacuumed_early || $pause < 1.5;    # else they had ended: this test was stopped
	sql($node, "DROP TABLE $ended");
}
is($vacuumed_early, 0, 'as long as rows are inserted nothing happens');
vacuumed_ok($ended, 2, 'inserts have ended after %', 'when no more come, it is vacuumed');
is(sql($node, "SELECT bool_and(started_at - '$last_insert' BETWEEN '1 s' AND '@{[ within(10) ]} s') FROM sweep.runs"
	  . " WHERE relname = '$ended' AND reason LIKE 'inserts have ended%'"),
	't', 'within seconds, but not at once');
($new, $visible, $frozen) = map_from($ended, $pages);
is("$visible|$frozen", "$new|$new", 'all new pages are all-visible and all-frozen');

insert_pages($ended, 100);
poll_until($node, "SELECT n_ins_since_vacuum >= 100 * $rows_per_page - 1 FROM pg_stat_all_tables WHERE relname = '$ended'");
rounds($node, 2);
sql($node, "SELECT sweep.set('$ended', 'checkpoint_aware', 'off')");    # a worker looks
poll_ok($node,
	"SELECT count(*) = 1 FROM sweep.decisions WHERE relname = '$ended' AND decision = 'below threshold' AND ins_since_vacuum >= 100 * $rows_per_page - 1",
	'fewer than 128 pages: not worth it');
rounds($node, 7);
is(runs_of($ended), '2', 'nor when the inserts have ended');
sql($node, "DROP TABLE $ended");

# ---- each rule can be switched off

frozen_table('switched');
$core = sql($node, q{SELECT 1000 + 0.2 * reltuples FROM pg_class WHERE relname = 'switched'});

reload_with($node, 'sweep.insert_cache_fraction' => 0);
rounds($node, 2);
insert_pages('switched', 600);
vacuumed_ok('switched', 2, 'inserts have ended after %',
	'insert_cache_fraction = 0: 600 pages are not too many, but when the inserts have ended they are vacuumed');
cmp_ok(sql($node, q{SELECT next_ins_since_vacuum FROM sweep.decisions WHERE relname = 'switched'}), '>=', $is_18 ? 1000 : $core - 10,
	'or when core would have come');
reload_with($node, 'sweep.insert_cache_fraction' => 0.25);

reload_with($node, 'sweep.eager_freeze' => 'off');
rounds($node, 2);
$pages = pages_of('switched');
insert_pages('switched', 600);
vacuumed_ok('switched', 3, 'inserted tuples %', 'eager_freeze = off: vacuumed');
($new, $visible, $frozen) = map_from('switched', $pages + 1);
is("$visible|$frozen", "$new|0", 'but not frozen');
reload_with($node, 'sweep.eager_freeze' => 'on');
sql($node, 'DROP TABLE switched');

# ---- frozen as long as next to nothing is updated

frozen_table('updated');
for my $case ([ 0.1, 0, '10 % updated: not frozen' ], [ 0.03, 0, '3 %, after 10 %: not yet' ],
	[ 0.005, 1, '0.5 %: frozen again' ], [ 0.03, 1, '3 %, after 0.5 %: still' ])
{
	my ($share, $eager, $name) = @$case;
	my $runs = runs_of('updated');
	my $rows = int(600 * $rows_per_page * $share);

	$pages = pages_of('updated');
	insert_pages('updated', 600, sub { "UPDATE updated SET id = -1 WHERE id > $_[0] AND id <= $_[0] + $rows" });
	vacuumed_ok('updated', $runs + 1, '%', "$name: vacuumed");
	($new, $visible, $frozen) = map_from('updated', $pages + 1);
	cmp_ok($visible, '>=', 0.95 * $new, "$name: all-visible");
	cmp_ok($frozen, $eager ? '>=' : '<=', ($eager ? 0.95 : 0.3) * $new, $name);
}
sql($node, 'DROP TABLE updated');

# ---- a table's own freeze age wins

frozen_table('own', with => 'autovacuum_freeze_min_age = 1000000');
$pages = pages_of('own');
insert_pages('own', 600);
vacuumed_ok('own', 2, 'inserted tuples %', 'autovacuum_freeze_min_age of the table: vacuumed');
($new, $visible, $frozen) = map_from('own', $pages + 1);
is("$visible|$frozen", "$new|0", 'and not frozen');
sql($node, 'DROP TABLE own');

# ---- a cursor that holds a page

frozen_table('held');
$pages = pages_of('held');
reload_with($node, 'sweep.mode' => 'observe');
rounds($node, 2);
insert_pages('held', 600);
my $reader = session($node);
my $page = $pages + 300;
$reader->query_safe("BEGIN; DECLARE c CURSOR FOR SELECT id FROM held WHERE ctid >= '($page,1)'; FETCH 1 FROM c");
reload_with($node, 'sweep.mode' => 'act');
vacuumed_ok('held', 2, 'inserted tuples %', 'a cursor holds one of the new pages: vacuumed all the same');
is(sql($node, q{SELECT ended_at - started_at < '5 s' FROM sweep.runs WHERE relname = 'held' ORDER BY run_id DESC LIMIT 1}), 't', 'at once');
# from 17 on a scan may hold the page that it reads ahead, too
like(sql($node, "SELECT string_agg(blkno::text, ' ' ORDER BY blkno) FROM pg_visibility_map('held') WHERE NOT all_frozen"),
	$is_17 ? qr/^$page( @{[ $page + 1 ]})?$/ : qr/^$page$/, 'and all but that page are frozen');
$reader->query_safe('COMMIT');
$reader->quit;
sql($node, 'DROP TABLE held');

# ---- a table that is locked does not hold up the others

frozen_table('locked');
my $locker = session($node);
$locker->query_safe(<<"END");
BEGIN;
INSERT INTO locked SELECT i, repeat('x', 80), '{1}' FROM generate_series(1, 25000) i;
COMMIT;
SELECT pg_stat_force_next_flush();
BEGIN;
LOCK TABLE locked;
END
garbage($node, 'postgres', 'other', rows => 2000, dead => 1500);
poll_ok($node, q{SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'other'}, 'another table is vacuumed while this one is locked', timeout => within(5));
is(sql($node, q{SELECT count(*) FROM pg_locks WHERE relation = 'locked'::regclass AND NOT granted}), '0', 'nobody waits for the lock');
$locker->query_safe('COMMIT');
$locker->quit;
sql($node, 'DROP TABLE locked');

# ---- an index that is read whole at each cleanup

SKIP:
{
	skip 'this server lacks the contrib module pgstattuple', 13 unless has_module($node, 'pgstattuple');
	frozen_table('searched', after => 'CREATE INDEX searched_tags ON searched USING gin (tags) WITH (gin_pending_list_limit = 8192)');
	my $pending = q{SELECT pending_tuples FROM pgstatginindex('searched_tags')};

	insert_pages('searched', 600);
	vacuumed_ok('searched', 2, 'inserted tuples %', 'a table with a GIN index is vacuumed');
	cmp_ok(sql($node, $pending), '>', 30000, 'but its pending list is left alone');
	insert_pages('searched', 1100);
	vacuumed_ok('searched', 3, 'inserted tuples %', 'as many rows as autovacuum would have come by for');
	poll_ok($node, "SELECT 0 = ($pending)", 'it is emptied then');
	poll_ok($node, q{SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'searched' AND command = 'CLEAN' AND outcome = 'done' AND reason LIKE 'pending lists%'},
		'... without a vacuum of the index');
	sql($node, 'UPDATE searched SET tags = tags WHERE id % 10000 < 300');
	insert_pages('searched', 2200);
	poll_ok($node, q{SELECT index_pass = 1 FROM sweep.runs WHERE relname = 'searched' AND command = 'VACUUM' ORDER BY run_id DESC LIMIT 1},
		'where rows have been updated, dead entries are removed as often');
	vacuumed_ok('searched', 4, 'inserted tuples %', 'by the same vacuum');
	sql($node, 'CREATE INDEX ON searched USING brin (id)');
	insert_pages('searched', 600);
	vacuumed_ok('searched', 5, 'inserted tuples %', 'it has a BRIN index now');
	cmp_ok(sql($node, $pending), '>', 30000, 'that makes it no more often');
	insert_pages('searched', 2200);
	vacuumed_ok('searched', 6, 'inserted tuples %', 'vacuumed again');
	is(sql($node, $pending), '0', 'as often as autovacuum would have come by');
	sql($node, 'ALTER TABLE searched SET (vacuum_index_cleanup = on)');
	insert_pages('searched', 600);
	vacuumed_ok('searched', 7, 'inserted tuples %', 'its owner wants its indexes cleaned up each time');
	is(sql($node, $pending), '0', '... which is obeyed');
	sql($node, 'DROP TABLE searched');
}

# ---- the trickle, and a checkpoint

my $near = q{FROM sweep.runs WHERE relname = 'trickle' AND started_by = 'sweep' AND reason ~ '^\d+ tuples inserted before a checkpoint'};
if (sql($node, "SELECT count(*) $near") == 0)    # pgbench was stopped for seconds: its inserts had ended
{
	forget_frozen('trickle');
	insert_pages('trickle', 140);
}
poll_ok($node, "SELECT count(*) >= 1 $near", 'rows trickle in: vacuumed, because a checkpoint was near');
my $started = sql($node, "SELECT min(started_at) $near");
my $ahead = '';
my $until = time + within(10);
my $late = within(1);	# on a busy machine the checkpoint may begin first
while ($ahead eq '' && time < $until)
{
	$ahead = sql($node, "SELECT min(EXTRACT(epoch FROM at - '$started'::timestamptz)) FROM unnest('{"
		  . join(',', map { "\"$_\"" } log_since($node) =~ /^(\S+ \S+ \S+) .*LOG:  checkpoint starting: time/mg)
		  . "}'::timestamptz[]) at WHERE at > '$started'::timestamptz - interval '$late s'");
	usleep(50_000);
}
note("it began $ahead s ahead of the checkpoint, " . (time - $trickle_began) . ' s after the trickle did');
cmp_ok($ahead eq '' ? 9999 : $ahead, '<', within(3), 'which came seconds later');
note(sql($node, q{SELECT string_agg(cost || ' for ' || reason, '; ') FROM sweep.runs WHERE relname = 'trickle' AND started_by = 'sweep'}));
$trickle->kill_kill;
forget_frozen('trickle');

# ---- switched off: no heed is paid to one. The next is brought about by WAL.

sub checkpoint_by_wal
{
	my $offset = log_size($node);

	reload_with($node, max_wal_size => '32MB');
	for (1 .. 600)
	{
		sql($node, q{SELECT pg_logical_emit_message(false, 'test', repeat('x', 500000)); INSERT INTO trickle VALUES (1, '', '{}')});
		last if log_since($node, $offset) =~ /checkpoint starting: wal/;
		usleep(100_000);
	}
	reload_with($node, max_wal_size => '1GB');
	die 'no checkpoint began' if log_since($node, $offset) !~ /checkpoint starting: wal/;
	return;
}

reload_with($node, 'sweep.checkpoint_aware' => 'off');
rounds($node, 2);
my $runs = sql($node, "SELECT count(*) $near");
insert_pages('trickle', 140);
checkpoint_by_wal();
is(sql($node, "SELECT count(*) $near"), $runs, 'checkpoint_aware = off: not vacuumed before it');
reload_with($node, 'sweep.checkpoint_aware' => 'on');

# It is a guess when that much WAL will have been written. If one is missed, others follow.
for (1 .. 12)
{
	forget_frozen('trickle');
	insert_pages('trickle', 140);
	checkpoint_by_wal();
	last if sql($node, "SELECT count(*) $near") > $runs;
}
poll_ok($node, "SELECT count(*) > $runs $near", 'checkpoint_aware = on: vacuumed before it');
forget_frozen('trickle');

# ---- vacuums that cost more than they save come less often

# the decision is put after the run is recorded
poll_ok($node, q{SELECT last_at >= (SELECT max(ended_at) FROM sweep.runs WHERE relname = 'trickle') FROM sweep.decisions WHERE relname = 'trickle'},
	'the last vacuum is decided about');
$pages = sql($node, q{SELECT next_ins_since_vacuum FROM sweep.decisions WHERE relname = 'trickle'});
reload_with($node, vacuum_cost_page_hit => 1000);
rounds($node, 2);
$runs = runs_of('trickle');
# Earlier ones may have been dear already. So many rows are enough for core itself.
insert_pages('trickle', 1300);
vacuumed_ok('trickle', $runs + 1, 'inserted tuples %', 'dear: vacuumed');
SKIP:
{
	skip 'core itself comes after 1000 rows of a frozen table', 1 if $is_18;
	poll_ok($node, "SELECT next_ins_since_vacuum >= least(1.9 * $pages, 80000) FROM sweep.decisions WHERE relname = 'trickle'", 'and not again before twice as many rows');
}

$node->stop;
done_testing();
