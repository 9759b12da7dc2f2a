# The archive of hours, pg_stat/pg_sweep.history: sweep.activity, and sweep.history beyond the
# last day. It survives restarts, crashes, damage and a clock that is set back, and no hour is
# there twice. It stays within sweep.history_days.
#
# An hour passes by setting pg_sweep's clock forward.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

# With room for 10,000 runs no bucket of the last day's sums is full, and none is left out.
# It begins twenty minutes after the full hour. Hours are closed a quarter of a second after
# they are over, and what failed is tried again after three.
my $offset = 1200 - time % 3600;
my $node = sweep_node('archive', conf => <<"END");
sweep.debug_clock_rate = 20
sweep.debug_clock_offset = $offset
sweep.mode = observe
sweep.max_runs = 10000
END
my $file = $node->data_dir . '/pg_stat/pg_sweep.history';
my $flush = 'SELECT pg_stat_force_next_flush();';

my $hours = 'SELECT count(*) FROM sweep.activity WHERE relid IS NULL';
my $activity = "SELECT string_agg(a::text, chr(10) ORDER BY hour, relid) FROM sweep.activity a";
my $history = "SELECT string_agg(h::text, chr(10) ORDER BY hour, relid, command) FROM sweep.history h WHERE started_by = 'manual'";
my $last = "hour = (SELECT max(hour) FROM sweep.activity)";

# Sets the clock to the beginning of an hour to come, and waits until those before are closed.
sub pass_hours
{
	my ($n, $name) = @_;
	my $before = sql($node, 'SELECT coalesce(max(hour), $$-infinity$$) FROM sweep.activity');

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	set_clock((int((time + $offset) / 3600) + $n) * 3600 + 2 - time);
	return poll_ok($node, "SELECT max(hour) > '$before' FROM sweep.activity", $name);
}

sub set_clock
{
	($offset) = @_;

	reload_with($node, 'sweep.debug_clock_offset' => $offset);
	return;
}

sub start
{
	$node->start;
	poll_until($node, 'SELECT launcher_pid IS NOT NULL AND rounds > 0 FROM sweep.status') or die 'the launcher does not start';
	return;
}

sub once_each
{
	my ($name) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return is(sql($node, "SELECT count(*) = count(DISTINCT hour) AND max(hour) <= now() + interval '$offset s' FROM sweep.activity WHERE relid IS NULL"),
		't', "$name: every hour is there once, and none is of the future");
}

# ---- the first hour, and the second

poll_ok($node, 'SELECT rounds > 0 FROM sweep.status', 'the launcher works');
is(sql($node, $hours), '0', 'no hour is over yet');
sql($node, "CREATE TABLE t (i int PRIMARY KEY, j int); INSERT INTO t SELECT g, 0 FROM generate_series(1, 1000) g;"
	  . " UPDATE t SET j = 1 WHERE i <= 100; DELETE FROM t WHERE i > 950; $flush");
sql($node, 'VACUUM t; ANALYZE t');
pass_hours(1, 'an hour is over');
is(sql($node, "SELECT inserted, updated, hot_updated <= updated, deleted, live_tuples, schemaname, datname FROM sweep.activity WHERE relname = 't'"),
	'1000|100|t|50|950|public|postgres', 'what users did to a table in it');
is(sql($node, "SELECT since - hour BETWEEN '20 min' AND '25 min', hour = date_trunc('hour', hour) FROM sweep.activity WHERE relid IS NULL"), 't|t',
	'it says that it was not counted from the beginning on');
is(sql($node, 'SELECT bool_and((coalesce(xids, 0) > 0) = (relid IS NULL)) FROM sweep.activity'), 't', 'the row of all others has the transaction ids');
is(sprintf('%o', (stat $file)[2] & 07777), '600', 'the file is private');

sql($node, "INSERT INTO t SELECT g, 0 FROM generate_series(2001, 2010) g; $flush");
pass_hours(1, 'another hour is over');
is(sql($node, "SELECT inserted, updated, deleted, live_tuples, since IS NULL FROM sweep.activity WHERE relname = 't' AND $last"), '10|0|0|960|t',
	'only what was done in it, and all of it');
