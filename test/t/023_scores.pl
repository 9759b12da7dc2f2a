# The parts of a table's score are those of PostgreSQL 19's pg_stat_autovacuum_scores.
#
# There are tables of all kinds, with garbage, inserts, changes and old ids, with storage
# parameters of their own, under several weights. What sweep.tables says is what the server
# says, wherever both mean the same. Before 19 the server says nothing. There the parts are
# computed all the same.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

# observe: nothing changes meanwhile. pg_sweep's own rules, for catalogs and inserts, off.
my $node = sweep_node('scores', conf => <<'END');
sweep.mode = observe
sweep.catalog_threshold = 50
sweep.catalog_scale_factor = 0.2
sweep.insert_cache_fraction = 0
sweep.checkpoint_aware = off
allow_system_table_mods = on
END
my $major = major($node);

sql($node, <<'END');
DO $$
DECLARE
	options text[] := ARRAY[
		'', 'autovacuum_vacuum_threshold = 7', 'autovacuum_vacuum_scale_factor = 0.01',
		'autovacuum_vacuum_insert_threshold = 11', 'autovacuum_vacuum_insert_threshold = -1',
		'autovacuum_vacuum_insert_scale_factor = 0.5', 'autovacuum_analyze_threshold = 13',
		'autovacuum_analyze_scale_factor = 0.02', 'autovacuum_freeze_max_age = 100000',
		'autovacuum_multixact_freeze_max_age = 10000', 'autovacuum_enabled = off',
		'autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0, autovacuum_analyze_threshold = 0, autovacuum_analyze_scale_factor = 0'];
BEGIN
	FOR i IN 0 .. 59 LOOP
		EXECUTE format('CREATE TABLE t%s (id int, pad text)%s', i,
			CASE WHEN options[1 + i % 12] <> '' THEN ' WITH (' || options[1 + i % 12] || ')' ELSE '' END);
		EXECUTE format('ALTER TABLE t%s ALTER pad SET STORAGE EXTERNAL', i);
		EXECUTE format('INSERT INTO t%s SELECT j, repeat(''x'', CASE WHEN j %% 50 = 0 THEN 3000 ELSE 10 END) FROM generate_series(1, %s) j',
			i, 10 + i * 37);
	END LOOP;
END $$;
END

# some are vacuumed, frozen or analyzed, and change afterwards
for my $i (grep { $_ % 3 != 0 } 0 .. 59)
{
	sql($node, ('VACUUM', 'VACUUM (FREEZE)', 'VACUUM ANALYZE', 'ANALYZE')[ $i % 4 ] . " t$i");
	sql($node, "INSERT INTO t$i SELECT j, repeat('y', 2500) FROM generate_series(1, $i) j") if $i % 2;
}
sql($node, "DELETE FROM t$_ WHERE id % 5 = 0; UPDATE t$_ SET pad = '' WHERE id % 7 = 0") for grep { $_ % 2 } 0 .. 59;
sql($node, 'CREATE MATERIALIZED VIEW v AS SELECT * FROM t5; CREATE TABLE part (id int) PARTITION BY LIST (id); CREATE TABLE part1 PARTITION OF part DEFAULT;'
	  . ' INSERT INTO part SELECT * FROM generate_series(1, 500)');

# Old ids, up to beyond the failsafe ages: nothing but a score reads them, as nothing vacuums.
sql($node, <<'END');
CREATE FUNCTION set_age(name text, age bigint, mxid_age bigint) RETURNS void LANGUAGE sql AS $$
	UPDATE pg_class SET relfrozenxid = (((next.xid - age + 4294967296 * 2) % 4294967296)::text)::xid,
		relminmxid = (((next.mxid - mxid_age + 4294967296 * 2) % 4294967296)::text)::xid
	FROM (SELECT (pg_snapshot_xmax(pg_current_snapshot())::text::bigint % 4294967296) AS xid,
		(SELECT next_multixact_id::text::bigint FROM pg_control_checkpoint()) AS mxid) next
	WHERE relname = name
$$;
SELECT set_age('t' || i, (ARRAY[1000, 90000, 150000, 199000000, 300000000, 1599000000, 1700000000, 2000000000])[1 + i % 8],
	(ARRAY[500, 9000, 20000, 300000000, 500000000, 1610000000, 1900000000])[1 + i % 7])
FROM generate_series(0, 59) i;
END

my $count = sql($node, 'SELECT count(*) FROM sweep.tables WHERE score IS NOT NULL');
cmp_ok($count, '>', 120, "sweep.tables has scores of $count tables");
is(sql($node, <<'END'), 't|t', 'the score is the largest of the parts that a vacuum answers');
SELECT bool_and(score = greatest(xid_score, mxid_score, vacuum_score, vacuum_insert_score)), bool_or(analyze_score > score)
FROM sweep.tables WHERE score IS NOT NULL
END
is(sql($node, "SELECT bool_and(xid_score > 1) FROM sweep.tables WHERE xid_age > 250000000"), 't',
	'tables beyond the freeze age have an xid_score above 1');
is(sql($node, "SELECT max(xid_score) > 1e9 FROM sweep.tables WHERE xid_age > 1600000000"), 't',
	'beyond the failsafe age nothing else comes first');

# The tables for which a part differs by more than the server's float4 thresholds can explain.
my $differences = <<'END';
SELECT s.relname || ': ' || string_agg(part.name || ' ' || part.ours || ', the server says ' || part.theirs, '; ')
FROM sweep.tables s
     JOIN pg_stat_autovacuum_scores c USING (relid)
     CROSS JOIN LATERAL (VALUES
         ('score', greatest(s.score, s.analyze_score), c.score),
         ('xid_score', s.xid_score, c.xid_score),
         ('mxid_score', s.mxid_score, c.mxid_score),
         ('vacuum_score', s.vacuum_score, c.vacuum_score),
         ('vacuum_insert_score', s.vacuum_insert_score, c.vacuum_insert_score),
         ('analyze_score', s.analyze_score, c.analyze_score)) part (name, ours, theirs)
WHERE s.score IS NOT NULL
  AND abs(part.ours - part.theirs) > 1e-6 * greatest(1, abs(part.theirs))
GROUP BY s.relname ORDER BY 1 LIMIT 10
END

# A worker's statistics may come between the reading of ours and of the server's.
sub no_difference
{
	my ($name) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return pass($name) if poll_until($node, "SELECT count(*) = 0 FROM ($differences) d", timeout => 10);
	is(sql($node, $differences), '', $name);
	return;
}

SKIP:
{
	skip 'the server has scores from 19 on', 8 if $major < 19;

	my $in_both = sql($node, 'SELECT count(*) FROM sweep.tables s JOIN pg_stat_autovacuum_scores c USING (relid) WHERE s.score IS NOT NULL');
	is($in_both, $count, 'the server has scores of all of them');
	no_difference('they are the same');
	for my $part (qw(xid_score mxid_score vacuum_score vacuum_insert_score analyze_score))
	{
		cmp_ok(sql($node, "SELECT count(DISTINCT $part) FROM pg_stat_autovacuum_scores"), '>', 5, "... and of many values: $part");
	}

	my @parts = qw(freeze multixact_freeze vacuum vacuum_insert analyze);
	for my $weights ([ 2, 4, 0.5, 3, 10 ], [ 10, 1, 0, 0.1, 2 ], [ 0, 0, 0, 0, 0 ])
	{
		reload_with($node, map { ("autovacuum_$parts[$_]_score_weight" => $weights->[$_]) } 0 .. 4);
		no_difference("nor do they differ with the weights @$weights");
	}
}

$node->stop;
done_testing();
