# Where pg_sweep cannot run, or not all of it, the server does, and it says what is missing.
#
# The cases are: the library not preloaded, too few background workers, single-user mode,
# pg_upgrade, and databases that accept no connections.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

# ---- not preloaded

my $node = sweep_node('unloaded', extension => 0, conf => "shared_preload_libraries = ''\n");

is(sql($node, 'CREATE EXTENSION pg_sweep'), '', 'not preloaded: CREATE EXTENSION works');

my %arguments = (cancel => '1', get_activity => 'NULL', get_history => 'NULL', get_distributed => "'pg_class'::regclass", get_shell => "'pg_class'::regclass", get_readable => "'x'", get_temp_owner => '1', get_relation => "'pg_class'::regclass", hurry => '1',
	clean => "'pg_class'", release => '1', slow => '1', set => "'pg_class', 'enabled', 'off'", snooze => "'pg_class', '1 hour'", vacuum => "'pg_class'");
my @calls = ((map { "TABLE sweep.$_" } split /\n/,
	sql($node, "SELECT relname FROM pg_class WHERE relnamespace = 'sweep'::regnamespace AND relkind = 'v' ORDER BY 1")),
	(map { "SELECT $_(" . ($arguments{ s/.*\.//r } // '') . ')' } split /\n/,
	sql($node, "SELECT p.oid::regproc FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang"
		  . " WHERE pronamespace IN ('sweep'::regnamespace, 'sweep_internal'::regnamespace) AND lanname = 'c' ORDER BY proname")));
cmp_ok(scalar @calls, '>=', 15, 'not preloaded: views and functions are there');
my $says = qr/ERROR:  55000: pg_sweep must be loaded via "shared_preload_libraries"/;
my $hints = qr/HINT:  Add "pg_sweep" to "shared_preload_libraries" in postgresql\.conf and restart the server\./;
for my $call (@calls)
{
	my ($rc, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\n$call");
	like($err, qr/$says\n$hints/,
		"not preloaded: $call says so");
}
for my $load ("LOAD 'pg_sweep'", "SET session_preload_libraries = 'pg_sweep'")
{
	my ($rc, $out, $err) = $node->psql('postgres', "$load;\nCREATE TABLE IF NOT EXISTS t (i int);\nVACUUM t;\nTABLE sweep.runs");
	like($err, qr/ERROR:  pg_sweep must be loaded via/, "not preloaded: after $load as before");
	unlike($err, qr/server closed/, 'and VACUUM works');
}
$node->append_conf('postgresql.conf', "session_preload_libraries = 'pg_sweep'");
$node->restart;
sql($node, 'VACUUM t');
pass('not preloaded, but by session_preload_libraries: VACUUM works');
is(sql($node, 'DROP EXTENSION pg_sweep'), '', 'not preloaded: DROP EXTENSION works');
$node->stop;

# ---- too few background workers

my $few = sweep_node('few_workers', conf => "max_worker_processes = 0\nmax_parallel_workers = 0\nsweep.debug_clock_rate = 10\n");
is(sql($few, 'SELECT mode, effective_mode, reason FROM sweep.status'),
	'act|off|the launcher is not running. Perhaps max_worker_processes is too small', 'no background workers: sweep.status says so');
like(log_since($few), qr/too many background workers|could not register background/, 'no background workers: and so does the log');
sql($few, 'CREATE TABLE t (i int); VACUUM t');
is(sql($few, "SELECT count(*) FROM sweep.runs WHERE relname = 't'"), '1', 'no background workers: vacuums by hand are metered');

# the launcher of logical replication takes the first
$few->append_conf('postgresql.conf', "max_worker_processes = 2");
$few->restart;
poll_ok($few, "SELECT effective_mode = 'act' FROM sweep.status", 'a background worker for the launcher only: it runs');
garbage($few, 'postgres', 'due');
poll_ok($few, "SELECT reason = 'none of 2 background workers is left: raise max_worker_processes' FROM sweep.status", 'no background worker for the workers: sweep.status says so');
poll_ok($few, 'SELECT workers = 0 AND worker_starts = 0 FROM sweep.status', 'and no slot is lost');
rounds($few, 40);
cmp_ok(() = log_since($few) =~ /background worker/g, '<', 10, 'the log is not filled with it') or diag(log_since($few));

$few->append_conf('postgresql.conf', "max_worker_processes = 4");
$few->restart;
garbage($few, 'postgres', 'due2');
poll_ok($few, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'due2' AND outcome = 'done'", 'with two more, one for the governor, the table is vacuumed');

# ---- sweep.max_workers = 0

reload_with($few, 'sweep.max_workers' => 0);
poll_ok($few, "SELECT effective_mode = 'off' AND reason = 'sweep.max_workers is 0' FROM sweep.status", 'sweep.max_workers = 0: sweep.status says so');
reload_with($few, 'sweep.max_workers' => 2);

# ---- databases that accept no connections

sql($few, "CREATE DATABASE $_") for ('closed', 'invalid');
rounds($few, 2);
sql($few, 'ALTER DATABASE closed ALLOW_CONNECTIONS false');
sql($few, "UPDATE pg_database SET datconnlimit = -2 WHERE datname = 'invalid'");
poll_ok($few, "SELECT count(*) = 0 FROM pg_stat_activity WHERE datname = 'closed'", 'closed database: nobody is there');
poll_ok($few, "SELECT count(*) = 3 AND sum(workers) = 0 FROM sweep.databases WHERE datname IN ('closed', 'invalid', 'template0') AND NOT ours"
	  . " AND reason = 'does not accept connections'",
	'databases that accept no connections: sweep.databases says so');
my $offset = log_size($few);

# gives a closed database statistics that make it due a hundred times over
sql($few, 'ALTER DATABASE closed ALLOW_CONNECTIONS true; ALTER SYSTEM SET sweep.exclude_databases = $$closed$$; SELECT pg_reload_conf()');
rounds($few, 3);
garbage($few, 'closed', 'due', rows => 10000, dead => 9999);
sql($few, 'ALTER DATABASE closed ALLOW_CONNECTIONS false; ALTER SYSTEM RESET sweep.exclude_databases');
poll_ok($few, "SELECT count(*) = 1 FROM sweep.databases WHERE datname = 'closed' AND NOT ours", 'closed database: with a due table');
sql($few, 'SELECT pg_reload_conf()');
rounds($few, 10);
is(sql($few, "SELECT count(*) FROM sweep.runs WHERE datname IN ('closed', 'template0')"), '0', 'closed database: nothing is vacuumed there');
unlike(log_since($few, $offset), qr/FATAL:  database/, 'closed database: nobody knocks');
sql($few, 'ALTER DATABASE closed ALLOW_CONNECTIONS true');
poll_ok($few, "SELECT count(*) = 1 FROM sweep.runs WHERE datname = 'closed' AND relname = 'due' AND outcome = 'done'",
	'closed database: open again it is vacuumed');
is(sql($few, 'SELECT workers >= 0 FROM sweep.status'), 't', 'closed database: the launcher is well');
sql($few, "UPDATE pg_database SET datconnlimit = -1 WHERE datname = 'invalid'");

# ---- single-user mode

my ($runs, $last) = split /\|/, sql($few, 'SELECT count(*), max(run_id) FROM sweep.runs');
$few->stop;
my ($out, $err) = ('', '');
my $in = join '', map { "$_\n" } ('CREATE TABLE single (i int)', 'INSERT INTO single SELECT generate_series(1, 1000)', 'DELETE FROM single', 'VACUUM single',
	'VACUUM (VERBOSE, FREEZE) single', 'ANALYZE single', 'VACUUM FULL single', 'VACUUM',
	"SELECT 'runs ' || count(*) FROM sweep.runs WHERE relname = 'single'",
	(map { "SELECT '$_ ' || count(*) FROM sweep.$_" } qw(progress databases decisions features)),
	"SELECT 'status ' || effective_mode || ' ' || reason FROM sweep.status",
	"SELECT 'reset' || sweep.reset_runs()");
my $ok = IPC::Run::run [ 'postgres', '--single', '-D', $few->data_dir, 'postgres' ], '<', \$in, '>', \$out, '2>', \$err;
ok($ok, 'single-user mode: it ends in order') or diag($err);
unlike($err, qr/ERROR|WARNING|PANIC|FATAL/, 'single-user mode: without a complaint');
like($out, qr/"runs [3-9]"/, 'single-user mode: vacuums are metered');
like($out, qr/"$_ \d+"/, "single-user mode: sweep.$_ works") for qw(progress databases decisions features);
like($out, qr/"status off the launcher is not running/, 'single-user mode: sweep.status says what is not there');

$few->start;
poll_ok($few, "SELECT effective_mode = 'act' AND rounds > 0 FROM sweep.status", 'after single-user mode all is as before');
is(sql($few, "SELECT count(*) FROM sweep.runs WHERE run_id <= $last"), $runs, 'with the runs from before it');
$few->stop;

# ---- pg_upgrade with the library preloaded on both sides

my $bindir = $few->config_data('--bindir');
SKIP:
{
	skip "pg_upgrade is not in $bindir: NOT TESTED", 1 unless -x "$bindir/pg_upgrade";

	my $old = sweep_node('upgrade_old', conf => "sweep.databases = '*'\nautovacuum = on\nlog_autovacuum_min_duration = 0\n");
	garbage($old, 'postgres', 'due');
	poll_ok($old, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'due'", 'pg_upgrade: the old server works');
	garbage($old, 'postgres', 'due2', with => 'autovacuum_enabled = off');
	$old->stop;
	my $new = sweep_node('upgrade_new', start => 0);

	my @command = ('pg_upgrade', '--no-sync', '--retain', '-d', $old->data_dir, '-D', $new->data_dir, '-b', $bindir, '-B', $bindir,
		'-s', $new->host, '-p', $old->port, '-P', $new->port);
	chdir $PostgreSQL::Test::Utils::tmp_check;
	command_ok([ @command, '--check' ], 'pg_upgrade: --check');
	command_ok(\@command, 'pg_upgrade: for real');
	my $logs = join '', map { slurp_file($_) } glob($new->data_dir . '/pg_upgrade_output.d/*/log/*.log');
	like($logs, qr/database system is ready to accept connections/, 'pg_upgrade: there is a log of its servers');
	unlike($logs, qr/sweep (launcher|worker)|automatic vacuum|pg_sweep: /, 'pg_upgrade: nothing of pg_sweep ran meanwhile');

	$new->start;
	poll_ok($new, "SELECT effective_mode = 'act' FROM sweep.status", 'pg_upgrade: the new server works');
	is(sql($new, 'SELECT count(*) FROM due2'), '500', 'pg_upgrade: its tables are there');
	garbage($new, 'postgres', 'after');
	poll_ok($new, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'after' AND outcome = 'done'", 'pg_upgrade: and are vacuumed');
	$new->stop;
}

done_testing();
