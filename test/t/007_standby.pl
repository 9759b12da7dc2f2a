# A standby with the library preloaded does nothing, but its views work. When it is
# promoted it takes over within seconds, with the finished runs that came along in the base
# backup.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

# The clock is the real one, because times are promised.
my $primary = sweep_node('primary', init => [ allows_streaming => 1 ], conf => <<'END');
autovacuum_vacuum_cost_delay = 0
hot_standby_feedback = on
END

garbage($primary, 'postgres', 'before');
poll_ok($primary, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'before' AND outcome = 'done'", 'the primary vacuums');
poll_ok($primary, 'SELECT runs_saved_at > (SELECT max(ended_at) FROM sweep.runs) FROM sweep.status', 'its runs are saved');
my $id = sql($primary, 'SELECT max(run_id) FROM sweep.runs');
$primary->backup('base');

my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;
$primary->wait_for_catchup($standby);

# ---- on the standby

is(sql($standby, "SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE 'sweep%'"), '0', 'standby: no process of ours');
is(sql($standby, 'SELECT mode, effective_mode, reason FROM sweep.status'), 'act|off|this server is a standby', 'standby: sweep.status says why');
for my $view ('progress', 'runs', 'databases', 'decisions', 'status', 'features', 'tables', 'queue', 'blockers',
	'explain()', "explain('before')", 'wraparound')
{
	my ($rc, $out, $err) = $standby->psql('postgres', "SELECT count(*) FROM sweep.$view");
	is("$rc$err", '0', "standby: sweep.$view works");
}
is(sql($standby, 'SELECT count(*) FROM sweep.decisions'), '0', 'standby: nothing is decided');
is(sql($standby, "SELECT cause, evidence FROM sweep.explain('before') WHERE cause = 'pg_sweep does not work'"),
	'pg_sweep does not work|this server is a standby', 'standby: sweep.explain() says why');
for my $call ("vacuum('before')", "vacuum('before', true)", "set('before', 'enabled', 'off')")
{
	my (undef, undef, $refused) = $standby->psql('postgres', "SELECT sweep.$call");
	like($refused, qr/ERROR:  (no vacuum can be requested during recovery|cannot execute \w+ in a read-only transaction)/, "standby: sweep.$call is refused");
}
my ($rc, $out, $err) = $standby->psql('postgres', 'VACUUM before');
like($err, qr/ERROR:  cannot execute VACUUM during recovery/, 'standby: VACUUM is refused as always');
is(sql($standby, 'SELECT count(*) FROM sweep.progress'), '0', 'standby: and leaves no meter behind');
like(slurp_file($standby->data_dir . '/pg_stat/pg_sweep.runs', 0), qr/before/, 'standby: the base backup has the runs');

# ---- a due table comes along, and the promotion

reload_with($primary, 'sweep.mode' => 'observe');
rounds($primary, 3);
garbage($primary, 'postgres', 'due');
$primary->wait_for_catchup($standby);
$primary->stop;

# A standby knows nothing of dead rows. Statistics begin at the promotion.
is(sql($standby, "SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE 'sweep%'"), '0', 'standby: still no process of ours');
my $offset = log_size($standby);
$standby->promote;
my $took = seconds(sub { poll_ok($standby, "SELECT effective_mode = 'act' AND rounds > 0 FROM sweep.status", 'promoted: it works') });
cmp_ok($took, '<', within(5), 'promoted: within seconds');
is(sql($standby, "SELECT count(*) FROM sweep.runs WHERE relname = 'before' AND started_by = 'sweep'"), '1', 'promoted: the runs of the primary are known');
unlike(log_since($standby, $offset), qr/WARNING/, 'promoted: its file is accepted');

garbage($standby, 'postgres', 'after');
$took = seconds(sub {
	poll_ok($standby, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'after' AND started_by = 'sweep' AND tuples_removed = 500",
		'promoted: a due table is vacuumed');
});
cmp_ok($took, '<', within(4), 'promoted: within seconds');
cmp_ok(sql($standby, "SELECT run_id FROM sweep.runs WHERE relname = 'after'"), '>', $id, 'promoted: run_id goes on growing');
poll_ok($standby, 'SELECT runs_saved_at > (SELECT max(ended_at) FROM sweep.runs) FROM sweep.status', 'promoted: runs are saved');

# ---- a restart on the new timeline takes the file again

$offset = log_size($standby);
$standby->restart;
poll_ok($standby, "SELECT rounds > 0 FROM sweep.status", 'restarted: it works');
is(sql($standby, "SELECT count(*) FROM sweep.runs WHERE relname IN ('before', 'after')"), '2', 'restarted: all runs are known');
unlike(log_since($standby, $offset), qr/WARNING/, 'restarted: without a WARNING');

# ---- the old primary as a standby of the new one: its file is of the past, and ours

$primary->append_conf('postgresql.conf', "sweep.mode = act");
$primary->enable_streaming($standby);
$primary->set_standby_mode;
$primary->start;
is(sql($primary, 'SELECT effective_mode, reason FROM sweep.status'), 'off|this server is a standby', 'the old primary is a standby now');
is(sql($primary, "SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE 'sweep%'"), '0', 'without a process of ours');

$primary->stop;
$standby->stop;
done_testing();
