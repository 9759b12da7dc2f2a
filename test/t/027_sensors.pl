# What the governor measures, as sweep.sensors() shows it: a standby whose replay is paused, a
# slot that nears max_slot_wal_keep_size, an archive_command that fails, a WAL disk that runs
# full, users who wait, and a kernel whose files are not there, broken, or go back.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use File::Temp;
use File::Path qw(make_path);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;
use Time::HiRes qw(time);

# A vacuum that takes long, so that the governor looks, and its end.
sub slow_vacuum
{
	my ($node) = @_;
	my $session = session($node);

	$session->query_until(qr/started/,
		"SET vacuum_cost_delay = '100ms'; SET vacuum_cost_limit = 1;\n\\echo started\nVACUUM (FREEZE, DISABLE_PAGE_SKIPPING) big;\n");
	return $session;
}

sub end_vacuum
{
	my ($node, $session) = @_;

	sql($node, "SELECT pg_cancel_backend(pid) FROM sweep.progress WHERE relname = 'big'");
	$session->quit;
	return;
}

# One number, or its state and reason.
sub value { return sql($_[0], "SELECT value FROM sweep.sensors() WHERE name = '$_[1]'") }
sub why { return sql($_[0], "SELECT state || ': ' || coalesce(why, '') FROM sweep.sensors() WHERE name = '$_[1]'") }

sub sensor_ok
{
	my ($node, $sensor, $condition, $name) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	poll_ok($node, "SELECT bool_and($condition) FROM sweep.sensors() WHERE name = '$sensor'", $name)
	  or diag(sql($node, 'SELECT * FROM sweep.sensors()'));
	return;
}

sub write_file
{
	my ($path, $text) = @_;

	# in one go, for whoever reads it meanwhile
	open(my $out, '>', "$path.new") or die "$path.new: $!";
	print $out $text;
	close $out or die "$path.new: $!";
	rename "$path.new", $path or die "$path: $!";
	return;
}

my $node = sweep_node('primary', init => [ allows_streaming => 1 ], conf => <<'END');
sweep.mode = observe
max_wal_size = 1GB
wal_keep_size = 0
END
my $wal_table = 'CREATE TABLE wal (id int, pad text); ALTER TABLE wal ALTER pad SET STORAGE PLAIN';
sql($node, $wal_table);

# so many MB of WAL, more or less
sub write_wal
{
	my ($mb) = @_;

	sql($node, "INSERT INTO wal SELECT i, repeat('x', 1000) FROM generate_series(1, @{[ $mb * 950 ]}) i");
	return;
}

# ---- what is there at all

is(sql($node, 'SELECT count(*), count(DISTINCT name), count(unit) FROM sweep.sensors()'), '23|23|23', 'one row a number');
is(sql($node, "SELECT string_agg(name, ' ') FROM sweep.sensors() WHERE name ~ '^(users|wal|standbys)' AND (state <> 'ok' OR value IS NULL)"),
	'', 'users, WAL and standbys are known everywhere');
sensor_ok($node, 'vacuum_cpu', "state = 'ok' AND value = 0", 'no vacuum, no processor time');
is(why($node, 'slot_left'), 'ok: no slot loses its WAL', 'no slot');
is(value($node, 'slot_left'), '', 'and so no number');

# the counters are those of the device that the kernel names
my $dev = (stat $node->data_dir)[0];
my ($major, $minor) = (($dev >> 8) & 0xfff, ($dev & 0xff) | (($dev >> 12) & 0xfff00));
if (slurp_file('/proc/diskstats') =~ /^\s*$major\s+$minor\s+(\S+)\s/m && !-e "/sys/dev/block/$major:$minor/partition")
{
	like(why($node, 'disk_latency'), qr/^ok: device \Q$1\E$/, "the data directory's device");
}
else
{
	diag('SKIPPED: the data directory is not on a whole disk here');
  SKIP: { skip 'the data directory is not on a whole disk here', 1; }
}

