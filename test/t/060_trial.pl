# The trial: what would have been done in mode observe, as if each vacuum had been made, and
# what others did meanwhile. It ends with the mode, and another one begins anew.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

# the minimum interval of a minute is half a second here
my $node = sweep_node('trial', conf => <<'END');
sweep.mode = observe
sweep.naptime = 100ms
sweep.debug_clock_rate = 120
sweep.max_decisions = 4096
autovacuum = off
END

sub trial
{
	my ($columns, $table) = @_;

	return sql($node, "SELECT $columns FROM sweep.trial WHERE relname = '$table'");
}

# Waits until so many vacuums are noted, and sees that there are no more after some rounds.
sub noted
{
	my ($table, $number, $name) = @_;

	poll_ok($node, "SELECT vacuums >= $number FROM sweep.trial WHERE relname = '$table'", $name);
	rounds($node, 15);
	is(trial('vacuums', $table), $number, '... and no more');
}

# ---- vacuums are noted as if each had been made

sql($node, <<'END');
CREATE TABLE orders (id int, body text) WITH (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0,
	autovacuum_vacuum_insert_threshold = -1);
CREATE INDEX ON orders (id);
INSERT INTO orders SELECT i, repeat('x', 200) FROM generate_series(1, 10000) i;
VACUUM ANALYZE orders;
END
rounds($node, 5);
is(trial('count(*), max(manual_vacuums)', 'orders'), '1|1', 'a vacuum by hand is counted');
is(trial('vacuums, first_at, waiting_since, autovacuum_threshold', 'orders'), '0|||', 'and nothing would have been done');

sub delete_rows { my ($from, $to) = @_; return sql($node, "DELETE FROM orders WHERE id BETWEEN $from AND $to; SELECT pg_stat_force_next_flush()"); }

delete_rows(1, 900);
rounds($node, 5);
is(trial('vacuums', 'orders'), 0, 'below its threshold');
delete_rows(901, 1100);
noted('orders', 1, 'beyond it a vacuum is noted');
delete_rows(1101, 2000);
rounds($node, 5);
is(trial('vacuums', 'orders'), 1, 'for the next one it takes as many rows again, as if these were removed');
delete_rows(2001, 2200);
noted('orders', 2, 'then it is noted');
is(trial('insert_vacuums, dead_tuples, autovacuum_threshold IS NULL, first_at < last_at, waiting_since = first_at, until IS NULL, since < first_at', 'orders'),
	'0|2200|t|t|t|t|t', 'with what was there the last time, and since when it waits');
is(trial('blks_read_min, blks_read_max, blks_dirtied_min <= blks_dirtied_max', 'orders'), '0|0|t',
	'all of it is in memory: nothing would have been read');
is(sql($node, "SELECT count(*) FROM sweep.runs WHERE started_by = 'sweep'"), 0, 'nothing is vacuumed for it');
is(sql($node, "SELECT vacuum_count FROM pg_stat_user_tables WHERE relname = 'orders'"), 1, 'really');
is(sql($node, "SELECT decision, dead_tuples, next_dead_tuples, would_vacuum_at IS NOT NULL FROM sweep.decisions WHERE relname = 'orders'"),
	'would vacuum|2200|3200|t', 'the decision tells when it is due again');
is(sql($node, "SELECT count(*) FROM sweep.queue WHERE relname = 'orders'"), 1, 'and the table is still in the queue, because it is due');

# ---- a table that was never analyzed: VACUUM would have counted its rows

sub starts { return sql($node, 'SELECT worker_starts FROM sweep.status'); }

sql($node, <<'END');
CREATE TABLE loaded (id int);
INSERT INTO loaded SELECT generate_series(1, 20000);
DELETE FROM loaded WHERE id <= 500;
SELECT pg_stat_force_next_flush();
END
noted('loaded', 1, 'a new table');
sql($node, 'DELETE FROM loaded WHERE id <= 1000; SELECT pg_stat_force_next_flush()');
rounds($node, 10);
my $starts = starts();
rounds($node, 20);
is(trial('vacuums', 'loaded'), 1, 'a few dead rows more are below the threshold of a table so large');
cmp_ok(starts() - $starts, '<=', 2, 'and nobody is sent to look again and again');
sql($node, 'ALTER TABLE orders SET (autovacuum_vacuum_threshold = 1200)');
delete_rows(2201, 3250);
rounds($node, 10);
$starts = starts();
rounds($node, 20);
is(trial('vacuums', 'orders'), 2, 'with a higher threshold it is not due yet');
cmp_ok(starts() - $starts, '<=', 2, 'and nobody is sent for it again and again either');
delete_rows(3251, 3450);
noted('orders', 3, 'beyond that it is');
sql($node, 'ALTER TABLE orders SET (autovacuum_vacuum_threshold = 1000)');

# ---- a table that is emptied

