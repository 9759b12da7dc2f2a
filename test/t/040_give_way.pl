# Users who want a lock that a vacuum of ours holds get it long before deadlock_timeout, so that
# lock_timeout = 1s is enough. No vacuum is cancelled for a lock that it does not hold.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

# deadlock_timeout is so long that it has no part in what is seen here
my $node = sweep_node('give_way', conf => <<'END');
deadlock_timeout = 100s
sweep.naptime = 100ms
sweep.max_workers = 3
sweep.debug_linger = 100s
END

sub wait_for_vacuum_of
{
	my ($table) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return poll_ok($node, "SELECT count(*) = 1 FROM sweep.progress WHERE relname = '$table' AND started_by = 'sweep' AND phase = 'scanning heap'",
		"$table is being vacuumed");
}

# How many seconds did it take on the server? Nothing if it failed.
sub user_says
{
	my ($command) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', <<"END");
SET lock_timeout = '1s';
SELECT clock_timestamp() AS began \\gset
$command;
SELECT extract(epoch FROM clock_timestamp() - :'began');
END
	diag($err) if $rc != 0;
	return $rc == 0 ? ($out) : ();
}

# ---- whatever a user wants that lock for

my $slow = 'autovacuum_vacuum_cost_delay = 100, autovacuum_vacuum_cost_limit = 1';
my $n = 0;
my @took;
my @commands = (
	'ALTER TABLE %s ADD more int',
	'LOCK TABLE %s IN SHARE MODE',
	'ANALYZE %s',
	'CREATE INDEX ON %s (id)',
	'DROP INDEX CONCURRENTLY %s_id',
	'DROP TABLE %s');
for my $round (1 .. 3)
{
	for my $command (@commands)
	{
		my $table = 'wanted' . ++$n;
		my $text = sprintf $command, $table;

		$text = "BEGIN; $text; COMMIT" if $text =~ /^LOCK/;
		if ($text =~ /^DROP INDEX/)
		{
			slow_table($node, 'postgres', $table, with => "$slow, autovacuum_enabled = false");
			sql($node, "CREATE INDEX ${table}_id ON $table (id)");
			sql($node, "SELECT sweep.vacuum('$table')");
		}
		else
		{
			slow_table($node, 'postgres', $table);
		}
		wait_for_vacuum_of($table);
		my @s = user_says($text);
		is(scalar(@s), 1, "$text: succeeds with lock_timeout = 1s");
		push @took, @s;
		sql($node, "DROP TABLE IF EXISTS $table");
	}
}
@took = sort { $a <=> $b } @took;
note("s: @took");
cmp_ok($took[ @took / 2 ], '<', within(0.4), 'half of them take no longer than 0.4 s') if @took;

is(sql($node,
	"SELECT count(*) FROM sweep.runs WHERE relname LIKE 'wanted%' AND outcome = 'cancelled' AND started_by = 'sweep' AND reason ~ '; gave way to pid \\d+\$'"),
	$n, 'each vacuum is recorded as cancelled, and whom it gave way to');

# ---- it is left alone after that, as ever

slow_table($node, 'postgres', 'left_alone');
wait_for_vacuum_of('left_alone');
user_says('ALTER TABLE left_alone ADD more int');
poll_ok($node, q{SELECT decision || '|' || reason || '|' || (not_before - last_at >= interval '1 s') FROM sweep.decisions WHERE relname = 'left_alone'},
	'the table is left alone', expected => 'cancelled|cancelled, most often because somebody needed a lock, 1 time in a row|true');
sql($node, 'DROP TABLE left_alone');

# ---- after two lost vacuums the third one gives way as late as autovacuum's

slow_table($node, 'postgres', 'insisted');
for my $i (1 .. 2)
{
	wait_for_vacuum_of('insisted');
	is(scalar(() = user_says("ALTER TABLE insisted ADD more$i int")), 1, "lost vacuum $i");
}
poll_ok($node, q{SELECT count(*) = 1 FROM sweep.decisions WHERE relname = 'insisted' AND reason LIKE '%2 times in a row: the next vacuum gives way as late as autovacuum''s'},
	'that is said');
wait_for_vacuum_of('insisted');
my $patient = sql($node, "SELECT pid FROM sweep.progress WHERE relname = 'insisted'");
my ($failed) = $node->psql('postgres', "SET lock_timeout = '1s'; ALTER TABLE insisted ADD more3 int");
is($failed, 3, 'who waits a second gets no lock then');
is(sql($node, "SELECT pid FROM sweep.progress WHERE relname = 'insisted'"), $patient, 'the vacuum goes on');
($failed) = $node->psql('postgres', "SET lock_timeout = '60s'; ALTER TABLE insisted ADD more3 int");
is($failed, 0, 'who waits longer gets it');
sql($node, 'DROP TABLE insisted');

