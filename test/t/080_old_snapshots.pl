# Before 17 old_snapshot_threshold lets vacuums remove what an old snapshot may still see.
# So no table waits for such a snapshot.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

my $node = sweep_node('old_snapshots');
plan skip_all => 'there is no old_snapshot_threshold' if major($node) >= 17;
$node->append_conf('postgresql.conf', "old_snapshot_threshold = 1min\nsweep.min_interval = 1s\n");
$node->restart;

my $reader = session($node);
$reader->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_am');
garbage($node, 'postgres', 'held');
poll_ok($node, q{SELECT count(*) = 1 FROM sweep.decisions WHERE relname = 'held' AND decision = 'held back'}, 'a snapshot holds a table back');

# other transactions come and go, by which core knows what time an id is of
poll_ok($node, q{SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'held' AND started_by = 'sweep' AND tuples_removed = 500 AND pg_current_xact_id() IS NOT NULL},
	'when it is old enough the table is vacuumed, although it is still there', timeout => 300);
is(sql($node, q{SELECT count(*) FROM sweep.blockers WHERE pid IS NOT NULL AND state LIKE 'idle in transaction%'}), '1', 'it is');

$reader->quit;
$node->stop;
done_testing();
