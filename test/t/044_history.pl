# The sums of the last hour and the last day, sweep.totals and sweep.history. They count every
# run once, also those for which sweep.runs has no room, over restarts and crashes. They say
# what is not known.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

# runs are saved every 0.25 s
my $node = sweep_node('history', conf => <<'END');
sweep.debug_clock_rate = 20
sweep.mode = observe
sweep.max_runs = 100
END
my $file = $node->data_dir . '/pg_stat/pg_sweep.runs';

# What the tests do is their own sessions' runs. Autovacuum may add its own at any time.
my $totals = "FROM sweep.totals WHERE started_by = 'manual' AND span";
my $history = "FROM sweep.history WHERE started_by = 'manual'";

sub saved
{
	my ($name) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return poll_ok($node, "SELECT runs_saved_at > (SELECT max(ended_at) FROM sweep.runs) AND runs_save_error IS NULL FROM sweep.status", $name);
}

poll_ok($node, 'SELECT rounds > 0 FROM sweep.status', 'the launcher works');

# ---- every run counts

my $begun = sql($node, 'SELECT clock_timestamp()');
sql($node, 'CREATE TABLE hot (i int PRIMARY KEY); CREATE TABLE rare (i int); INSERT INTO hot SELECT generate_series(1, 1000);'
	  . ' INSERT INTO rare SELECT generate_series(1, 100); DELETE FROM rare');
sql($node, 'VACUUM rare; ANALYZE rare');
my $rare = sql($node, "SELECT cost, blks_hit, wal_bytes FROM sweep.runs WHERE relname = 'rare' AND command = 'VACUUM'");
is(sql($node, "SELECT cost, blks_hit, wal_bytes $history AND relname = 'rare' AND command = 'VACUUM'"), $rare, 'the sum of one run is the run');
sql($node, ("VACUUM hot;\n" x 700));
is(sql($node, "SELECT sum(runs) $history AND relname = 'hot'"), '700', 'all runs of a table are counted, of which sweep.runs has a hundred');
is(sql($node, "SELECT string_agg(DISTINCT vacuums::text || ' ' || analyzes, ',') $totals IN ('hour', 'day', 'all')"), '701 1',
	'and in the totals of the hour, the day and of all time');
is(sql($node, "SELECT bool_and(s.sum = t.cost) FROM (SELECT sum(cost) $history) s, sweep.totals t WHERE started_by = 'manual'"), 't',
	'what tables cost is what all cost');
is(sql($node, "SELECT runs_complete_since > '$begun' FROM sweep.status"), 't', 'sweep.runs has forgotten some');
is(sql($node, "SELECT bool_and(complete_since <= '$begun') AND count(*) = 2 $totals IN ('hour', 'day')"), 't',
	'the totals have not, and say since when they know');
is(sql($node, "SELECT bool_and(since <= now() - (1 || span)::interval"
	  . " AND since > now() - (1 || span)::interval - CASE span WHEN 'hour' THEN '1 min' ELSE '1 hour' END::interval) FROM sweep.totals WHERE span <> 'all'"),
	't', 'they are of an hour and a day, and a step more at most');
is(sql($node, "SELECT count(*) FROM sweep.totals"), '12', 'a row for each span and starter, also without runs');

is(sql($node, "SELECT bool_and(since <= '$begun' AND complete_since IS NULL) $totals = 'all'"), 't', 'those of all time are of all time');

# ---- more tables than there is room for

# 200 sums of tables in buckets of 8
sql($node, join ";\n", map { "CREATE TABLE t$_ (i int)" } 1 .. 400);
sql($node, join ";\n", map { "VACUUM t$_" } 1 .. 400);
my $kept = sql($node, "SELECT count(*) FROM sweep.history WHERE relid IS NOT NULL");
cmp_ok($kept, '<=', 200, 'no more tables are kept than there is room for');
cmp_ok($kept, '>', 100, 'but many');
is(sql($node, "SELECT sum(runs) FILTER (WHERE relid IS NULL) > 0 FROM sweep.history"), 't', 'the others have a row together');
is(sql($node, "SELECT sum(runs) $history"), '1102', 'so nothing is missing');
is(sql($node, "SELECT sum(runs) $history AND relname = 'hot'"), '700', 'what has cost most is kept');
is(sql($node, "SELECT vacuums, analyzes $totals = 'day'"), '1101|1', 'nor in the totals');

# ---- restarts and crashes

my $all = "SELECT string_agg(h::text, chr(10) ORDER BY hour, relid, command) $history h";
$all =~ s/ WHERE (.*?) h$/ h WHERE $1/;
my $before = sql($node, $all);
my $day = "SELECT vacuums, analyzes, failed, cancelled, skipped, blks_hit, wal_bytes, cost, round(run_time::numeric) $totals = 'day'"
  . " UNION ALL SELECT vacuums, analyzes, failed, cancelled, skipped, blks_hit, wal_bytes, cost, round(run_time::numeric) $totals = 'all'";
