# What was done, or is to be done, without anybody hearing of it.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

my $node = sweep_node('silent', conf => "sweep.naptime = 100ms\n");

# ---- a partitioned table of which nothing is counted, as after pg_upgrade

sql($node, <<'END');
SET track_counts = off;
CREATE TABLE upgraded (id int) PARTITION BY RANGE (id);
CREATE TABLE upgraded_leaf PARTITION OF upgraded DEFAULT;
INSERT INTO upgraded SELECT generate_series(1, 1000);
END
is(sql($node, q{SELECT reltuples, relpages FROM pg_class WHERE relname = 'upgraded_leaf'}), '-1|0', 'nobody has counted the rows of a partition');
sql($node, 'SELECT pg_stat_reset()');
garbage($node, 'postgres', 'canary');
# whoever changes a setting asks for a survey, and only a survey looks at partitioned tables
sql($node, q{SELECT sweep.set('canary', 'min_interval', '3s')});
poll_ok($node, q{SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'upgraded' AND command = 'ANALYZE' AND outcome = 'done'}, 'its table is analyzed all the same');

# ---- sweep.mode = off ends a vacuum

slow_table($node, 'postgres', 'slow', pages => 1000);
poll_ok($node, q{SELECT count(*) = 1 FROM sweep.progress WHERE relname = 'slow' AND blks_dirtied > 0}, 'a table is vacuumed');
reload_with($node, 'sweep.mode' => 'off');
poll_ok($node, q{SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'slow' AND outcome = 'cancelled' AND blks_dirtied > 0},
	'when pg_sweep is switched off sweep.runs has what was done until then');

$node->stop;
done_testing();
