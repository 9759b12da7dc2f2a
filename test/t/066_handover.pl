# After a promotion the new primary knows what the old one knew. What was due is vacuumed at
# once. What has little garbage, or was vacuumed a short while ago, is left alone. Snoozes and a
# hold stand. It is so after a switchover, and after the primary has crashed.
#
# What is known goes through the WAL, in notes that no user can forge and no subscriber gets.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

# Ten minutes, in which tables whose statistics were lost are looked at, are three seconds by this
# clock, and sweep.min_interval is as long as the test.
my $rate = 200;
my $spread = 600 / $rate;
my $primary = sweep_node('first', init => [ allows_streaming => 'logical' ], conf => <<"END");
wal_level = logical
sweep.debug_clock_rate = $rate
sweep.naptime = 20s
sweep.min_interval = 24h
autovacuum_naptime = 2147483s
autovacuum_vacuum_cost_delay = 0
sweep.standby_conflicts = off
END
my $standby = PostgreSQL::Test::Cluster->new('second');

sql($primary, 'CREATE DATABASE other');
$primary->backup('base');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;

# ---- tables, of which each has 12,000 rows on all-visible pages, and so a threshold of 2,450

my %dead = (due => 3000, locked => 3000, snoozed => 3000, near => 2300, fresh => 600, barely => 60);

sub make_tables
{
	my ($node, $dbname, @names) = @_;

	sql($node, join('', map { "CREATE TABLE $_ AS SELECT i AS id, repeat('x', 80) AS pad FROM generate_series(1, 12000) i;\n" } @names) . "SELECT pg_stat_force_next_flush();\nVACUUM ANALYZE;", $dbname);
	return;
}

# Makes so many rows dead, spread over all pages.
my %from;

sub kill_rows
{
	my ($node, $dbname, %count) = @_;
	my $statements = '';

	for my $table (sort keys %count)
	{
		my $from = $from{"$dbname.$table"} // 0;

		$statements .= "DELETE FROM $table WHERE id * 7 % 12000 BETWEEN $from + 1 AND $from + $count{$table};\n";
		$from{"$dbname.$table"} = $from + $count{$table};
	}
	sql($node, "${statements}SELECT pg_stat_force_next_flush()", $dbname);
	return;
}

sub runs_of
{
	my ($node, $since) = @_;

	return sql($node, "SELECT COALESCE(string_agg(DISTINCT datname || '.' || relname, ' ' ORDER BY datname || '.' || relname), '') FROM sweep.runs"
		  . " WHERE started_by = 'sweep' AND outcome = 'done' AND datname IN ('postgres', 'other') AND schemaname = 'public' AND started_at > '$since'");
}

# nobody but the test vacuums them yet
sql($primary, 'SELECT sweep.hold()');
make_tables($primary, 'postgres', sort keys %dead);
make_tables($primary, 'other', 'due', 'near', 'barely');
sql($primary, q{SELECT sweep.hold('0')});
# the catalogs of a new database are those of another one, and have their turn
poll_ok($primary, "SELECT now() > launcher_started_at + '$spread s'::interval * 1.2 FROM sweep.status", 'all tables were looked at');
rounds($primary, 5);

# somebody has a table locked, so it is not vacuumed
my $locker = session($primary, 'postgres');
$locker->query_safe('BEGIN; LOCK TABLE locked IN SHARE UPDATE EXCLUSIVE MODE');
sql($primary, q{SELECT sweep.snooze('snoozed', '20 days')});
kill_rows($primary, 'postgres', due => 2500);
poll_ok($primary, q{SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'due' AND tuples_removed = 2500}, 'one is vacuumed');
rounds($primary, 3);
sql($primary, q{SELECT sweep.hold('20 days')});
kill_rows($primary, 'postgres', map { $_ => $dead{$_} } grep { $_ ne 'due' } keys %dead);
kill_rows($primary, 'other', due => 3000, near => 2300, barely => 60);
rounds($primary, 5);

# ---- who gets a note, and who may write one

sql($primary, <<'END');
CREATE PUBLICATION everything FOR ALL TABLES;
SELECT pg_create_logical_replication_slot('decoder', 'pgoutput');
CREATE ROLE somebody;
END
kill_rows($primary, 'other', due => 700);
rounds($primary, 5);
sql($primary, q{SET ROLE somebody; SELECT pg_logical_emit_message(false, 'pg_sweep', repeat('x', 200)); SELECT pg_logical_emit_message(false, 'pg_sweep', ''); RESET ROLE; CHECKPOINT});
is(sql($primary, q{SELECT count(*) FROM pg_logical_slot_get_binary_changes('decoder', NULL, NULL, 'proto_version', '1',
	'publication_names', 'everything', 'messages', 'true') WHERE get_byte(data, 0) = ascii('M')}),
	'2', 'a subscriber gets the messages of users, and no other');
sql($primary, q{SELECT pg_drop_replication_slot('decoder'); DROP PUBLICATION everything});

# ---- a switchover