once_each('two hours');

sql($node, "SELECT pg_stat_reset_single_table_counters('t'::regclass)");
sql($node, "INSERT INTO t SELECT g, 0 FROM generate_series(3001, 3007) g; $flush");
pass_hours(1, 'an hour in which counters were reset');
is(sql($node, "SELECT inserted, live_tuples FROM sweep.activity WHERE relname = 't' AND $last"), '7|7', 'they begin anew');

# ---- what has no row of its own is in the row of all others

sql($node, 'BEGIN; ' . join('', map { "CREATE TABLE many$_ AS SELECT generate_series(1, $_) AS i;" } 1 .. 250) . "COMMIT; $flush");
sql($node, join ";\n", map { "VACUUM many$_" } 1 .. 250);
pass_hours(1, 'an hour with many tables');
is(sql($node, "SELECT count(*) FILTER (WHERE relid IS NOT NULL), sum(inserted) FILTER (WHERE relname LIKE 'many%') > 25000 FROM sweep.activity WHERE $last"),
	'200|t', 'two hundred tables have a row');
is(sql($node, "SELECT min(inserted) > 1 FROM sweep.activity WHERE relname LIKE 'many%'"), 't', 'those that changed most');
is(sql($node, "SELECT sum(live_tuples) >= 250 * 251 / 2 FROM sweep.activity WHERE $last"), 't', 'all others have a row together');

# ---- beyond the last day the file tells

my $at = sql($node, 'SELECT max(hour) FROM sweep.activity');
my $before = sql($node, "$history AND hour <= '$at'");
my $runs = sql($node, "SELECT sum(runs), sum(cost) FROM sweep.history WHERE started_by = 'manual'");
is($runs, sql($node, "SELECT count(*), sum(cost) FROM sweep.runs WHERE started_by = 'manual'"), 'the hours have all runs');
is(sql($node, "SELECT count(DISTINCT relid) FROM sweep.history WHERE started_by = 'manual'"), '251', 'by table');
pass_hours(30, 'thirty hours later');
is(sql($node, "SELECT sum(runs), sum(cost) FROM sweep.history WHERE started_by = 'manual'"), $runs, 'nothing is missing in the hours of the file');
is(sql($node, "SELECT count(DISTINCT relid), count(*) FILTER (WHERE relid IS NULL) > 0 FROM sweep.history WHERE started_by = 'manual' AND relname LIKE 'many%' OR relid IS NULL"),
	'200|t', 'of its tables two hundred are told, and the others together');
is(sql($node, "$history AND relname = 't'"), join("\n", grep { /,t,/ } split /\n/, $before), 'those that are have not changed');
is(sql($node, "SELECT count(*) FROM sweep.history_since('$at'::timestamptz + interval '1 hour') WHERE started_by = 'manual'"), '0', 'only later hours, if asked for');
is(sql($node, "SELECT count(DISTINCT hour) FROM sweep.activity_since('$at')"), '2', 'of activity, too');
is(sql($node, "SELECT count(*) FROM sweep.activity WHERE hour > '$at'"), sql($node, "SELECT count(*) FROM sweep.activity WHERE hour = '$at'::timestamptz + interval '1 hour'"),
	'hours of which nothing is known have no row');

# ---- restarts, crashes and damage

$before = sql($node, $activity);
my $old = sql($node, "$history AND hour <= '$at'");    # tests set no clock for single runs
set_clock($offset + 1200);
$node->restart;
poll_until($node, 'SELECT launcher_pid IS NOT NULL AND rounds > 0 FROM sweep.status');
is(sql($node, $activity), $before, 'a restart changes nothing');
is(sql($node, "$history AND hour <= '$at'"), $old, 'nor in sweep.history');
sql($node, "INSERT INTO t SELECT g, 0 FROM generate_series(4001, 4003) g; $flush");
pass_hours(1, 'the hour of the restart is over');
is(sql($node, "SELECT inserted, since IS NOT NULL FROM sweep.activity WHERE relname = 't' AND $last"), '3|t', 'it is counted from the restart on, and says so');

