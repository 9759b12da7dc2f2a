# Every running vacuum is shown while it runs: core's autovacuum workers, VACUUM by hand,
# its parallel workers, and ours. It is shown who started it, what it has done so far,
# what holds it back and when it will be done.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;
use Time::HiRes qw(time usleep);

my $node = sweep_node('metering', start => 0, conf => <<'END');
autovacuum = on
autovacuum_naptime = 1s
autovacuum_freeze_max_age = 100000
autovacuum_vacuum_cost_delay = 0
sweep.mode = observe
max_worker_processes = 12
END

# From 18 on the server itself times the delays. Before, they follow from the cost.
$node->append_conf('postgresql.conf', 'track_cost_delay_timing = on') if $node->pg_version >= 18;
$node->start;
sql($node, 'CREATE EXTENSION pg_sweep');

# 2,000 units per second make about 90 pages, and there is a sample every half second
my $slow = 'autovacuum_vacuum_cost_delay = 10, autovacuum_vacuum_cost_limit = 20';
my $slowly = "SET vacuum_cost_delay = 10;\nSET vacuum_cost_limit = 20;\n";
my @columns = qw(pid blks_hit blks_read blks_dirtied wal_records wal_bytes cost
  phase phase_pct started_by command sleep_pct limited_by cost_limit cost_delay cost_per_s
  delay_time done_pct eta_s eta_basis parallel_workers mode elapsed);
