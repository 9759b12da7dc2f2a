# A growing table is followed whatever happens to it: a row that cannot be removed yet, a load
# that is frozen already, a lock, autovacuum's own vacuum, dead rows beside the new ones, many
# tables at once. Who comes too late says so, and is in time again the next time.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

# An eighth of shared_buffers is 512 pages. The shortest interval is longer than this test, and
# the clock is the usual one. autovacuum is off, so nobody helps.
my $node = sweep_node('late', init => [ no_data_checksums => 1 ], conf => <<'END');
shared_buffers = 32MB
autovacuum = off
sweep.insert_cache_fraction = 0.125
sweep.min_interval = 1h
sweep.max_workers = 2
sweep.debug_clock_rate = 1
sweep.checkpoint_aware = off
checkpoint_timeout = 1h
max_worker_processes = 16
END
my $file = $node->basedir . '/rows';
my $is_18 = major($node) >= 18;
my $inserted = 1000000;

sql($node, "COPY (SELECT i, repeat('x', 80) FROM generate_series(1, 300000) i) TO '$file'");

# 18 knows in pg_class how much is frozen, and would find a table due at once.
sub forget_frozen
{
	sql($node, "UPDATE pg_class SET relallfrozen = 0 WHERE oid = '$_[0]'::regclass") if $is_18;
	return;
}

sub insert_pages
{
	my ($table, $pages) = @_;
	my $rows = $pages * 70;

	sql($node, "INSERT INTO $table SELECT $inserted + i, repeat('x', 80) FROM generate_series(1, $rows) i");
	$inserted += $rows;
	return;
}

