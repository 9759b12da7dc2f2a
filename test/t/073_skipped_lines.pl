# While a worker of ours vacuums a table, autovacuum skips it at each of its rounds. The line
# about that vacuum is left out, but no line about another table of that name, nor any about an
# ANALYZE, which the table misses.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

my $node = sweep_node('skipped', conf => <<'END2');
sweep.naptime = 100ms
sweep.max_workers = 5
autovacuum_naptime = 1s
log_autovacuum_min_duration = 0
END2

sql($node, 'CREATE SCHEMA a; CREATE SCHEMA b');
# of two of them only the vacuum is due, of the third the ANALYZE as well
my $slow = 'autovacuum_vacuum_cost_delay = 100, autovacuum_vacuum_cost_limit = 1';
slow_table($node, 'postgres', "a.$_", pages => 600, with => "$slow, autovacuum_analyze_threshold = 1000000") for qw(same alone);
slow_table($node, 'postgres', 'a.missed', pages => 600, with => $slow);
for my $table (qw(same alone missed))
{
	poll_ok($node, "SELECT count(*) = 1 FROM sweep.progress WHERE relname = '$table' AND started_by = 'sweep' AND phase = 'scanning heap'", "$table is being vacuumed");
}
garbage($node, 'postgres', 'b.same');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE schemaname = 'b' AND relname = 'same' AND outcome = 'done'", 'another one of that name was');
my $locker = session($node);
$locker->query_safe('BEGIN; LOCK TABLE b.same IN SHARE UPDATE EXCLUSIVE MODE');
more_garbage($node, 'postgres', 'b.same');

my $log = log_size($node);
reload_with($node, autovacuum => 'on');
log_poll_ok($node, qr/skipping vacuum of "same"/, $log, 'a table of the same name in another schema, which somebody else has locked');
log_poll_ok($node, qr/skipping (?:vacuum|analyze) of "missed"/, $log, 'one that misses its ANALYZE while we vacuum it');
my ($cause) = poll_value($node, q{SELECT verdict || '|' || cause || '|' || fix FROM sweep.explain('a.missed') WHERE cause LIKE '%ANALYZE%'});
like($cause, qr/^being vacuumed now\|its vacuum keeps autovacuum's ANALYZE away.*\|SELECT sweep\.hurry\(\d+\);$/, 'sweep.explain() says why it does not come');
unlike(log_since($node, $log), qr/skipping vacuum of "alone"/, 'nobody needs to hear of the vacuum that it does not miss');

$locker->query_safe('COMMIT');
$locker->quit;
$node->stop('immediate');
done_testing();
