# Several workers: each table is vacuumed by one of them, no more than sweep.max_workers
# run at a time, and together they spend what one of them might.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

my $node = sweep_node('workers', conf => <<'END');
sweep.debug_clock_rate = 5
sweep.max_workers = 3
max_worker_processes = 12
autovacuum_max_workers = 1
autovacuum_vacuum_cost_delay = 10ms
autovacuum_vacuum_cost_limit = 300
END

# All become due in the same moment, because their database was excluded before.
sub due_at_once
{
	my ($dbname, $pages, @tables) = @_;

	reload_with($node, 'sweep.exclude_databases' => $dbname);
	rounds($node, 3);
	slow_table($node, $dbname, $_, pages => $pages, with => '') for @tables;
	reload_with($node, 'sweep.exclude_databases' => '');
	return;
}

my $ours = "FROM sweep.progress WHERE started_by = 'sweep' AND phase = 'scanning heap'";

# ---- one database

sql($node, 'CREATE DATABASE busy');
due_at_once('busy', 3000, map { "a$_" } 1 .. 5);
poll_ok($node, "SELECT count(*) = 3 $ours", 'three workers are in one database');
poll_ok($node,
	"SELECT count(*) = 3 AND sum(cost_limit) BETWEEN 270 AND 300 AND max(cost_limit) = 100 AND count(DISTINCT relname) = 3 AND count(DISTINCT pid) = 3 $ours",
	'each has a third of the cost limit, and a table of its own');
poll_ok($node, 'SELECT workers = 3 FROM sweep.status', 'sweep.status knows them');

# there are never more than three, nor two at one table
my ($most, $doubled) = (3, 0);
for (1 .. 1000)
{
	my ($all, $tables, $done) = split /\|/, sql($node, "SELECT count(*), count(DISTINCT (datid, relid)), (SELECT count(*) FROM sweep.runs"
		  . " WHERE relname ~ '^a[1-5]\$') FROM sweep.progress WHERE started_by = 'sweep' AND relid >= 16384");

	$most = $all if $all > $most;
	$doubled++ if $all > $tables;
	last if $done >= 5;
	select(undef, undef, undef, 0.02);
}
is($most, 3, 'never more than sweep.max_workers at a time');
is($doubled, 0, 'never two at one table');
poll_ok($node, "SELECT count(*) = 5 AND count(DISTINCT relname) = 5 FROM sweep.runs WHERE relname ~ '^a[1-5]\$' AND outcome = 'done'",
	'each table is vacuumed once');

# ---- the limit is shared out again when another begins or ends

sql($node, 'CREATE DATABASE quiet');
reload_with($node, 'autovacuum_vacuum_cost_limit' => 60);
due_at_once('quiet', 3000, 'long');
poll_ok($node, "SELECT count(*) = 1 AND max(cost_limit) = 60 $ours", 'a vacuum that is alone has all of it');
slow_table($node, 'busy', 'second', pages => 600, with => '');
poll_ok($node, "SELECT count(*) = 2 AND max(cost_limit) = 30 $ours", 'half of it when another begins, in another database too');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'second'", 'the other ends');
poll_ok($node, "SELECT count(*) = 1 AND max(cost_limit) = 60 $ours AND relname = 'long'", 'and all of it again after that');

# a table with cost settings of its own is not part of it
slow_table($node, 'busy', 'own', pages => 300, with => 'autovacuum_vacuum_cost_limit = 5');
poll_ok($node, "SELECT count(*) = 2 AND max(cost_limit) = 60 AND min(cost_limit) = 5 $ours", 'a table with its own cost limit does not count');
sql($node, 'DROP TABLE own', 'busy');
sql($node, 'DROP TABLE long', 'quiet');

# ---- fewer workers, after a reload

reload_with($node, 'sweep.max_workers' => 1, 'autovacuum_vacuum_cost_limit' => 300);
poll_ok($node, 'SELECT max_workers = 1 AND workers = 0 FROM sweep.status', 'sweep.max_workers is 1 now');
due_at_once('busy', 1000, map { "b$_" } 1 .. 3);
poll_ok($node, "SELECT count(*) = 3 FROM sweep.runs WHERE relname ~ '^b[1-3]\$' AND outcome = 'done'", 'three tables are vacuumed');
is( sql($node, q{SELECT count(*) FROM sweep.runs x JOIN sweep.runs y ON x.run_id < y.run_id AND x.started_at < y.ended_at AND y.started_at < x.ended_at}
	  . q{ WHERE x.relname ~ '^b[1-3]$' AND y.relname ~ '^b[1-3]$'}),
	'0', 'one at a time');

# the most urgent first
reload_with($node, 'sweep.exclude_databases' => 'busy');
rounds($node, 3);
garbage($node, 'busy', "urgent$_", rows => 1000, dead => 150 * $_) for (2, 4, 1, 5, 3);
reload_with($node, 'sweep.exclude_databases' => '');
poll_ok($node, "SELECT count(*) = 5 FROM sweep.runs WHERE relname LIKE 'urgent%'", 'five tables of different urgency');
is(sql($node, "SELECT string_agg(relname, ' ' ORDER BY started_at) FROM sweep.runs WHERE relname LIKE 'urgent%'"),
	'urgent5 urgent4 urgent3 urgent2 urgent1', 'the most urgent first');

