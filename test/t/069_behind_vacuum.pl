# Who waits behind a vacuum that gives way to nobody: views and explain() name the vacuum, and
# do not propose to end those who wait for it.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

my $node = sweep_node('behind_vacuum', conf => <<'END');
autovacuum = on
autovacuum_freeze_max_age = 100000
autovacuum_naptime = 1s
sweep.mode = observe
END
sql($node, <<'END');
CREATE PROCEDURE use_up(n int) LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1 .. n LOOP
		PERFORM pg_current_xact_id();
		COMMIT;
	END LOOP;
END $$;
END
slow_table($node, 'postgres', 'big',
	with => 'autovacuum_enabled = off, autovacuum_vacuum_cost_delay = 100, autovacuum_vacuum_cost_limit = 1');
sql($node, 'CALL use_up(101000)');
# young, so that autovacuum does not want it as well
sql($node, 'CREATE TABLE wanted (i int)');

my $vacuum = q{SELECT pid FROM sweep.progress WHERE relname = 'big' AND started_by = 'autovacuum_wraparound'};
my $pid = poll_value($node, $vacuum);
like($pid, qr/^\d+$/, 'the anti-wraparound vacuum of a table has begun');

# It has one of the tables already, waits for the other, and users wait for it.
my $dropper = session($node);
$dropper->query_until(qr/begun/, "\\echo begun\nDROP TABLE wanted, big;\n");
my $drop = poll_value($node, q{SELECT pid FROM pg_locks WHERE NOT granted AND relation = 'big'::regclass AND mode = 'AccessExclusiveLock'});
like($drop, qr/^\d+$/, 'a DROP TABLE waits for it');
my $reader = session($node);
$reader->query_until(qr/begun/, "\\echo begun\nSELECT count(*) FROM wanted;\n");
poll_ok($node, q{SELECT count(*) = 1 FROM pg_locks WHERE NOT granted AND relation = 'wanted'::regclass AND mode = 'AccessShareLock'}, 'and a query waits behind that');

my $fix = qr/^SELECT pg_catalog\.pg_cancel_backend\($pid\);$/;

poll_ok($node, q{SELECT verdict = 'its users wait for a vacuum' FROM sweep.explain('wanted') WHERE rank = 1}, 'explain: the table that is wanted is not just "not due"');
like(sql($node, q{SELECT cause FROM sweep.explain('wanted') WHERE rank = 1}),
	qr/^1 session waits for the table because of the vacuum of public\.big \(pid $pid, autovacuum_wraparound\)$/, 'explain: because of which vacuum');
like(sql($node, q{SELECT fix FROM sweep.explain('wanted') WHERE rank = 1}), $fix, 'explain: the vacuum can be cancelled');
like(sql($node, q{SELECT risk FROM sweep.explain('wanted') WHERE rank = 1}), qr/is lost, and autovacuum begins it again/, 'explain: at what price');
like(sql($node, q{SELECT cause FROM sweep.explain('big') WHERE rank = 1}), qr/^a vacuum is working on it$/, 'explain: the table that is vacuumed');
like(sql($node, q{SELECT evidence FROM sweep.explain('big') WHERE cause ~ '^1 session waits for the table because of'}), qr/^the first is pid $drop, since 2.*: DROP TABLE/,
	'explain: and who waits for it');

poll_ok($node, "SELECT count(*) = 1 FROM sweep.blockers WHERE pid = $drop", 'who waits holds the horizon');
like(sql($node, "SELECT fix FROM sweep.blockers WHERE pid = $drop"), $fix, 'blockers: the vacuum can be cancelled');
like(sql($node, "SELECT risk FROM sweep.blockers WHERE pid = $drop"),
	qr/^it only waits for the vacuum of public\.big \(pid $pid, autovacuum_wraparound\), and goes on when that ends\. If you end the vacuum, what/, 'blockers: not the victim');
is(sql($node, "SELECT count(*) FROM (SELECT fix FROM sweep.blockers UNION ALL SELECT fix FROM sweep.explain()"
	  . " UNION ALL SELECT fix FROM sweep.explain('big') UNION ALL SELECT fix FROM sweep.explain('wanted')) x"
	  . " WHERE fix ~ '\\m$drop\\M'"), '0', 'nobody proposes to end the victim');

# ---- the proposed statement helps, and then nothing is said any more

my $statement = sql($node, "SELECT fix FROM sweep.blockers WHERE pid = $drop");
sql($node, $statement);
poll_ok($node, q{SELECT to_regclass('wanted') IS NULL AND to_regclass('big') IS NULL}, 'the vacuum is cancelled, and the DROP goes on');
$_->quit for $dropper, $reader;

$node->stop('immediate');
done_testing();
