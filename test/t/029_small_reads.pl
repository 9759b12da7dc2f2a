# Beside users a vacuum of ours reads in small pieces, where the server reads several pages
# at once (17 on) and tells how large its reads were (18 on). It also has a small ring, so
# that it soon waits for its WAL.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

my $node = sweep_node('reads', conf => "shared_buffers = 64MB\nsweep.adaptive = on\n");
plan skip_all => 'pg_stat_io has the size of reads from 18 on' if sql($node, "SELECT current_setting('server_version_num')::int < 180000") eq 't';

sql($node, <<'END');
CREATE TABLE large (id int, pad text) WITH (autovacuum_enabled = false);
INSERT INTO large SELECT i, repeat('x', 1500) FROM generate_series(1, 80000) i;
DELETE FROM large WHERE id % 20 = 0;
CHECKPOINT;
END

# Average bytes of a read by our vacuums, after one of a table larger than shared_buffers.
sub read_size
{
	my ($runs) = @_;

	$node->restart;				# nothing of the table is in shared_buffers, which would divide the reads
	sql($node, "SELECT pg_stat_reset_shared('io')");
	sql($node, "SELECT sweep.vacuum('large')");
	poll_ok($node, "SELECT count(*) = $runs FROM sweep.runs WHERE relname = 'large' AND outcome = 'done'", 'vacuumed', timeout => 240);
	return poll_value($node, "SELECT (read_bytes / reads)::bigint FROM pg_stat_io WHERE backend_type = 'background worker' AND context = 'vacuum'"
		  . " AND object = 'relation' AND reads > 50");
}

# Pages that took another buffer than one of the vacuum's own: these make its ring.
sub ring_pages
{
	return sql($node, "SELECT (read_bytes / 8192 - reuses)::bigint FROM pg_stat_io WHERE backend_type = 'background worker'"
		  . " AND context = 'vacuum' AND object = 'relation' AND reads > 50");
}

reload_with($node, 'sweep.mode' => 'act');
my $bytes = read_size(1);
cmp_ok($bytes, '<=', 32768, "adaptive: small reads ($bytes)");
my $pages = ring_pages();
cmp_ok($pages, '<=', 64, "adaptive: a small ring ($pages pages)");
sql($node, 'DELETE FROM large WHERE id % 20 = 1');
reload_with($node, 'sweep.adaptive' => 'off');
$bytes = read_size(2);
cmp_ok($bytes, '>', 65536, "not adaptive: as the server is set ($bytes)");
$pages = ring_pages();
cmp_ok($pages, '>', 128, "not adaptive: as the server is set ($pages pages)");

done_testing();
