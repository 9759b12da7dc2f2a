# Dead rows that somebody else still needs are not vacuumed in vain. Here they are needed
# by a standby that sends feedback, by the replication slot that it leaves behind, and by
# a logical slot for the catalogs.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

my $primary = sweep_node('primary', init => [ allows_streaming => 1 ], conf => <<'END');
sweep.debug_clock_rate = 20
autovacuum_vacuum_cost_delay = 0
wal_level = logical
END
sql($primary, q{SELECT pg_create_physical_replication_slot('standby')});
$primary->backup('base');

my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->append_conf('postgresql.conf', <<'END');
hot_standby_feedback = on
wal_receiver_status_interval = 1s
primary_slot_name = 'standby'
END
$standby->start;
$primary->wait_for_catchup($standby);

sub runs_of { return sql($primary, "SELECT count(*) FROM sweep.runs WHERE relname = '$_[0]'") }

# A query on the standby whose snapshot the primary has heard of. An older one would do as well
# at first, and move on later, which makes some rows look removable.
sub reader_on_standby
{
	my ($table, $column) = @_;
	my $reader = session($standby);

	$reader->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_class');
	my $xmin = $reader->query_safe('SELECT pg_snapshot_xmin(pg_current_snapshot())');
	poll_ok($primary, "SELECT count(*) = 1 FROM $table WHERE $column = '$xmin'", 'the primary knows what a query on the standby needs');
	return $reader;
}

sub one_run_only
{
	my ($table, $holder) = @_;

	garbage($primary, 'postgres', $table);
	poll_ok($primary, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = '$table' AND dead_not_removable = 500 AND tuples_removed = 0",
		"$holder: one run, which removes nothing");
	poll_ok($primary, "SELECT count(*) = 1 FROM sweep.decisions WHERE relname = '$table' AND decision = 'held back'", "$holder: held back");
	more_garbage($primary, 'postgres', $table);
	rounds($primary, 40);
	is(runs_of($table), '1', "$holder: and no more");
	return;
}

sub now_removed
{
	my ($table, $what) = @_;

	# In one run, or in two where a transaction of somebody else has held the horizon between
	# the two deletes for a moment.
	poll_ok($primary, "SELECT count(*) IN (2, 3) AND sum(tuples_removed) = 1000 FROM sweep.runs WHERE relname = '$table'",
		"$what: the next runs remove all");
	return;
}

# ---- a standby with a slot, then the slot alone

my $reader = reader_on_standby('pg_replication_slots', 'xmin');
one_run_only('by_slot', 'a standby with a slot');
$primary->wait_for_catchup($standby);
$reader->query('COMMIT');
$reader->quit;

$reader = reader_on_standby('pg_replication_slots', 'xmin');
now_removed('by_slot', 'when the query has ended');
$standby->stop('immediate');
eval { $reader->quit };
poll_ok($primary, q{SELECT NOT active AND xmin IS NOT NULL FROM pg_replication_slots}, 'the standby is gone, its slot is not');
one_run_only('by_dead_slot', 'an abandoned slot');
sql($primary, q{SELECT pg_drop_replication_slot('standby')});
now_removed('by_dead_slot', 'when the slot is dropped');

# ---- feedback without a slot

$standby->append_conf('postgresql.conf', "primary_slot_name = ''\n");
$standby->start;
$reader = reader_on_standby('pg_stat_replication', 'backend_xmin');
one_run_only('by_feedback', 'feedback without a slot');
$primary->wait_for_catchup($standby);
$reader->query('COMMIT');
$reader->quit;
now_removed('by_feedback', 'when the query has ended');
$standby->stop;

# ---- a logical slot holds the catalogs only

sql($primary, q{SELECT pg_create_logical_replication_slot('logical', 'pgoutput')});
my $columns = join(', ', map { "c$_ int" } 1 .. 100);
my $catalog = q{relname = 'pg_attribute' AND datname = 'postgres' AND started_by = 'sweep'};
my $before = sql($primary, "SELECT coalesce(max(run_id), 0) FROM sweep.runs");
sql($primary, "DO \$\$ BEGIN FOR i IN 1 .. 20 LOOP CREATE TABLE wide ($columns); DROP TABLE wide; END LOOP; END \$\$");
poll_ok($primary, "SELECT count(*) >= 1 FROM sweep.runs WHERE run_id > $before AND $catalog AND dead_not_removable >= 2000",
	'a logical slot: a catalog is vacuumed in vain');
garbage($primary, 'postgres', 'not_a_catalog');
poll_ok($primary, q{SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'not_a_catalog' AND tuples_removed = 500}, 'a logical slot: tables are not held back');
my $runs = sql($primary, "SELECT count(*) FROM sweep.runs WHERE $catalog");
rounds($primary, 100);
cmp_ok(sql($primary, "SELECT count(*) FROM sweep.runs WHERE $catalog"), '<=', $runs + 2, 'a logical slot: the catalog is not vacuumed in vain again and again');
sql($primary, q{SELECT pg_drop_replication_slot('logical')});
poll_ok($primary, "SELECT count(*) >= 1 FROM sweep.runs WHERE run_id > $before AND $catalog AND tuples_removed >= 2000",
	'when the slot is dropped it is cleaned');

$primary->stop;
done_testing();