# ---- who may look

sql($node, 'CREATE ROLE nobody LOGIN; CREATE ROLE watcher LOGIN IN ROLE pg_monitor');
my (undef, undef, $refused) = $node->psql('postgres', 'SET ROLE nobody; SELECT * FROM sweep.sensors()');
like($refused, qr/ERROR:  permission denied for (schema sweep|function sensors)/, 'not everybody');
is(sql($node, 'SET ROLE watcher; SELECT count(*) FROM sweep.sensors()'), '23', 'pg_monitor may');

# ---- users

my @holders = map { session($node) } 1 .. 3;
sensor_ok($node, 'users_active', 'value = 0', 'idle sessions are no active users');
$_->query_until(qr/started/, "\\echo started\nSELECT pg_sleep(600);\n") for @holders;
sensor_ok($node, 'users_active', 'value = 3', 'three are');
sensor_ok($node, 'users_waiting_io', 'value = 0', 'they wait for no I/O');
sql($node, "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(600)%' AND pid <> pg_backend_pid()");
sensor_ok($node, 'users_active', 'value = 0', 'and none again');
$_->quit for @holders;
poll_ok($node, "SELECT count(*) = 0 FROM pg_stat_activity WHERE query LIKE '%pg_sleep(600)%' AND pid <> pg_backend_pid()", 'they have left');
sensor_ok($node, 'users_active', 'value = 0', 'what they have left behind does not count');

# a vacuum is no user, and takes processor time
sql($node, 'CREATE TABLE big AS SELECT i, repeat(\'x\', 100) AS pad FROM generate_series(1, 300000) i; DELETE FROM big WHERE i % 2 = 0');
my $vacuum = slow_vacuum($node);
poll_ok($node, "SELECT count(*) = 1 FROM sweep.progress WHERE relname = 'big' AND phase = 'scanning heap'", 'a vacuum runs');
# a session that is just leaving may be one for a moment
poll_ok($node, "SELECT s.value < 0.5 AND p.n = 1 FROM sweep.sensors() s, LATERAL (SELECT count(*) AS n FROM sweep.progress WHERE relname = 'big') p"
	  . " WHERE s.name = 'users_active'",
	'a vacuum is no user');
