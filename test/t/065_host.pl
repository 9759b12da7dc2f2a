# Several servers on one machine divide the limits while they vacuum, by urgency. One that is
# stopped gets a fixed share and then none, and what lies in the directory gains nothing.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use File::Path qw(make_path);
use POSIX qw(mkfifo);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;
use Time::HiRes qw(usleep);

my $directory = PostgreSQL::Test::Utils::tempdir_short();

# A limit that keeps a vacuum of 20 MB busy for as long as the test takes. So do the cost
# settings, which hold while the governor is stopped.
my $conf = <<"END";
sweep.host_directory = '$directory'
sweep.write_limit = 0.2
sweep.wal_limit = 8
sweep.floor = 0.1
sweep.max_workers = 4
max_worker_processes = 16
autovacuum_vacuum_cost_delay = 100
autovacuum_vacuum_cost_limit = 10
END
# their names are the clusters' names
my $one = sweep_node('one', conf => $conf);
my $two = sweep_node('two', conf => $conf);

sub records { return grep { !/stranger/ } glob "$directory/*" }

# Waits for what a server has of its limits.
sub has_share
{
	my ($node, $share, $name, %args) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return poll_ok($node, "SELECT abs(device_share - $share) < 0.01 AND abs(processors_share - $share) < 0.01 FROM sweep.host WHERE this_server", $name, %args);
}

# A vacuum that lasts, of a table that is not due: it has a dead row on each page.
sub vacuum
{
	my ($node, $table) = @_;

	sql($node, <<"END");
CREATE TABLE $table (id int, pad text) WITH (autovacuum_enabled = false);
ALTER TABLE $table ALTER pad SET STORAGE PLAIN;
INSERT INTO $table SELECT i, repeat('x', 900) FROM generate_series(1, 20000) i;
ANALYZE $table;
DELETE FROM $table WHERE id % 8 = 0;
CHECKPOINT;
SELECT sweep.vacuum('$table');
END
	return poll_value($node, "SELECT pid FROM sweep.progress WHERE relname = '$table' AND phase = 'scanning heap'");
}

# ---- two servers

poll_ok($_, "SELECT count(*) FILTER (WHERE detail = 'vacuums') = 0 FROM sweep.host", 'nobody vacuums') for ($one, $two);
has_share($one, 1, 'a server has all then');

my $pid = vacuum($one, 'a');
poll_ok($one, "SELECT abs(allowed_mb_per_s - 0.2) < 0.01 AND configured = 0.2 FROM sweep.budget WHERE name = 'write_limit'", 'one vacuums alone: the whole limit');
has_share($one, 1, 'and all of the rest');

# ---- one that does not vacuum has users

