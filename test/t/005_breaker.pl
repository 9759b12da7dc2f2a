# The circuit breaker: after three crashes of pg_sweep's own processes among the last five
# server starts, the next start has pg_sweep off, until sweep.rearm().
#
# Only our own crashes count. The little file beside the statistics holds a history, and is
# no condition for a start.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

# the ledger is much the largest part of what is in shared memory
my $node = sweep_node('breaker', conf => <<'END');
sweep.debug_clock_rate = 10
autovacuum_vacuum_cost_delay = 0
sweep.max_runs = 20000
huge_pages = off
END
my $file = $node->data_dir . '/pg_stat/pg_sweep.starts';
my $off = 'switched off because its processes crashed repeatedly. See sweep.rearm()';

# Ends a process by a signal and waits until the server is back. Returns the log from there on.
sub crash
{
	my ($signal, $pid) = @_;
	my $offset = log_size($node);

	kill $signal, $pid;
	log_poll_ok($node, qr/all server processes terminated; reinitializing/, $offset, "SIG$signal: the server restarts");
	poll_until($node, 'SELECT true') or die 'the server does not come back';
	return log_since($node, $offset);
}

sub launcher { return poll_value($node, 'SELECT launcher_pid FROM sweep.status WHERE rounds > 0') }

# ---- crashes of others

for my $i (1 .. 4)
{
	my $user = session($node, 'postgres');
	my $pid = $user->query_safe('SELECT pg_backend_pid()');
	crash('KILL', $pid);
	eval { $user->quit };
}
launcher();
is(sql($node, 'SELECT effective_mode, reason IS NULL, recent_crashes FROM sweep.status'), 'act|t|0', 'four crashes of a user\'s backend do not count');

# one that has been inside our hooks, but is not when it crashes
my $vacuuming = session($node, 'postgres');
$vacuuming->query_safe('CREATE TABLE vacuumed (i int); VACUUM vacuumed');
crash('SEGV', $vacuuming->query_safe('SELECT pg_backend_pid()'));
eval { $vacuuming->quit };

# The OOM killer and the postmaster, which waits five seconds for those who are to quit, send a
# signal that is not a crash of whom it ends.
for my $i (1 .. 3)
{
	crash('KILL', launcher());
}
launcher();
is(sql($node, 'SELECT effective_mode, recent_crashes FROM sweep.status'), 'act|0', 'nor do SIGKILLs of ours');
ok(!-e $file, 'and leave no trace');

# ---- a crash inside our hooks, in the backend of a user

sql($node, "CREATE FUNCTION forbid(bigint, bigint) RETURNS void AS '$ENV{PG_SWEEP_OTHER_ENGINE}', 'other_engine_forbid' LANGUAGE C");
my $forbidden = session($node, 'postgres');
my $crash_from = log_size($node);
# from a quarter of it on: where finished runs are
$forbidden->query_safe(q{SELECT forbid(s.off + s.size / 4 - p.off, s.size - s.size / 4) FROM pg_shmem_allocations s, pg_shmem_allocations p
	WHERE s.name = 'pg_sweep' AND p.name = 'Proc Header'});
$forbidden->query_until(qr/begun/, "\\echo begun\nVACUUM vacuumed;\n");
log_poll_ok($node, qr/was terminated by signal (?:11|7|6): .*all server processes terminated; reinitializing/s, $crash_from, 'a VACUUM crashes inside our hooks');
eval { $forbidden->quit };
poll_until($node, 'SELECT true') or die 'the server does not come back';
launcher();
is(sql($node, 'SELECT effective_mode, recent_crashes FROM sweep.status'), 'act|1', 'which counts, wherever that is');
is(sql($node, 'SELECT sweep.rearm()'), 'f', 'it is forgotten for what follows');

# ---- crashes of ours

my $log = crash('SEGV', launcher());
unlike($log, qr/WARNING.*pg_sweep/, 'the first crash of the launcher');
is(sql($node, 'SELECT effective_mode, recent_crashes FROM sweep.status WHERE launcher_pid IS NOT NULL OR true'), 'act|1', 'counts')
  if launcher();

slow_table($node, 'postgres', 'slow');
my $worker = poll_value($node, "SELECT pid FROM sweep.progress WHERE relname = 'slow' AND started_by = 'sweep'");
$log = crash('SEGV', $worker);
unlike($log, qr/WARNING.*pg_sweep/, 'the first crash of a worker');
launcher();
is(sql($node, 'SELECT effective_mode, recent_crashes FROM sweep.status'), 'act|2', 'counts too');