$before = sql($node, $activity);
$node->stop('immediate');
start();
is(sql($node, $activity), $before, 'nor does a crash');

$node->stop;
my $good = slurp_file($file);
my $count = () = $good =~ /BHWS/g;
my @torn = ([ 'garbage behind the last block', $good . 'x' x 100, 100, 0 ], [ 'the last block cut by a byte', substr($good, 0, -1), undef, 1 ]);

for my $case (@torn)
{
	my ($what, $contents, $cut, $lost) = @$case;
	my $log = log_size($node);

	write_file($contents);
	start();
	is(sql($node, $hours), $count - $lost, "$what: the hours before are kept");
	$cut //= qr/\d+/;
	like(log_since($node, $log), qr/WARNING:  pg_sweep: the last $cut bytes of file "pg_stat\/pg_sweep\.history" are damaged/, "$what: a WARNING says so");
	pass_hours(1, "$what: hours are added");
	$node->stop;
	$log = log_size($node);
	start();
	unlike(log_since($node, $log), qr/WARNING.*pg_sweep/, "$what: the file is whole again");
	is(sql($node, $hours), $count - $lost + 1, "$what: with the new hour");
	$node->stop;
}

# in the second hour's data
my $second = index($good, 'BHWS', 100);
write_file(changed($good, $second + 80, chr(1 ^ ord(substr($good, $second + 80, 1)))));
my $log = log_size($node);
start();
is(sql($node, $hours), $count - 1, 'a damaged hour: the others are kept');
like(log_since($node, $log), qr/WARNING:  pg_sweep: some hours in file "pg_stat\/pg_sweep\.history" are damaged/, 'a damaged hour: a WARNING says so');
$node->stop;

for my $case ([ 'another magic', 0, "\0", 'it is damaged' ], [ 'another version', 4, pack('L', 99), 'it was written by another version' ],
	[ 'another system', 16, pack('Q', 42), 'it belongs to another database system' ])
{
	my ($what, $place, $bytes, $reason) = @$case;

	write_file(changed($good, $place, $bytes));
	unlink "$file.bad";
	$log = log_size($node);
	start();
	like(log_since($node, $log), qr/WARNING:  pg_sweep: file "pg_stat\/pg_sweep\.history" is not used: \Q$reason\E/, "$what: a WARNING");
	is(sql($node, $hours), '0', "$what: there are no hours");
	ok(-f "$file.bad", "$what: it is set aside");
	$node->stop;
}

# ---- a clock that is set back