sql($node, 'CREATE TABLE emptied (id int) WITH (autovacuum_vacuum_threshold = 100, autovacuum_vacuum_scale_factor = 0)');
sql($node, 'INSERT INTO emptied SELECT generate_series(1, 2000); DELETE FROM emptied WHERE id <= 500; SELECT pg_stat_force_next_flush()');
noted('emptied', 1, 'it would be vacuumed');
sql($node, 'TRUNCATE emptied; INSERT INTO emptied SELECT generate_series(1, 900); DELETE FROM emptied WHERE id <= 200; SELECT pg_stat_force_next_flush()');
noted('emptied', 2, 'after TRUNCATE its counters begin anew');

# ---- a table whose updates clear away what those before them left

sql($node, 'CREATE TABLE counters (id int, hits int) WITH (autovacuum_vacuum_threshold = 60, autovacuum_vacuum_scale_factor = 0)');
sql($node, 'INSERT INTO counters SELECT i, 0 FROM generate_series(1, 50) i; VACUUM ANALYZE counters');
# were only what exceeds the dead rows of then counted, it would soon be noted no more
my $until = time + 60;
while (time < $until && (trial('vacuums', 'counters') || 0) < 10)
{
	sql($node, 'UPDATE counters SET hits = hits + 1; SELECT pg_stat_force_next_flush()');
	rounds($node, 5);
}
is(sql($node, "SELECT n_tup_hot_upd > 0 AND n_dead_tup < n_tup_upd - 60 FROM pg_stat_user_tables WHERE relname = 'counters'"), 't',
	'where pages are pruned the statistics know of few dead rows');
cmp_ok(trial('vacuums', 'counters'), '>=', 10, '... and what was made since a vacuum that was noted counts all the same');

# ---- others come

sql($node, "INSERT INTO orders SELECT i, repeat('x', 200) FROM generate_series(1, 3000) i; VACUUM orders");
poll_ok($node, "SELECT manual_vacuums = 2 FROM sweep.trial WHERE relname = 'orders'", 'a vacuum by hand after that');
is(trial("followed, earlier > '0', blks_grown > 0, waiting_since IS NULL, autovacuums", 'orders'), '1|t|t|t|0',
	'how long it had waited, and by how much it had grown');
delete_rows(5001, 5900);
rounds($node, 5);
is(trial('vacuums', 'orders'), 3, 'its counters begin anew');
delete_rows(5901, 6100);
noted('orders', 4, 'and so does what is noted');

sql($node, 'CREATE TABLE core (id int) WITH (autovacuum_vacuum_threshold = 100, autovacuum_vacuum_scale_factor = 0)');
sql($node, 'INSERT INTO core SELECT generate_series(1, 5000); DELETE FROM core WHERE id <= 500; SELECT pg_stat_force_next_flush()');
poll_ok($node, "SELECT vacuums >= 1 FROM sweep.trial WHERE relname = 'core'", 'a table that autovacuum will come to');
reload_with($node, autovacuum => 'on', autovacuum_naptime => '1s');
poll_ok($node, "SELECT autovacuums >= 1 FROM sweep.trial WHERE relname = 'core'", 'it comes');
reload_with($node, autovacuum => 'off');
poll_ok($node, "SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'autovacuum worker'", 'and goes');
poll_ok($node, <<'END', 'what it did is counted exactly');
SELECT t.autovacuums = r.count AND t.autovacuum_blks_read = r.read AND t.autovacuum_blks_dirtied = r.dirtied
	AND t.followed >= 1 AND t.waiting_since IS NULL
FROM sweep.trial t, (SELECT count(*), sum(blks_read) AS read, sum(blks_dirtied) AS dirtied FROM sweep.runs
	WHERE relname = 'core' AND command = 'VACUUM' AND started_by = 'autovacuum') r
WHERE t.relname = 'core'
END

# ---- what cannot be looked at is not noted

sql($node, 'CREATE TABLE locked (id int) WITH (autovacuum_vacuum_threshold = 100, autovacuum_vacuum_scale_factor = 0)');
sql($node, 'INSERT INTO locked SELECT generate_series(1, 300)');
my $holder = session($node, 'postgres');
sql($node, "SELECT sweep.hold('1 h')");
$holder->query_safe($_) for ('DELETE FROM locked', 'SELECT pg_stat_force_next_flush()', 'BEGIN', 'LOCK TABLE locked');
rounds($node, 5);
is(trial('coalesce(max(vacuums), 0)', 'locked'), 0, 'while sweep.hold() lasts nothing is noted');
sql($node, "SELECT sweep.hold('0')");
poll_ok($node, "SELECT decision = 'locked' FROM sweep.decisions WHERE relname = 'locked'", 'VACUUM would have skipped a table that is locked');
is(trial('coalesce(max(vacuums), 0)', 'locked'), 0, 'so no vacuum is noted');
$holder->query_safe('COMMIT');
noted('locked', 1, 'it is when the lock is free');

