# Who holds back dead rows? It is whoever has the oldest transaction, not those whose
# snapshots are only as old because of it. The view also says what is withheld, in whole
# names, and explain() says it, too.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

my $node = sweep_node('blame', init => [ allows_streaming => 1 ], conf => <<'END');
max_prepared_transactions = 10
wal_level = logical
sweep.debug_clock_rate = 20
autovacuum_vacuum_cost_delay = 0
END
sql($node, 'CREATE DATABASE other');
sql($node, 'CREATE EXTENSION pg_sweep', 'other');

my $snapshot = 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_class';

sub blockers
{
	my ($dbname, $what) = @_;

	return sql($node, "SELECT string_agg($what, ', ' ORDER BY age DESC, since) FROM sweep.blockers", $dbname);
}

# ---- a prepared transaction, and sessions whose snapshots are as old because of it

sql($node, 'CREATE TABLE t (a int); CREATE TABLE gate (a int)');
sql($node, q{BEGIN; INSERT INTO t VALUES (1); PREPARE TRANSACTION 'the holder'});
sql($node, 'SELECT pg_current_xact_id()') for 1 .. 20;

my $reader = session($node);
$reader->query_safe($snapshot);
my $foreign = session($node, 'other');
$foreign->query_safe($snapshot);
my $writer = session($node);
$writer->query_safe("$snapshot; SELECT pg_current_xact_id()");
my $writer_pid = sql($node, 'SELECT pid FROM pg_stat_activity WHERE backend_xid IS NOT NULL');
# a CREATE INDEX CONCURRENTLY that has just begun waits for the writer
my $indexer = session($node);
$indexer->query_until(qr/begun/, "\\echo begun\nCREATE INDEX CONCURRENTLY ON t (a);\n");
poll_ok($node, q{SELECT count(*) = 1 FROM pg_stat_progress_create_index}, 'an index is being made');
is(sql($node, q{SELECT count(DISTINCT pid) > 2 FROM pg_stat_activity JOIN pg_prepared_xacts ON backend_xmin = transaction}), 't',
	'several sessions have the xmin of the prepared transaction');

like(blockers('postgres', 'kind'), qr/^prepared transaction, /, 'the prepared transaction comes first');
is(sql($node, q{SELECT count(*) FROM sweep.blockers b JOIN pg_prepared_xacts x ON b.xmin = x.transaction WHERE b.kind <> 'prepared transaction'}), '0',
	'and nobody else has its age');
is(sql($node, q{SELECT count(*) FROM sweep.blockers WHERE kind = 'create index' AND age > 20}), '0', 'an index that is being made is not older than itself');
is(sql($node, "SELECT count(*) FROM sweep.blockers WHERE pid = $writer_pid AND age < 20"), '1', 'who writes is there with the age of its own transaction');
is(sql($node, q{BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT pg_current_xact_id() IS NULL; SELECT count(*) FROM sweep.blockers WHERE pid = pg_backend_pid();}
	  . q{ COMMIT}), "f\n0",
	'the session that asks is not');
is(sql($node, q{SELECT count(*) FROM sweep.blockers WHERE kind = 'prepared transaction' AND datname = 'other' AND name = 'the holder'}), '1',
	'in the other database it is the prepared transaction as well: snapshots there are old because of it');

# the table whose rows are held back by it
garbage($node, 'postgres', 'held');
poll_ok($node, q{SELECT count(*) >= 1 FROM sweep.decisions WHERE relname = 'held' AND decision = 'held back'}, 'a table is held back');
like(sql($node, q{SELECT fix FROM sweep.explain('held') WHERE cause LIKE '%still needs its dead rows%' ORDER BY rank LIMIT 1}),
	qr/^ROLLBACK PREPARED 'the holder'/, 'explain: the fix is to end the prepared transaction');
