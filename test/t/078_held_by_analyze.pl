# ANALYZE of a partitioned table, which holds the horizon, takes half a minute at most. After
# a long one the next is far away.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

# what is cancelled comes again after 15 s, and min_interval is 3 s
my $node = sweep_node('held_by_analyze', conf => "sweep.debug_clock_rate = 20\n");

# It sleeps for one row in a hundred: on a busy machine each sleep takes longer.
sub function
{
	my ($seconds) = @_;

	sql($node, qq{CREATE OR REPLACE FUNCTION slow(i int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS
		\$\$ BEGIN IF i % 100 = 0 THEN PERFORM pg_catalog.pg_sleep($seconds); END IF; RETURN i; END \$\$});
	return;
}

function(2);
sql($node, <<'END');
CREATE TABLE tree (id int) PARTITION BY RANGE (id);
CREATE TABLE leaf PARTITION OF tree DEFAULT;
CREATE STATISTICS slowly ON (slow(id)), id FROM tree;
INSERT INTO tree SELECT generate_series(1, 5000);
SELECT pg_stat_force_next_flush();
END
my $run = q{FROM sweep.runs WHERE relname = 'tree' AND command = 'ANALYZE' AND outcome};
poll_ok($node, q{SELECT count(*) > 0 FROM sweep.progress WHERE relname = 'tree'}, 'it is being analyzed');
poll_ok($node, "SELECT count(*) > 0 $run = 'cancelled'", 'and cancelled', timeout => 90);
# a run begins a moment after its limit does
is(sql($node, "SELECT count(*) $run = 'cancelled' AND reason ~ '; took longer than 30 s\$' AND ended_at - started_at >= '28 s'"),
	sql($node, "SELECT count(*) $run = 'cancelled'"), 'because it took too long, as sweep.runs says');
is(sql($node, q{SELECT decision FROM sweep.decisions WHERE relname = 'tree'}), 'cancelled', 'it is left alone for a while');
like(sql($node, q{SELECT string_agg(cause || ' ' || evidence, ';') FROM sweep.explain('tree')}), qr/its ANALYZE keeps being cancelled.*took longer than 30 s/,
	'sweep.explain() says so');

function(0.03);
poll_ok($node, "SELECT count(*) > 0 $run = 'done'", 'when it is fast enough it is analyzed', timeout => 120);

# of the last one: were the clock set back meanwhile, it would be analyzed once more
poll_ok($node, qq{SELECT d.not_before - d.last_at >= 0.95 * 5 * (r.ended_at - r.started_at) AND r.ended_at - r.started_at > '1 s'
	FROM sweep.decisions d, (SELECT started_at, ended_at $run = 'done' ORDER BY run_id DESC LIMIT 1) r
	WHERE d.relname = 'tree' AND d.decision = 'analyzed'},
	'and then not for a hundred times as long');

$node->stop;
done_testing();