write_file($good);
start();
$before = sql($node, $hours);
my $back = sql($node, "SELECT sum(inserted), sum(deleted) FROM sweep.activity");
$log = log_size($node);
set_clock($offset - 5 * 3600);
log_poll_ok($node, qr/the server's clock was set back by 18000 s/, $log, 'the clock is set back by five hours');
poll_ok($node, "SELECT max(hour) <= now() + interval '$offset s' FROM sweep.activity", 'hours of the future are moved');
once_each('five hours back');
is(sql($node, $hours), $before, 'five hours back: as many as before');
is(sql($node, "SELECT sum(inserted), sum(deleted) FROM sweep.activity"), $back, 'five hours back: with the same contents');
pass_hours(1, 'five hours back: hours go on');
once_each('and another hour');
is(sql($node, $hours), $before + 1, 'five hours back: one more');

# a clock that is set forward by a year by mistake, and back again
my $first = sql($node, 'SELECT min(hour) FROM sweep.activity');
reload_with($node, 'sweep.history_days' => 400);
pass_hours(365 * 24, 'a year ahead');
pass_hours(1, 'and an hour more');
set_clock($offset - 365 * 24 * 3600);
poll_ok($node, "SELECT max(hour) <= now() + interval '$offset s' FROM sweep.activity", 'a year back: hours of the future are moved');
once_each('a year back');
is(sql($node, 'SELECT min(hour) FROM sweep.activity'), $first, 'a year back: those of before are where they were');
reload_with($node, 'sweep.history_days' => 30);

# while the server was down
pass_hours(1, 'an hour later');
$before = sql($node, $hours);
$node->stop;
$offset -= 5 * 3600;
$node->append_conf('postgresql.auto.conf', "sweep.debug_clock_offset = $offset");
$log = log_size($node);
start();
like(log_since($node, $log), qr/LOG:  pg_sweep: the last hour in the history begins in the future/, 'set back while the server was down: the log says so');
poll_ok($node, "SELECT max(hour) <= now() + interval '$offset s' FROM sweep.activity", 'set back while the server was down: hours are moved');
once_each('set back while the server was down');
is(sql($node, $hours), $before, 'set back while the server was down: as many as before');

# ---- off, forgotten, too old

reload_with($node, 'sweep.mode' => 'off');
poll_ok($node, "SELECT effective_mode = 'off' FROM sweep.status", 'off');
my $size = -s $file;
set_clock($offset + 2 * 3600);
reload_with($node, 'sweep.mode' => 'observe');
poll_until($node, "SELECT effective_mode = 'observe' FROM sweep.status");
rounds($node, 3);
is(-s $file, $size, 'off: nothing was written');
pass_hours(1, 'on again');
is(sql($node, $hours), $before + 1, 'hours in which it was off are not known');

isnt(sql($node, "SELECT count(*) FROM sweep.history"), '0', 'there is a history');
sql($node, 'SELECT sweep.reset_runs()');
is(sql($node, "SELECT count(*) FROM sweep.history"), '0', 'sweep.reset_runs() forgets it at once');
rounds($node, 3);
$node->restart;
poll_until($node, 'SELECT launcher_pid IS NOT NULL AND rounds > 0 FROM sweep.status');
is(sql($node, "SELECT count(*) FROM sweep.history"), '0', 'and for ever');
is(sql($node, $hours), $before + 1, 'what users did is not forgotten');

reload_with($node, 'sweep.history_days' => 1);
is(sql($node, $hours), sql($node, "$hours AND hour >= now() + interval '$offset s' - interval '1 day'"), 'sweep.history_days counts at once for what is shown');
$size = -s $file;
pass_hours(20, "$_ hours later") for (20, 40, 60);
reload_with($node, 'sweep.history_days' => 30);
is(sql($node, $hours), '1', 'what is older is not in the file any more');
cmp_ok(-s $file, '<', $size, 'which is smaller');

# ---- a file that cannot be written

my $folder = $node->data_dir . '/pg_stat';
chmod 0400, $file;
chmod 0500, $folder;
$log = log_size($node);
for (1 .. 2)
{
	set_clock((int((time + $offset) / 3600) + 1) * 3600 + 2 - time);
	rounds($node, 20);
}
log_poll_ok($node, qr/WARNING:  pg_sweep: could not save the hourly sums: Permission denied\n.*DETAIL:  Saving is tried again every 60 s/,
	$log, 'it cannot be written: a WARNING');
is(() = log_since($node, $log) =~ /could not save the hourly sums/g, 1, 'once, not every hour');
is(sql($node, $hours), '1', 'what was there is still read');
chmod 0700, $folder;
chmod 0600, $file;
poll_ok($node, "SELECT count(*) = 2 FROM sweep.activity WHERE relid IS NULL", 'when it can be written again, the last hour is');
is(scalar(grep { /tmp/ } slurp_dir($folder)), 0, 'no temporary file is left');

symlink '/dev/full', "$file.tmp";
append_to_file($file, 'x');
$log = log_size($node);
set_clock((int((time + $offset) / 3600) + 1) * 3600 + 2 - time);
log_poll_ok($node, qr/WARNING:  pg_sweep: could not save the hourly sums: No space left on device/, $log, 'a full disk: a WARNING');
poll_ok($node, "SELECT count(*) = 3 FROM sweep.activity WHERE relid IS NULL", 'a full disk: saved when there is room');

$node->stop;
done_testing();

sub write_file
{
	my ($contents) = @_;

	open(my $out, '>:raw', $file) or die "$file: $!";
	print $out $contents;
	close $out;
	chmod 0600, $file;
	return;
}

# The contents with something else at that place.
sub changed
{
	my ($contents, $place, $bytes) = @_;

	substr($contents, $place, length $bytes) = $bytes;
	return $contents;
}
