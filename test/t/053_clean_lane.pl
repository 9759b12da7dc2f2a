# Which large tables whose garbage is sparse are cleaned without being asked for, and what is said
# of the others.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

my $node = sweep_node('clean_lane', conf => <<'END');
sweep.cleaner_naptime = 1s
sweep.min_interval = 1h
autovacuum_vacuum_cost_delay = 0
autovacuum_vacuum_threshold = 100000000
shared_buffers = 512MB
checkpoint_timeout = 1d
max_wal_size = 10GB
bgwriter_lru_maxpages = 0
END

# Pages that are nearly empty make tables and indexes large. Nobody else vacuums it meanwhile,
# and is cancelled.
sub make
{
	my ($table, $rows, $threshold) = @_;
	my $with = defined $threshold ? ", autovacuum_vacuum_threshold = $threshold" : '';

	sql($node, "SELECT sweep.hold('1 h')");
	sql($node, <<"END");
CREATE TABLE $table (id int, name text, pad text) WITH (fillfactor = 10$with);
INSERT INTO $table SELECT i, md5(i::text), repeat('x', 150) FROM generate_series(1, $rows) i;
CREATE INDEX ${table}_id ON $table (id) WITH (fillfactor = 10);
CREATE INDEX ${table}_name ON $table (name) WITH (fillfactor = 10);
END
	# another session, because what this one has inserted is counted when it ends
	sql($node, "VACUUM (FREEZE, ANALYZE) $table");
	sql($node, "SELECT sweep.hold('0')");
	return;
}

# So many dead rows, whose pages are in memory and to be written anyway.
sub age
{
	my ($table, $rows) = @_;

	sql($node, "UPDATE $table SET pad = 'y' WHERE $rows");
	return;
}

sub cleans_of { return sql($node, "SELECT count(*) FROM sweep.runs WHERE command = 'CLEAN' AND relname = '$_[0]'") }

sub becomes
{
	my ($table, $decision, $reason, $name) = @_;

	poll_ok($node, "SELECT count(*) = 1 FROM sweep.cleanings WHERE relname = '$table' AND decision = '$decision' AND reason LIKE '$reason'", $name)
	  or diag(sql($node, 'TABLE sweep.cleanings'));
	return;
}

make('sparse', 40000);
make('small', 12000);

# ---- off by default

age('sparse', 'id % 400 = 7');
age('small', 'id % 200 = 7');
poll_ok($node, "SELECT sum(n_dead_tup) = 160 FROM pg_stat_user_tables", 'there is garbage');
rounds($node, 10);
is(sql($node, 'SELECT count(*) FROM sweep.cleanings'), 0, 'nothing is looked at while the cleaner is off');
is(sql($node, 'SELECT count(*) FROM sweep.queue'), 0, 'and nothing waits');

# ---- on

reload_with($node, 'sweep.mode' => 'observe', 'sweep.cleaner' => 'on');
rounds($node, 10);
is(sql($node, 'SELECT count(*) FROM sweep.cleanings'), 0, 'nor in the mode observe');
sql($node, "SELECT sweep.hold('1 h')");
reload_with($node, 'sweep.mode' => 'act');
poll_ok($node, "SELECT count(*) = 2 FROM sweep.queue WHERE reason LIKE 'sparse garbage: dead tuples % > 50' AND waiting_for LIKE 'hold%' AND score < 1",
	'what waits for a cleaner is in the queue');
sql($node, "SELECT sweep.hold('0')");

becomes('sparse', 'watched', '%', 'a large table is looked at twice');
age('sparse', 'id % 400 = 107');
my $vacuums = sql($node, "SELECT count(*) FROM sweep.runs WHERE command = 'VACUUM' AND relname = 'sparse'");
becomes('sparse', 'cleaned', '200 rows removed in memory, 0 left that would take I/O', 'a large table is cleaned');
is(sql($node, "SELECT count(*) FROM sweep.runs WHERE command = 'VACUUM' AND relname = 'sparse'"), $vacuums, 'and not vacuumed');
like(sql($node, "SELECT reason FROM sweep.runs WHERE command = 'CLEAN' AND relname = 'sparse'"),
	qr/^dead tuples 200, \d+ changed pages in shared buffers$/, 'the run says what was seen');
