# Pages that are about to leave the cache are looked at first: those behind the hand of the
# clock sweep. All others have their turn as well.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

# Nobody but the test writes pages. A pass looks at 1,000 buffers of 8,192.
my $per_pass = 1000;
my $node = sweep_node('clean_hand', conf => <<'END');
sweep.cleaner = on
sweep.cleaner_naptime = 1s
sweep.debug_clock_rate = 10
sweep.cleaner_scan_rate = 100
sweep.min_interval = 1h
autovacuum_vacuum_cost_delay = 0
autovacuum_vacuum_threshold = 100000000
shared_buffers = 64MB
checkpoint_timeout = 1d
max_wal_size = 10GB
bgwriter_lru_maxpages = 0
END

need_modules($node, 'pg_prewarm', 'pg_buffercache');
sql($node, 'CREATE TABLE filler AS SELECT i AS id, repeat(\'x\', 1900) AS pad FROM generate_series(1, 80000) i');
for my $table ('behind', 'ahead')
{
	sql($node, <<"END");
CREATE TABLE $table (id int, hits int DEFAULT 0, pad text);
INSERT INTO $table SELECT i, 0, repeat('x', 1900) FROM generate_series(1, 40000) i;
CREATE INDEX ${table}_id ON $table (id);
END
	sql($node, "VACUUM (FREEZE, ANALYZE) $table");
}
$node->restart;

# A first look has seen how fast garbage comes.
for my $table ('behind', 'ahead')
{
	sql($node, "UPDATE $table SET hits = hits + 1 WHERE id > 39900");
	poll_ok($node, "SELECT count(*) = 1 FROM sweep.cleanings WHERE relname = '$table' AND decision = 'watched'", "$table is watched");
}

# ---- where pages are is arranged

my $next_filler = 0;

# Pages of a table come into the cache, one after the other.
sub load
{
	my ($table, $first, $count) = @_;

	sql($node, "SELECT pg_prewarm('$table', 'buffer', 'main', $first, " . ($first + $count - 1) . ')');
	return;
}

sub fill
{
	my ($count) = @_;

	load('filler', $next_filler, $count);
	$next_filler += $count;
	return;
}

# The buffer that was taken last. The hand is behind it.
sub hand
{
	return sql($node, "SELECT bufferid FROM pg_buffercache WHERE relfilenode = pg_relation_filenode('filler') AND relblocknumber = "
		  . ($next_filler - 1));
}

sub first_buffer
{
	my ($table) = @_;

	return sql($node, "SELECT min(bufferid) FROM pg_buffercache WHERE relfilenode = pg_relation_filenode('$table') AND relblocknumber = 100");
}

fill(1000);
load('behind', 100, 300);
# what is used often stays when the hand comes by
load('behind', 100, 300) for 1 .. 4;
fill(2000);
load('ahead', 100, 300);
my $ahead = first_buffer('ahead');
# until no buffer is free, and the hand has gone round
fill(500) while sql($node, 'SELECT count(*) > 500 FROM pg_buffercache WHERE relfilenode IS NULL') eq 't';
fill(100) while hand() > $ahead || hand() < $ahead - 350;
note('the hand is at ' . hand() . ", the pages are at $ahead and " . first_buffer('behind'));
cmp_ok(first_buffer('behind'), '>', $per_pass, 'one table is where a pass from the beginning would not come to at once');
cmp_ok(first_buffer('behind') + $per_pass, '<', $ahead, 'and long before the other');

# ---- rows die in both at once

sql($node, <<'END');
SELECT sweep.hold('1 h');
BEGIN;
UPDATE behind SET hits = 1 WHERE id > 420 AND id <= 1200 AND id % 4 = 1;
UPDATE ahead SET hits = 1 WHERE id > 420 AND id <= 1200 AND id % 4 = 1;
COMMIT;
END
poll_ok($node, "SELECT count(*) = 2 FROM pg_stat_user_tables WHERE relname IN ('ahead', 'behind') AND n_dead_tup >= 195",
	'both have dead rows');
sql($node, "SELECT sweep.hold('0')");
for my $table ('ahead', 'behind')
{
	poll_ok($node, "SELECT sum(tuples_removed) >= 150 FROM sweep.runs WHERE command = 'CLEAN' AND relname = '$table'",
		"$table: they are removed") or diag(sql($node, 'TABLE sweep.cleanings'));
}
is(sql($node, "SELECT relname FROM sweep.runs WHERE command = 'CLEAN' AND tuples_removed >= 20 ORDER BY run_id LIMIT 1"), 'ahead',
	'what is about to leave the cache came first')
  or diag(sql($node, "SELECT run_id, relname, reason, tuples_removed FROM sweep.runs WHERE command = 'CLEAN' ORDER BY run_id"));

$node->stop;
done_testing();
