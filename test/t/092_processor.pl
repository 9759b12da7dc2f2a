# The processor time of vacuums: sweep.cpu_limit, and a quota of the server's control group, of
# which they take what users leave.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use File::Path qw(make_path);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

my $node = sweep_node('processor', start => 0, conf => <<'END');
sweep.naptime = 100ms
sweep.adaptive = on
sweep.max_workers = 1
sweep.min_interval = 0
log_autovacuum_min_duration = 0
max_parallel_maintenance_workers = 0
END

my $root = $node->basedir . '/kernel';
my $group = "$root/sys/fs/cgroup/pod";
make_path("$root/proc/self", $group);

kernel_says("$root/proc/self/cgroup", '0::/pod');
kernel_says("$group/cpu.max", 'max 100000');
kernel_says("$group/cpu.stat", 'usage_usec 0');
$node->append_conf('postgresql.conf', "sweep.debug_sensor_root = '$root'");
$node->start;
sql($node, 'CREATE EXTENSION IF NOT EXISTS pg_sweep');

sql($node, "SELECT sweep.hold('1 h')");
sql($node, "CREATE TABLE $_ (a int, b int); INSERT INTO $_ SELECT i, i FROM generate_series(1, 800000) i; SELECT pg_stat_force_next_flush(); "
	. "CREATE INDEX ON $_ (a); CREATE INDEX ON $_ (b); VACUUM (ANALYZE, FREEZE) $_") for qw(set quota);

# Which share of a processor did its vacuum use, in %?
sub used_by
{
	my ($table) = @_;
	my $at = log_size($node);
	my $report = qr/public\.$table": index scans: 1.*?CPU: user: ([\d.]+) s, system: ([\d.]+) s, elapsed: ([\d.]+) s/s;

	sql($node, "DELETE FROM $table WHERE a % 3 = 0; SELECT pg_stat_force_next_flush()");
	sql($node, "SELECT sweep.hold('0')");
	log_poll_ok($node, $report, $at, "$table: it is vacuumed");
	sql($node, "SELECT sweep.hold('1 h')");
	my ($user, $system, $elapsed) = log_since($node, $at) =~ $report;
	note("$table: $user s and $system s of $elapsed s");
	return 100 * ($user + $system) / $elapsed;
}

reload_with($node, 'sweep.cpu_limit' => 3);
cmp_ok(used_by('set'), '<=', 6, 'sweep.cpu_limit holds, in a short vacuum too');

# 80 % of a twentieth, and nobody else uses it
reload_with($node, 'sweep.cpu_limit' => 0);
kernel_says("$group/cpu.max", '5000 100000');
cmp_ok(used_by('quota'), '<=', 8, 'so does the quota');
is(sql($node, "SELECT round(configured) || '|' || detail FROM sweep.budget WHERE name = 'cpu_limit'"),
	"4|what users leave of a quota of 0.05 processors", 'sweep.budget says so')
  or diag(sql($node, 'TABLE sweep.budget'));

$node->stop;
done_testing();