sub frozen_table
{
	my ($table, $index) = @_;

	sql($node, "BEGIN; CREATE TABLE $table (id int, pad text); COPY $table FROM '$file' WITH (FREEZE); CREATE INDEX ON $table (id) $index; COMMIT");
	poll_until($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = '$table' AND outcome = 'done'")
	  or die "$table was not vacuumed after it was loaded";
	forget_frozen($table);
	return;
}

sub done_is
{
	my ($table, $count, $name) = @_;
	my $ok = poll_ok($node, "SELECT count(*) = $count FROM sweep.runs WHERE relname = '$table' AND started_by = 'sweep' AND outcome = 'done'", $name);

	diag(sql($node, "SELECT * FROM sweep.decisions WHERE relname = '$table'")) unless $ok;
	forget_frozen($table);
	return $ok;
}

sub decision { return sql($node, "SELECT $_[1] FROM sweep.decisions WHERE relname = '$_[0]'") }

# ---- the load was frozen and all-visible, so the first vacuum makes nothing visible

frozen_table('loaded', '');
is(decision('loaded', 'decision'), 'vacuumed', 'after COPY (FREEZE): its vacuum was not in vain');
insert_pages('loaded', 700);
done_is('loaded', 2, 'and its new pages are followed');
is(decision('loaded', 'growing'), 't', 'it is said to grow');
is(decision('loaded', 'late_since IS NULL'), 't', 'and to be in time');
is(sql($node, q{SELECT cause FROM sweep.explain('loaded') WHERE cause LIKE 'it grows%'}),
	'it grows, and its new pages are vacuumed while they are in the cache', 'explain says so, too');

# ---- rows that no vacuum has read are taken for none by 17 and later

sql($node, "BEGIN; CREATE TABLE unread (id int PRIMARY KEY, pad text); COPY unread FROM PROGRAM 'head -n 70003 $file' WITH (FREEZE); COMMIT");
done_is('unread', 1, 'nobody has analyzed it');
insert_pages('unread', 700);
done_is('unread', 2, 'its new pages are followed');
insert_pages('unread', 300);
rounds($node, 10);
done_is('unread', 2, 'but a few pages are left, though pg_class knows too few rows');
sql($node, 'DROP TABLE unread');

# ---- a row that cannot be removed yet

my $reader = session($node);
$reader->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
sql($node, 'DELETE FROM loaded WHERE id = 7');
insert_pages('loaded', 700);
done_is('loaded', 3, 'somebody may still see a deleted row: vacuumed');
is(decision('loaded', 'decision'), 'held back', 'and held back');
insert_pages('loaded', 700);
rounds($node, 4);
done_is('loaded', 3, 'nobody vacuums pages that nobody may make visible');
$reader->query_safe('COMMIT');
$reader->quit;
done_is('loaded', 4, 'once the horizon has passed them they are vacuumed, within the shortest interval');

# ---- a lock such as VALIDATE CONSTRAINT takes

my $locker = session($node);
$locker->query_safe('BEGIN; LOCK TABLE loaded IN SHARE UPDATE EXCLUSIVE MODE');
insert_pages('loaded', 700);
poll_ok($node, q{SELECT decision = 'locked' AND times >= 4 FROM sweep.decisions WHERE relname = 'loaded'}, 'its lock is not free');
cmp_ok(decision('loaded', 'extract(epoch FROM not_before - last_at)'), '<=', 1, 'it is tried again every second');
$locker->query_safe('COMMIT');
$locker->quit;
done_is('loaded', 5, 'and vacuumed then');

# ---- rows that come while a vacuum runs are not in its counter

my $other = session($node);
my $pid = $other->query_safe('SELECT pg_backend_pid()');
$other->query_safe('SET vacuum_cost_delay = 100; SET vacuum_cost_limit = 1');
sql($node, 'SELECT sweep.hold(\'1 h\')');
insert_pages('loaded', 100);
$other->query_until(qr/begun/, "\\echo begun\nVACUUM loaded;\n");
poll_until($node, "SELECT count(*) = 1 FROM pg_stat_progress_vacuum WHERE pid = $pid AND phase = 'scanning heap'") or die 'no VACUUM';
insert_pages('loaded', 1500);
poll_until($node, q{SELECT n_ins_since_vacuum >= 100000 FROM pg_stat_user_tables WHERE relname = 'loaded'}) or die 'nothing was reported';
sql($node, "SELECT sweep.hurry($pid)");
poll_until($node, "SELECT count(*) = 0 FROM pg_stat_progress_vacuum WHERE pid = $pid") or die 'VACUUM does not end';
cmp_ok(sql($node, q{SELECT n_ins_since_vacuum FROM pg_stat_user_tables WHERE relname = 'loaded'}), '<', 10000,
	"another vacuum has ended, and with it what was inserted meanwhile is forgotten");
sql($node, 'SELECT sweep.hold(\'0\')');
forget_frozen('loaded');
insert_pages('loaded', 30);
done_is('loaded', 6, 'but not by pg_sweep');
$other->quit;

# ---- dead items whose index is left out are not read for ever

frozen_table('mixed', 'WHERE id < 300');
frozen_table('rubbish', '');
sql($node, 'DELETE FROM mixed WHERE id % 7000 = 0');
my $passes = 0;
for my $nr (2 .. 6)
{
	insert_pages('mixed', 700);
	done_is('mixed', $nr, "new pages beside dead rows: vacuum $nr");
	$passes = sql($node, q{SELECT coalesce(sum(index_pass), 0) FROM sweep.runs WHERE relname = 'mixed'});
	last if $passes > 0;
	# what is old leaves the memory
	sql($node, 'SET synchronize_seqscans = off; SELECT count(*) FROM rubbish; SELECT count(*) FROM loaded; UPDATE rubbish SET pad = pad WHERE id < 100000');
}
cmp_ok($passes, '>=', 1, 'the index is vacuumed once that is cheaper than to read their pages again');

# ---- the new pages of all tables share the cache

sql($node, 'DROP TABLE mixed, rubbish');
for my $i (1 .. 8)
{
	sql($node, "BEGIN; CREATE TABLE part$i (id int, pad text); COPY part$i FROM PROGRAM 'head -n 70000 $file' WITH (FREEZE); CREATE INDEX ON part$i (id); COMMIT");
}
poll_until($node, q{SELECT count(DISTINCT relname) = 8 FROM sweep.runs WHERE relname LIKE 'part%' AND outcome = 'done'}) or die 'not vacuumed';
forget_frozen("part$_") for 1 .. 8;
# in one transaction, or the first few would be too many already, and the last few not
sql($node, join('; ', 'BEGIN', (map { "INSERT INTO part$_ SELECT i, repeat('x', 80) FROM generate_series(1, 140 * 70) i" } 1 .. 8), 'COMMIT'));
poll_ok($node, q{SELECT count(*) = 8 FROM (SELECT relname FROM sweep.runs WHERE relname LIKE 'part%' AND outcome = 'done'
	GROUP BY relname HAVING count(*) >= 2) r}, '140 new pages in each of eight tables are too many together')
  or diag(sql($node, q{SELECT relname, ins_since_vacuum, decision, reason FROM sweep.decisions WHERE relname LIKE 'part%'}));

# ---- who is late says so

is(status($node, 'late_tables'), '0', 'no table is late');
my $late = status($node, 'late_pages');
reload_with($node, 'sweep.mode' => 'observe');
insert_pages('loaded', 3000);
$node->restart;
poll_until($node, 'SELECT rounds > 1 FROM sweep.status') or die 'the launcher does not come up';
reload_with($node, 'sweep.mode' => 'act');
insert_pages('loaded', 500);
done_is('loaded', 7, 'a restart, after which new pages are not in memory: vacuumed');
is(decision('loaded', 'late_since IS NOT NULL'), 't', 'it was too late');
cmp_ok(decision('loaded', 'late_pages'), '>', 1000, 'pages had left the cache');
is(status($node, 'late_tables'), '1', 'the status counts the table, which has no new rows now');
cmp_ok(status($node, 'late_pages'), '>', 1000, 'and the pages');
like(sql($node, q{SELECT cause FROM sweep.explain('loaded') WHERE cause LIKE '%too late%'}), qr/new pages have left the cache/, 'explain has the cause');
insert_pages('loaded', 700);
done_is('loaded', 8, 'the next one');
is(decision('loaded', 'late_since IS NULL'), 't', 'is in time again');
is(status($node, 'late_tables'), '0', 'and no table is late');

done_testing();
