# act, observe, off, DROP EXTENSION, preload removed: each step takes away what the one
# before it added, and the last leaves nothing behind.
#
# Three files remain in the data directory, as those of core's own statistics do:
# pg_stat/pg_sweep.runs (the finished vacuums), pg_stat/pg_sweep.history (the hours that are
# over) and, only after a crash of pg_sweep, pg_stat/pg_sweep.starts. No server reads them
# without the library.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;
use Time::HiRes qw(time usleep);

# The mode is observe, as shipped. The clock is the real one, because times are promised.
my $node = sweep_node('lifecycle', extension => 0, conf => <<'END');
sweep.mode = observe
sweep.naptime = 200ms
END

my $own_processes = "SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE 'sweep%' AND backend_type <> 'sweep launcher'";

# ---- other extensions may have functions of any name but ours

for my $library (qw(pg_sweep pg_sweep_cleaner pg_sweep_simulate))
{
	my ($out, $err) = run_command([ 'nm', '-D', '--defined-only', $node->config_data('--pkglibdir') . "/$library.so" ]);
	my @names = map { (split)[-1] } split /\n/, $out;
	ok(scalar(@names), "$library shows names to the linker");
	is(join(' ', grep { !/^(?:pg_finfo_)?sweep_/ && !/^(?:_PG_init|Pg_magic_func)$/ } @names), '', "... and all are its own ($library)");
}

# ---- observe: decides, changes nothing

sql($node, 'CREATE DATABASE app');
garbage($node, 'app', 'due');

is(sql($node, "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'sweep%'"), '0', 'before CREATE EXTENSION there is no schema');
sql($node, 'CREATE EXTENSION pg_sweep');
is(sql($node, 'SELECT mode, effective_mode, reason IS NULL FROM sweep.status'), 'observe|observe|t', 'observe: effective');
poll_ok($node,
	"SELECT count(*) = 1 FROM sweep.decisions WHERE datname = 'app' AND relname = 'due' AND decision = 'would vacuum' AND reason = 'sweep.mode is observe'",
	'observe: sweep.decisions shows what would be vacuumed, in a database that is new too, within 3 s', timeout => within(3))
  or poll_until($node, "SELECT count(*) = 1 FROM sweep.decisions WHERE relname = 'due'");
rounds($node, 5);
is(sql($node, 'SELECT count(*) FROM sweep.runs'), '0', 'observe: but nothing was');
is(sql($node, "SELECT vacuum_count, n_dead_tup FROM pg_stat_user_tables WHERE relname = 'due'", 'app'), '0|500', 'observe: core counts no vacuum either');

sql($node, 'VACUUM due', 'app');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE started_by = 'manual' AND relname = 'due' AND outcome = 'done'",
	'observe: vacuums of others are metered');

# ---- act: vacuums tables of a database without the extension

garbage($node, 'app', 'more');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.decisions WHERE datname = 'app' AND relname = 'more' AND decision = 'would vacuum'",
	'one more table would be vacuumed');
reload_with($node, 'sweep.mode' => 'act');
garbage($node, 'app', 'acted_on');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE datname = 'app' AND relname = 'acted_on' AND started_by = 'sweep' AND outcome = 'done'",
	'act: vacuums, in a database without the extension too');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE datname = 'app' AND relname = 'more' AND started_by = 'sweep' AND outcome = 'done'",
	'act: what observe only noted is vacuumed now', timeout => within(10));

# ---- act to observe: no further vacuum begins

# all become due for the same visit
reload_with($node, 'sweep.exclude_databases' => 'app');
rounds($node, 3);
slow_table($node, 'app', "slow$_", pages => 80,
	with => 'autovacuum_vacuum_cost_delay = 10, autovacuum_vacuum_cost_limit = 1') for 1 .. 4;
reload_with($node, 'sweep.exclude_databases' => '');
my $running = poll_value($node, "SELECT relname FROM sweep.progress WHERE started_by = 'sweep' AND relname LIKE 'slow%' LIMIT 1");
like($running, qr/^slow\d$/, 'act: a slow vacuum is running');
reload_with($node, 'sweep.mode' => 'observe');
my $reloaded = sql($node, 'SELECT clock_timestamp()');
poll_ok($node, "SELECT count(*) = 0 FROM sweep.progress WHERE started_by = 'sweep'", 'observe: vacuums end');
rounds($node, 5);
is( sql($node, "SELECT count(*) FROM sweep.runs WHERE started_by = 'sweep' AND started_at > '$reloaded'::timestamptz + interval '1 s'"),
	'0', 'observe: none has begun after the reload, though more were due in the same visit');
poll_ok($node, "SELECT count(*) >= 1 FROM sweep.decisions WHERE relname LIKE 'slow%' AND decision = 'would vacuum'",
	'observe: the others would be vacuumed');

# ---- off: within 2 s no worker, no vacuum of ours, no meter

reload_with($node, 'sweep.mode' => 'act');
slow_table($node, 'app', 'slow_at_off');
slow_table($node, 'app', 'manual_at_off', with => 'autovacuum_enabled = false');
my $pid = poll_value($node, "SELECT pid FROM sweep.progress WHERE started_by = 'sweep' AND relname LIKE 'slow%' LIMIT 1");
my $user = session($node, 'app');
$user->query_until(qr/begun/, <<'END');
SET vacuum_cost_delay = 100;
SET vacuum_cost_limit = 1;
\echo begun
VACUUM manual_at_off;
\echo ended
END
poll_ok($node, "SELECT count(*) = 1 FROM sweep.progress WHERE started_by = 'manual'", 'off: before it, a user vacuums as well');

