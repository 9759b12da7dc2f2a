# No user waits for pg_sweep for long, nor does DROP DATABASE and its like. See also 040.
#
# A vacuum of ours that somebody waits for is cancelled, and its table is left alone for a
# while. A table that somebody has locked is not waited for. Our workers do not hold up
# DROP DATABASE, CREATE DATABASE with a template, and CREATE INDEX CONCURRENTLY.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

# A worker lingers for 10 s. A locked table is tried again after 1 s, and a vacuum that was
# cancelled after 30 s. max_workers is set because one busy database must not hide another,
# and nobody is sent away while it lingers.
my $node = sweep_node('users', conf => <<'END');
sweep.debug_clock_rate = 10
sweep.debug_linger = 100s
sweep.max_workers = 10
max_worker_processes = 16
autovacuum_vacuum_cost_delay = 0
END

sub wait_for_vacuum_of
{
	my ($table) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return poll_ok($node, "SELECT count(*) = 1 FROM sweep.progress WHERE relname = '$table' AND started_by = 'sweep' AND phase = 'scanning heap'",
		"$table is being vacuumed");
}

# Makes a worker that has nothing to do any more, in a database where it has just vacuumed.
sub lingering_worker_in
{
	my ($dbname) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	poll_ok($node,
		"SELECT count(*) = 1 FROM pg_stat_activity a WHERE backend_type = 'sweep worker' AND datname = '$dbname' AND state = 'idle'"
		  . " AND EXISTS (SELECT FROM sweep.runs WHERE datname = '$dbname' AND started_by = 'sweep')",
		"a worker lingers in $dbname");
}

# A user's command, and how long it may take.
sub user_says
{
	my ($dbname, $command, $limit, $name) = @_;
	my ($rc, $out, $err);
	my $took = seconds(sub { ($rc, $out, $err) = $node->psql($dbname, $command) });

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is($rc, 0, "$name: succeeds") or diag($err);
	cmp_ok($took, '<', within($limit), "$name: within $limit s");
	note(sprintf("it took %.2f s", $took));
	return;
}

# ---- a user needs the table that is being vacuumed

slow_table($node, 'postgres', 'wanted');
wait_for_vacuum_of('wanted');
user_says('postgres', "SET lock_timeout = '2s'; ALTER TABLE wanted ADD more int", 2.5, 'ALTER TABLE of a table being vacuumed');
poll_ok($node,
	"SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'wanted' AND outcome = 'cancelled' AND started_by = 'sweep' AND command = 'VACUUM' AND blks_hit > 0",
	'the run is recorded as cancelled, with what it did');
my $left_alone = poll_value($node, q{SELECT last_at || '|' || not_before || '|' || decision || '|' || reason FROM sweep.decisions WHERE relname = 'wanted'});
my ($last_at, $not_before, @said) = split /\|/, $left_alone;
is("@said", 'cancelled cancelled, most often because somebody needed a lock, 1 time in a row', 'and its table is left alone');
# the clock of what waits goes ten times as fast
is(sql($node, "SELECT abs(extract(epoch FROM timestamptz '$not_before' - timestamptz '$last_at')"
		  . " - least(greatest(20 * extract(epoch FROM ended_at - started_at), 1), 300) / 10) < 0.01"
		  . " FROM sweep.runs WHERE relname = 'wanted'"),
	't', 'for twenty times what the run took');
garbage($node, 'postgres', 'neighbour');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'neighbour'", 'the worker goes on with other tables');
rounds($node, 5);
is(sql($node, "SELECT count(*) FROM (SELECT relname, started_at FROM sweep.runs UNION ALL SELECT relname, started_at FROM sweep.progress) r"
		  . " WHERE relname = 'wanted' AND started_at > '$last_at' AND started_at < '$not_before'"),
	'0', 'but not with that one before its time');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.progress WHERE relname = 'wanted' AND started_by = 'sweep' AND started_at >= '$not_before'",
	'and then it is its turn again');
sql($node, 'DROP TABLE wanted');

# ---- a user has locked the table

reload_with($node, 'sweep.mode' => 'observe');
rounds($node, 3);
garbage($node, 'postgres', 'fully_locked');
my $locker = session($node, 'postgres');
$locker->query_safe('BEGIN; LOCK TABLE fully_locked IN SHARE MODE');
reload_with($node, 'sweep.mode' => 'act');
poll_ok($node,
	"SELECT count(*) >= 1 FROM sweep.decisions WHERE relname = 'fully_locked' AND decision = 'locked' AND reason LIKE 'lock not available, % time% in a row'",
	'a table that somebody has locked: the decision says so');
poll_ok($node,
	"SELECT count(*) >= 1 FROM sweep.runs WHERE relname = 'fully_locked' AND outcome = 'skipped' AND started_by = 'sweep' AND reason LIKE '%lock not available'",
	'and so does the record');
