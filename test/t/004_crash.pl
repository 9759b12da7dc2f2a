# A crash of any process, ours or not, and the loss of the launcher.
#
# The server recovers, the launcher is back at once, and the views work. No meter and no
# worker slot is left over from before. Runs that had been saved (5 s after they ended) are
# still there, and run_id goes on growing.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

# runs are saved every 0.5 s
my $node = sweep_node('crash', conf => <<'END');
sweep.debug_clock_rate = 10
sweep.max_workers = 3
autovacuum_vacuum_cost_delay = 0
END

my $tables = 0;
my $last_run_id = 0;

# We vacuum a table, and its run is saved. Returns the table's name.
sub a_saved_run
{
	my ($when) = @_;
	my $table = 'quick' . ++$tables;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	garbage($node, 'postgres', $table);
	poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = '$table' AND outcome = 'done' AND tuples_removed = 500",
		"$when: a due table is vacuumed");
	poll_until($node, "SELECT runs_saved_at > (SELECT max(ended_at) FROM sweep.runs) FROM sweep.status")
	  or fail("$when: the run is not saved");
	return $table;
}

# Signals a process, waits for the end of crash recovery and looks at what must hold.
sub crash
{
	my ($signal, $pid, $what) = @_;
	my $runs = sql($node, 'SELECT count(*) FROM sweep.runs');
	my $max = sql($node, 'SELECT max(run_id) FROM sweep.runs');
	my $started = sql($node, 'SELECT launcher_started_at FROM sweep.status');
	my $offset = log_size($node);

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	cmp_ok($max, '>', $last_run_id, "$what: run_id has grown since the last crash");
	$last_run_id = $max;

	kill $signal, $pid;
	log_poll_ok($node, qr/all server processes terminated; reinitializing/, $offset, "$what: the server restarts");
	poll_ok($node, "SELECT launcher_pid IS NOT NULL AND launcher_started_at > '$started' AND rounds > 0 FROM sweep.status",
		"$what: the launcher is back", timeout => 10);
	ok(!process_exists($pid), "$what: that process is gone");

	cmp_ok(sql($node, 'SELECT count(*) FROM sweep.runs'), '>=', $runs, "$what: saved runs are kept");
	is(sql($node, "SELECT count(*) FROM sweep.runs WHERE run_id = $max"), '1', "$what: the last of them too");
	is( sql($node,
		'SELECT count(*) FROM (SELECT * FROM sweep.databases) d, (SELECT count(*) FROM sweep.decisions) e, (SELECT count(*) FROM sweep.features) f') > 0,
		1, "$what: the views work");
	is(sql($node, "SELECT count(*) FROM sweep.progress WHERE pid NOT IN (SELECT pid FROM pg_stat_activity)"), '0', "$what: no meter is left over");
	return;
}

# ---- a worker of ours, in the middle of a vacuum

my $first = a_saved_run('at first');
slow_table($node, 'postgres', 'slow1');
my $pid = poll_value($node, "SELECT pid FROM sweep.progress WHERE relname = 'slow1' AND phase = 'scanning heap'");
crash('KILL', $pid, 'kill -9 of a worker');
is(sql($node, "SELECT count(*) FROM sweep.runs WHERE relname = 'slow1'"), '0', 'the vacuum that was lost with it is no run');

# The server forgets its statistics in a crash, dead rows included. pg_sweep does not, so it begins
# with that table anew.
a_saved_run('after the crash of a worker');

# ---- the launcher

crash('KILL', status($node, 'launcher_pid'), 'kill -9 of the launcher');
a_saved_run('after the crash of the launcher');

# ---- a user's backend in VACUUM

slow_table($node, 'postgres', 'slow2', with => 'autovacuum_enabled = off');
my $user = session($node, 'postgres');
$user->query_until(qr/begun/, <<'END');
SET vacuum_cost_delay = 100;
SET vacuum_cost_limit = 1;
\echo begun
VACUUM slow2;
END
$pid = poll_value($node, "SELECT pid FROM sweep.progress WHERE relname = 'slow2' AND phase = 'scanning heap' AND started_by = 'manual'");
crash('KILL', $pid, 'kill -9 of a backend in VACUUM');
eval { $user->quit };