# ---- pruning is no vacuum: where it takes a table below its threshold, lost vacuums still count

slow_table($node, 'postgres', 'pruned');
wait_for_vacuum_of('pruned');
is(scalar(() = user_says('ALTER TABLE pruned ADD more int')), 1, 'a vacuum is lost');
my $lost = q{SELECT reason LIKE '%, 1 time in a row' AND not_before < now() FROM sweep.decisions WHERE relname = 'pruned'};
sql($node, 'SELECT count(*) FROM pruned; SELECT pg_stat_force_next_flush()');
is(sql($node, q{SELECT n_dead_tup < 100 FROM pg_stat_user_tables WHERE relname = 'pruned'}), 't', 'its pages are pruned');
poll_ok($node, $lost, 'its wait is over');
my $surveys = sql($node, 'SELECT surveys FROM sweep.status');
sql($node, "SELECT sweep.set('pruned', 'min_interval', '5s')");
poll_ok($node, "SELECT surveys > $surveys FROM sweep.status", 'it is looked at');
rounds($node, 3);
is(sql($node, $lost), 't', 'the lost vacuum still counts');
sql($node, 'DROP TABLE pruned');

# ---- but only until somebody else has vacuumed it

slow_table($node, 'postgres', 'helped');
wait_for_vacuum_of('helped');
sql($node, "SELECT pg_cancel_backend(pid) FROM sweep.progress WHERE relname = 'helped'");
poll_ok($node, "SELECT decision || '|' || (not_before - last_at) FROM sweep.decisions WHERE relname = 'helped'",
	'a table whose vacuum was cancelled by hand is left alone', expected => 'cancelled|00:05:00');
sql($node, 'VACUUM helped');
sql($node, 'UPDATE helped SET id = -id; SELECT pg_stat_force_next_flush()');
wait_for_vacuum_of('helped');
sql($node, 'DROP TABLE helped');

# ---- nobody is kept waiting for a vacuum of what pg_repack makes

sql($node, 'CREATE SCHEMA repack');
sql($node, "CREATE TABLE repack.$_ AS SELECT i FROM generate_series(1, 1000) i; DELETE FROM repack.$_") for qw(table_16500 log_16500 table_b primary_keys);
poll_ok($node, "SELECT count(DISTINCT relname) = 2 FROM sweep.runs WHERE schemaname = 'repack' AND outcome = 'done' AND relname IN ('table_b', 'primary_keys')",
	'other tables of that schema are vacuumed');
poll_ok($node, q{SELECT string_agg(relname || ': ' || decision, ', ' ORDER BY relname) FROM sweep.decisions WHERE schemaname = 'repack' AND relname LIKE '%16500'},
	'copies are left alone', expected => 'log_16500: copy, table_16500: copy');
is(sql($node, "SELECT count(*) FROM sweep.runs WHERE relname LIKE '%16500'"), '0', 'none was vacuumed');

# ---- for other locks no vacuum is cancelled

slow_table($node, 'postgres', 'goes_on');
sql($node, 'CREATE TABLE other (i int)');
wait_for_vacuum_of('goes_on');
my $pid = sql($node, "SELECT pid FROM sweep.progress WHERE relname = 'goes_on'");
my $holder = session($node);
$holder->query_safe('BEGIN; LOCK TABLE other IN ACCESS EXCLUSIVE MODE; LOCK TABLE goes_on IN ACCESS SHARE MODE');
my $waiter = session($node);
$waiter->query_until(qr/begun/, "\\echo begun\nSELECT count(*) FROM other;\n");
poll_ok($node, "SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event = 'relation' AND query LIKE 'SELECT count(*) FROM other%'",
	'a user waits for another user');
rounds($node, 10);
is(sql($node, "SELECT pid FROM sweep.progress WHERE relname = 'goes_on'"), $pid, 'the vacuum goes on');
$holder->query_safe('COMMIT');
$_->quit for ($holder, $waiter);
sql($node, 'DROP TABLE goes_on');

# ---- a vacuum that was asked for gives way, too

slow_table($node, 'postgres', 'requested', with => "$slow, autovacuum_enabled = false");
sql($node, "SELECT sweep.vacuum('requested')");
wait_for_vacuum_of('requested');
my @s = user_says('ALTER TABLE requested ADD more int');
is(scalar(@s), 1, 'a requested vacuum gives way');

unlike(log_since($node), qr/sweep worker.*(?:FATAL|PANIC)|terminating background worker "sweep worker"/, 'no worker was ended for it');
$node->stop;
done_testing();