$node->restart;
launcher();
is(sql($node, 'SELECT effective_mode, recent_crashes FROM sweep.status'), 'act|2', 'an orderly restart forgets nothing');

$log = crash('SEGV', launcher());
like($log, qr/WARNING:  pg_sweep is off because its processes crashed in 3 of the last 5 server starts/, 'after the third a WARNING');
like($log, qr/HINT:  .*sweep\.rearm\(\)/, 'with a hint');

# ---- off

my $history = slurp_file($file);
my $client = session($node, 'postgres');
$client->query_safe('CREATE TABLE mine AS SELECT 1 AS one');
poll_until($node, 'SELECT launcher_pid IS NOT NULL FROM sweep.status');
is(sql($node, 'SELECT mode, effective_mode, reason, recent_crashes FROM sweep.status'), "act|off|$off|3", 'sweep.status says why it is off');
garbage($node, 'postgres', 'due');
is(sql($node, 'SELECT rounds, workers, worker_starts FROM sweep.status'), '0|0|0', 'nothing is scouted, no worker started');
is(sql($node, "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'sweep worker'"), '0', 'there is no worker');
sql($node, 'VACUUM mine');
is(sql($node, "SELECT count(*) FROM sweep.runs WHERE relname = 'mine'"), '0', 'nothing is metered');
reload_with($node, 'sweep.naptime' => '2s');
is(status($node, 'effective_mode'), 'off', 'a reload does not switch it on');
is($client->query_safe('SELECT one FROM mine'), '1', 'clients stay connected');
$client->quit;

# ---- on again

is(sql($node, 'SELECT sweep.rearm()'), 't', 'sweep.rearm() says that it was off');
is(sql($node, 'SELECT sweep.rearm()'), 'f', 'and that it is not any more');
is(sql($node, 'SELECT effective_mode, reason IS NULL, recent_crashes FROM sweep.status WHERE launcher_pid IS NOT NULL'), 'act|t|0', 'it is on at once');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'due' AND started_by = 'sweep' AND outcome = 'done'",
	'a due table is vacuumed, and its run recorded');
sql($node, 'VACUUM mine');
is(sql($node, "SELECT count(*) FROM sweep.runs WHERE relname = 'mine' AND started_by = 'manual'"), '1', 'vacuums are metered again');
$node->restart;
launcher();
is(sql($node, 'SELECT effective_mode, recent_crashes FROM sweep.status'), 'act|0', 'and stays on after a restart');

# ---- off means off until then

$node->stop;
unlink $file;
append_to_file($file, $history);
$node->start;
for my $i (1 .. 4)
{
	my $offset = log_size($node);
	$node->restart;
	is(status($node, 'effective_mode'), 'off', "off after orderly restart $i");
	like(log_since($node, $offset), qr/WARNING:  pg_sweep is off/, 'with the WARNING');
}
is(sql($node, 'SELECT sweep.rearm()'), 't', 'it is sweep.rearm() that ends it');

# ---- whatever is in the file, the server starts

my $random = join '', map { chr(int(rand(256))) } 1 .. 1000;
my %contents = (
	'empty' => '',
	'of random bytes' => "\0$random",
	'long' => 'y' x 1_000_000,
	'not ended' => "..\n");

for my $what (sort keys %contents)
{
	$node->stop;
	unlink $file;
	append_to_file($file, $contents{$what});
	$node->start;
	launcher();
	is(status($node, 'effective_mode'), 'act', "a file that is $what");
}

$node->stop;
unlink $file;
append_to_file($file, 'xx');
chmod 0000, $file;
$node->start;
launcher();
is(status($node, 'effective_mode'), 'act', 'a file that cannot be read');

# The file cannot be replaced either. On such a server a process of ours crashes.
$node->stop;
chmod 0600, $file;
unlink $file;
mkdir $file;
mkdir "$file.tmp";
$node->start;
crash('SEGV', launcher());
launcher();
is(status($node, 'effective_mode'), 'act', 'a directory in its place, and a crash');
rmdir $file;
rmdir "$file.tmp";

# ---- an immediate shutdown is no crash

unlink $file;
for my $i (1 .. 4)
{
	$node->stop('immediate');
	$node->start;
	launcher();
}
is(sql($node, 'SELECT effective_mode, recent_crashes FROM sweep.status'), 'act|0', 'immediate shutdowns do not count');

$node->stop;
done_testing();