is(sql($node, "SELECT tuples_removed FROM sweep.runs WHERE command = 'CLEAN' AND relname = 'sparse'"), 200, 'all is removed');
poll_ok($node, "SELECT n_dead_tup = 0 FROM pg_stat_user_tables WHERE relname = 'sparse'", 'no dead row is left');
like(sql($node, "SELECT cause || ': ' || evidence FROM sweep.explain('sparse')"),
	qr/its dead rows are removed one by one: 200 rows removed in memory/, 'explain says so');
my ($rc, $out, $err) = $node->psql('postgres', 'VACUUM (VERBOSE) sparse');
like($err, qr/index scan not needed/, 'the vacuum that follows reads no index');

becomes('small', 'off', 'the table has less than 64 MB%', 'a small one is not');
is(cleans_of('small'), 0, 'it was not cleaned');

# ---- where a vacuum is the better way

make('due', 40000, 50);
make('busy', 40000, 50);
sql($node, "SELECT sweep.hold('1 h')");
sql($node, 'DELETE FROM due WHERE id <= 9000');
sql($node, "SELECT sweep.clean('due')");
sql($node, "SELECT sweep.hold('0')");
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'due' AND command = 'VACUUM' AND reason LIKE 'requested by %' AND outcome = 'done'",
	'sweep.clean() takes the vacuum that is due');
sql($node, 'DELETE FROM due WHERE id BETWEEN 9001 AND 11000');
sql($node, "SELECT sweep.clean('due')");
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'due' AND command = 'CLEAN' AND tuples_removed = 2000",
	'and goes by row where none is');

# five rows at a time, so that a vacuum is not due before somebody has looked twice
for my $i (1 .. 1000)
{
	age('busy', "id BETWEEN 5 * $i AND 5 * $i + 4");
	last if sql($node, "SELECT count(*) FROM sweep.cleanings WHERE relname = 'busy' AND decision = 'left to vacuum'") > 0;
}
becomes('busy', 'left to vacuum', 'its garbage comes so fast%', 'so is garbage that comes fast');

# ---- a table's own setting

make('own', 40000);
reload_with($node, 'sweep.cleaner' => 'off');
sql($node, "SELECT sweep.set('own', 'cleaner', 'on')");
becomes('own', 'wanted', '%', 'a table of which somebody wants it');
age('own', 'id % 400 = 7');
becomes('own', 'cleaned', '100 rows removed%', 'it is cleaned although the others are not');
reload_with($node, 'sweep.cleaner' => 'on');
sql($node, "SELECT sweep.set('own', 'cleaner', 'off')");
age('own', 'id % 400 = 27');
becomes('own', 'off', 'the cleaner is off for this table', 'and the other way round');
($rc, $out, $err) = $node->psql('postgres', "SELECT sweep.clean('own')");
like($err, qr/"cleaner" is off for table "own"/, 'then nobody can ask for it');

# ---- what is in its way

sql($node, "SELECT sweep.set('own', 'cleaner', NULL)");
my $holder = session($node);
$holder->query_safe('BEGIN; LOCK TABLE own IN SHARE UPDATE EXCLUSIVE MODE');
sql($node, "SELECT sweep.set('own', 'cleaner', 'on')");
age('own', 'id % 400 = 47');
becomes('own', 'not now', 'the lock was not available', 'nobody is waited for');
$holder->query_safe('COMMIT');
age('own', 'id % 400 = 67');
becomes('own', 'cleaned', '% rows removed%', 'it is cleaned later');

$holder->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM own');
age('own', 'id % 400 = 87');
becomes('own', 'below threshold', '%', 'nothing is removed that somebody may see');
is(sql($node, 'SELECT n_dead_tup >= 100 FROM pg_stat_user_tables WHERE relname = \'own\''), 't', '... its dead rows are still there');
$holder->query_safe('COMMIT');
$holder->quit;
sql($node, 'VACUUM own');

sql($node, "SELECT sweep.snooze('own', '1 h')");
# more than were dead at the last look
age('own', 'id % 200 = 107');
becomes('own', 'not now', 'the table is snoozed', 'a snooze holds for the cleaner as well');

sql($node, 'DROP TABLE own');
sql($node, "SELECT sweep.set('small', 'enabled', 'on')");
poll_ok($node, "SELECT count(*) = 0 FROM sweep.cleanings WHERE relname = 'own'", 'a table that is gone is forgotten');

$node->stop;
done_testing();
