# sweep.wraparound: ids that are used and left. Members of multixacts can be used up long before
# the multixacts are. Then tables are frozen at a lower age, and dead rows go on being removed.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

# a multiple of what fits on a page, so that no page in between has to be there
my $used = 1636 * 1_900_000;

my $limit = 100000;
my $node = sweep_node('wraparound', conf => <<"END");
sweep.mode = observe
autovacuum = off
sweep.naptime = 100ms
sweep.debug_clock_rate = 100
autovacuum_freeze_max_age = $limit
END
sql($node, 'CREATE TABLE locked AS SELECT i FROM generate_series(1, 100) i');
sql($node, 'CREATE TABLE busy AS SELECT i FROM generate_series(1, 1000) i');

is(sql($node, q{SELECT string_agg(ids, ' ' ORDER BY ids) FROM sweep.wraparound}), 'member mxid xid', 'a row for each kind');
is(sql($node, q{SELECT used = age, vacuum_at = current_setting('autovacuum_freeze_max_age')::int, used < stop_at, datname IS NOT NULL
	FROM sweep.wraparound, (SELECT max(age(datfrozenxid)) AS age FROM pg_database) x WHERE ids = 'xid'}), 't|t|t|t', 'transaction ids: as in pg_database');
is(sql($node, q{SELECT used FROM sweep.wraparound WHERE ids = 'member'}), '0', 'no multixact has any members');

my @sharers = map { session($node) } 1 .. 2;
$_->query_safe('BEGIN; SELECT count(*) FROM (SELECT FROM locked FOR SHARE) x') for @sharers;
$_->query_safe('COMMIT') for @sharers;
$_->quit for @sharers;
sql($node, 'CHECKPOINT');
is(sql($node, q{SELECT used BETWEEN 2 AND 300, used_pct < 1 FROM sweep.wraparound WHERE ids = 'member'}), major($node) >= 19 ? 't|' : 't|t',
	'members of two sessions that share rows');
poll_ok($node, q{SELECT count(per_s) = 3 FROM sweep.wraparound}, 'the rates are known');
is(sql($node, q{SELECT stop_time IS NULL FROM sweep.wraparound WHERE ids = 'member' AND per_s = 0}) || 't', 't', 'and no date where none is used');

$node->stop;
system_or_bail($node->config_data('--bindir') . '/pg_resetwal', '-O', $used, $node->data_dir);
$node->start;

is(sql($node, qq{SELECT abs(used - $used) < 1000 FROM sweep.wraparound WHERE ids = 'member'}), 't', 'most members are used');
is(sql($node, q{SELECT round(used_pct) FROM sweep.wraparound WHERE ids = 'member'}), major($node) >= 19 ? '' : '72', 'in percent');
is(sql($node, q{SELECT count(*) FROM sweep.explain('locked') WHERE cause LIKE 'wraparound ahead: its oldest multixact%'
	AND evidence LIKE '%72 % of the room for members of multixacts is used%'}), '1', 'sweep.explain() says so');

# ---- what keeps a database from getting younger

sql($node, 'CREATE PROCEDURE burn(n int) LANGUAGE plpgsql AS $$ BEGIN FOR i IN 1..n LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$');
my $owner = session($node);
my $pid = $owner->query_safe('CREATE TEMP TABLE "my old" (i int, t text); CREATE TEMP TABLE other (i int); SELECT pg_backend_pid()');
is(sql($node, q{SELECT count(*) FROM sweep.blockers WHERE kind = 'temporary table'}), '0', 'a young temporary table keeps nothing');
sql($node, "CALL burn($limit + 1000)");
poll_ok($node, q{SELECT count(*) > 0 AND bool_and(freeze_time = now()) FROM sweep.tables WHERE xid_age > freeze_at},
	'what should have been frozen already is to be frozen now');
sql($node, 'CREATE TABLE parted (i int) PARTITION BY RANGE (i)');
is(sql($node, q{SELECT freeze_time IS NULL FROM sweep.tables WHERE relname = 'parted'}), 't', 'a partitioned table never is');
is(sql($node, q{SELECT pid, datname, name LIKE 'pg_temp_%."my old"', state, withholds, fix FROM sweep.blockers WHERE kind = 'temporary table'}),
	qq{$pid|postgres|t|idle|the age of database "postgres"|SELECT pg_catalog.pg_terminate_backend($pid);}, 'an old one is named with its session');
is(sql($node, q{SELECT count(*) FROM sweep.explain('busy') WHERE cause LIKE '%temporary%'}), '0', 'it holds no dead rows');
$owner->quit;
poll_ok($node, q{SELECT count(*) = 0 FROM sweep.blockers WHERE kind = 'temporary table'}, 'it is gone with its session');

sql($node, 'UPDATE busy SET i = i + 1');
reload_with($node, 'sweep.mode' => 'act', 'autovacuum' => 'on', 'autovacuum_naptime' => '1d');
poll_ok($node, q{SELECT mxid_age(relminmxid) = 0 FROM pg_class WHERE relname = 'locked'}, 'the table with the multixacts is frozen');
is(sql($node, q{SELECT started_by FROM sweep.runs WHERE relname = 'locked' AND outcome = 'done' ORDER BY run_id DESC LIMIT 1}), 'sweep', 'by pg_sweep');
poll_ok($node, q{SELECT count(*) > 0 FROM sweep.runs WHERE relname = 'busy' AND tuples_removed >= 1000}, 'dead rows are removed');

$node->stop;
done_testing();