# ---- the postmaster itself

my $saved = a_saved_run('before the end of the postmaster');
# whoever is left of it still uses its shared memory, so no other server starts
my @children = split /\n/, sql($node, 'SELECT pid FROM pg_stat_activity');
$node->kill9;
poll_gone(@children);
$node->start;
poll_ok($node, "SELECT launcher_pid IS NOT NULL AND rounds > 0 FROM sweep.status", 'kill -9 of the postmaster: the launcher is back');
# the garbage of a crash's loss may have been vacuumed once more, so tables and not runs are counted
is(sql($node, "SELECT count(DISTINCT relname) FROM sweep.runs WHERE relname IN ('$first', '$saved')"), '2', 'the runs are kept');

# ---- nothing leaks

a_saved_run('after all');
# they would go on for long
sql($node, 'DROP TABLE slow1, slow2');
poll_ok($node, 'SELECT count(*) = 0 FROM sweep.progress', 'no meter is in use when nothing runs');
poll_ok($node, 'SELECT workers = 0 FROM sweep.status', 'no worker slot either');
is( sql($node, 'SELECT count(DISTINCT run_id) = count(*) FROM sweep.runs'), 't', 'no number was given twice');
is(status($node, 'effective_mode'), 'act', 'two crashes of ours do not switch it off');

# ---- the launcher is told to go: no crash, and it comes back (the postmaster waits 10 s)

$pid = status($node, 'launcher_pid');
slow_table($node, 'postgres', 'slow3');
my $worker = poll_value($node, "SELECT pid FROM sweep.progress WHERE relname = 'slow3' AND phase = 'scanning heap'");
my $count = sql($node, 'SELECT count(*) FROM sweep.runs');
is(sql($node, "SELECT pg_terminate_backend($pid)"), 't', 'pg_terminate_backend of the launcher');
poll_ok($node, 'SELECT launcher_pid IS NULL AND effective_mode = $$off$$ AND reason IS NOT NULL FROM sweep.status', 'sweep.status says that it is gone');
poll_ok($node, "SELECT launcher_pid <> $pid AND effective_mode = 'act' FROM sweep.status", 'it comes back', timeout => 30);
is(sql($node, 'SELECT count(*) FROM sweep.runs'), $count, 'no run is lost');
is(sql($node, "SELECT count(*) FROM sweep.progress WHERE pid = $worker AND relname = 'slow3'"), '1', 'a running vacuum went on meanwhile');
poll_ok($node, 'SELECT workers = 1 FROM sweep.status', 'its worker is known to the new launcher');
sql($node, 'DROP TABLE slow3');
a_saved_run('with the new launcher');
poll_ok($node, 'SELECT workers = 0 FROM sweep.status', 'which reaps the workers of the old one, too');

# ---- the launcher is told to cancel what it does: nothing to cancel

$pid = status($node, 'launcher_pid');
sql($node, "SELECT pg_cancel_backend($pid)");
rounds($node, 5);
is(status($node, 'launcher_pid'), $pid, 'pg_cancel_backend of the launcher: it goes on');

# ---- a worker is told to go

slow_table($node, 'postgres', 'slow4');
$worker = poll_value($node, "SELECT pid FROM sweep.progress WHERE relname = 'slow4' AND phase = 'scanning heap'");
is(sql($node, "SELECT pg_terminate_backend($worker)"), 't', 'pg_terminate_backend of a worker');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'slow4' AND outcome = 'cancelled'", 'its run is recorded');
poll_ok($node, "SELECT count(*) = 0 FROM sweep.progress WHERE pid = $worker", 'its meter is free');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.progress WHERE relname = 'slow4'", 'another one is sent');

$node->stop;
done_testing();

# Without a server there is nobody to ask: the processes themselves must have ended.
sub poll_gone
{
	for my $process (@_)
	{
		for (1 .. 200)
		{
			last unless process_exists($process);
			select(undef, undef, undef, 0.05);
		}
	}
	return;
}
