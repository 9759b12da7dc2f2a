# Background workers are left to replication, which comes first: fewer workers of ours begin.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

# three are the launchers' and the governor's
my $node = sweep_node('free_slots', conf => <<'END');
max_worker_processes = 8
max_logical_replication_workers = 4
sweep.max_workers = 3
sweep.naptime = 100ms
wal_level = logical
END

# they find no publisher, and try again and again
for my $i (1 .. 4)
{
	sql($node, "CREATE SUBSCRIPTION s$i CONNECTION 'host=/nowhere dbname=nowhere' PUBLICATION p WITH (connect = false); ALTER SUBSCRIPTION s$i ENABLE");
}
# whoever changes a setting has the launcher read them
reload_with($node, 'sweep.max_workers' => 4);
rounds($node, 2);
slow_table($node, 'postgres', "slow$_", pages => 1000) for 1 .. 4;
poll_ok($node, "SELECT count(*) = 1 FROM sweep.progress WHERE relname LIKE 'slow%'", 'a table is vacuumed');
rounds($node, 20);
is(status($node, 'workers'), '1', 'by one worker');
is(status($node, 'worker_start_failures'), '0', 'no start has failed');
poll_ok($node, "SELECT effective_mode = 'act' AND reason ~ '^\\d of 8 background workers are left, and replication and parallel queries want \\d: raise max_worker_processes to \\d+ or more\$' FROM sweep.status",
	'sweep.status says why');
poll_ok($node, "SELECT count(*) >= 2 FROM sweep.queue WHERE relname LIKE 'slow%' AND waiting_for ~ '^background worker: \\d of 8 '", 'and so does sweep.queue');
poll_ok($node, "SELECT count(*) > 0 FROM sweep.explain() WHERE cause ~ 'too few background workers' AND fix ~ 'max_worker_processes = 16;'", 'and sweep.explain()');

sql($node, "ALTER SUBSCRIPTION s$_ DISABLE; ALTER SUBSCRIPTION s$_ SET (slot_name = NONE); DROP SUBSCRIPTION s$_") for 1 .. 4;
reload_with($node, 'sweep.max_workers' => 3);
poll_ok($node, 'SELECT workers >= 3 FROM sweep.status', 'when they are gone more workers begin');

$node->stop;
done_testing();
