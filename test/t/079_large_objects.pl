# Large objects are users' data. Their table has the thresholds of users' tables.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

my $node = sweep_node('large_objects', conf => <<'END');
sweep.naptime = 100ms
autovacuum_vacuum_insert_threshold = -1
END

# 2 KB are a row
sql($node, q{SELECT lo_from_bytea(0, convert_to(repeat('x', 2000000), 'UTF8')) FROM generate_series(1, 10); VACUUM ANALYZE pg_largeobject});
sql($node, q{SELECT count(lo_unlink(oid)) FROM (SELECT oid FROM pg_largeobject_metadata LIMIT 2) m; SELECT pg_stat_force_next_flush()});
is(sql($node, q{SELECT lane, vacuum_threshold BETWEEN 1900 AND 2100, dead_tuples > 1500, do_vacuum FROM sweep.tables WHERE relname = 'pg_largeobject'}),
	'aux|t|t|f', 'its thresholds are those of tables');
rounds($node, 20);
is(sql($node, q{SELECT count(*) FROM sweep.runs WHERE relname = 'pg_largeobject' AND started_by = 'sweep'}), '0', 'what would be due in a catalog is not');
is(sql($node, q{SELECT lane FROM sweep.tables WHERE relname = 'pg_largeobject_metadata'}), 'catalog', 'the list of large objects is a catalog');
sql($node, q{SELECT count(lo_unlink(oid)) FROM (SELECT oid FROM pg_largeobject_metadata LIMIT 2) m; SELECT pg_stat_force_next_flush()});
poll_ok($node, q{SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'pg_largeobject' AND started_by = 'sweep' AND outcome = 'done'},
	'it is vacuumed when as much is dead as in a table');
reload_with($node, 'sweep.scope' => 'catalog');
sql($node, q{SELECT count(lo_unlink(oid)) FROM pg_largeobject_metadata; SELECT pg_stat_force_next_flush()});
rounds($node, 20);
is(sql($node, q{SELECT count(*) FROM sweep.runs WHERE relname = 'pg_largeobject' AND started_by = 'sweep'}), '1', 'not where only catalogs are in scope');

$node->stop;
done_testing();
