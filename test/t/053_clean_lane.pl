# Large tables whose garbage is sparse are cleaned as a whole without being asked for, where that
# touches fewer pages than a vacuum.

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
sweep.cleaner_scan_rate = 0
sweep.clean_scale_factor = 0.001
sweep.min_interval = 1h
autovacuum_vacuum_cost_delay = 0
shared_buffers = 256MB
END

# Pages that are nearly empty make tables and indexes large. Nobody else vacuums it meanwhile,
# and is cancelled.
sub make
{
	my ($table, $rows) = @_;

	sql($node, "SELECT sweep.hold('1 h')");
	sql($node, <<"END");
CREATE TABLE $table (id int, name text, pad text) WITH (fillfactor = 10);
INSERT INTO $table SELECT i, md5(i::text), repeat('x', 150) FROM generate_series(1, $rows) i;
CREATE INDEX ${table}_id ON $table (id) WITH (fillfactor = 10);
CREATE INDEX ${table}_name ON $table (name) WITH (fillfactor = 10);
END
	# another session, because what this one has inserted is counted when it ends
	sql($node, "VACUUM (FREEZE, ANALYZE) $table");
	sql($node, "SELECT sweep.hold('0')");
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

sql($node, 'DELETE FROM sparse WHERE id % 400 = 7');
sql($node, 'DELETE FROM small WHERE id % 200 = 7');
poll_ok($node, "SELECT sum(n_dead_tup) = 160 FROM pg_stat_user_tables", 'there is garbage');
rounds($node, 10);
is(sql($node, 'SELECT count(*) FROM sweep.cleanings'), 0, 'nothing is looked at while the cleaner is off');
is(sql($node, 'SELECT count(*) FROM sweep.queue'), 0, 'and nothing waits');

# ---- on

reload_with($node, 'sweep.mode' => 'observe', 'sweep.cleaner' => 'on');
rounds($node, 10);
is(sql($node, 'SELECT count(*) FROM sweep.cleanings'), 0, 'nor in the mode observe');
reload_with($node, 'sweep.max_cleaners' => '0', 'sweep.mode' => 'act');
poll_ok($node, "SELECT count(*) = 2 FROM sweep.queue WHERE reason LIKE 'sparse garbage: dead tuples % > 50' AND waiting_for = 'cleaner: all 0 busy' AND score < 1",
	'what waits for a cleaner is in the queue');
reload_with($node, 'sweep.max_cleaners' => '1');

my $vacuums = sql($node, "SELECT count(*) FROM sweep.runs WHERE command = 'VACUUM' AND relname = 'sparse'");
becomes('sparse', 'cleaned', '100 rows removed, % pages touched, % estimated', 'a large table is cleaned');
is(sql($node, "SELECT count(*) FROM sweep.runs WHERE command = 'VACUUM' AND relname = 'sparse'"), $vacuums, 'and not vacuumed');
like(sql($node, "SELECT reason FROM sweep.runs WHERE command = 'CLEAN' AND relname = 'sparse'"),
	qr/^dead tuples 100 > 50, about \d+ pages to touch, \d+ by VACUUM$/, 'the run says what was estimated');
is(sql($node, "SELECT tuples_removed FROM sweep.runs WHERE command = 'CLEAN' AND relname = 'sparse'"), 100, 'all is removed');
my $times = sql($node, <<'END');
SELECT (blks_hit + blks_read) / pages_by_row FROM sweep.runs r JOIN sweep.cleanings c USING (relid) WHERE command = 'CLEAN' AND r.relname = 'sparse'
END
cmp_ok($times, '<', 2, "it touches no more than estimated ($times)");
cmp_ok($times, '>', 0.5, 'nor much less');
poll_ok($node, "SELECT n_dead_tup = 0 FROM pg_stat_user_tables WHERE relname = 'sparse'", 'no dead row is left');
like(sql($node, "SELECT cause || ': ' || evidence FROM sweep.explain('sparse')"),
	qr/its dead rows are removed one by one: 100 rows removed/, 'explain says so');
my ($rc, $out, $err) = $node->psql('postgres', 'VACUUM (VERBOSE) sparse');
like($err, qr/index scan not needed/, 'the vacuum that follows reads no index');

becomes('small', 'off', 'the table has less than 64 MB%', 'a small one is not');
is(cleans_of('small'), 0, 'it was not cleaned');

# ---- where a vacuum is the better way: dead rows that lie together in the table, not in an index

make('dense', 40000);
make('busy', 40000);
sql($node, 'DELETE FROM dense WHERE id <= 2000');
becomes('dense', 'left to vacuum', 'a vacuum touches about % pages, row by row they are %', 'much garbage is left to a vacuum');
like(sql($node, "SELECT cause FROM sweep.explain('dense') WHERE rank = 1 OR cause LIKE 'its dead rows%' ORDER BY rank DESC LIMIT 1"),
	qr/left to a vacuum/, 'explain says that as well');
is(cleans_of('dense'), 0, 'it was not cleaned');
sql($node, "SELECT sweep.clean('dense')");
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'dense' AND command = 'VACUUM' AND reason LIKE 'requested by %'",
	'sweep.clean() takes the vacuum if that is the better way');