end_vacuum($node, $vacuum);
poll_ok($node, 'SELECT count(*) = 0 FROM sweep.progress', 'it is over');
my $burner = session($node);
$burner->query_until(qr/started/, "SET vacuum_cost_delay = 0;\n\\echo started\n" . "VACUUM (FREEZE, DISABLE_PAGE_SKIPPING) big;\n" x 400);
sensor_ok($node, 'vacuum_cpu', 'value > 0', 'vacuums take processor time');
sql($node, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'VACUUM%' AND pid <> pg_backend_pid()");
poll_ok($node, 'SELECT count(*) = 0 FROM sweep.progress', 'they are gone');
eval { $burner->quit };
sensor_ok($node, 'vacuum_cpu', 'value = 0', 'and so is their processor time');

# ---- WAL, and a slot that nears its end

my $writer = session($node);
$writer->query_until(qr/started/, "\\echo started\n" . "INSERT INTO wal SELECT i, repeat('x', 1000) FROM generate_series(1, 20000) i;\n" x 40);
sensor_ok($node, 'wal_written', 'value > 0.1', 'WAL is being written');
sql($node, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'INSERT INTO wal%'");
eval { $writer->quit };

reload_with($node, 'max_slot_wal_keep_size' => '96MB');
# a slot begins where the last checkpoint did
sql($node, 'CHECKPOINT');
sql($node, "SELECT pg_create_physical_replication_slot('fresh_enough', true)");
write_wal(32);
sql($node, 'CHECKPOINT');
sql($node, "SELECT pg_create_physical_replication_slot('younger', true)");
my $same = "SELECT abs(s.value * 1048576 - r.safe_wal_size) < 1048576 AND s.why = 'slot \"fresh_enough\"' FROM sweep.sensors() s, pg_replication_slots r"
	  . " WHERE s.name = 'slot_left' AND r.slot_name = 'fresh_enough'";
poll_ok($node, $same, 'the slot with the least left, as the server counts it');
write_wal(40);
poll_ok($node, $same, 'less is left after more WAL');
sensor_ok($node, 'slot_left', 'value BETWEEN 1 AND 60', 'it nears its end');
# in small steps: the younger one is not to be lost with it
my $lost = "SELECT wal_status = 'lost' FROM pg_replication_slots WHERE slot_name = 'fresh_enough'";
for (1 .. 20)
{
	last if sql($node, $lost) eq 't';
	write_wal(8);
	sql($node, 'CHECKPOINT');
}
poll_ok($node, $lost, 'the slot is lost');
sensor_ok($node, 'slot_left', q{why = 'slot "younger"'}, 'then the next one counts');
sql($node, "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots");
sensor_ok($node, 'slot_left', 'value IS NULL', 'none is left');
reload_with($node, 'max_slot_wal_keep_size' => '-1');

# ---- archiving

restart_with($node, 'archive_command' => 'false', 'archive_mode' => 'on');
sensor_ok($node, 'archiver_failing', 'value = 0', 'archiving has not failed yet');
sql($node, 'SELECT pg_switch_wal()');
sensor_ok($node, 'archiver_failing', q{value = 1 AND why ~ '^archiving of WAL file "[0-9A-F]{24}" fails$'}, 'archive_command fails');
my $watcher = session($node);
is($watcher->query_safe("SELECT value FROM sweep.sensors() WHERE name = 'archiver_behind'") >= 0, 1, 'a session watches');
write_wal(50);
poll_ok($node, 'SELECT true', 'written');
cmp_ok($watcher->query_safe("SELECT value FROM sweep.sensors() WHERE name = 'archiver_behind'"), '>=', 32, 'what is not archived');
reload_with($node, 'archive_command' => 'true');
sql($node, 'SELECT pg_switch_wal()');
sensor_ok($node, 'archiver_failing', 'value = 0', 'archiving works');
sensor_ok($node, 'archiver_behind', 'value = 0', 'and has caught up');
sql($node, "SELECT pg_stat_reset_shared('archiver')");
sensor_ok($node, 'archiver_behind', 'value = 0', 'resetting its statistics changes nothing');
$watcher->quit;
restart_with($node, 'archive_mode' => 'off');

# ---- a standby

$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->append_conf('postgresql.conf', 'wal_receiver_status_interval = 1s');
$standby->start;
$node->wait_for_catchup($standby);
sensor_ok($node, 'standbys', 'value = 1', 'there is a standby');
sensor_ok($node, 'replica_lag', q{value < 0.1 AND why = 'standby "standby"'}, 'not behind');
is(sql($standby, "SELECT DISTINCT state || coalesce(': ' || why, '') FROM sweep.sensors() WHERE name IN ('wal_written', 'standbys') ORDER BY 1"),
	"absent: this system has none: the server is a standby\nabsent: this system has none: the server is a standby and writes no WAL",
	'on the standby itself there are neither');

sql($standby, 'SELECT pg_wal_replay_pause()');
poll_ok($standby, "SELECT pg_get_wal_replay_pause_state() = 'paused'", 'its replay is paused');
write_wal(20);
sensor_ok($node, 'replica_lag', 'value BETWEEN 15 AND 60', 'it is behind');
my $lag = session($node);
my $ask = "SELECT value FROM sweep.sensors() WHERE name = 'replica_lag_time'";
my $first = $lag->query_safe($ask);
my $start = time;
sql($node, 'SELECT pg_sleep(2)');
my $second = $lag->query_safe($ask);
my $passed = (time - $start) * 1000;
cmp_ok($second - $first, '>=', 1500, 'the time grows, though the standby reports nothing new');
cmp_ok($second - $first, '<=', $passed + 1000, 'with the clock');
$lag->quit;

reload_with($node, 'sweep.ignore_standbys' => 'another, standby');
sensor_ok($node, 'standbys', 'value = 0', 'a standby can be left out');
sensor_ok($node, 'standbys_ignored', 'value = 1', 'and is counted as such');
sensor_ok($node, 'replica_lag', 'value = 0', 'its lag does not count');
reload_with($node, 'sweep.ignore_standbys' => '*');
sensor_ok($node, 'standbys', 'value = 0', 'or all');
reload_with($node, 'sweep.ignore_standbys' => 'standb, standbyy');
sensor_ok($node, 'standbys', 'value = 1', 'but only by its whole name');
sql($standby, 'SELECT pg_wal_replay_resume()');
$node->wait_for_catchup($standby);
sensor_ok($node, 'replica_lag', 'value < 0.1', 'it has caught up');
sensor_ok($node, 'replica_lag_time', 'value < 1000', 'in time, too');

# a logical walsender and a base backup are no standbys
sensor_ok($node, 'base_backups', 'value = 0', 'no base backup');
my $backup = IPC::Run::start([ 'pg_basebackup', '-h', $node->host, '-p', $node->port, '-D', $node->backup_dir . '/slow', '-r', '32k', '-X', 'none',
	'--no-sync' ],
	'>', \my $backup_out, '2>', \my $backup_err);
sensor_ok($node, 'base_backups', 'value = 1', 'one is being made');
sensor_ok($node, 'standbys', 'value = 1', 'it is no standby');
sql($node, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'BASE_BACKUP%'");
$backup->finish;
sensor_ok($node, 'base_backups', 'value = 0', 'and gone');
$standby->stop;
$node->stop;

# ---- the WAL's file system

SKIP:
{
	my $mount = PostgreSQL::Test::Utils::tempdir_short() . '/wal';
	mkdir $mount or die "$mount: $!";
	my $mounted = system("mount -t tmpfs -o size=96m,mode=0777 none $mount 2>/dev/null") == 0;
	if (!$mounted && -d '/dev/shm' && -w '/dev/shm')
	{
		# not to be filled: but another file system than the data directory's it is
		diag('SKIPPED: no file system can be mounted here; /dev/shm is looked at instead');
		rmdir $mount;
		$mount = "/dev/shm/pg_sweep_wal_$$";
		mkdir $mount or die "$mount: $!";
	}
	elsif (!$mounted)
	{
		diag('SKIPPED: no file system can be mounted here, and there is no /dev/shm');
		skip 'no other file system here', 2;
	}
	my $full = PostgreSQL::Test::Cluster->new('full');
	$full->init(extra => [ '-X', "$mount/pg_wal" ]);
	$full->append_conf('postgresql.conf', sweep_conf() . "sweep.mode = observe\n");
	$full->start;
	sql($full, 'CREATE EXTENSION pg_sweep');
	my $df = sub {
		my ($used) = `df --output=pcent '$mount'` =~ /(\d+)%/;
		return $used;
	};
	cmp_ok(abs(value($full, 'wal_disk_used') - $df->()), '<=', 2, 'how full it is, as df says, behind the link');
  SKIP:
	{
		skip 'nothing could be mounted', 1 unless $mounted;
		system("head -c @{[ int(96 * 1048576 * (0.9 - $df->() / 100)) ]} /dev/zero >$mount/ballast");
		sensor_ok($full, 'wal_disk_used', 'value BETWEEN 85 AND 95', 'it runs full');
	}
	$full->stop;
	system("rm -rf $mount/pg_wal $mount/ballast");
	system("umount $mount") if $mounted;
	rmdir $mount;
}

# ---- the kernel's files, as they may be: only who starts the server can say where they are

my $root = PostgreSQL::Test::Utils::tempdir();
make_path("$root/proc/pressure", "$root/proc/self", "$root/sys/fs/cgroup", "$root/sys/dev/block/$major:$minor/queue", "$root/sys/dev/block/$major:$minor/mq/0");
my @counters = (1000, 0, 80000, 5000, 2000, 0, 160000, 10000, 0, 3000, 15000);
my $diskstats = sub {
	my ($name, @c) = @_;
	write_file("$root/proc/diskstats", "   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0\n" . ($name ? " $major $minor $name @c\n" : ''));
};
$diskstats->('fake', @counters);
write_file("$root/sys/dev/block/$major:$minor/queue/rotational", "1\n");
write_file("$root/sys/dev/block/$major:$minor/queue/read_ahead_kb", "8192\n");
write_file("$root/proc/pressure/io", "some avg10=12.50 avg60=0.18 avg300=0.10 total=1000000\nfull avg10=0.02 avg60=0.08 avg300=0.05 total=2\n");

# as in a container, whose own group looks like the root
write_file("$root/proc/self/cgroup", "0::/\n");
write_file("$root/sys/fs/cgroup/cpu.pressure", "some avg10=7.00 avg60=0.18 avg300=0.10 total=1000000\n");
write_file("$root/proc/pressure/cpu", "x\n");

# A tablespace on another disk, which /proc and /sys call 250:7.
my $shelf = -d '/dev/shm' ? File::Temp->newdir(DIR => '/dev/shm') : undef;
my $shelf_dev = $shelf ? (stat "$shelf")[0] : (stat $node->data_dir)[0];
my $has_shelf = $shelf_dev != (stat $node->data_dir)[0];
if ($has_shelf)
{
	my $number = ($shelf_dev >> 8 & 0xfff) . ':' . ($shelf_dev & 0xff | $shelf_dev >> 12 & 0xfff00);

	make_path("$root/sys/dev/block/$number");
	write_file("$root/sys/dev/block/$number/partition", "1\n");
	write_file("$root/sys/dev/block/dev", "250:7\n");
	$node->start;
	sql($node, "CREATE TABLESPACE shelf LOCATION '$shelf'");
	$node->stop;
}
$node->append_conf('postgresql.conf', "sweep.debug_sensor_root = '$root'");
$node->start;
my $s = session($node);
my $disk = sub { return $s->query_safe("SELECT state, value, why FROM sweep.sensors() WHERE name = 'disk_busy'") };
is($disk->(), 'ok|0|device fake', 'a disk that does one thing at a time');
is($s->query_safe("SELECT state, value, why FROM sweep.sensors() WHERE name = 'disk_read_ahead'"), 'ok|8192|fake', 'what the kernel reads ahead');
is($s->query_safe("SELECT state, value >= 0 FROM sweep.sensors() WHERE name = 'io_pressure'"), 'ok|t', 'pressure');
is($s->query_safe("SELECT state, value >= 0 FROM sweep.sensors() WHERE name = 'cpu_pressure'"), 'ok|t', 'that of its own group, where it has one');

# Changes the file while the server senses, as the kernel would, from one content to another.
# The server looks twice, a quarter of a second apart. The change is to fall in between.
my $later_like = sub {
	my ($from, $to, $regexp, $name) = @_;
	my $answer = '';

	for (1 .. 20)
	{
		$diskstats->(@$from);
		$disk->();
		my $pid = fork;
		die "fork: $!" unless defined $pid;
		if ($pid == 0)
		{
			select(undef, undef, undef, 0.1);
			$diskstats->(@$to);
			POSIX::_exit(0);
		}
		$answer = $disk->();
		waitpid $pid, 0;
		last if $answer =~ $regexp;
	}
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	like($answer, $regexp, $name);
	return;
};
require POSIX;
my @more = (1040, 0, 82048, 5080, 2060, 0, 161024, 10160, 0, 3100, 15500);
$later_like->([ 'fake', @counters ], [ 'fake', @more ], qr/^ok\|(2\d|3\d|40)/, 'busy');
SKIP:
{
	skip 'NOT TESTED: there is no other file system in /dev/shm', 2 unless $has_shelf;
	my @busy = ("\n 250 7 shelf", @more);

	$later_like->([ 'fake', @counters, "\n 250 7 shelf", @counters ], [ 'fake', @counters, @busy ], qr/^ok\|(2\d|3\d|40)\S*\|device shelf/,
		"a tablespace's disk");
	$later_like->([ 'fake', @counters, @busy ], [ 'fake', @counters ], qr/^ok\|0\|device fake$/, 'one without a line is left out');
}
$later_like->([ 'fake', @more ], [ 'fake', @counters ], qr/^broken\|\|cannot be read at present: the counters of device "fake" went back$/,
	'the counters went back');
is($disk->(), 'ok|0|device fake', 'and are compared with the new ones next time');
$later_like->([ 'fake', @counters ], [ 'other', @more ], qr/^broken\|\|cannot be read at present: device $major:$minor was "fake" and is "other" now$/,
	'the device has changed');
is($disk->(), 'ok|0|device other', 'and then it is that one');
$diskstats->('');
like($disk->(), qr/^broken\|\|cannot be read at present: no line about device $major:$minor in/, 'its line is gone');
write_file("$root/proc/diskstats", " $major $minor other 1 2 x\n");
like($disk->(), qr/^broken\|\|.*not to be understood: the line about/, 'its line is garbage');
unlink "$root/proc/diskstats";
like($disk->(), qr/^broken\|\|.*diskstats: No such file/, 'the file is gone');
mkdir "$root/proc/diskstats" or die $!;
like($disk->(), qr/^broken\|\|.*diskstats: Is a directory/, 'the file cannot be read');
rmdir "$root/proc/diskstats";
$diskstats->('other', @counters);
is($disk->(), 'ok|0|device other', 'it is back');

write_file("$root/proc/pressure/io", "x\n");
is($s->query_safe("SELECT state, why FROM sweep.sensors() WHERE name = 'io_pressure'"),
	'absent|this system has none: no pressure information: /proc/pressure/io is not to be understood', 'no pressure');
sensor_ok($node, 'users_active', "state = 'ok' AND value = 0", 'users are counted all the same');
$s->quit;

# the governor says so once, and goes on
sub steps { return sql($_[0], 'SELECT count(*) FROM sweep.governor') }

sub steps_ok
{
	my ($node, $name) = @_;
	my $target = steps($node) + 8;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	poll_ok($node, "SELECT count(*) >= $target FROM sweep.governor", $name);
	return;
}

reload_with($node, 'sweep.io_latency_limit' => '1000');
my $offset = log_size($node);
my $slow = slow_vacuum($node);
steps_ok($node, 'the governor works');
unlink "$root/proc/diskstats";
log_poll_ok($node, qr/LOG: .*the sensor "disk" cannot be read: .*diskstats: No such file/, $offset, 'the disk is lost');
steps_ok($node, 'the governor goes on');
$diskstats->('other', @counters);
log_poll_ok($node, qr/LOG: .*the sensor "disk" can be read again/, $offset, 'and found again');
steps_ok($node, 'the governor goes on');
is(() = log_since($node, $offset) =~ /LOG: .*the sensor "disk"/g, 2, 'the log is told of each once');
end_vacuum($node, $slow);
reload_with($node, 'sweep.io_latency_limit' => '0');

# a device that serves many at once, in another session: looked at once
write_file("$root/sys/dev/block/$major:$minor/queue/rotational", "0\n");
like(why($node, 'disk_busy'), qr/^ok: device other, which serves several requests at once, or may: busy does not mean full$/, 'flash');
$diskstats->('');
like(why($node, 'disk_busy'), qr/^absent: this system has none: no line about device/, 'a file system without a device');
$node->stop;

done_testing();