$primary->wait_for_catchup($standby);
$primary->stop('fast');
eval { $locker->quit };
my $offset = log_size($standby);
my $since = sql($standby, 'SELECT now()');
$standby->promote;
poll_ok($standby, q{SELECT rounds > 0 AND effective_mode = 'act' FROM sweep.status}, 'switchover: the new primary works');
like(log_since($standby, $offset), qr/took over what was known of \d+ tables, and that all others of [3-9] databases are in order/, 'switchover: it says what it took over');
is(sql($standby, q{SELECT held_until > now() + interval '19 days' FROM sweep.status}), 't', 'switchover: the hold stands');
is(sql($standby, q{SELECT decision, not_before > now() + interval '19 days' FROM sweep.decisions WHERE relname = 'snoozed'}), 'snoozed|t', 'switchover: so does a snooze');
is(sql($standby, q{SELECT decision FROM sweep.decisions WHERE datname = 'postgres' AND relname = 'due'}), 'vacuumed', 'switchover: a vacuum of a short while ago is known');
is(sql($standby, q{SELECT relname, dead_tuples FROM sweep.tables WHERE relname IN ('near', 'fresh') ORDER BY 1}), "fresh|600\nnear|2300", 'switchover: dead rows are known');
rounds($standby, 5);
is(runs_of($standby, $since), '', 'switchover: nothing is vacuumed during the hold');
$locker = session($standby, 'postgres');
$locker->query_safe('BEGIN; LOCK TABLE locked IN SHARE UPDATE EXCLUSIVE MODE');
sql($standby, q{SELECT sweep.hold('0')});
my $took = seconds(sub { poll_ok($standby, q{SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'due' AND started_by = 'sweep' AND reason LIKE 'dead tuples 3_00 > 2450%'}, 'switchover: what was due is vacuumed') });
cmp_ok($took, '<', within(3), 'switchover: at once');

# its own counters do not make it due, so the scout does not find it
poll_ok($standby, q{SELECT decision = 'locked' FROM sweep.decisions WHERE relname = 'locked'}, 'switchover: a table that is still locked is put off');
$locker->query_safe('ROLLBACK');
$locker->quit;
$took = seconds(sub { poll_ok($standby, q{SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'locked' AND outcome = 'done' AND started_by = 'sweep' AND reason LIKE 'dead tuples 3000 > 2450%'}, 'switchover: and vacuumed when it is not') });
cmp_ok($took, '<', within(2), 'switchover: soon');
is(runs_of($standby, $since), 'other.due postgres.locked', 'switchover: and nothing else');

# what was near needs only a little more, and what has little garbage is no suspect
kill_rows($standby, 'postgres', near => 200);
poll_ok($standby, q{SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'near' AND started_by = 'sweep' AND reason LIKE 'dead tuples 2500 > 2450%'}, 'switchover: a little more, and it is vacuumed');
poll_until($standby, "SELECT now() > '$since'::timestamptz + '$spread s'::interval * 1.2");
rounds($standby, 5);
is(runs_of($standby, $since), 'other.due postgres.locked postgres.near', 'switchover: nothing else is vacuumed in ten minutes');

# a VACUUM by somebody else ends it
sql($standby, 'VACUUM fresh');
is(sql($standby, q{SELECT dead_tuples FROM sweep.tables WHERE relname = 'fresh'}), '0', 'switchover: after a VACUUM only the own counters count');

# ---- back again, and the primary is killed. The first one still has the counters of then.

$primary->enable_streaming($standby);
$primary->set_standby_mode;
$primary->start;
sql($standby, q{SELECT sweep.set('locked', 'min_interval', '0s')});
kill_rows($standby, 'postgres', fresh => 2000, barely => 2300);
rounds($standby, 5);
$standby->wait_for_catchup($primary);
$standby->kill9;
# not used any more: it waits for what the kill has left
poll_until($primary, q{SELECT count(*) = 0 FROM pg_stat_wal_receiver});
$since = sql($primary, 'SELECT now()');
$primary->promote;
poll_ok($primary, q{SELECT rounds > 0 AND effective_mode = 'act' FROM sweep.status}, 'failover: the first one works again');
is(sql($primary, q{SELECT relname, dead_tuples FROM sweep.tables WHERE relname IN ('near', 'fresh', 'barely', 'locked') ORDER BY 1}),
	"barely|2300\nfresh|2000\nlocked|0\nnear|0", 'failover: it knows what the other one knew, and not what it knew itself');
is(sql($primary, q{SELECT held_until IS NULL FROM sweep.status}), 't', 'failover: the hold was ended');
poll_until($primary, "SELECT now() > '$since'::timestamptz + '$spread s'::interval * 1.2");
rounds($primary, 5);
is(runs_of($primary, $since), '', 'failover: nothing is vacuumed without need');
kill_rows($primary, 'postgres', barely => 200);
poll_ok($primary, q{SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'barely' AND started_by = 'sweep' AND reason LIKE 'dead tuples 2500 > %'}, 'failover: a little more, and it is vacuumed');

# ---- another mode leaves nothing

reload_with($primary, 'sweep.mode' => 'observe');
poll_until($primary, q{SELECT effective_mode = 'observe' FROM sweep.status});
rounds($primary, 3);
sql($primary, q{SELECT sweep.hold('20 days')});
$primary->restart;
poll_ok($primary, q{SELECT rounds > 0 FROM sweep.status}, 'restarted in another mode');
is(sql($primary, q{SELECT count(*) FROM sweep.decisions WHERE decision IN ('snoozed', 'vacuumed')}), '0', 'what is not followed is not taken over');
is(sql($primary, q{SELECT held_until IS NOT NULL FROM sweep.status}), 't', 'a hold is kept in the file as well');

$primary->stop;
done_testing();