# ---- old rows that are still needed

my $reader = session($node, 'postgres');
$reader->query_safe($_) for ('BEGIN ISOLATION LEVEL REPEATABLE READ', 'SELECT count(*) FROM locked');
sql($node, 'CREATE TABLE held (id int) WITH (autovacuum_vacuum_threshold = 100, autovacuum_vacuum_scale_factor = 0)');
sql($node, 'INSERT INTO held SELECT generate_series(1, 5000); DELETE FROM held WHERE id <= 300; SELECT pg_stat_force_next_flush()');
noted('held', 1, 'while the horizon is held a vacuum is noted');
sql($node, 'DELETE FROM held WHERE id <= 900; SELECT pg_stat_force_next_flush()');
rounds($node, 20);
is(trial('vacuums', 'held'), 1, 'but not another one, which could remove nothing');
$reader->query_safe('COMMIT');
noted('held', 2, 'it is when the horizon has moved');

# ---- inserted rows

sql($node, 'CREATE TABLE events (id int, body text) WITH (autovacuum_vacuum_insert_threshold = 2000, autovacuum_vacuum_insert_scale_factor = 0)');
sql($node, "INSERT INTO events SELECT i, repeat('x', 200) FROM generate_series(1, 5000) i; SELECT pg_stat_force_next_flush()");
noted('events', 1, 'a vacuum for inserted rows');
is(trial('insert_vacuums, blks_frozen > 0', 'events'), '1|t', 'it would have frozen them');
is(sql($node, "SELECT next_ins_since_vacuum FROM sweep.decisions WHERE relname = 'events'"), 7000,
	'the next one is due after as many rows again, though the table was never vacuumed');

# ---- who may read it

sql($node, 'CREATE ROLE watcher LOGIN IN ROLE pg_monitor; CREATE ROLE nobody_special LOGIN');
is(sql($node, 'SET ROLE watcher; SELECT count(*) > 3 FROM sweep.trial'), 't', 'a monitoring role reads it');
my ($rc, $out, $err) = $node->psql('postgres', 'SET ROLE nobody_special; SELECT FROM sweep.trial');
like($err, qr/permission denied/, 'others do not');

# ---- more tables than there are places

sql($node, <<'END');
DO $$ BEGIN
	FOR i IN 1..1050 LOOP
		EXECUTE format('CREATE TABLE many_%s (id int) WITH (autovacuum_vacuum_threshold = 10, autovacuum_vacuum_scale_factor = 0)', i);
		EXECUTE format('INSERT INTO many_%s SELECT generate_series(1, 50)', i);
		EXECUTE format('DELETE FROM many_%s', i);
	END LOOP;
END $$;
SELECT pg_stat_force_next_flush();
END
poll_ok($node, "SELECT sum(vacuums) = 1050 FROM sweep.trial WHERE relname LIKE 'many_%' OR relid IS NULL",
	'1,050 more tables: each vacuum is counted');
is(sql($node, 'SELECT count(*), count(*) FILTER (WHERE relid IS NULL AND relname IS NULL AND vacuums >= 50) FROM sweep.trial'), '1001|1',
	'what has no place of its own is in a row of its own');

# ---- it ends with the mode

delete_rows(7001, 8100);
noted('orders', 5, 'a table that is due');
my $since = sql($node, 'SELECT DISTINCT since FROM sweep.trial');
reload_with($node, 'sweep.mode' => 'act');
poll_ok($node, 'SELECT bool_and(until >= since) FROM sweep.trial', 'when the mode becomes act the trial has ended');
poll_ok($node, "SELECT count(*) >= 1 FROM sweep.runs WHERE relname = 'orders' AND started_by = 'sweep'", 'and what was due is vacuumed');
poll_ok($node, "SELECT count(*) >= 1 FROM sweep.runs WHERE relname = 'events' AND started_by = 'sweep'",
	'also what would have been vacuumed long ago');
is(sql($node, "SELECT since = '$since', vacuums FROM sweep.trial WHERE relname = 'orders'"), 't|5', 'what was noted stays');
reload_with($node, 'sweep.mode' => 'observe');
poll_ok($node, "SELECT count(*) = 0 FROM sweep.trial WHERE since = '$since'", 'the next trial begins anew');
delete_rows(8101, 9200);
noted('orders', 1, 'and notes again');
reload_with($node, 'sweep.mode' => 'off');
poll_ok($node, 'SELECT bool_and(until IS NOT NULL) FROM sweep.trial', 'it ends with mode off as well');
is(sql($node, "SELECT count(*) FROM sweep.runs WHERE started_by = 'sweep' AND outcome = 'failed'"), 0, 'no run has failed');

$node->stop;
done_testing();
