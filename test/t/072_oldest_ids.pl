# Workers do not read all of pg_class after each visit to find out the database's oldest ids:
# that is done once a minute, and when the oldest have moved on.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

my $node = sweep_node('oldest', conf => <<'END2');
sweep.naptime = 100ms
sweep.min_interval = 0
autovacuum_vacuum_cost_delay = 0
END2
my $done = q{FROM sweep.runs WHERE outcome = 'done' AND started_by = 'sweep' AND};

# How often has pg_class been read whole, by its rows that were read?
sub class_scans
{
	my ($node) = @_;

	return $node->safe_psql('postgres', q{SELECT pg_stat_get_tuples_returned('pg_class'::regclass) / 500});
}

SKIP:
{
	skip 'before 16 each VACUUM does it', 1 if major($node) < 16;

	garbage($node, 'postgres', 'hot');
	poll_ok($node, "SELECT count(*) >= 1 $done relname = 'hot'", 'a table is vacuumed');
	my ($surveys, $scans) = (status($node, 'surveys'), class_scans($node));
	my $times = 20;
	my $began = time;
	for my $i (1 .. $times)
	{
		my $runs = sql($node, "SELECT count(*) $done relname = 'hot'");
		more_garbage($node, 'postgres', 'hot');
		poll_ok($node, "SELECT count(*) > $runs $done relname = 'hot'", "... again, $i");
	}
	# its statistics are there when the worker has reported them
	rounds($node, 3);
	$surveys = status($node, 'surveys') - $surveys;
	$scans = class_scans($node) - $scans;
	my $minutes = 1 + int((time - $began) / 60) + 1;
	note("$scans scans of pg_class, $surveys surveys, $minutes minutes begun");
	cmp_ok($scans, '<=', 2 * $surveys + $minutes, "... and pg_class is not read whole after each of $times vacuums");
}

# ---- the oldest ids move on when the table that had them has been vacuumed

sql($node, 'CREATE DATABASE old');
sql($node, 'CREATE TABLE oldest (i int) WITH (autovacuum_enabled = off)', 'old');
sql($node, 'CREATE EXTENSION pg_sweep', 'old');
garbage($node, 'old', 'before');
poll_ok($node, "SELECT count(*) >= 1 $done relname = 'before'", 'the minute of that database has begun');
$node->safe_psql('old', q{SELECT format('VACUUM (FREEZE) %s', oid::regclass) FROM pg_class WHERE relkind IN ('r', 'm') AND relname <> 'oldest'
	AND relnamespace <> 'information_schema'::regnamespace \gexec
SELECT format('VACUUM (FREEZE) %s', oid::regclass) FROM pg_class WHERE relkind = 'r' AND relnamespace = 'information_schema'::regnamespace \gexec
});
is(sql($node, q{SELECT relfrozenxid = datfrozenxid FROM pg_class, pg_database WHERE relname = 'oldest' AND datname = 'old'}, 'old'), 't',
	'a table has the oldest ids of its database');
my $oldest = sql($node, q{SELECT datfrozenxid FROM pg_database WHERE datname = 'old'});
# a plain VACUUM takes the table's ids on only if it sees all pages: it is empty
sql($node, "CREATE TABLE burn$_ ()") for 1 .. 3;
sql($node, "SELECT sweep.vacuum('oldest')", 'old');
poll_ok($node, "SELECT count(*) = 1 $done relname = 'oldest'", 'it is vacuumed');
poll_ok($node, qq{SELECT datfrozenxid <> '$oldest' FROM pg_database WHERE datname = 'old'}, 'which is seen in pg_database at once', timeout => 30);

$node->stop;
done_testing();
