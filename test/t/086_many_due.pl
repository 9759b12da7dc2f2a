# A worker leaves after a thousand tables, so that what it keeps of them is given back. Another
# one goes on with the rest.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

my $tables = 1100;
my $node = sweep_node('many_due', conf => <<'END');
sweep.mode = observe
sweep.max_workers = 1
sweep.max_runs = 4096
autovacuum_vacuum_threshold = 0
autovacuum_vacuum_scale_factor = 0
max_locks_per_transaction = 256
END

# ---- the lowest thresholds: one dead row makes a table due

sql($node, "DO 'BEGIN FOR i IN 1 .. $tables LOOP EXECUTE format(\$f\$CREATE TABLE due%s (id int)\$f\$, i); END LOOP; END'");
sql($node, "DO 'BEGIN FOR i IN 1 .. $tables LOOP EXECUTE format(\$f\$INSERT INTO due%s VALUES (1), (2)\$f\$, i); END LOOP; END'");
sql($node, "DO 'BEGIN FOR i IN 1 .. $tables LOOP EXECUTE format(\$f\$DELETE FROM due%s WHERE id = 1\$f\$, i); END LOOP; END';"
	  . ' SELECT pg_stat_force_next_flush()');
my $dead = q{FROM pg_stat_user_tables WHERE relname LIKE 'due%' AND n_dead_tup > 0};
poll_until($node, "SELECT count(*) = $tables $dead") or die 'the statistics do not know of it';

reload_with($node, 'sweep.mode' => 'act');
poll_ok($node, "SELECT count(*) = $tables FROM pg_stat_user_tables WHERE relname LIKE 'due%' AND vacuum_count = 1", 'all tables are vacuumed, once');
is(sql($node, "SELECT count(*) $dead"), '0', 'no dead row is left');
cmp_ok(sql($node, q{SELECT max(count(*)) OVER () FROM sweep.runs WHERE relname LIKE 'due%' AND started_by = 'sweep' GROUP BY pid LIMIT 1}),
	'<=', 1000, 'by several workers, one after the other');

$node->stop;
done_testing();
