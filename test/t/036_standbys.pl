# A standby that sends no feedback loses queries to every record that removes rows. While one
# is connected vacuums begin together with autovacuum's, go by its thresholds, and
# freeze nothing ahead. With feedback, or when a setting says so, they are as prompt as ever.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

# Autovacuum is off, so vacuums begin once in its naptime, by the clock. Here that is
# weeks, until it is a second. What pg_sweep counts in minutes takes a twentieth of it.
my $never = 'autovacuum_naptime = 2147483';
my $primary = sweep_node('primary', init => [ allows_streaming => 1 ], conf => <<"END");
sweep.debug_clock_rate = 20
autovacuum_vacuum_cost_delay = 0
$never
END

sub runs_of
{
	my ($table) = @_;

	return sql($primary, "SELECT count(*) FROM sweep.runs WHERE relname = '$table' AND outcome = 'done'");
}

sub vacuumed
{
	my ($table, $name) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	poll_ok($primary, "SELECT count(*) >= 1 FROM sweep.runs WHERE relname = '$table' AND outcome = 'done'", $name);
	return;
}

sub says
{
	my ($why, $name) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	poll_ok($primary, "SELECT standby_conflicts IS NOT DISTINCT FROM " . (defined $why ? "'$why'" : 'NULL') . ' FROM sweep.status', $name);
	return;
}

my $has_map = has_module($primary, 'pg_visibility');
rounds($primary, 1);
says(undef, 'no standby: none can lose queries');
garbage($primary, 'postgres', 'alone');
vacuumed('alone', 'and a due table is vacuumed');

# ---- a standby without feedback

$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->append_conf('postgresql.conf', <<'END');
hot_standby_feedback = off
max_standby_streaming_delay = 0
wal_receiver_status_interval = 1
END
$standby->start;
says('a standby sends no feedback', 'a standby without feedback is seen');

garbage($primary, 'postgres', 'waiting');
poll_ok($primary, "SELECT waiting_for LIKE 'standby:%' FROM sweep.queue WHERE relname = 'waiting'", 'sweep.queue: a due table waits for its sake');
rounds($primary, 5);
is(runs_of('waiting'), '0', 'it is not vacuumed');
is(sql($primary, "SELECT decision FROM sweep.tables WHERE relname = 'waiting'"), 'spaced out', 'sweep.tables says why');
is(sql($primary,
	"SELECT rank, verdict, fix ~ 'hot_standby_feedback = on', risk <> '' FROM sweep.explain('waiting') WHERE cause ~ 'cancel queries on a standby'"),
	'1|due, but waiting|t|t', 'so does sweep.explain()');
garbage($primary, 'postgres', 'asked');
sql($primary, "SELECT sweep.vacuum('asked')");
vacuumed('asked', 'a vacuum that somebody asks for does not wait');

is(sql($primary, "SELECT vacuum_threshold = 50 + 0.2 * reltuples FROM sweep.tables JOIN pg_class c ON c.oid = relid WHERE c.relname = 'pg_proc'"), 't',
	'catalogs have the thresholds of autovacuum');
sql($primary, "CREATE TABLE grown (i int) WITH (autovacuum_vacuum_insert_threshold = 1000); INSERT INTO grown SELECT generate_series(1, 5000);"
	  . " SELECT pg_stat_force_next_flush()");
poll_ok($primary, "SELECT waiting_for LIKE 'standby:%' FROM sweep.queue WHERE relname = 'grown'", 'a table with new rows waits as well');
sql($primary, "CREATE TABLE little (i int) WITH (autovacuum_vacuum_insert_threshold = 1000); INSERT INTO little SELECT generate_series(1, 500);"
	  . " SELECT pg_stat_force_next_flush()");
is(sql($primary, "SELECT verdict, evidence, fix ~ 'hot_standby_feedback = on' FROM sweep.explain('little') WHERE cause ~ 'nothing is frozen ahead'"),
	'not due|a standby sends no feedback|t', 'sweep.explain() says why few new rows are not done early');
reload_with($primary, autovacuum_naptime => '1s');
vacuumed('waiting', 'once in autovacuum_naptime vacuums begin');
sql($primary, "CREATE TABLE tail (id int); INSERT INTO tail SELECT generate_series(1, 20000); DELETE FROM tail WHERE id > 10; SELECT pg_stat_force_next_flush()");
vacuumed('tail', 'also one with an empty end');
is(sql($primary, "SELECT pg_relation_size('tail') > 500000"), 't', 'which it keeps: the standby would replay the lock');
vacuumed('grown', 'also for new rows');
SKIP:
{
	skip 'this server lacks the contrib module pg_visibility', 1 unless $has_map;
	is(sql($primary, "SELECT all_visible > 0, all_frozen FROM pg_visibility_map_summary('grown')"), 't|0', 'and do not freeze ahead');
}

