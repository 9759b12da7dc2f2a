# The server crashes in the middle of a clean-up, again and again. Afterwards the indexes are
# sound, and the next vacuum removes what was left.
#
# PG_SWEEP_CRASHES is how often (6). Test 051 does the same at points that have names.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use CleanerTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;
use Time::HiRes qw(usleep);

my $crashes = $ENV{PG_SWEEP_CRASHES} // 6;

# so slow that a clean-up takes some seconds
my $node = sweep_node('clean_crash', conf => <<'END');
sweep.cleaner = on
sweep.min_interval = 1h
autovacuum_vacuum_cost_delay = 10ms
autovacuum_vacuum_cost_limit = 20
shared_buffers = 16MB
END
need_modules($node, 'amcheck', 'pageinspect');
sql($node, <<'END');
CREATE TABLE t (id int, k int, s text) WITH (autovacuum_enabled = off);
INSERT INTO t SELECT i, i % 100, md5(i::text) FROM generate_series(1, 60000) i;
CREATE INDEX t_id ON t (id);
CREATE INDEX t_k ON t (k);
CREATE INDEX t_s ON t (s);
VACUUM t;
END

my %crashed;
for my $round (1 .. $crashes)
{
	# the rows come again, so that there is as much to be done each time
	sql($node, "DELETE FROM t WHERE id % 60 = $round % 60");
	sql($node, "INSERT INTO t SELECT i, i % 100, md5(i::text) FROM generate_series(1, 60000) i WHERE i % 60 = ($round - 1) % 60")
	  if $round > 1;
	sql($node, 'CHECKPOINT') if $round % 2;
	# one that begins while somebody's snapshot still sees the rows is over at once, and a slow
	# machine may miss one that was not
	my $begun;
	my $since = sql($node, q{SELECT clock_timestamp()});
	for (1 .. 12)
	{
		sql($node, "SELECT sweep.clean('t', by_row => true)");
		$begun = poll_until($node, "SELECT EXISTS (SELECT FROM sweep.progress WHERE command = 'CLEAN' AND relname = 't')"
			  . " OR EXISTS (SELECT FROM sweep.runs WHERE command = 'CLEAN' AND tuples_removed > 0 AND started_at > '$since')", timeout => 5);
		last if $begun;
	}
	die 'no clean-up began: ' . sql($node, 'SELECT string_agg(r::text, E\'\n\') FROM sweep.runs r') if !$begun;
	# at any point of it
	usleep(int(rand(1_500_000)));
	my $phase = sql($node, "SELECT phase FROM sweep.progress WHERE command = 'CLEAN' AND relname = 't'");
	my $victim = sql($node, "SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'");
	my $offset = -s $node->logfile;

	kill 'KILL', $victim;
	$crashed{ $phase || 'after the end' }++;
	log_poll_ok($node, qr/database system is ready to accept connections/, $offset, "crash $round: the server recovers");
	poll_until($node, 'SELECT launcher_pid IS NOT NULL FROM sweep.status') or die 'the launcher is not back';
	my $expected = sql($node, "SELECT count(*), sum(i) FROM generate_series(1, 60000) i WHERE i % 60 <> $round % 60");
	check_rows($node, 't', $expected, { t_id => 'id > 0', t_k => 'k > -1', t_s => "s >= ''" },
		"crash $round: the table and its indexes are sound and have the same rows");
}
note("$crashed{$_} x $_") for sort keys %crashed;

my ($rc, $out, $err) = $node->psql('postgres', 'VACUUM (VERBOSE, INDEX_CLEANUP on) t');
is($rc, 0, 'a vacuum removes what is left');
is(dead_items($node, 't'), 0, 'no item is dead');
is(sql($node, "SELECT count(*) FROM t"), sql($node, "SELECT count(DISTINCT id) FROM t"), 'no row is there twice');

$node->stop;
done_testing();
