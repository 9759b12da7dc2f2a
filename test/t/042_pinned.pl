# Whatever the owner of a database does, our workers do not hang in it. They wait for no lock
# for long, also while they connect, and are ended when they ignore a cancel. Other databases
# are looked after meanwhile, and sweep.mode = off leaves no worker within two seconds.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;
use Time::HiRes qw(time usleep);

my $node = sweep_node('pinned', conf => <<'END');
sweep.naptime = 100ms
sweep.max_workers = 2
sweep.debug_linger = 100s
autovacuum_vacuum_cost_delay = 0
END

sql($node, 'CREATE ROLE mallory LOGIN; CREATE DATABASE prey OWNER mallory; CREATE DATABASE other');
sql($node, 'GRANT ALL ON SCHEMA public TO mallory', 'prey');
my $postmaster = (split /\n/, slurp_file($node->data_dir . '/postmaster.pid'))[0];

# Our workers as the system knows them. One that is connecting is in no view.
sub workers
{
	my @pids;

	for my $file (glob '/proc/[0-9]*/stat')
	{
		my $stat = eval { slurp_file($file) } // next;
		next unless $stat =~ /^(\d+) \(.*\) \S (\d+) /s && $2 == $postmaster;
		my $pid = $1;
		push @pids, $pid if process_title($pid) =~ /sweep worker/;
	}
	return @pids;
}

# Switches off: how long until the last of them is gone?
sub off_leaves_no_worker
{
	my ($name) = @_;
	my $took = seconds(
		sub {
			my $until = time + 60;
			reload_with($node, 'sweep.mode' => 'off');
			usleep(20_000) while workers() > 0 && time < $until;
		});

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	cmp_ok($took, '<', within(2), "$name: sweep.mode = off leaves no worker within 2 s");
	is(sql($node, 'SELECT workers, reason IS NULL FROM sweep.status'), '0|t', "$name: and sweep.status says so");
	return;
}

sub act { reload_with($node, 'sweep.mode' => 'act'); return; }

my $others = 0;

sub others_are_looked_after
{
	my ($name) = @_;
	my $table = 'due' . ++$others;

	garbage($node, 'other', $table);
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = '$table' AND outcome = 'done'", "$name: another database is looked after");
	return;
}

# Makes a table whose vacuum runs that code of its owner, because BRIN sums up new pages then.
sub pinned_table
{
	my ($table, $code) = @_;
	my ($rc, undef, $err) = $node->psql('prey', <<"END", extra_params => [ '-U', 'mallory' ]);
CREATE FUNCTION code_of_$table(i int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS \$\$
BEGIN
	IF current_setting('my.quick', true) = 'on' THEN RETURN i; END IF;
	$code
	RETURN i;
END \$\$;
SET my.quick = 'on';
BEGIN;
CREATE TABLE $table (i int, pad text) WITH (fillfactor = 10);
CREATE INDEX ${table}_brin ON $table USING brin (code_of_$table(i)) WITH (pages_per_range = 1);
INSERT INTO $table SELECT i, repeat('x', 700) FROM generate_series(1, 300) i;
DELETE FROM $table WHERE i % 2 = 0;
COMMIT;
SELECT pg_stat_force_next_flush();
END
	die $err if $rc != 0;
	return poll_ok($node, "SELECT count(*) = 1 FROM sweep.progress WHERE relname = '$table' AND started_by = 'sweep' AND phase = 'cleaning up indexes'",
		"$table: the vacuum is in its owner's code");
}

my $catches = 'LOOP BEGIN PERFORM pg_sleep(1000); EXCEPTION WHEN query_canceled THEN NULL; END; END LOOP;';

# ---- code that catches the cancel

pinned_table('stubborn', $catches);
others_are_looked_after('code that catches the cancel');
my $offset = log_size($node);
my ($rc, undef, $err) = $node->psql('prey', "SET lock_timeout = '20s'; ALTER TABLE stubborn ADD more int", extra_params => [ '-U', 'mallory' ]);
is($rc, 0, 'code that catches the cancel: who wants the table gets it') or diag($err);
log_poll_ok($node, qr/worker with PID \d+ is ended, because its vacuum has ignored a cancel request/, $offset, 'and the log says how');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.decisions WHERE relname = 'stubborn' AND decision = 'cancelled' AND not_before > last_at + interval '4 min'",
	'its table is left alone for a while');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'stubborn' AND outcome = 'cancelled'", 'its run is recorded');
pinned_table('stubborn2', $catches);
off_leaves_no_worker('code that catches the cancel');
act();

pinned_table('stubborn3', $catches);
my $cancelled = sql($node, "SELECT pid FROM sweep.progress WHERE relname = 'stubborn3'");
is(sql($node, "SELECT sweep.cancel($cancelled)"), 't', 'code that catches the cancel: sweep.cancel()');
poll_ok($node, "SELECT count(*) = 0 FROM pg_stat_activity WHERE pid = $cancelled", 'ends it all the same');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.decisions WHERE relname = 'stubborn3' AND decision = 'cancelled'", 'and its table is left alone');

# ---- code that waits for a lock, and lifts the limit of that

my $holder = session($node, 'prey');
$holder->query_safe('SELECT pg_advisory_lock(1)');
sql($node, 'DROP TABLE stubborn, stubborn2, stubborn3', 'prey');
pinned_table('waits',
	"PERFORM set_config('lock_timeout', '0', true); LOOP BEGIN PERFORM pg_advisory_lock_shared(1); EXCEPTION WHEN query_canceled THEN NULL; END; END LOOP;");