# ---- no query is cancelled that would live without pg_sweep

# Deletes rows that one transaction has made in another one, on pages that nobody looks at again.
sub delete_rows
{
	my ($table) = @_;

	sql($primary, "SET enable_seqscan = off; SET enable_bitmapscan = off; DELETE FROM $table WHERE id <= 500; SELECT pg_stat_force_next_flush()");
	return;
}

sub reader
{
	my $reader = session($standby);

	$primary->wait_for_catchup($standby);
	$reader->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM queue0');
	return $reader;
}

for my $i (0 .. 1)
{
	sql($primary, "CREATE TABLE queue$i (id int PRIMARY KEY); INSERT INTO queue$i SELECT generate_series(1, 1000)");
}
reload_with($primary, autovacuum_naptime => '2147483s');
rounds($primary, 2);
sql($primary, 'VACUUM');

my $conflicts = "SELECT sum(confl_snapshot) FROM pg_stat_database_conflicts";
my $reader = reader();
delete_rows('queue0');
poll_ok($primary, "SELECT waiting_for LIKE 'standby:%' FROM sweep.queue WHERE relname = 'queue0'", 'rows die while a query runs on the standby');
rounds($primary, 5);
$primary->wait_for_catchup($standby);
is($reader->query_safe('SELECT count(*) FROM queue0'), '1000', 'the query lives, and sees them');
is(sql($standby, $conflicts), '0', 'there was no conflict');
$reader->query_safe('COMMIT');
$reader->quit;

# without the rule it is cancelled, which shows that the test can fail
reload_with($primary, 'sweep.standby_conflicts' => 'off');
says(undef, 'sweep.standby_conflicts = off: the standby does not count');
sql($primary, "INSERT INTO grown SELECT generate_series(1, 50000); SELECT pg_stat_force_next_flush()");
SKIP:
{
	skip 'this server lacks the contrib module pg_visibility', 1 unless $has_map;
	poll_ok($primary, "SELECT all_frozen > 100 FROM pg_visibility_map_summary('grown')", 'vacuums freeze ahead');
}
$reader = reader();
delete_rows('queue1');
vacuumed('queue1', 'vacuums are prompt');
poll_ok($standby, $conflicts, 'and cancel its query', expected => '1');
$reader->{run}->kill_kill;

# ---- other settings, and feedback

reload_with($primary, 'sweep.standby_conflicts' => 'auto');
says('a standby sends no feedback', 'auto: it counts again');
reload_with($standby, hot_standby_feedback => 'on');
says(undef, 'a standby that sends feedback loses no queries');
garbage($primary, 'postgres', 'prompt');
vacuumed('prompt', 'vacuums are prompt');
sql($primary, "INSERT INTO tail SELECT generate_series(1, 20000); DELETE FROM tail WHERE id > 10; SELECT pg_stat_force_next_flush()");
poll_ok($primary, "SELECT pg_relation_size('tail') < 100000", 'and cut tables at their end');

reload_with($primary, 'sweep.standby_conflicts' => 'on');
says('sweep.standby_conflicts is on', 'on: standbys that cannot be seen are reckoned with');
is(sql($primary, 'SELECT fix FROM sweep_internal.get_standby_fix()'), 'ALTER SYSTEM RESET sweep.standby_conflicts; SELECT pg_catalog.pg_reload_conf();',
	'on: the fix is another one');
reload_with($primary, 'sweep.standby_conflicts' => 'auto');
says(undef, 'auto again');

# feedback by a slot, which has the xmin instead of the walsender
sql($primary, "SELECT pg_create_physical_replication_slot('standby')");
$standby->append_conf('postgresql.conf', "primary_slot_name = 'standby'");
$standby->restart;
poll_ok($primary, "SELECT xmin IS NOT NULL AND active FROM pg_replication_slots", 'feedback by a slot');
says(undef, 'is feedback');
reload_with($standby, hot_standby_feedback => 'off');
says('a standby sends no feedback', 'and seen to end');

# now it receives WAL, but replays nothing
$standby->stop;
says('a standby that sent no feedback went away a short while ago', 'one that goes away may come back');
says(undef, 'it is not waited for for ever');
my $receiver = IPC::Run::start(
	[ 'pg_receivewal', '-D', $primary->backup_dir, '-d', $primary->connstr('postgres'), '--no-loop' ],
	'>', \my $out, '2>', \my $err);
poll_ok($primary, "SELECT count(*) = 1 FROM pg_stat_replication WHERE state = 'streaming'", 'pg_receivewal streams');
rounds($primary, 3);
is(sql($primary, 'SELECT standby_conflicts FROM sweep.status'), '', 'and is no standby');
$receiver->kill_kill;

done_testing();
