# WAL is never allowed to hurt, and a sensor that breaks never removes a limit: what the
# governor does while a large vacuum is running, archiving fails, the file system of WAL is
# fuller than it may be, and the kernel's files about the disk go away.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;
use Time::HiRes qw(time usleep);

my $node = sweep_node('governor', start => 0, conf => <<'END');
sweep.adaptive = off
sweep.write_limit = 30
sweep.floor = 1
sweep.wal_disk_limit = 0
max_worker_processes = 12
archive_mode = on
archive_command = 'true'
END

# The kernel's file about the disk, as the test has it: the device takes 1 ms per request.
my $root = $node->basedir . '/kernel';
my $dev = (stat($node->data_dir))[0];
my $device = (($dev >> 8) & 0xfff) . ':' . (($dev & 0xff) | (($dev >> 12) & 0xfff00));
my ($major, $minor) = split /:/, $device;
my ($requests, $waited_ms, $busy_ms) = (1000, 1000, 1000);
mkdir $_ or die "$_: $!" for $root, map { "$root/$_" } 'proc', 'proc/pressure', 'sys', 'sys/dev', 'sys/dev/block', "sys/dev/block/$device",
	"sys/dev/block/$device/queue";
write_file("$root/sys/dev/block/$device/queue/rotational", "1\n");

sub write_file
{
	my ($file, $text) = @_;

	# at once, so that nobody reads half of it
	open my $out, '>', "$file.new" or die "$file: $!";
	print $out $text;
	close $out or die "$file: $!";
	rename "$file.new", $file or die "$file: $!";
	return;
}

sub disk_does
{
	my ($ms) = @_;

	$requests += 100;
	$waited_ms += 100 * $ms;
	$busy_ms += 10;
	write_file("$root/proc/diskstats", " $major $minor disk $requests 0 8000 $waited_ms 0 0 0 0 0 $busy_ms $waited_ms\n");
	return;
}

disk_does(1);
$node->append_conf('postgresql.conf', "sweep.debug_sensor_root = '$root'");
$node->start;
sql($node, 'CREATE EXTENSION IF NOT EXISTS pg_sweep');

# Of so many MB, each page with garbage, and in WAL whole when it is vacuumed.
sql($node, <<'END');
CREATE TABLE large (id int, pad text) WITH (autovacuum_enabled = false);
ALTER TABLE large ALTER pad SET STORAGE PLAIN;
BEGIN;
INSERT INTO large SELECT i, repeat('x', 1900) FROM generate_series(1, 240000) i;
DELETE FROM large WHERE id % 4 = 0;
COMMIT;
CHECKPOINT;
END

sub budget
{
	my ($name, $column) = @_;

	return sql($node, "SELECT $column FROM sweep.budget WHERE name = '$name'");
}

# WAL of the vacuum over the last half second, MB/s.
sub wal_mb_s
{
	my $bytes = q{SELECT coalesce(sum(wal_bytes), -1) FROM sweep.progress WHERE relname = 'large'};
	my ($before, $began) = (sql($node, $bytes), time);

	usleep(500_000);
	my $after = sql($node, $bytes);
	return 0 if $before < 0 || $after < 0;
	return ($after - $before) / (1024 * 1024) / (time - $began);
}

sub wal_rate_ok
{
	my ($least, $most, $name) = @_;
	my @seen;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	for (1 .. within(60))
	{
		push @seen, sprintf('%.1f', wal_mb_s());
		return pass($name) if $seen[-1] >= $least && $seen[-1] <= $most;
	}
	fail($name);
	diag("MB of WAL per second: @seen");
	diag(sql($node, 'SELECT * FROM sweep.budget'));
	return 0;
}

# Does it leave no more WAL than the floor, which rises while garbage piles up?
sub at_floor
{
	my ($limit) = @_;

	return qq{SELECT l.binding AND l.allowed_mb_per_s <= 1.01 * f.allowed_mb_per_s FROM sweep.budget l, sweep.budget f
		WHERE l.name = '$limit' AND f.name = 'floor'};
}

# ---- archiving fails

