# sweep.scope says whose tables are vacuumed. A catalog never waits for a user's table.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;
use Time::HiRes qw(time usleep);

# The clock is the real one, because times are promised.
my $node = sweep_node('scope_lane', conf => <<'END');
sweep.scope = catalog
sweep.max_workers = 1
sweep.min_interval = 1s
max_worker_processes = 12
END

sql($node, "CREATE DATABASE $_") for ('one', 'two');

# Makes rows of pg_attribute that were never committed. Returns when they were about to die.
my $columns = join(', ', map { "c$_ int" } 1 .. 100);

sub bloat_catalog
{
	my ($dbname, $tables) = @_;

	$tables //= 20;
	# in that session, because it reports its counters when it ends, and a vacuum may begin at once
	return sql($node, "BEGIN; DO 'BEGIN FOR i IN 1 .. $tables LOOP EXECUTE format(''CREATE TABLE bloat%s ($columns)'', i); END LOOP; END';"
		  . " SELECT clock_timestamp(); ROLLBACK", $dbname);
}

sub runs_of
{
	my ($table, $extra) = @_;

	return sql($node, "SELECT count(*) FROM sweep.runs WHERE started_by = 'sweep' AND relname = '$table'" . ($extra ? " AND $extra" : ''));
}

# The first run that began after that time, in seconds from it.
sub begun_within
{
	my ($seconds, $table, $dbname, $since, $name) = @_;
	my $first = "SELECT min(EXTRACT(epoch FROM started_at - '$since'::timestamptz)) FROM sweep.runs WHERE relname = '$table' AND datname = '$dbname'"
		  . " AND started_by = 'sweep' AND started_at > '$since'";

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my $took = poll_value($node, $first);
	note("$name: after " . ($took eq '' ? 'no' : $took) . ' s');
	return cmp_ok($took eq '' ? 9999 : $took, '<', within($seconds), $name);
}

# ---- scope: catalogs only

garbage($node, 'one', 'plain');
sql($node, 'CREATE SCHEMA cron', 'one');
garbage($node, 'one', 'cron.job');
sql($node, <<'END', 'one');
BEGIN;
CREATE TABLE wide (id int, pad text) WITH (autovacuum_enabled = off, toast.autovacuum_enabled = on);
ALTER TABLE wide ALTER pad SET STORAGE EXTERNAL;
INSERT INTO wide SELECT i, repeat('x', 5000) FROM generate_series(1, 200) i;
DELETE FROM wide;
COMMIT;
END
my $toast = sql($node, q{SELECT reltoastrelid::regclass FROM pg_class WHERE relname = 'wide'}, 'one') =~ s/.*\.//r;

bloat_catalog('one');
poll_ok($node,
	q{SELECT count(*) >= 1 FROM sweep.runs WHERE relname = 'pg_attribute' AND datname = 'one' AND started_by = 'sweep' AND reason LIKE 'dead tuples %'},
	'scope catalog: a catalog is vacuumed');

