# A worker that is sent for a table looks at that table, not at all tables of its database.
# Now and then one looks at all of them, so that nothing is overlooked that the scout cannot
# see.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

# the minimum interval takes a quarter of a second, and a survey comes after half a minute
my $node = sweep_node('visits', conf => <<'END');
sweep.debug_clock_rate = 20
sweep.naptime = 2s
sweep.min_interval = 5s
autovacuum_vacuum_cost_delay = 0
END

my $done = q{FROM sweep.runs WHERE outcome = 'done' AND started_by = 'sweep' AND};

# so many that a survey takes more of a processor than is given for one between two visits
sql($node, <<'END');
DO $$
BEGIN
	FOR i IN 1 .. 20000 LOOP
		EXECUTE format('CREATE TABLE many%s AS SELECT 1 AS i', i);
		IF i % 500 = 0 THEN COMMIT; END IF;
	END LOOP;
END $$;
SELECT pg_stat_force_next_flush();
END
garbage($node, 'postgres', $_) for qw(hot first);
poll_ok($node, "SELECT count(*) = 2 $done relname IN ('hot', 'first')", 'both are vacuumed');
poll_ok($node, 'SELECT surveys > 0 AND surveys <= visits AND visits_cpu_time > 0 AND workers = 0 FROM sweep.status', 'a survey has come first');

# What does that take without a survey, which comes in its time? On a slow machine there is more time
# between two visits, so that more of them are surveys.
my ($visits, $surveys, $quiet) = (0, 0, 0);
for my $i (2 .. 40)
{
	last if $quiet >= 5;

	my @before = split /\|/, status($node, 'visits, surveys');

	more_garbage($node, 'postgres', 'hot');
	poll_ok($node, "SELECT count(*) >= $i $done relname = 'hot'", "vacuum $i of one hot table among thousands");
	my @after = split /\|/, status($node, 'visits, surveys');
	$visits += $after[0] - $before[0];
	$surveys += $after[1] - $before[1];
	$quiet++ if $after[1] == $before[1] && $after[0] > $before[0];
}
note("$visits visits, $surveys surveys, " . status($node, 'visits_cpu_time') . ' ms');
cmp_ok($quiet, '>=', 5, 'visits look at that table only');
cmp_ok($surveys, '<', $visits, 'not every visit is a survey');

# ---- what a visit without a survey must know of its table

# A TOAST table takes its table's storage parameters. They are found by its owner.
sql($node, <<'END');
CREATE TABLE fat (i int, pad text) WITH (toast.autovacuum_vacuum_threshold = 20, autovacuum_vacuum_threshold = 1000000);
ALTER TABLE fat ALTER pad SET STORAGE EXTERNAL;
CREATE TABLE off (i int, pad text) WITH (autovacuum_enabled = false);
ALTER TABLE off ALTER pad SET STORAGE EXTERNAL;
INSERT INTO fat SELECT i, repeat('x', 3000) FROM generate_series(1, 200) i;
INSERT INTO off SELECT i, repeat('x', 3000) FROM generate_series(1, 200) i;
DELETE FROM fat;
DELETE FROM off;
SELECT pg_stat_force_next_flush();
END
my $toast = q{(SELECT reltoastrelid FROM pg_class WHERE relname = '%s')};
poll_ok($node, "SELECT count(*) >= 1 $done relid = " . sprintf($toast, 'fat'), 'a TOAST table is vacuumed');
rounds($node, 5);
is(sql($node, "SELECT count(*) $done relid = " . sprintf($toast, 'off')), '0', 'that of a table that is switched off is not');
is(sql($node, "SELECT count(*) $done relname IN ('fat', 'off')"), '0', 'nor are the tables');