my $waiting = sql($node, "SELECT pid FROM sweep.progress WHERE relname = 'waits'");
poll_ok($node, "SELECT count(*) = 0 FROM sweep.progress WHERE pid = $waiting",
	'code that waits for a lock for ever: it is ended, unless somebody wants the table before', timeout => 40);
poll_ok($node, "SELECT count(*) = 1 FROM sweep.decisions WHERE relname = 'waits' AND decision = 'cancelled'", 'its table is left alone, too');
$holder->quit;
sql($node, 'DROP TABLE waits', 'prey');

# ---- an uncommitted ALTER INDEX

reload_with($node, 'sweep.exclude_databases' => 'prey');
poll_ok($node, "SELECT NOT ours FROM sweep.databases WHERE datname = 'prey'", 'a database is left out');
sql($node, 'SET ROLE mallory; CREATE TABLE indexed (i int); CREATE INDEX indexed_i ON indexed (i)', 'prey');
sql($node, 'INSERT INTO indexed SELECT generate_series(1, 2000); DELETE FROM indexed WHERE i % 2 = 0; SELECT pg_stat_force_next_flush()', 'prey');
my $mallory = session($node, 'prey', extra_params => [ '-U', 'mallory' ]);
$mallory->query_safe('BEGIN; ALTER INDEX indexed_i SET TABLESPACE pg_default; SELECT 1');
my $waits_for_index = "SELECT count(*) = 1 FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE a.backend_type = 'sweep worker' AND a.datname = 'prey'"
	  . " AND NOT l.granted";
reload_with($node, 'sweep.exclude_databases' => '');
poll_ok($node, $waits_for_index, 'an uncommitted ALTER INDEX: a worker waits for it');
others_are_looked_after('an uncommitted ALTER INDEX');
poll_ok($node, "SELECT count(*) >= 1 FROM sweep.runs WHERE relname = 'indexed' AND outcome = 'skipped'", 'not for ever');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.decisions WHERE relname = 'indexed' AND decision = 'locked' AND reason LIKE 'lock not available%'",
	'and says so');
poll_ok($node, $waits_for_index, 'it tries again');
off_leaves_no_worker('an uncommitted ALTER INDEX');
act();
$mallory->query_safe('ROLLBACK');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'indexed' AND outcome = 'done'", 'when it is free, it is vacuumed');

# ---- pg_class is locked: nobody can connect

my $locker = session($node, 'prey');
reload_with($node, 'sweep.exclude_databases' => 'prey');
poll_ok($node, "SELECT NOT ours FROM sweep.databases WHERE datname = 'prey'", 'pg_class is locked: a database is left out');
garbage($node, 'prey', "locked_out_$_") for 1 .. 5;
poll_ok($node, "SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'sweep worker' AND datname = 'prey'",
	'pg_class is locked: its workers have left');
$locker->query_safe('BEGIN; LOCK TABLE pg_class IN ACCESS EXCLUSIVE MODE; SELECT 1');
reload_with($node, 'sweep.exclude_databases' => '');
poll_ok($node, "SELECT workers = 1 FROM sweep.databases WHERE datname = 'prey'", 'pg_class is locked: a worker is on its way there');
others_are_looked_after('pg_class is locked');
my $most = 0;
for (1 .. 10)
{
	my $n = sql($node, "SELECT workers FROM sweep.databases WHERE datname = 'prey'");
	$most = $n if $n > $most;
	rounds($node, 1);
}
is($most, 1, 'pg_class is locked: no others follow while it has not come in');
poll_ok($node, "SELECT next_visit IS NOT NULL FROM sweep.databases WHERE datname = 'prey'", 'pg_class is locked: it gives up, and the database has to wait');
poll_ok($node, "SELECT workers = 1 FROM sweep.databases WHERE datname = 'prey'", 'pg_class is locked: it is tried again');
off_leaves_no_worker('pg_class is locked');
act();
$locker->query_safe('ROLLBACK');
poll_ok($node, "SELECT count(*) = 5 FROM sweep.runs WHERE relname LIKE 'locked_out_%' AND outcome = 'done'",
	'pg_class is locked: when it is free, its tables are vacuumed');
$locker->quit;
$mallory->quit;

# ---- pg_database is locked: the launcher itself

$holder = session($node);
$holder->query_safe('BEGIN; LOCK TABLE pg_database IN ACCESS EXCLUSIVE MODE; SELECT 1');
my $until = time + 60;
usleep(100_000) while log_since($node, $offset) !~ /canceling statement due to lock timeout/ && time < $until;
$node->append_conf('postgresql.conf', "sweep.mode = off\n");
$node->adjust_conf('postgresql.auto.conf', 'sweep.mode', undef);
$node->reload;
my $took = seconds(sub { usleep(20_000) while workers() > 0 && time < $until; });
cmp_ok($took, '<', within(2), 'pg_database is locked: sweep.mode = off leaves no worker within 2 s');
$holder->query_safe('ROLLBACK');
$holder->quit;
act();

# ---- one that does not even take SIGTERM

slow_table($node, 'other', 'frozen');
my $frozen = poll_value($node, "SELECT pid FROM sweep.progress WHERE relname = 'frozen' AND started_by = 'sweep'");
kill 'STOP', $frozen;
reload_with($node, 'sweep.mode' => 'off');
poll_ok($node, "SELECT reason LIKE 'worker with PID $frozen in the database with OID % was told to end and does not:%' FROM sweep.status",
	'a worker that cannot be ended: sweep.status says so');
kill 'CONT', $frozen;
poll_ok($node, 'SELECT workers = 0 AND reason IS NULL FROM sweep.status', 'until it is gone');
act();
others_are_looked_after('afterwards');
unlike(log_since($node), qr/server process|terminated by signal/, 'nothing crashed');

$node->stop;
done_testing();
