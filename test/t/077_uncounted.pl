# Vacuums that the statistics do not hear of leave their table due. They are not made again
# and again, and where nothing is counted at all pg_sweep is off, as sweep.status says.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

my $node = sweep_node('uncounted', conf => <<'END');
sweep.insert_cache_fraction = 0.01
sweep.naptime = 100ms
sweep.min_interval = 10min
autovacuum_vacuum_insert_threshold = 1000
END
my $runs = q{SELECT count(*) FROM sweep.runs WHERE relname = 'grows' AND started_by = 'sweep'};

# ---- no vacuum of this database is counted, while its users are

sql($node, 'CREATE ACCESS METHOD another TYPE TABLE HANDLER heap_tableam_handler');
sql($node, 'ALTER DATABASE postgres SET track_counts = off');
$node->restart;	# a worker that is there already would count
sql($node, q{SET track_counts = on; CREATE TABLE grows (id int, pad text) USING another;
	INSERT INTO grows SELECT i, repeat('x', 700) FROM generate_series(1, 8000) i; SELECT pg_stat_force_next_flush()});
poll_ok($node, "$runs AND outcome = 'done' HAVING count(*) = 1", 'it is vacuumed', expected => '1');
rounds($node, 30);
is(sql($node, $runs), '1', 'once, though it stays due');
poll_ok($node, q{SELECT count(*) = 1 FROM sweep.decisions WHERE relname = 'grows' AND decision = 'vacuumed'
	AND reason = 'vacuumed, 1 time in a row, but its statistics know nothing of it: waits longer each time'
	AND not_before - last_at = '10 min'}, 'sweep.decisions says so');
like(sql($node, q{SELECT string_agg(waiting_for, ';') FROM sweep.queue WHERE relname = 'grows'}),
	qr/^uncounted: its statistics know nothing of 1 vacuum in a row, tried again at /, 'and so does sweep.queue');
my $explained = sql($node, q{SELECT string_agg(cause || ' ' || coalesce(evidence, ''), ';') FROM sweep.explain('grows')});
like($explained, qr/the table is no heap: its access method is another its vacuums tell the statistics nothing/, 'sweep.explain() says that it is no heap');
unlike($explained, qr/waits for the minimum interval/, 'and does not say that it waits for its turn');
sql($node, 'ALTER DATABASE postgres RESET track_counts');

# ---- a table whose VACUUM does nothing

sql($node, <<"END");
CREATE FUNCTION hollow(internal) RETURNS table_am_handler AS '$ENV{PG_SWEEP_OTHER_ENGINE}', 'other_engine_hollow' LANGUAGE C;
CREATE ACCESS METHOD hollow TYPE TABLE HANDLER hollow;
CREATE TABLE empty_vacuum (id int) USING hollow;
INSERT INTO empty_vacuum SELECT generate_series(1, 5000);
DELETE FROM empty_vacuum;
SELECT pg_stat_force_next_flush();
END
poll_ok($node, q{SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'empty_vacuum' AND command = 'VACUUM'}, 'it is vacuumed');
rounds($node, 30);
is(sql($node, q{SELECT count(*) FROM sweep.runs WHERE relname = 'empty_vacuum' AND command = 'VACUUM'}), '1', 'once, though it stays due');
like(sql($node, q{SELECT string_agg(cause, ';') FROM sweep.explain('empty_vacuum')}), qr/the table is no heap: its access method is hollow/, 'sweep.explain() says why');

# ---- nothing is counted at all

reload_with($node, track_counts => 'off');
poll_ok($node, q{SELECT effective_mode = 'off' AND reason = 'track_counts is off' FROM sweep.status}, 'sweep.status says off');
poll_ok($node, 'SELECT workers = 0 FROM sweep.status', 'no worker is there');
sql($node, q{SET track_counts = on; CREATE TABLE due (id int); INSERT INTO due SELECT generate_series(1, 5000); DELETE FROM due;
	SELECT pg_stat_force_next_flush()});
rounds($node, 20);
is(sql($node, q{SELECT count(*) FROM sweep.runs WHERE relname = 'due'}), '0', 'and nothing is vacuumed');
my (undef, undef, $error) = $node->psql('postgres', q{SELECT sweep.vacuum('due')});
like($error, qr/"track_counts" is off/, 'nor can it be asked for');
reload_with($node, track_counts => 'on');
poll_ok($node, q{SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'due' AND outcome = 'done'}, 'it is when counting is on again');

$node->stop;
done_testing();
