# Transactions that overlap: there is always one that needs some of the dead rows, and each
# that ends lets go of some. A table is vacuumed whenever enough can be removed, not only when
# all that ran at its last vacuum has ended. It is hardly ever vacuumed in vain.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

# the minimum interval of a minute takes half a second
my $node = sweep_node('overlap', conf => <<'END');
sweep.debug_clock_rate = 120
autovacuum_vacuum_cost_delay = 0
max_connections = 40
END

my ($batch, $open) = (1000, 6);
my @readers;

sub reader
{
	my $reader = session($node, 'postgres');

	$reader->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_class');
	push @readers, $reader;
	return;
}

sub reader_ends
{
	my $reader = shift @readers;

	$reader->query_safe('COMMIT');
	$reader->quit;
	return;
}

sql($node, 'CREATE TABLE busy (id int, pad text)');
reader() for 1 .. $open;

# When a batch is made many readers need it, and then one of them ends. So one batch less is
# needed than there are readers.
my $dead = "SELECT coalesce(pg_stat_get_dead_tuples('busy'::regclass), 0)";
my ($behind, $steps) = (0, 16);
for my $step (1 .. $steps)
{
	more_garbage($node, 'postgres', 'busy', $batch);
	reader();
	reader_ends();
	rounds($node, 3);
	next if $step < $open;
	my ($ok) = poll_until($node, "SELECT ($dead) <= " . ($open - 1) * $batch, timeout => 20);
	$behind++ if !$ok;
	last if $behind > 2;
}
is($behind, 0, 'garbage is never more than what is needed, and a little');
my $of = q{FROM sweep.runs WHERE relname = 'busy' AND outcome = 'done'};
cmp_ok(sql($node, "SELECT count(*) $of"), '<=', $steps + 3, 'with no more vacuums than it takes');
cmp_ok(sql($node, "SELECT count(*) $of AND tuples_removed < 50"), '<=', 4, 'hardly any of them in vain');

# ---- one snapshot that stays

my $before = sql($node, "SELECT count(*) $of");
for (1 .. 4)
{
	more_garbage($node, 'postgres', 'busy', $batch);
	rounds($node, 10);
}
cmp_ok(sql($node, "SELECT count(*) $of"), '<=', $before + 1, 'while the oldest one stays nothing is done in vain');
reader_ends() while @readers;
poll_ok($node, "SELECT ($dead) = 0", 'when all have ended all is removed');

# ---- what was needed by one that ends later than the others

sql($node, 'CREATE TABLE burst (id int, pad text)');
reader();
more_garbage($node, 'postgres', 'burst', 5000);
poll_ok($node, q{SELECT count(*) = 1 FROM sweep.decisions WHERE relname = 'burst' AND decision = 'held back'}, 'a burst that is still needed');
reader();
sql($node, 'SELECT pg_current_xact_id()') for 1 .. 50;
reader_ends();
poll_ok($node, q{SELECT sum(tuples_removed) = 5000 FROM sweep.runs WHERE relname = 'burst'}, 'it is removed when only those remain that began later');
more_garbage($node, 'postgres', 'burst', 5000);
reader();
sql($node, 'SELECT pg_current_xact_id()') for 1 .. 50;
reader_ends();
poll_ok($node, q{SELECT sum(tuples_removed) = 10000 FROM sweep.runs WHERE relname = 'burst'}, 'and once more, with the newest one still there');
reader_ends();

$node->stop;
done_testing();