my %expression = (eta_s => 'EXTRACT(epoch FROM eta)', elapsed => 'EXTRACT(epoch FROM clock_timestamp() - started_at)');
my $columns = join ', ', map { $expression{$_} // $_ } @columns;

sub look
{
	my ($where) = @_;
	my ($line) = split /\n/, sql($node, "SELECT $columns FROM sweep.progress WHERE leader_pid IS NULL AND $where");
	my %row;

	return undef unless defined $line && $line ne '';
	@row{@columns} = split /\|/, $line, -1;
	return \%row;
}

# Looks again and again until the counters have moved that many times, or the run is over.
sub watch
{
	my ($where, $moves) = @_;
	my $until = time + $PostgreSQL::Test::Utils::timeout_default / 3;
	my @seen;

	while (time < $until)
	{
		my $row = look($where);

		last if !$row && @seen;
		push @seen, $row if $row && (!@seen || $row->{cost} != $seen[-1]{cost});
		last if @seen > $moves;
		usleep(50_000);
	}
	return @seen;
}

sub never_falls
{
	my ($column, @seen) = @_;

	# It is NULL until it is known, as a phase's share is while a vacuum initializes. After
	# that it never is again.
	shift @seen while @seen && $seen[0]{$column} eq '';
	return 0 if grep { $_->{$column} eq '' } @seen;

	# before 18 it is sampled: one sample that finds it awake takes back as much as a tick
	my $slack = $column eq 'delay_time' && major($node) < 18 ? 500 : 0;

	for my $i (1 .. $#seen)
	{
		return 0 if $seen[$i]{$column} < $seen[ $i - 1 ]{$column} - $slack;
	}
	return 1;
}

# What holds for every throttled vacuum.
sub looks_right
{
	my ($name, $starter, @seen) = @_;
	my $last = $seen[-1] // {};

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	cmp_ok(scalar @seen, '>=', 4, "$name: the counters move while it runs") or return;
	ok(never_falls($_, @seen), "$name: $_ never falls") for qw(blks_hit blks_read blks_dirtied wal_records wal_bytes cost delay_time);
	is("$last->{command} by $last->{started_by}", "VACUUM by $starter", "$name: who started it");
	is("$last->{cost_limit} per $last->{cost_delay}", '20 per 10', "$name: its cost settings");
	is($last->{limited_by}, 'cost limit 20', "$name: what limits it");
	cmp_ok($last->{sleep_pct}, '>', 50, "$name: most of the time it sleeps");
	cmp_ok($last->{sleep_pct}, '<=', 100, "$name: never more than all of it");
	cmp_ok($last->{cost_per_s}, '<=', 2200, "$name: no faster than its limit") or diag(explain($last));
	# its rate is that of the last samples, which here begin with the vacuum
	cmp_ok($last->{cost_per_s}, '>=', 0.9 * $last->{cost} / $last->{elapsed}, "$name: nor slower than it is");
	cmp_ok($last->{cost_per_s}, '>', 0, "$name: nor standing still");
	return;
}

# ---- core's autovacuum

slow_table($node, 'postgres', 'for_core', pages => 700, with => $slow);
my @seen = watch("relname = 'for_core'", 6);
looks_right('autovacuum', 'autovacuum', @seen);
is($seen[-1]{phase}, 'scanning heap', 'autovacuum: its phase');
cmp_ok($seen[-1]{phase_pct}, '>', 0, 'autovacuum: how far it is');
ok(never_falls('phase_pct', @seen), 'autovacuum: and on it goes');
is(sql($node, "SELECT schemaname || '.' || relname || ' in ' || datname FROM sweep.progress WHERE relid = 'for_core'::regclass"),
	'public.for_core in postgres', 'autovacuum: of which table');

# a user needs the table
sql($node, 'ALTER TABLE for_core ADD more int');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'for_core' AND command = 'VACUUM' AND started_by = 'autovacuum' AND outcome = 'cancelled'"
	  . " AND blks_hit >= $seen[-1]{blks_hit} AND pid = $seen[-1]{pid}",
	'autovacuum: one that is cancelled for a user is recorded so');
sql($node, 'DROP TABLE for_core');

# ---- by hand, and what became of it

slow_table($node, 'postgres', 'by_hand', pages => 700, with => 'autovacuum_enabled = off');
my $user = session($node, 'postgres');
$user->query_until(qr/begun/, "$slowly\\echo begun\nVACUUM by_hand;\n\\echo ended\n");
@seen = watch("relname = 'by_hand'", 6);
looks_right('by hand', 'manual', @seen);
is(sql($node, "SELECT sweep.cancel($seen[-1]{pid})"), 't', 'by hand: sweep.cancel()');
$user->query_until(qr/ended/, '');
poll_ok($node, "SELECT outcome = 'cancelled' AND started_by = 'manual' AND cost >= $seen[-1]{cost} FROM sweep.runs WHERE relname = 'by_hand'",
	'by hand: is recorded as cancelled');
poll_ok($node, "SELECT count(*) = 0 FROM sweep.progress WHERE pid = $seen[-1]{pid}", 'by hand: and no longer shown');
$user->quit;

# ---- parallel

# There are few heap pages to look at. But four indexes of 100 pages each have to be read
# whole, at 10 ms per page.
sql($node, <<'END');
CREATE TABLE par (a int, b int, c int, d int) WITH (autovacuum_enabled = off);
INSERT INTO par SELECT i, i, i, i FROM generate_series(1, 36000) i;
CREATE INDEX ON par (a); CREATE INDEX ON par (b); CREATE INDEX ON par (c); CREATE INDEX ON par (d);
VACUUM par;
DELETE FROM par WHERE a <= 4000;
END
sql($node, "SELECT sweep.reset_runs()");
$user = session($node, 'postgres');
# from 18 on many pages are read before one delay
my $delay = major($node) >= 18 ? 40 : 10;
$user->query_until(qr/begun/, "SET vacuum_cost_delay = $delay;\n" . <<'END');
SET vacuum_cost_limit = 1;
SET min_parallel_index_scan_size = 0;
SET max_parallel_maintenance_workers = 2;
\echo begun
VACUUM (PARALLEL 2, INDEX_CLEANUP ON) par;
\echo ended
END

# Looks at leader and workers in one query: each pid's blks_hit.
my $until = time + $PostgreSQL::Test::Utils::timeout_default / 3;
my (@leader, %worker, $joined, $leader_pid);
while (time < $until)
{
	my @rows = map { [ split /\|/, $_, -1 ] } split /\n/,
	  sql($node, "SELECT pid, coalesce(leader_pid, 0), blks_hit + blks_read, parallel_workers, coalesce(relname, ''), command, started_by,"
	  . " relid = 'par'::regclass FROM sweep.progress WHERE command = 'VACUUM' AND (leader_pid IS NOT NULL OR relname = 'par')");
	my ($leader) = grep { $_->[1] == 0 } @rows;
	my @workers = grep { $_->[1] != 0 && $_->[7] ne '' } @rows;

	last if @leader && !$leader;
	next unless $leader;
	$leader_pid = $leader->[0];
	push @leader, { blks => $leader->[2] };
	for my $w (@workers)
	{
		push @{ $worker{ $w->[0] } }, { blks => $w->[2] };
		$joined = $w if $w->[1] == $leader->[0];
	}
	if (@workers == 2 && $workers[0][2] + $workers[1][2] > 20)
	{
		cmp_ok($leader->[2], '>=', $workers[0][2] + $workers[1][2], 'parallel: the leader\'s counters include its workers\'');
		is($leader->[3], '2', 'parallel: the leader\'s row says how many there are');
		last;
	}
	usleep(20_000);
}
ok($joined, 'parallel: workers are shown with their leader') or diag(explain(\%worker));
is(join('|', @{ $joined // [] }[ 4 .. 7 ]), 'par|VACUUM|manual|t', 'parallel: and with its table and starter');

# to the end
while (time < $until)
{
	my $row = look("pid = $leader_pid");

	last unless $row;
	push @leader, { blks => $row->{blks_hit} + $row->{blks_read} };
	usleep(20_000);
}
$user->query_until(qr/ended/, '');
$user->quit;
ok(never_falls('blks', @leader), 'parallel: the leader\'s counters never fall, at the end of an index pass either')
  or diag(join ' ', map { $_->{blks} } @leader);
is(sql($node, "SELECT count(*), min(outcome) FROM sweep.runs WHERE relname = 'par' AND command = 'VACUUM'"), '1|done', 'parallel: one run is recorded');
cmp_ok(sql($node, "SELECT blks_hit + blks_read FROM sweep.runs WHERE relname = 'par'"), '>=', $leader[-1]{blks}, 'parallel: with what the workers did');
is(sql($node, "SELECT count(*) FROM sweep.progress WHERE relname = 'par' OR leader_pid IS NOT NULL"), '0', 'parallel: nothing is left of the workers');

# From 19 on core's autovacuum may be parallel, too.
if (major($node) >= 19)
{
	reload_with($node, 'min_parallel_index_scan_size' => 0, 'autovacuum_max_parallel_workers' => 2);
	sql($node, 'DELETE FROM par WHERE a <= 8000');
	sql($node, 'ALTER TABLE par SET (autovacuum_enabled = on, autovacuum_parallel_workers = 2, autovacuum_vacuum_scale_factor = 0,'
		  . ' autovacuum_vacuum_cost_delay = 40, autovacuum_vacuum_cost_limit = 1)');
	poll_ok($node, "SELECT count(*) >= 1 FROM sweep.progress WHERE relname = 'par' AND command = 'VACUUM' AND started_by = 'autovacuum'"
		  . " AND leader_pid IN (SELECT pid FROM sweep.progress WHERE relname = 'par' AND leader_pid IS NULL AND parallel_workers > 0)",
		'parallel autovacuum: workers are shown with their leader');
	poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'par' AND command = 'VACUUM' AND started_by = 'autovacuum' AND outcome = 'done'",
		'parallel autovacuum: one run is recorded');
	sql($node, 'DROP TABLE par');
}

# ---- ours, with an estimate and in the process title

reload_with($node, 'autovacuum' => 'off', 'sweep.mode' => 'act', 'sweep.min_interval' => 0, 'sweep.process_title' => 'on');
slow_table($node, 'postgres', 'ours', pages => 700, with => $slow);
@seen = watch("relname = 'ours'", 6);
looks_right('ours', 'sweep', @seen);
is($seen[-1]{eta_basis}, 'progress', 'ours: the first estimate is by progress');
like(process_title($seen[-1]{pid}), qr/sweep worker .*h=\d+ m=\d+ d=\d+$/, 'ours: h= m= d= in the process title');
sql($node, 'DROP TABLE ours');

# The cost of the last run is the better experience: two runs of 1,100 pages.
slow_table($node, 'postgres', 'twice', pages => 1100, with => 'autovacuum_vacuum_cost_delay = 0, autovacuum_vacuum_scale_factor = 0');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'twice' AND outcome = 'done' AND pages >= 1100 AND cost >= 1000", 'estimate: a first run');
sql($node, 'ALTER TABLE twice SET (autovacuum_vacuum_cost_delay = 10, autovacuum_vacuum_cost_limit = 4); UPDATE twice SET id = -id');
@seen = watch("relname = 'twice' AND eta_basis IS NOT NULL", 4);
is($seen[-1]{eta_basis}, 'last run', 'estimate: the second run is compared with the first');
cmp_ok($seen[-1]{done_pct}, '>', 0, 'estimate: how much is done');
cmp_ok($seen[-1]{done_pct}, '<', 100, 'estimate: but not all');
cmp_ok($seen[-1]{eta_s}, '>', 0, 'estimate: when the rest will be');
cmp_ok($seen[-1]{eta_s}, '<', 120, 'estimate: within reason');
sql($node, 'DROP TABLE twice');

# ---- process titles of others, and their end

$user = session($node, 'postgres');
slow_table($node, 'postgres', 'titled', pages => 450, with => 'autovacuum_enabled = off');
my $pid = $user->query_safe('SELECT pg_backend_pid()');
$user->query_until(qr/begun/, "$slowly\\echo begun\nVACUUM titled;\n\\echo ended\n");
my @titles;
for (1 .. 200)
{
	push @titles, process_title($pid);
	last if $titles[-1] =~ /h=/;
	usleep(20_000);
}
like($titles[-1], qr/^postgres: .* VACUUM h=\d+ m=\d+ d=\d+$/, 'title: of a user\'s VACUUM') or diag(explain(\@titles));
$user->query_until(qr/ended/, '');
unlike(process_title($pid), qr/h=\d/, 'title: it is gone afterwards');
$user->query_safe('SELECT 1');
like(process_title($pid), qr/^postgres: .* idle$/, 'title: and a session\'s own is as always');
$user->quit;

# ---- wraparound

# A table that is near its freeze age is vacuumed all the same. Where pg_sweep may not, core's own
# vacuum comes, which nobody may cancel here.
sql($node, 'CREATE TABLE old (id int, pad text) WITH (fillfactor = 10, autovacuum_vacuum_cost_delay = 20, autovacuum_vacuum_cost_limit = 1)');
sql($node, "ALTER TABLE old ALTER pad SET STORAGE PLAIN; INSERT INTO old SELECT i, repeat('x', 700) FROM generate_series(1, 300) i");
sql($node, 'CREATE TABLE near (id int); INSERT INTO near SELECT generate_series(1, 1000); ALTER TABLE old SET (autovacuum_enabled = false)');
reload_with($node, 'sweep.mode' => 'observe');
burn(97_000);
reload_with($node, 'sweep.mode' => 'act');
sql($node, 'DELETE FROM near WHERE id > 10; UPDATE old SET id = -id');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'near' AND started_by = 'sweep' AND outcome = 'done'", 'wraparound: near it a table is vacuumed');
is(sql($node, "SELECT age(relfrozenxid) < 90000 FROM pg_class WHERE relname = 'near'"), 't', 'wraparound: and is young again');
is(sql($node, "SELECT count(*) FROM sweep.runs WHERE relname = 'old'"), '0', 'wraparound: but not one that is not ours');
burn(5_000);
reload_with($node, 'autovacuum' => 'on');
@seen = watch("relname = 'old'", 3);
is($seen[-1]{started_by}, 'autovacuum_wraparound', 'wraparound: core\'s vacuum is told from others');
is($seen[-1]{mode}, 'aggressive', 'wraparound: its mode');
my ($rc, $out, $err) = $node->psql('postgres', "SELECT sweep.cancel($seen[-1]{pid})");
like($err, qr/ERROR:  process \d+ is preventing transaction ID wraparound/, 'wraparound: sweep.cancel() refuses');
like($err, qr/HINT:  .*force => true/, 'wraparound: and says how it does');
(undef, undef, $err) = $node->psql('postgres', "SELECT sweep.cancel($seen[-1]{pid}, '1 h', true)");
like($err, qr/HINT:  Its table cannot be left alone/, 'wraparound: its table cannot be snoozed');
(undef, $out, $err) = $node->psql('postgres', "SELECT sweep.cancel($seen[-1]{pid}, force => true)");
is($out, 't', 'wraparound: by force it is cancelled');
like($err, qr/NOTICE:  .*\nDETAIL:  pg_sweep freezes the table instead/, 'wraparound: and what follows is said');
poll_ok($node, "SELECT count(*) >= 1 FROM sweep.runs WHERE relname = 'old' AND outcome = 'cancelled' AND started_by = 'autovacuum_wraparound'",
	'wraparound: cancelled by hand it is recorded so');
# autovacuum, which wants the table as well, ends that after deadlock_timeout
poll_ok($node, "SELECT count(*) >= 1 FROM sweep.runs WHERE relname = 'old' AND started_by = 'sweep' AND reason LIKE 'requested by %'", 'wraparound: pg_sweep freezes the table');
poll_ok($node, "SELECT count(*) >= 1 FROM sweep.runs WHERE relname = 'pg_class' AND outcome = 'done' AND started_by = 'autovacuum_wraparound'"
	  . " AND mode = 'aggressive'", 'wraparound: the catalogs\' are recorded');

$node->stop('immediate');
done_testing();

# Uses up transaction ids.
sub burn
{
	my ($n) = @_;

	sql($node, "DO 'BEGIN FOR i IN 1 .. $n LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END'");
	return;
}
