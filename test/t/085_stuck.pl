# Where autovacuum is stuck in one database, tables of the others are vacuumed all the same.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

my $node = sweep_node('stuck', conf => <<'END');
autovacuum = on
autovacuum_naptime = 1s
autovacuum_freeze_max_age = 100000
sweep.naptime = 100ms
sweep.min_interval = 1s
END

# ---- the age of one database is held by a temporary table, which autovacuum cannot freeze

sub burn
{
	my ($n) = @_;

	sql($node, "DO 'BEGIN FOR i IN 1 .. $n LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END'");
	return;
}

sql($node, 'CREATE DATABASE held');
my $owner = session($node, 'held');
$owner->query_safe('CREATE TEMPORARY TABLE temporary AS SELECT 1 AS id');
burn(2_000);
sql($node, 'CREATE TABLE queue (id int); INSERT INTO queue SELECT generate_series(1, 10000)');
# so that the database of the temporary table is the oldest
sql($node, 'VACUUM (FREEZE)', $_) for qw(postgres template1);
reload_with($node, 'sweep.mode' => 'observe');
burn(105_000);
is(sql($node, "SELECT age(relfrozenxid) > 100000 FROM pg_class WHERE oid = 'public.queue'::regclass"), 't', 'a table of another database is beyond the limit');

sql($node, 'DELETE FROM queue WHERE id > 1000');
reload_with($node, 'sweep.mode' => 'act');
poll_ok($node, q{SELECT count(*) >= 1 FROM sweep.runs WHERE relname = 'queue' AND started_by = 'sweep' AND outcome = 'done' AND tuples_removed >= 9000},
	'its garbage is removed');
is(sql($node, "SELECT age(relfrozenxid) < 100000 FROM pg_class WHERE oid = 'public.queue'::regclass"), 't', 'and it is young again');
$owner->quit;

$node->stop;
done_testing();