reload_with($two, 'sweep.adaptive' => 'on');
my $user = session($two);
$user->query_until(qr/begins/, "\\echo begins\nSELECT pg_sleep(3600);\n");
poll_ok($one, "SELECT count(*) = 1 FROM sweep.host WHERE name = 'two' AND vacuums = 0 AND heard_ago < '1 s' AND detail LIKE 'does not vacuum, but%'", 'a server with users watches while another one vacuums');
has_share($one, 1, 'and has no share of the limits');
sql($two, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(3600)%' AND pid <> pg_backend_pid()");
poll_ok($one, "SELECT count(*) = 0 FROM sweep.host WHERE name = 'two' AND heard_ago < '3 s'", 'without users it says nothing');
my ($file) = grep { slurp_file($_) =~ /^name two$/m } records();
like(slurp_file($file), qr/^watches 0$/m, '... once it has said that it does not watch');
reload_with($two, 'sweep.adaptive' => 'off');

# ---- both vacuum

vacuum($two, 'b');
has_share($_, 0.5, 'both vacuum: each has a half') for ($one, $two);
poll_ok($one, "SELECT configured = 0.2 AND abs(allowed_mb_per_s - 0.1) < 0.01 AND detail LIKE '%50 \\% of it, because 1 other server vacuums here' FROM sweep.budget WHERE name = 'write_limit'",
	'the limit is shown as it is set, with what is left of it');
poll_ok($one, "SELECT configured = 8 AND abs(allowed_mb_per_s - 4) < 0.01 FROM sweep.budget WHERE name = 'wal_limit'", 'that of WAL, too');
poll_ok($two, "SELECT count(*) = 1 AND bool_and(same_device AND vacuums >= 1 AND heard_ago < '5 s' AND dirty_mb_per_s < 1 AND detail = 'vacuums') FROM sweep.host WHERE NOT this_server AND name = 'one'",
	'each sees what the other does');

# ---- one that vacuums has users

sub says { my ($node, $line, $name) = @_; my ($its) = grep { slurp_file($_) =~ /^name @{[ $node->name ]}$/m } records(); return poll_ok($node, "SELECT pg_read_file('$its') LIKE E'%\\n$line\\n%'", $name) }

reload_with($one, 'sweep.adaptive' => 'on');
$user = session($one);
$user->query_until(qr/begins/, "\\echo begins\nSELECT pg_sleep(3600);\n");
says($one, 'users 1', 'a server that vacuums says that it has users');
says($two, 'users 0', '... or that it has none');
reload_with($one, 'sweep.adaptive' => 'off');
says($one, 'users 0', 'it does not care about them any more');
reload_with($one, 'sweep.adaptive' => 'on');
says($one, 'users 1', '... and again');
sql($one, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(3600)%' AND pid <> pg_backend_pid()");
says($one, 'users 0', 'they have gone');
reload_with($one, 'sweep.adaptive' => 'off');

# ---- one is more urgent

sub urgency { my ($node, $rows) = @_; return sql($node, "BEGIN; CREATE TABLE due (id int) WITH (autovacuum_vacuum_threshold = 100, autovacuum_vacuum_scale_factor = 0); INSERT INTO due SELECT generate_series(1, $rows); DELETE FROM due; COMMIT; SELECT pg_stat_force_next_flush(); SELECT sweep.hold('1 h')") }

sql($one, "SELECT sweep.hold('1 h')");
urgency($one, 1000);
has_share($one, 0.8, 'a table ten times beyond its threshold: at most four parts of five');
has_share($two, 0.2, 'and the other has one');

# ---- one is silent

my $governor = governor_pid($one);
kill 'STOP', $governor;
has_share($two, 0.5, 'a server that says nothing any more has a fixed share');
like(sql($two, 'SELECT detail FROM sweep.host WHERE NOT this_server'), qr/^says nothing any more/, 'which is said');
has_share($two, 1, 'and after a while none', timeout => 60);
kill 'CONT', $governor;
has_share($two, 0.2, 'it is back');

# ---- what lies in the directory

# The checksum of policy/host_record.
sub record
{
	my (%with) = @_;
	my ($boot) = slurp_file('/proc/sys/kernel/random/boot_id') =~ /(\S+)/;
	my ($at) = map { int(1000 * $_) } slurp_file('/proc/uptime') =~ /^(\S+)/;
	my $text = "pg_sweep 1\nboot @{[ $with{boot} // $boot ]}\ndevice 1:1\nat @{[ $with{at} // $at ]}\nvacuums 1\nurgency 9000000\nread 0\nwrite 0\nwal 0\ncut 0\nto 0\nwatches 0\nusers 0\nname @{[ $with{name} // 'a stranger' ]}\n";
	my $sum = 2166136261;

	$sum = (($sum ^ ord) * 16777619) & 0xffffffff for split //, $text;
	return $text . ($with{end} // sprintf("end %08x\n", $sum));
}

sub put { my ($name, $text, $mode) = @_; my $file = "$directory/stranger-$name.server"; unlink $file; append_to_file($file, $text); chmod $mode // 0644, $file; return }

put('writable', record(), 0666);
put('torn', substr(record(), 0, 60));
put('large', record() . ' ' x 100_000);
put('forged', record(end => "end 00000000\n"));
put('old', record(boot => 'another'));
put('future', record(at => 9_000_000_000_000));
put('garbage', "\xff\x00" x 200);
symlink '/etc/passwd', "$directory/stranger-link.server";
symlink "$directory/stranger-forged.server", "$directory/stranger-loop.server";
mkfifo("$directory/stranger-pipe.server", 0644) or die $!;
make_path("$directory/stranger-folder.server");
poll_ok($two, 'SELECT count(*) >= 2 FROM sweep.host', 'strange files are there');
my $seen = sql($two, 'SELECT max(at) FROM sweep.governor');
poll_ok($two, "SELECT count(*) >= 3 FROM sweep.governor WHERE at > '$seen'", 'the governor goes on');
is(sql($two, "SELECT count(*) FILTER (WHERE name <> 'one'), max(device_share) FROM sweep.host"), '0|0.2', 'and none of them counts');
unlink "$directory/stranger-future.server";

# It has to be written again and again, or it is silent.
my $lying = '';
for (1 .. 100)
{
	put('lying', record());
	usleep(500_000);
	$lying = sql($two, <<'END');
SELECT round(max(device_share)::numeric, 2), round(max(processors_share)::numeric, 2), bool_or(urgency = 9000 AND NOT same_device) FROM sweep.host
END
	last if $lying eq '0.20|0.11|t';
}
is($lying, '0.20|0.11|t', 'one that is as it must be counts as one that is four times beyond its threshold, and on its device only');
unlink "$directory/stranger-lying.server";
has_share($two, 0.2, 'until it is gone');

# More servers than are shown, with a clock that is an hour ahead. Each has to speak twice.
my $many = '';
for (1 .. 100)
{
	my ($at) = map { int(1000 * $_) } slurp_file('/proc/uptime') =~ /^(\S+)/;

	put("many$_", record(at => $at + 3_600_000)) for 1 .. 40;
	usleep(500_000);
	$many = sql($two, <<'END');
SELECT count(*), round(max(processors_share)::numeric, 3), max(detail) FILTER (WHERE this_server) FROM sweep.host
END
	last if $many eq '33|0.006|9 more servers have no place here, and count as well';
}
is($many, '33|0.006|9 more servers have no place here, and count as well', 'forty more all count, whatever their clock says');
unlink glob "$directory/stranger-many*.server";
has_share($two, 0.2, 'until they are gone');

# ---- the directory breaks

my $offset = log_size($two);
chmod 0777, $directory;
log_poll_ok($two, qr/WARNING: .*cannot share limits with other servers of this machine: everybody may remove files/, $offset, 'a directory that everybody may change is refused');
poll_ok($two, "SELECT detail LIKE 'cannot be read at present: everybody%' FROM sweep.host WHERE this_server", 'which sweep.host says');
has_share($two, 0.2, 'the share holds');
chmod 0700, $directory;
log_poll_ok($two, qr/LOG: .*can be used again/, $offset, 'until it is mended');

# ---- what is being vacuumed is as urgent as before

sql($one, <<'END');
DROP TABLE due;
CREATE TABLE overgrown (id int, pad text) WITH (autovacuum_vacuum_threshold = 100, autovacuum_vacuum_scale_factor = 0);
ALTER TABLE overgrown ALTER pad SET STORAGE PLAIN;
INSERT INTO overgrown SELECT i, repeat('x', 1900) FROM generate_series(1, 10000) i;
DELETE FROM overgrown WHERE id % 4 = 0;
CHECKPOINT;
SELECT sweep.hold('0');
END
# twice as long as a server's urgency needs to fall
poll_ok($one, "SELECT count(*) = 1 FROM sweep.progress WHERE relname = 'overgrown' AND now() - started_at > '10 s'", 'a table far beyond its threshold is vacuumed');
is(sql($one, 'SELECT count(*) FROM sweep.queue WHERE score > 2'), 0, '... and nothing else waits that is urgent');
is(sql($one, 'SELECT round(device_share::numeric, 2) FROM sweep.host WHERE this_server'), '0.80', '... its server is as urgent as before');

# ---- one ends

reload_with($one, 'sweep.mode' => 'off');
has_share($two, 1, 'when one is switched off the other has all');
is(scalar(records()), 1, 'and nothing of it is left');
reload_with($one, 'sweep.mode' => 'act', 'sweep.max_workers' => 0);
poll_ok($two, "SELECT count(*) = 1 FROM sweep.host WHERE name = 'one' AND detail = 'does not vacuum'", 'one that may vacuum says so once');
$two->stop('immediate');
$two->start;
is(scalar(records()), 2, 'a server that has crashed leaves its file');
poll_ok($two, "SELECT detail IS NULL OR detail = '' FROM sweep.host WHERE this_server", 'and starts again beside it');

# ---- without others

reload_with($two, 'sweep.host_directory' => '');
poll_ok($two, "SELECT detail = 'sweep.host_directory is empty' AND device_share = 1 FROM sweep.host WHERE this_server", 'it can be switched off');
my ($rc, $out, $err) = $two->psql('postgres', "ALTER SYSTEM SET sweep.host_directory = 'run'");
like($err, qr/absolute path/, 'a path that depends on where one is is refused');
reload_with($two, 'sweep.host_directory' => '/nonexistent');
poll_ok($two, "SELECT detail LIKE 'this system has none%' AND device_share = 1 FROM sweep.host WHERE this_server", 'where there is no directory nothing is shared');

$_->stop for ($one, $two);
done_testing();
