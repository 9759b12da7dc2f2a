# The file of finished runs, pg_stat/pg_sweep.runs.
#
# It survives a restart. One that is damaged, or of another database system, is set aside
# with a WARNING. So is one in another version's format, and a library of that version takes it
# again. One that cannot be written makes a WARNING and is tried again. The server
# goes on in every case. What is kept is bounded. A table that is vacuumed all the time
# pushes out neither the last run of another table nor the longest runs.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use File::Copy qw(copy);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

# runs are saved every 0.25 s, and the warning of a save that fails is repeated after 30 s
my $node = sweep_node('ledger', conf => <<'END');
sweep.debug_clock_rate = 20
sweep.mode = observe
sweep.max_runs = 100
END
my $file = $node->data_dir . '/pg_stat/pg_sweep.runs';

my $all_runs = 'SELECT string_agg(r::text, chr(10) ORDER BY run_id) FROM sweep.runs r';

sub saved
{
	my ($name) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return poll_ok($node, "SELECT runs_saved_at > (SELECT max(ended_at) FROM sweep.runs) AND runs_save_error IS NULL FROM sweep.status", $name);
}

# sweep.status counts the runs as they come and go, and sweep.runs looks at all of them.
sub counted
{
	my ($name) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return poll_ok($node, 'SELECT runs = (SELECT count(*) FROM sweep.runs) FROM sweep.status', "$name: sweep.status has their number");
}

# ---- a restart

sql($node, 'CREATE TABLE first (i int); CREATE TABLE second (i int); VACUUM first; VACUUM second; ANALYZE first');
my $before = sql($node, $all_runs);
is(status($node, 'runs'), '3', 'three runs');
poll_until($node, 'SELECT rounds > 0 FROM sweep.status') or die 'the launcher does not start';
$node->restart;
poll_until($node, 'SELECT runs = 3 FROM sweep.status');
is(sql($node, $all_runs), $before, 'a restart changes nothing in them, although they were not saved yet');
is(sprintf('%o', (stat $file)[2] & 07777), '600', 'the file is private');

sql($node, 'VACUUM second');
is(sql($node, 'SELECT max(run_id) FROM sweep.runs'), '4', 'run_id goes on growing');
saved('the new run is saved');
$node->stop('immediate');
$node->start;
poll_ok($node, 'SELECT runs = 4 FROM sweep.status', 'an immediate shutdown loses nothing that was saved');

# ---- a file that is not to be used

my $before4 = sql($node, $all_runs);
$node->stop;
is(scalar(grep { /tmp/ } slurp_dir($node->data_dir . '/pg_stat')), 0, 'no temporary file is left');
my $good = slurp_file($file);
my $size = length $good;
my ($record_size, $sum_size) = unpack('x8 L L', $good);

# The file has a header of 24 bytes, then blocks. A block has a head of 56 bytes, its records
# and a checksum. The head says how many records there are, and of which kind: runs (0) or
# sums (1).
my @sums;

sub blocks
{
	my ($contents) = @_;
	my ($place, @found) = (24);

	@sums = ();

	while ($place < length $contents)
	{
		my ($n, $kind) = unpack('L x4 L', substr($contents, $place + 4, 12));
		my $length = 56 + ($kind ? $sum_size : $record_size) * $n + 4;

		push @found, { place => $place, length => $length, runs => $n, data => substr($contents, $place, $length) } if $kind == 0;
		push @sums, { place => $place, length => $length, data => substr($contents, $place, $length) } if $kind == 1;
		$place += $length;
	}
	is($place, length $contents, 'the file is a header and blocks');
	return @found;
}
my $head = substr($good, 0, 24);
my @blocks = blocks($good);
my @good_sums = @sums;
my $records = join '', map { substr($_->{data}, 56, $record_size * $_->{runs}) } @blocks;
is(length $records, 4 * $record_size, 'they hold four runs');
cmp_ok(scalar @blocks, '>', 1, 'what came later was appended');

# All in one block, so that what damages it leaves nothing.
my $one = changed(substr($blocks[-1]{data}, 0, 56), 4, pack('L', 4)) . $records;
my $single = $head . checked("$one    ");

