# Tables are frozen ahead of autovacuum, each at an age of its own: also where autovacuum never
# comes, because its launcher has to do with another database.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

my $limit = 100000;
my $step = 5000;
my $tables = 20;

# fsync is off, as in all tests: ids are used up by commits
my $node = sweep_node('age', conf => <<"END");
sweep.mode = off
autovacuum_naptime = 1s
autovacuum_max_workers = 1
autovacuum_freeze_max_age = $limit
autovacuum_vacuum_cost_delay = 0
sweep.naptime = 100ms
sweep.debug_clock_rate = 100
max_worker_processes = 16
END
$node->safe_psql('postgres', 'CREATE PROCEDURE burn(n int) LANGUAGE plpgsql AS $$ BEGIN FOR i IN 1..n LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$');
sql($node, "CREATE DATABASE $_") for qw(stuck b);

# no worker of autovacuum can do anything about this table
my $idle = session($node, 'stuck');
$idle->query_safe('CREATE TEMP TABLE old (i int)');

# as pg_upgrade leaves them: all equally old, no statistics, and never changed again
$node->safe_psql('b', "CREATE TABLE static_$_ AS SELECT i FROM generate_series(1, 3000) i") for 1 .. $tables;
$node->safe_psql('b', 'SELECT pg_stat_reset()');
$node->safe_psql('b', 'CREATE TABLE queue (i int); INSERT INTO queue SELECT generate_series(1, 2000); VACUUM ANALYZE queue');
reload_with($node, 'sweep.mode' => 'act', 'autovacuum' => 'on');

my $oldest = q{SELECT max(age(relfrozenxid)) FILTER (WHERE relkind IN ('r', 't', 'm'))};

for my $i (1 .. 30)
{
	$node->safe_psql('postgres', "CALL burn($step / 2)");
	$node->safe_psql('b', 'UPDATE queue SET i = i + 1');
	# of what comes now, more than 2 % of the limit, they are looked at for
	my $now = sql($node, 'SELECT now()');
	$node->safe_psql('postgres', "CALL burn($step / 2)");
	poll_ok($node, "SELECT last_visit > '$now' FROM sweep.databases WHERE datname = 'b'", "the tables are looked at again, step $i");
	# a slow machine may need longer for what is due by then
	poll_ok($node, "$oldest < 0.8 * $limit FROM pg_class", "no table is near the limit, step $i", db => 'b');
}
my $first = q{SELECT relname, min(run_id) AS run_id FROM sweep.runs WHERE datname = 'b' AND relname LIKE 'static%' AND command = 'VACUUM' GROUP BY relname};
is(sql($node, "SELECT count(*) FROM ($first) x"), $tables, 'each is vacuumed');
my $steps = sql($node, qq{SELECT string_agg(n::text, ' ') FROM (SELECT count(*) AS n FROM ($first) x JOIN sweep.runs r USING (run_id)
	GROUP BY substring(r.reason FROM '^age (\\d+)')::int / $step) y});
note("tables that were frozen in the same step: $steps");
my ($most) = sort { $b <=> $a } split ' ', $steps;
cmp_ok($most, '<=', 6, 'no wave: the tables that became equally old are frozen one after another');
is(sql($node, q{SELECT count(*) FROM sweep.runs WHERE datname = 'b' AND started_by LIKE '%wraparound%'}), 0, "autovacuum has never come to them");
is(sql($node, q{SELECT count(*) FROM sweep.runs WHERE datname = 'b' AND relname LIKE 'static%' AND command = 'VACUUM' AND outcome = 'done' AND reason !~ '^age \d+ of 100000 transaction IDs'}), 0,
	'the reason says so');
# what is frozen stays so
is(sql($node, q{SELECT count(*) FROM (SELECT blks_dirtied, row_number() OVER (PARTITION BY relname ORDER BY run_id) AS n FROM sweep.runs
	WHERE datname = 'b' AND relname LIKE 'static%') x WHERE n > 1 AND blks_dirtied > 2}), 0, 'a page is frozen once in its life');

# ---- an index that cannot be read: rows stay, but the table is frozen

