# What is broken or out of the ordinary in one place does not stop, or mislead, the rest.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

my $node = sweep_node('robust', conf => <<'END');
autovacuum = off
sweep.insert_cache_fraction = 0.0001
sweep.naptime = 100ms
END

# ---- a table whose file is missing

# it has taken rows, so its visibility map is to be counted
reload_with($node, 'sweep.mode' => 'observe');
sql($node, 'CREATE TABLE broken (id int, pad text) WITH (autovacuum_vacuum_insert_threshold = 100000)');
sql($node, "INSERT INTO broken SELECT i, repeat('x', 700) FROM generate_series(1, 4000) i");
sql($node, 'ANALYZE broken');
my $file = $node->data_dir . '/' . sql($node, "SELECT pg_relation_filepath('broken')");
$node->stop;
unlink $file or die "could not remove $file: $!";
my $offset = log_size($node);
$node->start;
garbage($node, 'postgres', 'next_to_it');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.decisions WHERE relname = 'next_to_it' AND decision = 'would vacuum'",
	'a worker decides about the other tables of its database');
unlike(log_since($node, $offset), qr/could not open file/, 'and does not stumble over it');
is(sql($node, "SELECT ins_since_vacuum, truncatable_bytes IS NULL FROM sweep.tables WHERE relname = 'broken'"), '4000|t', 'sweep.tables shows it');
reload_with($node, 'sweep.mode' => 'act');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'next_to_it' AND started_by = 'sweep' AND outcome = 'done'", 'the others are vacuumed');
sql($node, 'DROP TABLE broken');

# ---- whom a vacuum gave way to is told in full

my $role = 'r' x 62 . '1';
sql($node, qq{CREATE ROLE "$role" SUPERUSER});
sql($node, 'ALTER SYSTEM SET autovacuum_vacuum_cost_delay = 100');
sql($node, 'SELECT pg_reload_conf()');
slow_table($node, 'postgres', 'long_name', with => 'autovacuum_vacuum_cost_delay = 100, autovacuum_vacuum_cost_limit = 1, autovacuum_enabled = false');
sql($node, qq{SET ROLE "$role"; SELECT sweep.vacuum('long_name')});
poll_ok($node, "SELECT count(*) = 1 FROM sweep.progress WHERE relname = 'long_name' AND blks_dirtied > 0",
	'a vacuum that somebody with a long name asked for runs');
my $pid = sql($node, 'BEGIN; LOCK TABLE long_name; SELECT pg_backend_pid(); COMMIT');
poll_ok($node,
	"SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'long_name' AND outcome = 'cancelled' AND reason ~ '^requested by r+; gave way to pid $pid\$'",
	'it gave way, and tells to whom, whole');

# ---- what waited while pg_sweep was off has not waited for it

reload_with($node, 'sweep.mode' => 'observe');
garbage($node, 'postgres', 'waiting');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.queue WHERE relname = 'waiting'", 'a table waits');
reload_with($node, 'sweep.mode' => 'off');
poll_ok($node, 'SELECT count(*) = 0 FROM sweep.queue', 'nothing waits while it is off');
my $now = sql($node, 'SELECT now()');
reload_with($node, 'sweep.mode' => 'observe');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.queue WHERE relname = 'waiting'", 'it waits again');
is(sql($node, "SELECT waiting_since > '$now' FROM sweep.queue WHERE relname = 'waiting'"), 't', 'since it is on again');

# ---- nonsense in sweep.table_settings

sql($node, "INSERT INTO sweep.table_settings VALUES ('waiting', 'enabled', 'perhaps')");
like(sql($node, "SELECT string_agg(cause, ';') FROM sweep.explain('waiting')"), qr/sweep\.mode is observe/,
	'nonsense in it does not keep sweep.explain() from its work');
sql($node, "UPDATE sweep.table_settings SET value = 'OFF'");
sql($node, 'CREATE TABLE wide (id int, pad text)');
sql($node, "SELECT sweep.set('wide', 'enabled', 'No')");
for my $of ("'waiting'", "(SELECT reltoastrelid FROM pg_class WHERE relname = 'wide')::regclass")
{
	like(sql($node, "SELECT string_agg(cause, ';') FROM sweep.explain($of)"), qr/pg_sweep is disabled for this table by sweep\.set\(\)/,
		"a switch in any spelling: $of");
}
is(sql($node, "SELECT fix FROM sweep.explain((SELECT reltoastrelid FROM pg_class WHERE relname = 'wide')::regclass) WHERE cause ~ 'sweep.set'"),
	q{SELECT sweep.set('public.wide', 'enabled', NULL);}, 'of a TOAST table it is its table that has the setting');

# ---- more partitions than can be asked for

sql($node, 'CREATE TABLE many (i int) PARTITION BY RANGE (i)');
sql($node, "DO \$\$ BEGIN FOR i IN 1 .. 2049 LOOP EXECUTE format('CREATE TABLE many%s PARTITION OF many FOR VALUES FROM (%s) TO (%s)', i, i, i + 1);"
	  . " IF i % 500 = 0 THEN COMMIT; END IF; END LOOP; END \$\$");
reload_with($node, 'sweep.mode' => 'act');
my (undef, undef, $error) = $node->psql('postgres', "SELECT sweep.vacuum('many')");
like($error, qr/too many vacuums are requested\n.*2049 more tables do not fit/s, 'many more tables than fit');
is(sql($node, 'SELECT count(*) FROM sweep.queue WHERE request_id IS NOT NULL'), '0', 'none of them is asked for');

$node->stop;
done_testing();