my $took = seconds(
	sub {
		reload_with($node, 'sweep.mode' => 'off');
		poll_ok($node, "SELECT ($own_processes) = 0 AND workers = 0 FROM sweep.status", 'off: own workers are gone, the running vacuum is cancelled');
	});
cmp_ok($took, '<', within(2), 'off: within 2 s');
# its row goes a moment before the process
my $until = time + within(2);
usleep(10_000) while process_exists($pid) && time < $until;
ok(!process_exists($pid), 'off: the process that vacuumed is gone');
$took = seconds(sub { poll_ok($node, 'SELECT count(*) = 0 FROM sweep.progress', 'off: no vacuum is metered, not even one that was', timeout => 5) });
cmp_ok($took, '<', within(2), 'off: within 2 s');
is(sql($node, "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'VACUUM manual_at_off%' AND state = 'active'"), '1', 'off: the user\'s vacuum goes on');
is(sql($node, 'SELECT mode, effective_mode, reason IS NULL, workers FROM sweep.status'), 'off|off|t|0', 'off: and sweep.status says so');

my $rounds = status($node, 'rounds');
my $wal = sql($node, 'SELECT pg_current_wal_insert_lsn()');
garbage($node, 'app', 'unnoticed');
my $cpu = cpu_ticks(status($node, 'launcher_pid'));
sql($node, 'SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE $$VACUUM manual_at_off%$$ AND state = $$active$$');
$user->query_until(qr/ended/, '');
sql($node, 'VACUUM unnoticed', 'app');
is(sql($node, "SELECT count(*) FROM sweep.runs WHERE relname IN ('unnoticed', 'manual_at_off')"), '0', 'off: nothing is recorded');
is(status($node, 'rounds'), $rounds, 'off: nothing is scouted');
cmp_ok(cpu_ticks(status($node, 'launcher_pid')) - $cpu, '<=', 1, 'off: the launcher sleeps');

# ---- and back: the same session is metered again

reload_with($node, 'sweep.mode' => 'observe');
poll_ok($node, "SELECT rounds > $rounds FROM sweep.status", 'observe again: scouts');
is(sql($node, 'SELECT count(*) FROM sweep.progress'), '0', 'observe again: a vacuum that was cancelled meanwhile is not shown');
$user->query('RESET vacuum_cost_delay; RESET vacuum_cost_limit');
$user->query('VACUUM manual_at_off');
is(sql($node, "SELECT outcome FROM sweep.runs WHERE relname = 'manual_at_off'"), 'done', 'observe again: that session\'s next vacuum is recorded');
$user->quit;

# ---- DROP EXTENSION: the SQL objects go, the library is still loaded

sql($node, 'DROP EXTENSION pg_sweep');
is( sql($node, "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'sweep%'") . sql($node, "SELECT count(*) FROM pg_proc WHERE probin LIKE '%pg_sweep%'"),
	'00', 'DROP EXTENSION: no schema, no function');
is( sql($node, "SELECT count(*) FROM pg_class WHERE relname IN ('progress', 'runs', 'decisions')")
	  . sql($node, "SELECT count(*) FROM pg_default_acl")
	  . sql($node, "SELECT count(*) FROM pg_shdepend WHERE deptype = 'a' AND refobjid = 'pg_monitor'::regrole AND objid >= 16384"),
	'000', 'DROP EXTENSION: no view, no privilege');
sql($node, 'CREATE EXTENSION pg_sweep');
is(sql($node, "SELECT count(*) > 0 FROM sweep.runs"), 't', 'CREATE EXTENSION again: the runs are still there');
sql($node, 'DROP EXTENSION pg_sweep');

# ---- preload removed: as if it had never been there

sql($node, "ALTER SYSTEM RESET ALL");
$node->adjust_conf('postgresql.conf', 'shared_preload_libraries', "''");
$node->adjust_conf('postgresql.conf', $_, undef) for ('sweep.mode', 'sweep.naptime');
$node->stop;
my $offset = log_size($node);
$node->start;
is(sql($node, "SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE 'sweep%'"), '0', 'preload removed: no process');
is(sql($node, "SELECT count(*) FROM pg_settings WHERE name LIKE 'sweep.%'"), '0', 'preload removed: no setting');
is(sql($node, "SELECT count(*) FROM pg_shmem_allocations WHERE name LIKE 'pg_sweep%'"), '0', 'preload removed: no shared memory');
unlike(log_since($node, $offset), qr/sweep/, 'preload removed: no word of it in the log');
# an hour may have ended meanwhile
is( join(' ', sort grep { !m{/pg_sweep\.history$} } map { s/.*pgdata//r } grep { -f } glob($node->data_dir . '/pg_stat/pg_sweep*'), glob($node->data_dir . '/*sweep*'),
	glob($node->data_dir . '/global/*sweep*')),
	'/pg_stat/pg_sweep.runs', 'preload removed: no other file is left');
garbage($node, 'app', 'after');
sql($node, 'VACUUM after', 'app');
pass('preload removed: VACUUM works');

$node->stop;
done_testing();

# Processor time that a process has used so far, in hundredths of a second.
sub cpu_ticks
{
	my ($process) = @_;

	return 0 unless -r "/proc/$process/stat";
	my @fields = split ' ', slurp_file("/proc/$process/stat") =~ s/.*\)//sr;
	return $fields[11] + $fields[12];
}