my $other = PostgreSQL::Test::Cluster->new('foreign');
$other->init;
$other->append_conf('postgresql.conf', sweep_conf());
$other->start;
sql($other, 'CREATE EXTENSION pg_sweep; CREATE TABLE foreign_table (i int); VACUUM foreign_table');
poll_until($other, 'SELECT rounds > 0 FROM sweep.status') or die 'the launcher of "foreign" does not start';
$other->stop;
my $foreign = slurp_file($other->data_dir . '/pg_stat/pg_sweep.runs');

# Damages the only block, and gives it the right checksum.
sub block_with
{
	my ($place, $bytes) = @_;

	return $head . checked(changed("$one    ", $place, $bytes));
}

# The same of the first block of sums: a place in the first sum.
sub sum_with
{
	my ($place, $bytes) = @_;

	return checked(changed($good_sums[0]{data}, 56 + $place, $bytes));
}

my $single_block = substr($single, 24);
my $end = length $single;
my @cases = (
	[ 'empty', '', 'it is damaged' ],
	[ 'cut in the header', substr($single, 0, 20), 'it is damaged' ],
	[ 'a header only', $head, 'it is damaged' ],
	[ 'cut in a record', substr($single, 0, 80 + $record_size + 7), 'it is damaged' ],
	[ 'cut in the checksum', substr($single, 0, $end - 1), 'it is damaged' ],
	[ 'changed in a record', changed($single, 80 + $record_size + 100, chr(1 ^ ord(substr($single, 80 + $record_size + 100, 1)))), 'it is damaged' ],
	[ 'changed in the checksum', changed($single, $end - 1, chr(1 ^ ord(substr($single, $end - 1, 1)))), 'it is damaged' ],
	[ 'of another kind', changed($single, 0, 'SWEP'), 'it is damaged' ],
	[ 'of another version', changed($single, 4, pack('L', 99)), 'it was written by another version', '99' ],
	[ 'of the version before', changed($single, 4, pack('L', 4)), 'it was written by another version', '4' ],
	[ 'of another record size', changed($single, 8, pack('L', $record_size + 8)), 'it was written by another version' ],
	[ 'of another size of sums', changed($single, 12, pack('L', $sum_size + 8)), 'it was written by another version' ],
	[ 'of an unknown kind', block_with(12, pack('L', 2)), 'it is damaged' ],
	[ 'sums without runs', $head . join('', map { $_->{data} } @good_sums), 'it is damaged' ],
	[ 'sums of nonsense', $head . sum_with(0, "\xff" x $sum_size) . $single_block, 'it is damaged' ],
	[ 'a sum of all time', $head . sum_with(0, pack('q', 0)) . $single_block, 'it is damaged' ],
	[ 'said to hold more than it does', block_with(4, pack('L', 5)), 'it is damaged' ],
	[ 'said to hold 4 million', block_with(4, pack('L', 4_000_000)), 'it is damaged' ],
	[ 'said to hold 4 billion', block_with(4, pack('L', 0xffffffff)), 'it is damaged' ],
	[ 'of another system', $foreign, 'it belongs to another database system' ],
	[ 'of a later timeline', block_with(8, pack('L', 2)), 'it belongs to another timeline' ],
	[ 'held since before all time', block_with(24, pack('q', -1)), 'it is damaged' ],
	[ 'numbered from 0', block_with(16, pack('q', 0)), 'it is damaged' ],
	[ 'counted beyond its end', block_with(48, pack('q', 1 << 40)), 'it is damaged' ],
	[ 'a well-checked record of nonsense', block_with(56, "\xff" x $record_size), 'it is damaged' ]);