sql($node, "SELECT sweep.vacuum('large')");
wal_rate_ok(8, 1000, 'a vacuum writes WAL');
reload_with($node, archive_command => 'false');
sql($node, 'SELECT pg_switch_wal()');
poll_ok($node, q{SELECT last_failed_time IS NOT NULL FROM pg_stat_archiver}, 'archiving fails');
my $took = seconds(sub { poll_until($node, at_floor('archiver')) });
cmp_ok($took, '<', within(5), "within five seconds ($took) vacuums may do no more than the floor");
wal_rate_ok(0.01, 3, 'and they write no more WAL than that, but go on');
is(budget('archiver', 'detail'), 'archiving of WAL fails', 'sweep.budget says why');
is(sql($node, q{SELECT binding FROM sweep.governor ORDER BY at DESC LIMIT 1}), 'archiver', 'and sweep.governor');
reload_with($node, archive_command => 'true');
sql($node, 'SELECT pg_switch_wal()');
poll_ok($node, q{SELECT NOT binding FROM sweep.budget WHERE name = 'archiver'}, 'it works again: that limit is gone, slowly');
wal_rate_ok(8, 1000, 'as fast as before');

# ---- the file system of WAL

my $used = sql($node, q{SELECT value FROM sweep.sensors() WHERE name = 'wal_disk_used'});
reload_with($node, 'sweep.wal_disk_limit' => $used / 2);
$took = seconds(sub { poll_until($node, at_floor('wal_disk_limit')) });
cmp_ok($took, '<', within(5), "its file system is too full: the floor within five seconds ($took)");
wal_rate_ok(0.01, 3, 'little WAL, and it goes on');
is(budget('wal_disk_limit', 'detail'), 'the file system of WAL is filling up', 'sweep.budget says why');
reload_with($node, 'sweep.wal_disk_limit' => 0);
poll_ok($node, q{SELECT NOT binding FROM sweep.budget WHERE name = 'wal_disk_limit'}, 'no such limit any more');
wal_rate_ok(8, 1000, 'as fast as before');

# ---- a sensor breaks: the limit that needs it stays

reload_with($node, 'sweep.io_latency_limit' => 5, 'sweep.write_limit' => 10, 'sweep.floor' => 2);
my $allowed = '';
for (1 .. within(200))
{
	disk_does(20);
	usleep(100_000);
	$allowed = budget('io_latency_limit', 'allowed_mb_per_s');
	last if $allowed ne '' && $allowed <= 4;
}
cmp_ok($allowed || 1000, '<=', 4, 'the disk takes 20 ms of 5: vacuums yield')
  or diag(sql($node, 'SELECT * FROM sweep.budget'), "\n", sql($node, q{SELECT name, state, value, why FROM sweep.sensors() WHERE name ~ 'disk'}), "\n",
	sql($node, 'SELECT relname, phase, limited_by FROM sweep.progress'));

my $offset = -s $node->logfile;
unlink "$root/proc/diskstats" or die $!;
poll_ok($node, q{SELECT sensor = 'broken' FROM sweep.budget WHERE name = 'io_latency_limit'}, 'the file is gone: the sensor is broken');
like(budget('io_latency_limit', 'detail'), qr/No such file/, 'sweep.budget says why');
my @least;
for (1 .. 24)
{
	usleep(500_000);
	push @least, budget('io_latency_limit', "coalesce(allowed_mb_per_s, 100000)");
}
my ($most) = sort { $b <=> $a } @least;
cmp_ok($most, '<', 40, "for as long as the limit is not taken back, nor after that, it is unlimited ($most)");
wal_rate_ok(0.01, 60, 'the vacuum goes on');
my @said = slurp_file($node->logfile, $offset) =~ /LOG:  .*(?:disk|diskstats).*/g;
is(scalar @said, 1, 'the log says so once') or diag(join "\n", @said);
disk_does(1);
poll_ok($node, q{SELECT sensor = 'ok' FROM sweep.budget WHERE name = 'io_latency_limit'}, 'it is back');
reload_with($node, 'sweep.io_latency_limit' => 0);
reload_with($node, 'sweep.write_limit' => 0, 'sweep.adaptive' => 'on');
poll_ok($node, q{SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'large' AND outcome = 'done'}, 'the vacuum ends', timeout => 240);

done_testing();