# ---- core's workers take all of the limit (their only one is busy elsewhere, and leaves us our table)

sql($node, 'CREATE DATABASE cores');
reload_with($node, 'sweep.exclude_databases' => 'cores', 'sweep.max_workers' => 3, 'autovacuum' => 'on', 'autovacuum_naptime' => '1s',
	'autovacuum_vacuum_cost_limit' => 60);
slow_table($node, 'cores', 'by_core', pages => 3000, with => '');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.progress WHERE started_by = 'autovacuum' AND datname = 'cores' AND phase = 'scanning heap'",
	'autovacuum vacuums a table');
slow_table($node, 'busy', 'beside_core', pages => 3000, with => '');
poll_ok($node, "SELECT count(*) = 1 AND max(cost_limit) BETWEEN 1 AND 15 $ours AND relname = 'beside_core'",
	'a vacuum of ours beside it has what that leaves of the cost limit');
is(sql($node, "SELECT sum(cost_limit) <= 70 FROM sweep.progress WHERE relname IN ('by_core', 'beside_core')"), 't', 'so both together have the limit');
# what they spend, when 60 are allowed every 10 ms
my $both = "SELECT extract(epoch FROM clock_timestamp()) || ' ' || sum(cost) FROM sweep.progress WHERE relname IN ('by_core', 'beside_core')"
	  . " HAVING count(*) = 2";
my ($at, $cost) = split / /, poll_value($node, $both);
my ($later, $more) = split / /, poll_value($node, "SELECT * FROM ($both) b (t) WHERE split_part(t, ' ', 1)::float8 > $at + 4");
# (70 in the line above, and a tick's error at both ends)
cmp_ok(($more - $cost) / ($later - $at), '<', 1.2 * 6000, 'and spend no more');
cmp_ok(sql($node, q{SELECT cost FROM sweep.progress WHERE relname = 'beside_core'}), '>', 0, 'ours is not starved');
sql($node, 'DROP TABLE by_core', 'cores');
reload_with($node, 'autovacuum' => 'off');
poll_ok($node, "SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type LIKE 'autovacuum%'", 'autovacuum is gone');
poll_ok($node, "SELECT count(*) = 1 AND max(cost_limit) = 60 $ours AND relname = 'beside_core'", 'and then all of it');
sql($node, 'DROP TABLE beside_core', 'busy');
reload_with($node, 'sweep.exclude_databases' => '', 'sweep.max_workers' => 1, 'autovacuum_vacuum_cost_limit' => 300);

# ---- a worker that has nothing left to do does not keep others from theirs

reload_with($node, 'sweep.debug_linger' => '1h');
garbage($node, 'busy', 'stays', rows => 1000, dead => 500);
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'stays'", 'a worker has vacuumed a table');
my $stays = sql($node, "SELECT pid FROM sweep.runs WHERE relname = 'stays'");
poll_ok($node, "SELECT count(*) >= 1 FROM pg_stat_activity WHERE backend_type = 'sweep worker' AND state = 'idle'", 'and stays');
# a catalog of another database may be due just then and take its place, so try again
my $reused = 0;
for my $n (1 .. 5)
{
	garbage($node, 'busy', "again$n", rows => 1000, dead => 500);
	poll_ok($node, "SELECT count(*) >= 1 FROM sweep.runs WHERE relname = 'again$n'", 'another table of its database is vacuumed');
	my $pid = sql($node, "SELECT pid FROM sweep.runs WHERE relname = 'again$n' LIMIT 1");
	$reused = $pid == $stays;
	$stays = $pid;
	last if $reused;
}
ok($reused, 'by the worker that was there');
garbage($node, 'quiet', 'elsewhere', rows => 1000, dead => 500);
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'elsewhere' AND pid <> $stays", 'it leaves when its place is wanted elsewhere');
ok(!process_exists($stays), 'it has gone');
poll_ok($node, "SELECT last_visit IS NOT NULL FROM sweep.databases WHERE datname = 'quiet'", 'sweep.databases knows of the visit');

# ---- none of which leaves anything but a LOG line at a shutdown

# Lingering workers are stopped, too. A worker that is only starting is not, and says so.
sql($node, 'SELECT sweep.hold()');
poll_ok($node, "SELECT coalesce(bool_and(state IS NOT DISTINCT FROM 'idle'), true) FROM pg_stat_activity WHERE backend_type = 'sweep worker'",
	'no worker has anything to do');
my $offset = log_size($node);
$node->stop('fast');
# a session of this test may not have noticed yet that its client has gone
unlike(join("\n", grep { !/ 012_workers\.pl / } split /\n/, log_since($node, $offset)), qr/FATAL|WARNING|ERROR/, 'a shutdown is quiet');

done_testing();
