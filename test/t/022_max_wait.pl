# A small table does not wait for a huge one, nor for ever behind more urgent ones.
#
# While a worker slot is free, whatever becomes due in a database where a long vacuum runs is
# vacuumed at once. When none is free, the most urgent comes first, but a table that has been
# due for five minutes before that.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

my $node = sweep_node('max_wait', conf => <<'END');
sweep.naptime = 200ms
sweep.max_workers = 2
END

sub is_running
{
	my ($table) = @_;

	return sql($node, "SELECT count(*) FROM sweep.progress WHERE relname = '$table' AND started_by = 'sweep'");
}

# ---- a free slot: nobody waits

slow_table($node, 'postgres', 'huge', pages => 3000);
poll_ok($node, "SELECT count(*) = 1 FROM sweep.progress WHERE relname = 'huge' AND started_by = 'sweep'",
	'a vacuum of at least five minutes runs');
for my $number (1 .. 3)
{
	garbage($node, 'postgres', "small$number");
	my $took = seconds(sub {
			poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'small$number' AND outcome = 'done'",
				"small table $number of the same database is vacuumed") });
	cmp_ok($took, '<', within(5), "... within seconds ($took s)");
}
is(is_running('huge'), '1', '... while the long one still runs');
is(sql($node, "SELECT count(*) FROM sweep.runs WHERE relname = 'huge'"), '0', '... its first one');
sql($node, "ALTER TABLE huge SET (autovacuum_enabled = off)");
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'huge' AND outcome = 'cancelled'",
	'the long one gives way');

# ---- no free slot: the order

# A table with a low score becomes due first, then one with a high score, both while the only
# worker is busy. Returns the order in which they are vacuumed then. $waited is how long the
# first must have been due, as sweep.queue knows.
my $scene = 0;

sub order_of_two
{
	my ($waited) = @_;
	my $busy = 'busy' . ++$scene;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	slow_table($node, 'postgres', $busy, pages => 3000);
	poll_ok($node, "SELECT count(*) = 1 FROM sweep.progress WHERE relname = '$busy' AND started_by = 'sweep'",
		'the only worker is busy');
	garbage($node, 'postgres', "first$scene", rows => 300, dead => 120);
	poll_ok($node, "SELECT count(*) = 1 FROM sweep.queue WHERE relname = 'first$scene' AND now() - waiting_since > interval '$waited'",
		"one table has been due for $waited");
	garbage($node, 'postgres', "second$scene", rows => 3000, dead => 2500);
	poll_ok($node, "SELECT count(*) = 1 FROM sweep.queue WHERE relname = 'second$scene'", 'another one is due');
	is(sql($node, "SELECT count(*) FROM sweep.runs WHERE relname IN ('first$scene', 'second$scene')"), '0', 'neither is vacuumed');
	is(sql($node, "SELECT score > (SELECT score FROM sweep.tables WHERE relname = 'first$scene') FROM sweep.tables WHERE relname = 'second$scene'"),
		't', 'the later one has the higher score');
	sql($node, "ALTER TABLE $busy SET (autovacuum_enabled = off)");
	poll_ok($node, "SELECT count(*) = 2 FROM sweep.runs WHERE relname IN ('first$scene', 'second$scene') AND outcome = 'done'",
		'the worker is free, both are vacuumed');
	return sql($node, "SELECT string_agg(rtrim(relname, '0123456789'), ' ' ORDER BY run_id) FROM sweep.runs WHERE relname IN ('first$scene', 'second$scene')");
}

reload_with($node, 'sweep.max_workers' => 1);
poll_ok($node, "SELECT workers <= 1 FROM sweep.status", 'one worker only');
is(order_of_two('2 s'), 'second first', 'the more urgent one is first');

# five minutes are a second
$node->append_conf('postgresql.conf', 'sweep.debug_clock_rate = 300');
$node->restart;
is(order_of_two('2 s'), 'first second', 'the one that has waited for five minutes is first');

$node->stop('immediate');
done_testing();
