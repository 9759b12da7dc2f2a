# A table that grows by its part of the cache again and again is vacuumed each time, whatever
# sweep.min_interval says. What others have made all-visible without freezing it is frozen as
# well while it is in memory, and not read for that once it is not.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

# An eighth of shared_buffers is 512 pages, so what is inserted here stays in them. The shortest
# interval is left at its default of a minute, and the clock is the usual one.
my $node = sweep_node('follow', init => [ no_data_checksums => 1 ], conf => <<'END');
shared_buffers = 32MB
sweep.insert_cache_fraction = 0.125
sweep.min_interval = 60s
sweep.max_workers = 2
sweep.debug_clock_rate = 1
sweep.checkpoint_aware = off
checkpoint_timeout = 1h
END
my $file = $node->basedir . '/rows';
my $is_18 = major($node) >= 18;
my $inserted = 1000000;

need_modules($node, 'pg_visibility');
sql($node, "COPY (SELECT i, repeat('x', 80) FROM generate_series(1, 300000) i) TO '$file'");

sub runs_of { return sql($node, "SELECT count(*) FROM sweep.runs WHERE started_by = 'sweep' AND relname = '$_[0]'") }
sub map_of
{
	return sql($node,
		"SELECT count(*) FILTER (WHERE all_visible), count(*) FILTER (WHERE all_visible AND NOT all_frozen) FROM pg_visibility_map('$_[0]')");
}

# 18 knows in pg_class how much is frozen, and would find a table due at once.
sub forget_frozen
{
	sql($node, "UPDATE pg_class SET relallfrozen = 0 WHERE oid = '$_[0]'::regclass") if $is_18;
	return;
}

sub insert_pages
{
	my ($table, $pages) = @_;
	my $rows = int($pages * sql($node, "SELECT reltuples / relpages FROM pg_class WHERE oid = '$table'::regclass"));

	sql($node, "INSERT INTO $table SELECT $inserted + i, repeat('x', 80) FROM generate_series(1, $rows) i");
	$inserted += $rows;
	return;
}