sql($node, 'DELETE FROM dense WHERE id BETWEEN 2001 AND 4000');
sql($node, "SELECT sweep.clean('dense', by_row => true)");
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'dense' AND command = 'CLEAN' AND tuples_removed = 2000",
	'unless it is to be done by row');

# five rows at a time, so that a vacuum is not due before somebody has looked twice
for my $i (1 .. 1000)
{
	sql($node, "DELETE FROM busy WHERE id BETWEEN 5 * $i AND 5 * $i + 4");
	last if sql($node, "SELECT count(*) FROM sweep.cleanings WHERE relname = 'busy' AND decision = 'left to vacuum'") > 0;
}
becomes('busy', 'left to vacuum', 'its garbage comes so fast%', 'so is garbage that comes fast');

# ---- a table's own setting

make('own', 40000);
reload_with($node, 'sweep.cleaner' => 'off');
sql($node, "SELECT sweep.set('own', 'cleaner', 'on')");
becomes('own', 'wanted', '%', 'a table of which somebody wants it');
sql($node, 'DELETE FROM own WHERE id % 400 = 7');
becomes('own', 'cleaned', '100 rows removed%', 'it is cleaned although the others are not');
reload_with($node, 'sweep.cleaner' => 'on');
sql($node, "SELECT sweep.set('own', 'cleaner', 'off')");
sql($node, 'DELETE FROM own WHERE id % 400 = 8');
becomes('own', 'off', 'the cleaner is off for this table', 'and the other way round');
($rc, $out, $err) = $node->psql('postgres', "SELECT sweep.clean('own')");
like($err, qr/"cleaner" is off for table "own"/, 'then nobody can ask for it');

# ---- what is in its way

sql($node, "SELECT sweep.set('own', 'cleaner', NULL)");
my $holder = session($node);
$holder->query_safe('BEGIN; LOCK TABLE own IN SHARE UPDATE EXCLUSIVE MODE');
sql($node, "SELECT sweep.set('own', 'cleaner', 'on')");
becomes('own', 'not now', 'the lock was not available', 'nobody is waited for');
$holder->query_safe('COMMIT');
becomes('own', 'cleaned', '100 rows removed%', 'it is cleaned later');

$holder->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM own');
sql($node, 'DELETE FROM own WHERE id % 400 = 9');
becomes('own', 'not now', 'somebody may still see the dead rows%', 'nor is anything removed that somebody may see');
is(sql($node, "SELECT count(*) FROM sweep.runs WHERE relname = 'own' AND command = 'CLEAN' AND reason LIKE 'dead tuples%' AND tuples_removed = 0") >= 1,
	1, 'the run is recorded');
$holder->query_safe('COMMIT');
$holder->quit;
sql($node, 'VACUUM own');

sql($node, "SELECT sweep.snooze('own', '1 h')");
sql($node, 'DELETE FROM own WHERE id % 400 = 10');
becomes('own', 'not now', 'the table is snoozed', 'a snooze holds for the cleaner as well');

sql($node, 'DROP TABLE own');
sql($node, "SELECT sweep.set('small', 'enabled', 'on')");
poll_ok($node, "SELECT count(*) = 0 FROM sweep.cleanings WHERE relname = 'own'", 'a table that is gone is forgotten');

$node->stop;
done_testing();