# a body that does not fit into the row
sql($node, <<'END', 'one');
BEGIN;
DO $do$
BEGIN
	FOR i IN 1 .. 300 LOOP
		EXECUTE format('CREATE FUNCTION f%s() RETURNS text LANGUAGE sql AS %L', i,
			(SELECT 'SELECT ''' || string_agg(md5((i * 1000 + j)::text), '') || '''' FROM generate_series(1, 300) j));
	END LOOP;
END $do$;
ROLLBACK;
END
poll_ok($node, q{SELECT count(*) >= 1 FROM sweep.runs WHERE relname = 'pg_toast_1255' AND datname = 'one' AND started_by = 'sweep'},
	'and its TOAST table');

# after a reset of any counter all tables of that database are looked at once more
sql($node, q{SELECT pg_stat_reset_single_table_counters('pg_am'::regclass)}, 'one');
for my $table ('plain', 'job', $toast)
{
	poll_ok($node, "SELECT count(*) = 1 FROM sweep.decisions WHERE relname = '$table' AND decision = 'out of scope'", "$table is out of scope");
	is(runs_of($table), '0', 'and not vacuumed');
}
poll_ok($node, 'SELECT due = 0 FROM sweep.status', 'nothing counts as due');

# ---- a threshold of their own, 500 and 5 %, and core's where that is less: of a small catalog it is 50 and 20 %

sub dead_roles
{
	my ($n) = @_;

	sql($node, "BEGIN; DO 'BEGIN FOR i IN 1 .. $n LOOP EXECUTE ''CREATE ROLE passing'' || i; END LOOP; END'; ROLLBACK");
	return;
}

dead_roles(40);
rounds($node, 3);
is(runs_of('pg_authid'), '0', '40 dead rows of a small catalog are not enough');
dead_roles(60);
poll_ok($node, q{SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'pg_authid' AND started_by = 'sweep' AND reason ~ '^dead tuples 100 > 5\d,'}, '100 are');
bloat_catalog($_) for ('one', 'two');
poll_ok($node, q{SELECT count(DISTINCT datname) = 2 FROM sweep.runs WHERE relname = 'pg_attribute' AND started_by = 'sweep' AND datname IN ('one', 'two')},
	'two databases have been looked after');
is(runs_of('pg_authid'), '1', 'but the shared catalog was vacuumed once');

# ---- more, by a reload only

reload_with($node, 'sweep.scope' => 'catalog_aux');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = '$_' AND started_by = 'sweep' AND datname = 'one'", "scope catalog_aux: $_ is vacuumed")
  for ('job', $toast);
poll_ok($node, q{SELECT count(*) = 1 FROM sweep.decisions WHERE relname = 'plain' AND decision = 'out of scope'}, 'a user\'s table is not');
is(runs_of('plain'), '0', 'really not');
reload_with($node, 'sweep.scope' => 'all');
poll_ok($node, q{SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'plain' AND started_by = 'sweep'}, 'scope all: it is');
is(sql($node, q{SELECT count(*) FROM sweep.decisions WHERE decision = 'out of scope'}), '0', 'nothing is out of scope');

# ---- the only place is taken, for half a minute

slow_table($node, 'one', 'slow');
poll_ok($node, q{SELECT count(*) = 1 FROM sweep.progress WHERE relname = 'slow' AND started_by = 'sweep' AND phase = 'scanning heap'},
	'the only worker is at a large table');
garbage($node, $_, "waits_in_$_") for ('one', 'two');
begun_within(3, 'pg_attribute', 'one', bloat_catalog('one'), 'a catalog of that database is vacuumed within 3 s');
begun_within(3, 'pg_attribute', 'two', bloat_catalog('two'), 'so is one of another');
rounds($node, 4);
begun_within(3, 'pg_attribute', 'one', bloat_catalog('one', 40), 'and once more');

# users' tables never get that place
my ($most_users, $most) = (0, 0);
for (1 .. 40)
{
	my ($users, $all) = split /\|/, sql($node, q{SELECT count(*) FILTER (WHERE schemaname = 'public'), (SELECT workers FROM sweep.status) FROM sweep.progress}
		  . q{ WHERE started_by = 'sweep' AND relid IS NOT NULL});

	$most_users = $users if $users > $most_users;
	$most = $all if $all > $most;
	usleep(50_000);
}
is($most_users, 1, 'never two users\' tables at a time');
cmp_ok($most, '<=', 2, 'nor more workers than one and the catalogs\'');
is(runs_of('waits_in_one') + runs_of('waits_in_two'), 0, 'the others wait');
is(sql($node, q{SELECT count(*) FROM sweep.progress WHERE relname = 'slow' AND started_by = 'sweep'}), '1', 'and it is still going on');

sql($node, 'DROP TABLE slow', 'one');
poll_ok($node, q{SELECT count(DISTINCT relname) = 2 FROM sweep.runs WHERE relname LIKE 'waits\_in\_%' AND started_by = 'sweep'},
	'when that table is gone they are vacuumed');
is(status($node, 'worker_start_failures'), '0', 'nothing failed');

$node->stop;
done_testing();