$node->safe_psql('b', 'CREATE TABLE rotten (id int) WITH (autovacuum_enabled = off); INSERT INTO rotten SELECT generate_series(1, 20000); CREATE INDEX rotten_i ON rotten (id)');
my $rotten = $node->data_dir . '/' . $node->safe_psql('b', q{SELECT pg_relation_filepath('rotten_i')});
$idle->quit;
$node->stop;
break_index($rotten);
# autovacuum would try it again and again
$node->append_conf('postgresql.conf', 'autovacuum_naptime = 1d');
$node->start;
$node->safe_psql('b', 'DELETE FROM rotten WHERE id % 2 = 0; ALTER TABLE rotten RESET (autovacuum_enabled); SELECT pg_stat_force_next_flush()');
poll_ok($node, q{SELECT count(*) >= 1 FROM sweep.runs WHERE relname = 'rotten' AND outcome = 'failed' AND started_by = 'sweep'}, 'its vacuum fails');
$node->safe_psql('postgres', "CALL burn($step)") for 1 .. 16;
poll_ok($node, "SELECT age(relfrozenxid) < 40000 FROM pg_class WHERE relname = 'rotten'", 'it is frozen all the same', db => 'b');
is(sql($node, q{SELECT index_pass FROM sweep.runs WHERE relname = 'rotten' AND outcome = 'done' AND started_by = 'sweep' ORDER BY run_id DESC LIMIT 1}), '0',
	'without its indexes');
$node->safe_psql('b', 'REINDEX INDEX rotten_i; DELETE FROM rotten WHERE id % 4 = 1; SELECT pg_stat_force_next_flush()');
poll_ok($node, q{SELECT count(*) >= 1 FROM sweep.runs WHERE relname = 'rotten' AND outcome = 'done' AND started_by = 'sweep' AND index_pass = 1},
	'with the index made anew its dead rows go');

# ---- near its limit a table does not wait for the minimum interval

# what is set holds from the next vacuum on
sql($node, q{CREATE TABLE near (i int); SELECT sweep.set('near', 'min_interval', '1 d')});
sql($node, 'INSERT INTO near SELECT generate_series(1, 2000); SELECT pg_stat_force_next_flush()');
my $runs = q{FROM sweep.runs WHERE relname = 'near' AND started_by = 'sweep' AND command = 'VACUUM'};
poll_ok($node, "SELECT count(*) = 1 $runs", 'it is vacuumed');
# whatever else it is due by
sql($node, 'UPDATE near SET i = i + 1; SELECT pg_stat_force_next_flush()');
my $age = int(0.75 * $limit) - sql($node, q{SELECT age(relfrozenxid) FROM pg_class WHERE relname = 'near'});
$node->safe_psql('postgres', "CALL burn($age)");
poll_ok($node, q{SELECT xid_age > freeze_at AND decision = 'vacuumed' FROM sweep.tables WHERE relname = 'near'}, 'it is due to be frozen, and waits');
is(sql($node, "SELECT count(*) $runs"), 1, '... for the minimum interval');
$age = int(0.9 * $limit) - sql($node, q{SELECT age(relfrozenxid) FROM pg_class WHERE relname = 'near'});
$node->safe_psql('postgres', "CALL burn($age)");
poll_ok($node, "SELECT count(*) = 2 $runs", 'near the limit it waits no longer', timeout => 60);
cmp_ok(sql($node, q{SELECT age(relfrozenxid) FROM pg_class WHERE relname = 'near'}), '<', 0.5 * $limit, '... and is frozen');

# ---- right after a vacuum nothing has changed in any table, but that does not make it one that is frozen early

$age = int(0.41 * $limit);
my $changing = q{FROM sweep.runs WHERE relname LIKE 'changing%' AND started_by = 'sweep' AND reason LIKE 'age%'};
sql($node, "CREATE TABLE changing_$_ WITH (autovacuum_vacuum_insert_threshold = 100000) AS SELECT i, 0 AS n FROM generate_series(1, 3000) i; ANALYZE changing_$_") for 1 .. 6;
$node->safe_psql('postgres', "CALL burn($age)");
sql($node, "UPDATE changing_$_ SET n = 1 WHERE i % 3 = 0; SELECT pg_stat_force_next_flush()") for 1 .. 6;
poll_ok($node, q{SELECT count(DISTINCT relname) = 6 FROM sweep.runs WHERE relname LIKE 'changing%' AND started_by = 'sweep' AND reason LIKE 'dead%'},
	'tables that change are vacuumed');
poll_ok($node, q{SELECT count(*) = 0 FROM sweep.tables WHERE relname LIKE 'changing%' AND not_before > now()}, 'their minimum intervals are over');
# they are looked at for their age
my $visited = sql($node, 'SELECT now()');
$node->safe_psql('postgres', 'CALL burn(2400)');
poll_ok($node, "SELECT last_visit > '$visited' FROM sweep.databases WHERE datname = 'postgres'", '... and they are looked at again');
rounds($node, 3);
is(sql($node, "SELECT count(*) $changing"), 0, '... and not frozen yet');

$node->stop;
done_testing();
