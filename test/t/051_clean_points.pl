# The server crashes at each point of a clean-up where the state of its pages differs: before and
# after each page, leaf, index and commit. What was logged before is lost, or flushed, or a
# checkpoint has written it. Afterwards the table and its indexes are sound and have the same
# rows, and a vacuum removes what was left.
#
# The library is built with these points (cleaner/clean_point.c), and a worker loads that one.
#
# PG_SWEEP_CRASHES is how often (once at each point). Three times as often as there are points is
# each point in each of the three ways.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use CleanerTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;
use Time::HiRes qw(time usleep);

# Each point, in their order, and up to which time that a clean-up passes it.
my @points = (
	[ 'keys_computed', 10 ],
	[ 'page_pruned', 10 ],
	[ 'page_done', 10 ],
	[ 'entries_sorted', 3 ],
	[ 'leaf_done', 10 ],
	[ 'index_done', 3 ],
	[ 'indexes_done', 1 ],
	[ 'batch_made', 1 ],
	[ 'batch_committed', 1 ],
	[ 'page_before_recycling', 10 ],
	# a page is locked at these two
	[ 'page_not_logged', 10, 'locked' ],
	[ 'page_logged', 10, 'locked' ],
	[ 'page_recycled', 10 ],
	[ 'all_recycled', 1 ],
	[ 'space_known', 1 ],
	[ 'recycling_committed', 1 ]);
my @ways = ('kill', 'flush', 'checkpoint');
my $crashes = $ENV{PG_SWEEP_CRASHES} // scalar(@points);
my $rows = 4000;

# What is logged is not flushed by the way.
my $node = sweep_node('clean_points',
	install_path => install_cleaner(build_cleaner('points', '-DCLEAN_POINTS')),
	conf => <<'END');
sweep.cleaner = on
sweep.min_interval = 1h
log_autovacuum_min_duration = 0
autovacuum_vacuum_cost_delay = 0
wal_writer_delay = 10s
END
need_modules($node, 'amcheck', 'pageinspect');
sql($node, <<"END");
CREATE TABLE t (id int, k int, s text) WITH (autovacuum_enabled = off);
INSERT INTO t SELECT i, i % 100, md5(i::text) FROM generate_series(1, $rows) i;
CREATE INDEX t_id ON t (id);
CREATE INDEX t_k ON t (k);
CREATE INDEX t_s ON t (s);
VACUUM t;
END
my %condition = (t_id => 'id > 0', t_k => 'k > -1', t_s => "s >= ''");
# In each turn another twentieth of the rows is not there, all over the table.
my $turn = 0;

sub expected
{
	return sql($node, "SELECT count(*), sum(i) FROM generate_series(1, $rows) i WHERE hashint4extended(i, $turn) % 20 <> 0");
}

# Other rows are deleted, and the last ones come again. This is one transaction, or the second
# statement would prune what the first one has deleted.
sub more_dead
{
	$turn++;
	poll_until($node, 'SELECT count(*) = 0 FROM sweep.queue WHERE request_id IS NOT NULL') or die 'a clean-up does not end';
	sql($node, <<"END");
BEGIN;
INSERT INTO t SELECT i, i % 100, md5(i::text) FROM generate_series(1, $rows) i WHERE NOT EXISTS (SELECT FROM t WHERE id = i);
DELETE FROM t WHERE hashint4extended(id, $turn) % 20 = 0;
COMMIT;
END
	# a worker that looks at the catalogs just now may need what has died
	poll_until($node, 'SELECT count(*) = 0 FROM sweep_internal.get_horizon_holders()') or die 'somebody holds the horizon';
	return;
}

# Has a clean-up come to the point? It has not if an older transaction did not end in time.
sub comes_to_point
{
	my ($before) = @_;
	my $until = time + $PostgreSQL::Test::Utils::timeout_default / 3;

	# the server may crash before it answers
	eval { $node->psql('postgres', "SELECT sweep.clean('t', by_row => true)") };
	while (time < $until)
	{
		return 1 if point_is_passed($node);
		# it fails where the server has just crashed
		my $ended = eval { sql($node, "SELECT count(*) > 0 FROM sweep.runs WHERE run_id > $before AND command = 'CLEAN'") };
		return point_is_passed($node) if ($ended // '') eq 't';
		usleep(20_000);
	}
	return 0;
}

# Returns how many row pointers were dead before, or nothing if no clean-up has come there.
sub crash_at
{
	my ($point, $pass, $way) = @_;

	for my $try (1 .. 3)
	{
		more_dead();
		my $before = sql($node, 'SELECT coalesce(max(run_id), 0) FROM sweep.runs');
		my $dead = dead_items($node, 't');
		point_order($node, $point, $pass, $way);
		return $dead if comes_to_point($before);
		# there may have been fewer pages than that
		$pass = 1 + int($pass / 4);
	}
	return;
}

# ---- crashes

my %crashed;
# that were so after a crash, and not before the clean-up
my %dead;
for my $round (0 .. $crashes - 1)
{
	my ($point, $passes, $locked) = @{ $points[ $round % @points ] };
	my $way = $ways[ ($round + int($round / @points)) % @ways ];
	my $pass = 1 + int(rand($passes));
	my $offset = -s $node->logfile;

	# the checkpointer would wait for the page
	$way = 'flush' if $locked && $way eq 'checkpoint';
	my $name = "crash $round at $point, pass $pass, $way";

	my $dead = crash_at($point, $pass, $way) // die "$name: no clean-up has come there";
	log_poll_ok($node, qr/terminated by signal 9.*database system is ready to accept connections/s, $offset, "$name: the server recovers");
	# three crashes of our own processes switch pg_sweep off
	sql($node, 'SELECT sweep.rearm()');
	poll_until($node, 'SELECT launcher_pid IS NOT NULL FROM sweep.status') or die 'the launcher is not back';
	# before a scan prunes anything
	$dead{"$point $way"} = dead_items($node, 't') - $dead;
	check_rows($node, 't', expected(), \%condition, "$name: the table and its indexes are sound and have the same rows");
	$crashed{"$point $way"}++;
}
note("$crashed{$_} x $_, $dead{$_} more dead row pointers") for sort keys %crashed;
for my $point (qw(page_pruned leaf_done batch_committed))
{
	cmp_ok($dead{"$point $_"}, '>', 0, "a crash at $point, $_, has come into the middle")
	  for grep { exists $dead{"$point $_"} } qw(flush checkpoint);
}

# ---- a clean-up after all the crashes, and a vacuum

more_dead();
my $before = sql($node, 'SELECT coalesce(max(run_id), 0) FROM sweep.runs');
sql($node, "SELECT sweep.clean('t', by_row => true)");
is(poll_value($node, "SELECT outcome FROM sweep.runs WHERE run_id > $before AND command = 'CLEAN'"),
	'done', 'the table can still be cleaned');
check_rows($node, 't', expected(), \%condition, 'which leaves it sound');
sql($node, 'VACUUM (INDEX_CLEANUP on) t');
is(dead_items($node, 't'), 0, 'a vacuum leaves no dead item');
check_rows($node, 't', expected(), \%condition, 'and nothing else has changed');
is(sql($node, 'SELECT count(*) - count(DISTINCT id) FROM t'), 0, 'no row is there twice');
unlike(slurp_file($node->logfile), qr/PANIC|TRAP|signal (?!9:|3:)\d/, 'nothing has crashed otherwise');

$node->stop;
done_testing();
