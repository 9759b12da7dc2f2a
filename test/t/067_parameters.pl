# Storage parameters in a small database where nothing else is due. They are known soon after
# they were set, and before the table has garbage, though the scout cannot see them.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

# A survey that comes in its time comes after ten minutes.
my $node = sweep_node('parameters', conf => <<'END');
sweep.min_interval = 5s
autovacuum_vacuum_cost_delay = 0
END

my $done = q{FROM sweep.runs WHERE outcome = 'done' AND started_by = 'sweep' AND};

garbage($node, 'postgres', 'altered');
poll_ok($node, "SELECT count(*) = 1 $done relname = 'altered'", 'a table is vacuumed');

# It waits for the minimum interval now.
sql($node, 'ALTER TABLE altered SET (autovacuum_vacuum_threshold = 10, autovacuum_vacuum_scale_factor = 0)');
rounds($node, 8);
more_garbage($node, 'postgres', 'altered', 20);
poll_ok($node, "SELECT count(*) = 2 $done relname = 'altered'", 'it was given a lower threshold just after that');
poll_ok($node, 'SELECT workers = 0 FROM sweep.status', 'nobody is there any more');

sql($node, <<'END');
CREATE TABLE grows (id int) WITH (autovacuum_vacuum_threshold = 100, autovacuum_vacuum_scale_factor = 0.01);
INSERT INTO grows SELECT generate_series(1, 20);
SELECT pg_stat_force_next_flush();
END
rounds($node, 8);
sql($node, 'INSERT INTO grows SELECT generate_series(21, 500); SELECT pg_stat_force_next_flush()');
rounds($node, 3);
sql($node, 'DELETE FROM grows WHERE id <= 110; SELECT pg_stat_force_next_flush()');
poll_ok($node, "SELECT count(*) = 1 $done relname = 'grows'", 'a new table whose factor is lower, and that has grown since');

# What vacuums and analyzes write into pg_class does not count, so there is no end of surveys
# otherwise. The first ones may use relations that nobody has used before.
my $maintain = 'VACUUM altered, grows; ANALYZE altered, grows; SELECT pg_stat_force_next_flush()';
sql($node, $maintain);
rounds($node, 15);
my $surveys = status($node, 'surveys');
sql($node, $maintain);
rounds($node, 10);
is(status($node, 'surveys'), $surveys, 'vacuums by others are no reason for a survey');

$node->stop;
done_testing();