my $reader_pid = sql($node, 'SELECT pid FROM pg_stat_activity WHERE state = \'idle in transaction\' AND backend_xid IS NULL AND datname = \'postgres\'');
is(sql($node, "SELECT count(*) FROM sweep.explain('held') WHERE fix ~ '\\($reader_pid\\)'"), '0', 'explain: who merely reads is not to be cancelled');

# ---- when it has ended, who is left is to blame

sql($node, q{ROLLBACK PREPARED 'the holder'});
is(sql($node, "SELECT kind FROM sweep.blockers WHERE pid = $reader_pid"), 'idle in transaction', 'then the snapshots that stay are what holds');
$_->quit for $reader, $foreign;
$writer->query_safe('COMMIT');
$writer->quit;
eval { $indexer->quit };

# ---- a session as the holder, a logical slot that follows it

poll_ok($node, 'SELECT count(*) = 0 FROM sweep.blockers', 'none is left');
my $holder = session($node);
$holder->query_safe('BEGIN; SELECT pg_current_xact_id()');
my $holder_pid = sql($node, 'SELECT pid FROM pg_stat_activity WHERE backend_xid IS NOT NULL');
sql($node, 'SELECT pg_current_xact_id()') for 1 .. 5;
$reader = session($node);
$reader->query_safe($snapshot);
is(blockers('postgres', 'pid::text'), $holder_pid, 'a session that writes: it alone');
$reader->quit;
$holder->quit;

# ---- what is withheld: whole names

poll_ok($node, 'SELECT count(*) = 0 FROM sweep.blockers', 'none is left');
$reader = session($node);
$reader->query_safe($snapshot);
sql($node, join(';', map { "CREATE TABLE a_table_with_a_name_that_is_rather_long_$_ (a int)" } 10 .. 19));
sql($node, "BEGIN; INSERT INTO a_table_with_a_name_that_is_rather_long_$_ SELECT generate_series(1, 100);"
	  . " DELETE FROM a_table_with_a_name_that_is_rather_long_$_; COMMIT") for 10 .. 19;
sql($node, 'SELECT pg_stat_force_next_flush()');
poll_ok($node, q{SELECT count(*) = 10 FROM sweep.decisions WHERE relname LIKE 'a_table%' AND decision = 'held back'}, 'ten tables are held back',
	timeout => 60);
my $name = qr/postgres\.public\.\w+/;
like(sql($node, q{SELECT withholds FROM sweep.blockers WHERE kind = 'idle in transaction'}),
	qr/^dead rows of 1[01] tables: $name(, $name)* and \d+ more(?:; empty index pages, in all databases)?$/, 'the list ends with a whole name and how many more there are');
unlike(sql($node, q{SELECT withholds FROM sweep.blockers WHERE kind = 'idle in transaction'}), qr/long_(,| and)|long_\d(,| )/, 'no name is cut');

my $rows = sql($node, q{SELECT count(*) || ' ' || count(DISTINCT cause) FROM sweep.explain() WHERE cause LIKE '%still needs its dead rows'});
is($rows, '1 1', 'explain(): one row for what holds them all');
like(sql($node, q{SELECT relation FROM sweep.explain() WHERE cause LIKE '%still needs its dead rows'}), qr/^(public\.)?\w+(, (public\.)?\w+)+ and \d+ more$/,
	'and the tables are named in it');
$reader->quit;

# ---- the risk of a fix: how fast vacuums are then

garbage($node, 'postgres', 'risky');
for my $case ([ on => qr/slow down as soon as users wait for them/ ], [ off => qr/within the cost limit/ ])
{
	reload_with($node, 'sweep.mode' => 'observe', 'sweep.adaptive' => $case->[0]);
	like(sql($node, q{SELECT risk FROM sweep.explain('risky') WHERE cause LIKE 'sweep.mode is observe%'}), $case->[1],
		"sweep.adaptive = $case->[0]: what limits vacuums");
}

$node->stop;
done_testing();