for my $case (@cases)
{
	my ($what, $contents, $reason, $name) = @$case;
	my $offset = log_size($node);
	my $aside = 'pg_sweep.runs.' . ($name // 'bad');

	write_file($file, $contents);
	unlink "$file.bad";
	$node->start;
	poll_until($node, 'SELECT launcher_pid IS NOT NULL AND rounds > 0 FROM sweep.status')
	  or fail("$what: the launcher runs");
	like(log_since($node, $offset),
		qr/WARNING:  pg_sweep: file "pg_stat\/pg_sweep\.runs" is not used: \Q$reason\E\n.*DETAIL:  It is set aside as "pg_stat\/$aside"/,
		"$what: a WARNING says that $reason");
	is(slurp_file($node->data_dir . "/pg_stat/$aside"), $contents, "$what: it is set aside as it was");
	is(status($node, 'runs'), '0', "$what: there are no runs");
	$node->stop;
}

# ---- a library of another version sets it aside, and takes its own again

my $format = unpack('x4 L', $good);

# As that library leaves it, with its own file in the place of ours. Without one it has not yet
# written any.
for my $other_file (changed($single, 4, pack('L', $format + 1)), undef)
{
	my $what = defined $other_file ? 'back from a later version' : 'back from one that has written nothing';

	unlink $file;
	write_file("$file.$format", $good);
	write_file($file, $other_file) if defined $other_file;
	my $offset = log_size($node);
	$node->start;
	poll_ok($node, 'SELECT rounds > 0 AND runs = 4 FROM sweep.status', "$what: the runs are there again");
	is(sql($node, $all_runs), $before4, "$what: all of them");
	is(sql($node, 'SELECT runs_complete_since >= pg_postmaster_start_time() FROM sweep.status'), 't', "$what: later ones may be missing, which sweep.status says");
	like(log_since($node, $offset), qr/LOG:  pg_sweep: file "pg_stat\/pg_sweep\.runs\.$format" is used again/, "$what: the log says so");
	ok(!-e "$file.$format", "$what: the file is in its place");
	is(-e "$file." . ($format + 1) ? slurp_file("$file." . ($format + 1)) : undef, $other_file, "$what: so is the other's");
	sql($node, 'VACUUM first');
	saved("$what: a new run is saved");
	$node->stop;
	blocks(slurp_file($file));
	unlink "$file." . ($format + 1);
}

# ---- a file that ends in what was not written whole

my $whole = length $good;
my $before_last = $blocks[-1]{place};
my $runs_before = 4 - $blocks[-1]{runs};
my @torn = (
	[ 'garbage behind the last block', $good . 'x' x 100, 4, 100 ],
	[ 'zeros behind it', $good . "\0" x 8192, 4, 8192 ],
	[ 'half a block behind it', $good . substr($blocks[0]{data}, 0, $blocks[0]{length} / 2), 4, int($blocks[0]{length} / 2) ],
	[ 'a block of a good length of zeros', $good . substr($blocks[0]{data}, 0, 56) . "\0" x ($blocks[0]{length} - 56), 4, $blocks[0]{length} ],
	[ 'the last block cut by a byte', substr($good, 0, $whole - 1), $runs_before, $whole - 1 - $before_last ],
	[ 'the last block cut in its head', substr($good, 0, $before_last + 10), $runs_before, 10 ],
	[ 'the last block changed', changed($good, $before_last + 57, chr(1 ^ ord(substr($good, $before_last + 57, 1)))), $runs_before, $whole - $before_last ]);

for my $case (@torn)
{
	my ($what, $contents, $runs, $cut) = @$case;
	my $offset = log_size($node);

	write_file($file, $contents);
	unlink "$file.bad";
	$node->start;
	poll_ok($node, "SELECT launcher_pid IS NOT NULL AND rounds > 0 AND runs = $runs FROM sweep.status", "$what: what is before it is kept");
	like(log_since($node, $offset),
		qr/WARNING:  pg_sweep: the last $cut bytes of file "pg_stat\/pg_sweep\.runs" are damaged\n.*DETAIL:  They are cut off; the $runs runs before them are kept/,
		"$what: a WARNING says so");
	ok(!-e "$file.bad", "$what: the file is not set aside");
	sql($node, 'VACUUM first');
	$node->stop;
	blocks(slurp_file($file));
	$offset = log_size($node);
	$node->start;
	poll_ok($node, 'SELECT rounds > 0 AND runs = ' . ($runs + 1) . ' FROM sweep.status', "$what: it goes on behind them");
	unlike(log_since($node, $offset), qr/WARNING.*pg_sweep/, "$what: the file is whole again");
	$node->stop;
}

# Wherever the file is damaged, the server starts, and what it shows was there before.
my $known = '^(4|3|2|1|0)$';
srand(20);
for my $i (1 .. 40)
{
	my $contents = $good;
	my $place = int(rand($whole));

	$contents = $i % 2 ? substr($good, 0, $place) : changed($good, $place, chr(int(rand(256))));
	write_file($file, $contents);
	$node->start;
	poll_until($node, 'SELECT rounds > 0 FROM sweep.status') or fail("damaged at $place: the launcher runs");
	my $left = sql($node, $all_runs);
	my $foreign_rows = grep { my $row = $_; index($before4, $row) < 0 } split /\n/, $left;
	is($foreign_rows, 0, "damaged at $place: what is shown was there");
	$node->stop;
	unlink "$file.bad";
}

# What is there may be no file at all.
unlink $file;
mkdir $file;
my $offset = log_size($node);
$node->start;
poll_ok($node, 'SELECT rounds > 0 AND runs = 0 FROM sweep.status', 'a directory in its place: the server works');
like(log_since($node, $offset), qr/WARNING:  pg_sweep: /, 'a directory: a WARNING');
$node->stop;
rmdir $_ for ($file, "$file.bad");
unlink "$file.bad";

write_file($file, $good);
chmod 0000, $file;
$offset = log_size($node);
$node->start;
poll_ok($node, 'SELECT rounds > 0 AND runs = 0 FROM sweep.status', 'a file that cannot be read: the server works');
log_poll_ok($node, qr/WARNING:  pg_sweep: could not open file "pg_stat\/pg_sweep\.runs": Permission denied/, $offset, 'a file that cannot be read: a WARNING');
$node->stop;
unlink $file;

write_file($file, $good);
$node->start;
poll_ok($node, 'SELECT runs = 4 FROM sweep.status', 'the good file is still good');
is(sql($node, 'SELECT max(run_id) FROM sweep.runs'), '4', 'with its numbers');
poll_until($node, 'SELECT runs_saved_at IS NOT NULL FROM sweep.status');    # not just now

# ---- a file that cannot be written

# it cannot be written at its end, because it is no file, nor anew
unlink $file;
mkdir $file;
$offset = log_size($node);
sql($node, 'VACUUM first');
poll_ok($node, "SELECT runs_save_error LIKE '%s a directory%' FROM sweep.status", 'it cannot be written: sweep.status says why');
log_poll_ok($node, qr/WARNING:  pg_sweep: could not save the finished runs: Is a directory\n.*DETAIL:  Saving is tried again every 5 s/, $offset, 'a WARNING');
rounds($node, 60);
is(() = log_since($node, $offset) =~ /could not save/g, 1, 'once, not at every try');
sql($node, 'VACUUM second');
is(sql($node, "SELECT count(*) FROM sweep.runs WHERE relname = 'second' AND run_id = 6"), '1', 'runs go on being recorded');
rmdir $file;
saved('when it can be written again, it is');
$node->stop('immediate');
$node->start;
poll_ok($node, 'SELECT runs = 6 FROM sweep.status', 'and nothing was lost');
poll_until($node, 'SELECT runs_saved_at IS NOT NULL FROM sweep.status');

# What somebody else has written behind it is no place to go on, so it is written anew. On
# a full disk the new file is opened, but cannot be written.
symlink '/dev/full', "$file.tmp";
append_to_file($file, 'x');
$offset = log_size($node);
sql($node, 'VACUUM first');
log_poll_ok($node, qr/WARNING:  pg_sweep: could not save the finished runs: No space left on device/, $offset, 'a full disk: a WARNING');
saved('a full disk: saved when there is room');
ok(-f $file && !-l $file, 'a full disk: in a file of its own');
blocks(slurp_file($file));

# now the directory itself
append_to_file($file, 'x');
chmod 0500, $node->data_dir . '/pg_stat';
sql($node, 'VACUUM first');
$offset = log_size($node);
poll_ok($node, "SELECT runs_save_error = 'Permission denied' FROM sweep.status", 'a directory that cannot be written');
chmod 0700, $node->data_dir . '/pg_stat';
saved('and can be again');

# ---- reset

is(sql($node, 'SELECT sweep.reset_runs()'), '', 'sweep.reset_runs()');
is(status($node, 'runs'), '0', 'forgets them');
sql($node, 'VACUUM second');
my $id = sql($node, 'SELECT max(run_id) FROM sweep.runs');
cmp_ok($id, '>', 8, 'but not the numbers');
saved('the run after it is saved');
$node->restart;
poll_ok($node, 'SELECT launcher_pid IS NOT NULL AND rounds > 0 FROM sweep.status', 'restarted');
is(sql($node, 'SELECT string_agg(run_id::text, $$,$$) FROM sweep.runs'), $id, 'they stay forgotten after a restart');
sql($node, 'SELECT sweep.reset_runs()');
$node->restart;
poll_ok($node, 'SELECT rounds > 0 AND runs = 0 FROM sweep.status', 'also when nothing came after');
sql($node, 'VACUUM second');
cmp_ok(sql($node, 'SELECT max(run_id) FROM sweep.runs'), '>', $id, 'nor is a number given twice then');

# ---- bounded

sql($node, 'SELECT sweep.reset_runs()');
sql($node, "CREATE TABLE kept$_ (i int)") for 1 .. 12;
sql($node, 'CREATE TABLE hot (i int); INSERT INTO hot SELECT generate_series(1, 20000)');
sql($node, join ';', map { "VACUUM kept$_" } 1 .. 12);

# This is the longest by far, of a table that is vacuumed again afterwards. 19 pages wait 10
# ms each.
sql($node, 'SET vacuum_cost_delay = 10; SET vacuum_cost_limit = 1; VACUUM (DISABLE_PAGE_SKIPPING) hot');
$id = sql($node, "SELECT run_id FROM sweep.runs WHERE relname = 'hot'");
cmp_ok(sql($node, "SELECT EXTRACT(epoch FROM ended_at - started_at) FROM sweep.runs WHERE run_id = $id"), '>', 0.5, 'one long run');
sql($node, ("VACUUM hot;\n" x 500));
is(sql($node, "SELECT count(DISTINCT relname) FROM sweep.runs WHERE relname LIKE 'kept%'"), '12',
	'the last run of every table is kept, whatever one of them does');
is(sql($node, "SELECT count(*) FROM sweep.runs WHERE run_id = $id"), '1', 'the longest run is kept');
my $limit = 100 + 100 + 64;
cmp_ok(status($node, 'runs'), '<=', $limit, "no more than $limit are kept in all");
cmp_ok(status($node, 'runs'), '>=', 100, 'nor fewer than sweep.max_runs');
is(sql($node, 'SELECT count(DISTINCT run_id) = count(*) FROM sweep.runs'), 't', 'each is shown once');
counted('one table pushes runs out');
saved('they are saved');

# the file is appended to, and written anew now and then
my $inode = (stat $file)[1];
sql($node, 'VACUUM second');
saved('one more is saved');
is((stat $file)[1], $inode, 'by appending it');
for (1 .. 100)
{
	last if (stat $file)[1] != $inode;
	sql($node, ("VACUUM second;\n" x 90));
	poll_until($node, 'SELECT runs_saved_at > (SELECT max(ended_at) FROM sweep.runs) FROM sweep.status');
}
isnt((stat $file)[1], $inode, 'some time the file is written anew');
cmp_ok(-s $file, '<=', 60 * 30 + $record_size * $limit + $sum_size * (92 * 12 + 200), 'so it stays bounded');
blocks(slurp_file($file));
is(sql($node, "SELECT count(*) FROM sweep.runs WHERE run_id = $id"), '1', 'and nothing that is kept is lost by it');

# since when nothing is missing
is(sql($node, <<'END'), 't|t', 'sweep.status says from when on the runs are complete');
SELECT runs_complete_since >= (SELECT max(ended_at) FROM sweep.runs WHERE run_id <= (SELECT max(run_id) - 100 FROM sweep.runs)),
       runs_complete_since <= (SELECT min(ended_at) FROM sweep.runs WHERE run_id > (SELECT max(run_id) - 100 FROM sweep.runs))
FROM sweep.status
END

# of equally long ones another may be kept
my $which = "WHERE relname LIKE 'kept%' OR run_id = $id OR run_id > (SELECT max(run_id) - 100 FROM sweep.runs)";
$before = sql($node, "$all_runs $which");
$node->restart;
poll_until($node, 'SELECT runs >= 100 FROM sweep.status');
is(sql($node, "$all_runs $which"), $before, 'a restart keeps the same ones');
counted('after a restart');

# more tables than there is room for
sql($node, join ";\n", map { "CREATE TABLE t$_ (i int)" } 1 .. 300);
sql($node, join ";\n", map { "VACUUM t$_" } 1 .. 300);
cmp_ok(status($node, 'runs'), '<=', $limit, 'more tables than there is room for: still bounded');
counted('more tables than there is room for');
is(sql($node, "SELECT count(*) FROM sweep.runs WHERE relname = 't300'"), '1', 'the newest is among them');
is(sql($node, "SELECT count(*) FROM sweep.runs WHERE run_id = $id"), '1', 'and the longest as well');

# ---- another size at the next start

$node->stop;
$node->append_conf('postgresql.conf', 'sweep.max_runs = 500');
$node->start;
poll_ok($node, 'SELECT runs > 100 FROM sweep.status', 'a larger sweep.max_runs takes all that there is');
counted('a larger sweep.max_runs');
$node->stop;
$node->append_conf('postgresql.conf', 'sweep.max_runs = 100');
$node->start;
poll_ok($node, "SELECT runs BETWEEN 100 AND $limit FROM sweep.status", 'a smaller one what fits');
counted('a smaller sweep.max_runs');

# Short and long runs of many tables, some of which fail, in an order that is another each time.
my $seed = time;
note("seed $seed");
srand($seed);
for my $step (1 .. 6)
{
	sql($node, join ";\n", 'SET vacuum_cost_limit = 1',
		map { 'SET vacuum_cost_delay = ' . (rand() < 0.2 ? 1 : 0), 'VACUUM ' . (rand() < 0.5 ? 'hot' : 't' . (1 + int(rand(300)))) } 1 .. 60);
	$node->psql('postgres', "SET statement_timeout = 1; SET vacuum_cost_delay = 20; SET vacuum_cost_limit = 1; VACUUM (DISABLE_PAGE_SKIPPING) hot", on_error_stop => 0);
	counted("many tables, step $step");
}

# a run that is the last of its table and one of the longest, and then neither in the ring nor the last
sql($node, 'SET vacuum_cost_delay = 10; SET vacuum_cost_limit = 1; VACUUM (DISABLE_PAGE_SKIPPING) hot');
sql($node, join ";\n", map { "VACUUM t$_" } 1 .. 110);
sql($node, 'VACUUM hot');
counted('one of the longest is no longer the last');

sql($node, 'SELECT sweep.reset_runs()');
counted('after a reset');
for my $step (1 .. 3)
{
	# many of these are longer than the longest that are there, and the last of their tables
	sql($node, join ";\n", map { "VACUUM t$_" } 1 .. 150);
	counted("after a reset and $step times 150 runs");
}

$node->stop;
done_testing();

sub write_file
{
	my ($name, $contents) = @_;

	open(my $out, '>:raw', $name) or die "$name: $!";
	print $out $contents;
	close $out;
	chmod 0600, $name;
	return;
}

# The contents with something else at that place.
sub changed
{
	my ($contents, $place, $bytes) = @_;

	substr($contents, $place, length $bytes) = $bytes;
	return $contents;
}

# The contents with the right checksum (CRC-32C) at the end.
sub checked
{
	my ($contents) = @_;
	my $body = substr($contents, 0, length($contents) - 4);
	my @table = map {
		my $c = $_;
		$c = $c & 1 ? ($c >> 1) ^ 0x82F63B78 : $c >> 1 for 1 .. 8;
		$c
	} 0 .. 255;
	my $crc = 0xFFFFFFFF;

	$crc = ($crc >> 8) ^ $table[ ($crc ^ $_) & 0xFF ] for unpack('C*', $body);
	return $body . pack('L', $crc ^ 0xFFFFFFFF);
}