my $since = sql($node, "SELECT since $totals = 'all'");
my $before_day = sql($node, $day);
$node->restart;
poll_until($node, 'SELECT launcher_pid IS NOT NULL AND rounds > 0 FROM sweep.status');
is(sql($node, $all), $before, 'a restart changes nothing');
is(sql($node, $day), $before_day, 'nor in the totals');

# The file is written while runs end and push out each other's sums. What it has of a
# table may be later than the runs behind it.
for my $i (1 .. 3)
{
	my $vacuums = join ";\n", map { "VACUUM t$_" } 1 .. 400;
	my $busy = session($node);

	$busy->query_until(qr/begun/, "\\echo begun\n" . "$vacuums;\n" x 3);
	$busy->quit;
	$before = sql($node, $all);
	$before_day = sql($node, $day);
	$node->restart;
	poll_until($node, 'SELECT launcher_pid IS NOT NULL AND rounds > 0 FROM sweep.status');
	is(sql($node, $all), $before, "round $i: written while runs end, the same is read");
	is(sql($node, $day), $before_day, "round $i: also the totals");
}

my $vacuums = sql($node, "SELECT vacuums $totals = 'day'");
is($vacuums, 1101 + 3 * 1200, 'nothing is missing');

# runs come between two savings, and are appended: each counts once
for my $i (1 .. 4)
{
	sql($node, ("VACUUM hot;\n" x 20));
	saved("crash $i: saved");
	$node->stop('immediate');
	$node->start;
	poll_until($node, 'SELECT launcher_pid IS NOT NULL AND rounds > 0 FROM sweep.status');
	is(sql($node, "SELECT vacuums $totals = 'day'"), $vacuums + 20 * $i, "crash $i: every run is counted once");
	is(sql($node, "SELECT vacuums $totals = 'all'"), $vacuums + 20 * $i, "crash $i: also in the totals of all time");
	is(sql($node, "SELECT sum(runs) $history AND relname = 'hot'"), 700 + 20 * $i, "crash $i: also by table");
}

# more between two savings than sweep.runs has room for
sql($node, ("VACUUM hot;\n" x 300));
saved('saved');
$node->stop('immediate');
$node->start;
poll_until($node, 'SELECT launcher_pid IS NOT NULL AND rounds > 0 FROM sweep.status');
is(sql($node, "SELECT vacuums $totals = 'day'"), $vacuums + 380, 'more runs at once than there is room for: all are counted');

# what ends before the file has been read is added to what it has
$node->stop;
$node->start;
sql($node, 'VACUUM hot');
poll_until($node, 'SELECT launcher_pid IS NOT NULL AND rounds > 0 FROM sweep.status');
is(sql($node, "SELECT vacuums $totals = 'day'"), $vacuums + 381, 'a run at the very beginning is counted once');
is(sql($node, "SELECT vacuums, since = '$since' $totals = 'all'"), $vacuums + 381 . '|t', 'also in those of all time, which begin where they began');

# ---- what is not known is said

is(sql($node, "SELECT complete_since <= '$begun' $totals = 'day'"), 't', 'until now nothing was missed');
$node->stop;
my $size = -s $file;
truncate $file, $size - 1 or die "$file: $!";
my $cut = sql_now();
$node->start;
poll_until($node, 'SELECT launcher_pid IS NOT NULL AND rounds > 0 FROM sweep.status');
is(sql($node, "SELECT complete_since >= '$cut' $totals = 'day'"), 't', 'a file that was cut off: what is complete begins now');
cmp_ok(sql($node, "SELECT vacuums $totals = 'day'"), '>', 1000, 'what it had before is not lost');

my $off = sql($node, 'SELECT clock_timestamp()');
reload_with($node, 'sweep.mode' => 'off');
poll_ok($node, "SELECT effective_mode = 'off' FROM sweep.status", 'off');
reload_with($node, 'sweep.mode' => 'observe');
poll_ok($node, "SELECT complete_since > '$off' $totals = 'day'", 'what ended while it was off is not known');
poll_ok($node, "SELECT runs_complete_since > '$off' FROM sweep.status", 'nor in sweep.runs');

# ---- forgotten

sql($node, 'SELECT sweep.reset_runs(); VACUUM hot');
is(sql($node, "SELECT string_agg(vacuums::text, ' ') $totals IN ('day', 'all')"), '1 1', 'sweep.reset_runs() forgets the sums as well');
is(sql($node, "SELECT since > '$since' $totals = 'all'"), 't', 'and those of all time begin anew');
saved('saved');
$node->restart;
poll_until($node, 'SELECT launcher_pid IS NOT NULL AND rounds > 0 FROM sweep.status');
is(sql($node, "SELECT vacuums $totals = 'day'"), '1', 'for ever');
is(sql($node, "SELECT sum(runs) $history"), '1', 'those of tables, too');

$node->stop;
done_testing();

sub sql_now
{
	my @t = gmtime;

	return sprintf('%04d-%02d-%02d %02d:%02d:%02d+00', $t[5] + 1900, $t[4] + 1, @t[3, 2, 1, 0]);
}