is(sql($node, "SELECT count(*) FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE a.backend_type LIKE 'sweep%' AND NOT l.granted"),
	'0', 'the worker does not wait for it');
garbage($node, 'postgres', 'neighbour2');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'neighbour2'", 'other tables are vacuumed meanwhile');
$locker->query_safe('COMMIT');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'fully_locked' AND outcome = 'done'", 'when it is free, it is vacuumed');
cmp_ok(sql($node, "SELECT count(*) FROM sweep.runs WHERE relname = 'fully_locked' AND outcome = 'skipped'"), '<=', 10, 'it was not tried all the time');
$locker->quit;
unlike(log_since($node), qr/lock not available|skipping vacuum/, 'the log says nothing of it');

# ---- DROP DATABASE and CREATE DATABASE with a template: a worker vacuums there

sql($node, "CREATE DATABASE $_") for ('vacuumed_drop', 'vacuumed_template', 'lingered_drop', 'lingered_template');
slow_table($node, 'vacuumed_drop', 'slow_in_drop');
slow_table($node, 'vacuumed_template', 'slow_in_template');
wait_for_vacuum_of('slow_in_drop');
wait_for_vacuum_of('slow_in_template');
user_says('postgres', 'DROP DATABASE vacuumed_drop', 2, 'DROP DATABASE while a worker vacuums there');
user_says('postgres', 'CREATE DATABASE copy1 TEMPLATE vacuumed_template', 2, 'CREATE DATABASE TEMPLATE while a worker vacuums there');
is(sql($node, 'SELECT count(*) FROM slow_in_template', 'copy1'), '300', 'the copy is whole');

# ---- and: a worker lingers there

garbage($node, $_, 'quick') for ('lingered_drop', 'lingered_template');
lingering_worker_in($_) for ('lingered_drop', 'lingered_template');
user_says('postgres', 'DROP DATABASE lingered_drop', 2, 'DROP DATABASE while a worker lingers there');
user_says('postgres', 'CREATE DATABASE copy2 TEMPLATE lingered_template', 2, 'CREATE DATABASE TEMPLATE while a worker lingers there');
is(sql($node, 'SELECT count(*) FROM quick', 'copy2'), '500', 'the copy is whole');
poll_ok($node, "SELECT count(*) = 0 FROM sweep.decisions d WHERE datid IS NOT NULL AND NOT EXISTS (SELECT FROM pg_database p WHERE p.oid = d.datid)",
	'what was known of dropped databases is forgotten');
poll_ok($node, "SELECT count(*) = 0 FROM sweep.progress WHERE datname IS NULL", 'and no meter is left of it');
rounds($node, 3);

# A worker may be on its way to a database while that is being dropped.
cmp_ok(() = log_since($node) =~ /FATAL:  database .* does not exist/g, '<=', 2, 'nobody tries again to connect to them');

# ---- CREATE INDEX CONCURRENTLY, and whatever else waits for older transactions

garbage($node, 'postgres', 'quick');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'quick' AND datname = 'postgres'", 'a table is vacuumed');
lingering_worker_in('postgres');
user_says('postgres', 'CREATE INDEX CONCURRENTLY ON quick (id)', 2, 'CREATE INDEX CONCURRENTLY while a worker lingers');
slow_table($node, 'postgres', 'elsewhere');
wait_for_vacuum_of('elsewhere');
user_says('postgres', 'CREATE INDEX CONCURRENTLY ON quick (pad)', 2, 'CREATE INDEX CONCURRENTLY while a worker vacuums another table');
user_says('postgres', 'CREATE INDEX CONCURRENTLY ON elsewhere (id)', 3, 'CREATE INDEX CONCURRENTLY on the table being vacuumed');
is(sql($node, "SELECT count(*) FROM pg_index WHERE NOT indisvalid"), '0', 'all indexes are valid');

# ---- the horizon: a worker of ours holds nothing back

slow_table($node, 'postgres', 'long_vacuum');
wait_for_vacuum_of('long_vacuum');
is(sql($node, "SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE 'sweep%' AND age(backend_xmin) > 2 AND query NOT LIKE 'autovacuum: VACUUM%'"),
	'0', 'no process of ours but the vacuum has an old snapshot');
is(sql($node, "SELECT query FROM pg_stat_activity WHERE backend_type = 'sweep worker' AND query LIKE '%long_vacuum'"), 'autovacuum: VACUUM public.long_vacuum',
	'its text in pg_stat_activity is one that tools know');
garbage($node, 'postgres', 'beside');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'beside' AND tuples_removed = 500",
	'beside it, in the same database, another table is vacuumed within 3 s, and dead rows can be removed', timeout => within(3));
is(sql($node, "SELECT count(*) FROM sweep.progress WHERE relname = 'long_vacuum'"), '1', 'while the long vacuum goes on');
user_says('postgres', 'DROP TABLE long_vacuum', 2.5, 'DROP TABLE of a table being vacuumed');

$node->stop;
done_testing();
