# What concerns all databases: shared catalogs are not vacuumed from a template, where CREATE
# DATABASE would wait for that, and a standby that comes and goes does not make workers look at
# all databases each time.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

my $node = sweep_node('everywhere', conf => <<'END2');
sweep.naptime = 100ms
autovacuum_vacuum_cost_delay = 0
END2

# ---- shared catalogs

sql($node, 'CREATE ROLE r');
sql($node, "DO 'BEGIN FOR i IN 1 .. 600 LOOP ALTER ROLE r CONNECTION LIMIT 5; ALTER ROLE r CONNECTION LIMIT 6; END LOOP; END'; SELECT pg_stat_force_next_flush()");
my $shared = q{FROM sweep.runs WHERE relname = 'pg_authid' AND started_by = 'sweep' AND outcome = 'done'};
poll_ok($node, "SELECT count(*) >= 1 $shared", 'a shared catalog is vacuumed');
is(sql($node, "SELECT count(*) $shared AND datname IN (SELECT datname FROM pg_database WHERE datistemplate)"), '0', 'but not from a template');

# ---- standbys that come and go

my $databases = 12;
for my $i (1 .. $databases)
{
	sql($node, "CREATE DATABASE d$i");
	sql($node, 'CREATE TABLE t AS SELECT 1 AS i', "d$i");
}
poll_ok($node, "SELECT count(*) = $databases FROM sweep.databases WHERE datname ~ '^d' AND last_visit IS NOT NULL", 'all databases are known', timeout => 150);
rounds($node, 5);
my $surveys = status($node, 'surveys');
my $times = 30;
for my $i (1 .. $times)
{
	reload_with($node, 'sweep.standby_conflicts' => $i % 2 ? 'on' : 'off');
	rounds($node, 4);
}
$surveys = status($node, 'surveys') - $surveys;
note("$surveys surveys");
cmp_ok($surveys, '<=', $databases * $times / 4, "a standby that comes and goes $times times");

$node->stop;
done_testing();
