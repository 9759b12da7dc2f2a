# Short vacuums follow each other, each over before the governor has looked at it twice. What
# they move is counted.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

my $tables = 40;
my $node = sweep_node('short', conf => <<'END');
sweep.adaptive = on
sweep.max_workers = 1
shared_buffers = 256MB
END

# 250 pages each, all with garbage, and in WAL whole when they are vacuumed.
sql($node, "SELECT sweep.hold('1 h')");
sql($node, <<"END") for 1 .. $tables;
CREATE TABLE short$_ (id int, pad text) WITH (autovacuum_vacuum_threshold = 100, autovacuum_vacuum_scale_factor = 0);
ALTER TABLE short$_ ALTER pad SET STORAGE PLAIN;
BEGIN;
INSERT INTO short$_ SELECT i, repeat('x', 1900) FROM generate_series(1, 1000) i;
DELETE FROM short$_ WHERE id % 4 = 0;
COMMIT;
END
sql($node, 'SELECT pg_stat_force_next_flush()');
sql($node, 'CHECKPOINT');
my $begin = sql($node, 'SELECT clock_timestamp()');
sql($node, "SELECT sweep.hold('0')");

my $vacuums = "FROM sweep.runs WHERE relname LIKE 'short%' AND command = 'VACUUM' AND outcome = 'done' AND started_at >= '$begin'";
poll_ok($node, "SELECT count(DISTINCT relname) = $tables $vacuums", 'all are vacuumed');
my $moved = sql($node, "SELECT sum((blks_read + blks_dirtied) * 8192 + wal_bytes) / 1048576 $vacuums");
cmp_ok($moved, '>', 2 * $tables, 'each page is written and logged');

# Of each step the rates are those since the one before.
my $counted = sql($node, <<"END");
SELECT coalesce(sum((read_mb_per_s + dirty_mb_per_s + wal_mb_per_s) * s), 0)
FROM (SELECT *, extract(epoch FROM at - lag(at) OVER (ORDER BY at)) AS s FROM sweep.governor WHERE at >= '$begin') AS step
END
note(sprintf('%.0f MB were moved, %.0f counted', $moved, $counted));
cmp_ok($counted, '>', 0.6 * $moved, 'the governor has counted it');
cmp_ok($counted, '<', 1.5 * $moved, '... once');

$node->stop;
done_testing();