# Makes a table that was vacuumed once and is all frozen.
sub frozen_table
{
	my ($table) = @_;

	sql($node, "BEGIN; CREATE TABLE $table (id int, pad text); COPY $table FROM '$file' WITH (FREEZE); COMMIT");
	poll_until($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = '$table' AND outcome = 'done'")
	  or die "$table was not vacuumed after it was loaded";
	sql($node, "ANALYZE $table");
	forget_frozen($table);
	return;
}

# ---- again and again

frozen_table('grows');
for my $nr (2 .. 4)
{
	insert_pages('grows', 700);
	poll_ok($node, "SELECT count(*) = $nr FROM sweep.runs WHERE relname = 'grows' AND started_by = 'sweep' AND outcome = 'done'",
		"700 new pages: vacuum $nr, within the shortest interval");
	forget_frozen('grows');
}
is(sql($node, q{SELECT max(ended_at) - min(ended_at) < '60 s' FROM sweep.runs WHERE relname = 'grows' AND started_by = 'sweep'}), 't', 'all of them were')
  or diag('this machine was too slow to tell');
is(sql($node, q{SELECT all_frozen >= 5700 FROM pg_visibility_map_summary('grows')}), 't', 'and everything is frozen');

# Fewer rows wait for the interval.
my $before = runs_of('grows');
insert_pages('grows', 300);
rounds($node, 8);
is(runs_of('grows'), $before, '300 new pages wait for it');
sql($node, 'DROP TABLE grows');

# ---- a partitioned table is analyzed when its partitions rest: ANALYZE would hold the horizon

frozen_table('leaf');
sql($node, 'CREATE TABLE parent (id int, pad text) PARTITION BY RANGE (id); ALTER TABLE parent ATTACH PARTITION leaf DEFAULT');
my $waits;
for (1 .. 10)
{
	insert_pages('leaf', 700);
	$waits = poll_until($node, q{SELECT count(*) = 1 FROM sweep.decisions WHERE relname = 'parent' AND decision = 'analyze later'}, timeout => 5);
	last if $waits;
}
ok($waits, 'a partition grows: ANALYZE of the partitioned table waits');
is(sql($node, q{SELECT count(*) FROM sweep.runs WHERE relname = 'parent'}), '0', 'and was not made');
poll_ok($node, q{SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'parent' AND command = 'ANALYZE' AND outcome = 'done'}, 'it rests: now it is');
sql($node, 'DROP TABLE parent');

# ---- somebody else has come first, and did not freeze

frozen_table('visible');
reload_with($node, 'sweep.mode' => 'observe');
rounds($node, 2);
insert_pages('visible', 600);
sql($node, 'VACUUM (FREEZE off) visible');
cmp_ok((split /\|/, map_of('visible'))[1], '>', 500, 'an ordinary vacuum has made new pages all-visible, and has not frozen them');
forget_frozen('visible');
reload_with($node, 'sweep.mode' => 'act');
insert_pages('visible', 600);
poll_ok($node, q{SELECT count(*) = 2 FROM sweep.runs WHERE relname = 'visible' AND started_by = 'sweep' AND outcome = 'done'}, 'it has grown: vacuumed');
is((split /\|/, map_of('visible'))[1], 0, 'what was all-visible is frozen as well');
cmp_ok(sql($node, q{SELECT blks_read FROM sweep.runs WHERE relname = 'visible' ORDER BY run_id DESC LIMIT 1}), '<', 100, 'in memory');

# ---- the same, but one of those pages is in use

reload_with($node, 'sweep.mode' => 'observe');
rounds($node, 2);
my $page = sql($node, q{SELECT pg_relation_size('visible') / 8192}) + 300;
insert_pages('visible', 600);
sql($node, 'VACUUM (FREEZE off) visible');
forget_frozen('visible');
my $reader = session($node);
$reader->query_safe("BEGIN; DECLARE c CURSOR FOR SELECT id FROM visible WHERE ctid >= '($page,1)'; FETCH 1 FROM c");
reload_with($node, 'sweep.mode' => 'act');
insert_pages('visible', 600);
poll_ok($node, q{SELECT count(*) > 0 FROM sweep.runs WHERE relname = 'visible' AND outcome = 'cancelled'},
	'it waits for a page that a cursor holds, and gives up');
poll_ok($node, q{SELECT count(*) = 3 FROM sweep.runs WHERE relname = 'visible' AND started_by = 'sweep' AND outcome = 'done'}, 'then it does without');
cmp_ok((split /\|/, map_of('visible'))[1], '>', 0, 'and leaves that page, at least');
$reader->query_safe('COMMIT');
$reader->quit;
sql($node, 'DROP TABLE visible');

# ---- the same, but they have left the memory

frozen_table('cold');
reload_with($node, 'sweep.mode' => 'observe');
rounds($node, 2);
insert_pages('cold', 600);
sql($node, 'VACUUM (FREEZE off) cold');
forget_frozen('cold');
$node->restart;
poll_until($node, 'SELECT rounds > 1 FROM sweep.status') or die 'the launcher does not come up';
reload_with($node, 'sweep.mode' => 'act');
insert_pages('cold', 600);
poll_ok($node, q{SELECT count(*) = 2 FROM sweep.runs WHERE relname = 'cold' AND started_by = 'sweep' AND outcome = 'done'},
	'pages that are all-visible are not in memory any more: vacuumed');
cmp_ok((split /\|/, map_of('cold'))[1], '>', 500, 'they stay as they are');
cmp_ok(sql($node, q{SELECT blks_read FROM sweep.runs WHERE relname = 'cold' ORDER BY run_id DESC LIMIT 1}), '<', 300, 'and are not read');

done_testing();