# A table's own settings are there at once.
sql($node, q{SELECT sweep.set('many1', 'vacuum_threshold', '10'); SELECT sweep.set('many1', 'vacuum_scale_factor', '0')});
sql($node, 'INSERT INTO many1 SELECT generate_series(1, 20); DELETE FROM many1; SELECT pg_stat_force_next_flush()');
poll_ok($node, "SELECT count(*) = 1 $done relname = 'many1'", 'a table with settings of its own, lower than the others\'');

# Only a survey sees storage parameters.
sql($node, 'ALTER TABLE many2 SET (autovacuum_vacuum_threshold = 10, autovacuum_vacuum_scale_factor = 0)');
sql($node, 'INSERT INTO many2 SELECT generate_series(1, 20); DELETE FROM many2; SELECT pg_stat_force_next_flush()');
poll_ok($node, "SELECT count(*) = 1 $done relname = 'many2'", 'one with storage parameters of its own, when a survey has come');

# Shared catalogs, catalogs and requests come as ever.
sql($node, 'CREATE ROLE r' . $_) for 1 .. 3;
sql($node, "DO 'BEGIN FOR i IN 1 .. 600 LOOP ALTER ROLE r1 CONNECTION LIMIT 5; ALTER ROLE r1 CONNECTION LIMIT 6; END LOOP; END'");
poll_ok($node, "SELECT count(*) >= 1 $done relname = 'pg_authid'", 'a shared catalog');
sql($node, "SELECT sweep.vacuum('many3')");
poll_ok($node, "SELECT count(*) = 1 $done relname = 'many3'", 'a table that somebody asked for');

# Two that are due at once are both in what the worker is told.
garbage($node, 'postgres', $_) for qw(two three);
poll_ok($node, "SELECT count(*) = 2 $done relname IN ('two', 'three')", 'several');

# This one is gone before the worker comes.
garbage($node, 'postgres', 'shortlived');
sql($node, 'DROP TABLE shortlived');
garbage($node, 'postgres', 'after');
poll_ok($node, "SELECT count(*) = 1 $done relname = 'after'", 'one that is gone holds nobody up');

# ---- what it takes to read all tables: they are not kept

# The most that a process has had at a time, in MB.
sub peak
{
	my ($pid) = @_;

	return slurp_file("/proc/$pid/status") =~ /^VmPeak:\s+(\d+) kB/m ? $1 / 1024 : 0;
}

my $viewer = session($node);
my $pid = $viewer->query_safe('SELECT pg_backend_pid()');
$viewer->query_safe(q{SET work_mem = '64kB'; SELECT count(*) FROM sweep.status});
my $before = peak($pid);
cmp_ok($viewer->query_safe('SELECT count(*) FROM sweep.tables'), '>', 20000, 'all tables are in sweep.tables');
my $more = peak($pid) - $before;
note("sweep.tables: $more MB");
cmp_ok($more, '<', 4, 'of which none is kept in memory');
$viewer->quit;

sql($node, 'CREATE DATABASE small');
sql($node, 'CREATE EXTENSION pg_sweep', 'small');
reload_with($node, 'sweep.debug_linger' => '100s');
my %peak;
for my $dbname (qw(small postgres))
{
	my $surveys = status($node, 'surveys');

	garbage($node, $dbname, 'watched');
	sql($node, "SELECT sweep.set('watched', 'min_interval', '3s')", $dbname);
	poll_ok($node, "SELECT surveys > $surveys FROM sweep.status", "a survey of $dbname");
	poll_ok($node, "SELECT count(*) = 1 $done relname = 'watched' AND datname = '$dbname'", 'a worker is there');
	my @pids = split /\n/, sql($node, "SELECT pid FROM pg_stat_activity WHERE backend_type = 'sweep worker' AND datname = '$dbname'");
	($peak{$dbname}) = sort { $b <=> $a } map { peak($_) } @pids;
}
note("workers: $peak{small} MB among few tables, $peak{postgres} MB among 20,000");
cmp_ok($peak{postgres}, '<', $peak{small} + 4, 'nor does a worker keep them');

$node->stop;
done_testing();
