# Steering: a running vacuum changes its pace within a second or so, both ways, and has its
# own costs back after a release, a reload, the end of the steering session, mode off. What
# is against wraparound is never steered.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;
use Time::HiRes qw(time usleep);

my $node = sweep_node('steer', conf => <<'END');
sweep.max_workers = 2
max_worker_processes = 12
autovacuum_vacuum_cost_delay = 2ms
autovacuum_vacuum_cost_limit = 40
autovacuum_naptime = 1s
END
my $core_can = major($node) >= 17;

sub pid_of
{
	my ($table) = @_;

	return poll_value($node, "SELECT pid FROM sweep.progress WHERE relname = '$table' AND phase = 'scanning heap' AND read_mb_per_s IS NOT NULL LIMIT 1");
}

# Pages that a vacuum has dealt with so far.
sub pages
{
	my ($pid) = @_;

	return sql($node, "SELECT coalesce(max(blks_hit + blks_read), 0) FROM sweep.progress WHERE pid = $pid");
}

# Is that process's pace, from some moment within a second on, between the two (pages/s)?
sub pace_ok
{
	my ($pid, $least, $most, $name) = @_;
	my $until = time + within(6);
	my @seen;

	do
	{
		my ($begin, $before) = (time, pages($pid));

		usleep(500_000);
		my $rate = (pages($pid) - $before) / (time - $begin);

		push @seen, sprintf('%.0f', $rate);
		return pass($name) if $rate >= $least && $rate <= $most;
	} while (time < $until);
	fail($name);
	diag("pages per second: @seen");
	return 0;
}

# A table of many pages (40,000) with a dead row on each, of which a vacuum would have for long.
sub big_table
{
	my ($table, $with, $pages) = @_;

	$pages //= 40000;

	sql($node, <<"END");
BEGIN;
CREATE TABLE $table (id int, pad text) WITH (fillfactor = 10, autovacuum_enabled = @{[ $with // 'false' ]});
ALTER TABLE $table ALTER pad SET STORAGE PLAIN;
INSERT INTO $table SELECT i, repeat('x', 700) FROM generate_series(1, $pages) i;
UPDATE $table SET id = -id;
COMMIT;
CHECKPOINT;
END
	return;
}

sub applied
{
	my ($pid) = @_;

	return sql($node, "SELECT coalesce(cost_limit, 0) || '/' || coalesce(cost_delay, 0) FROM sweep.progress WHERE pid = $pid");
}

# ---- a worker of ours

big_table('own', 'false', 80000);
sql($node, "SELECT sweep.vacuum('own')");
my $pid = pid_of('own');
my $before = applied($pid);

is($before, '40/2', 'its own costs at first');
my $session = session($node);
is($session->query_safe("SELECT sweep.slow($pid, 0.5)"), 't', 'it is slowed down');
pace_ok($pid, 20, 200, 'to half a MB of dirtied pages per second');
poll_ok($node, "SELECT limited_by = 'sweep.slow()' FROM sweep.progress WHERE pid = $pid", 'sweep.progress says so');
# at once, because it would soon have ended
is($session->query_safe(<<"END"), "t\nt", 'hurried, it takes no naps; slowed again');
SELECT sweep.hurry($pid);
DO \$\$
BEGIN
	FOR i IN 1 .. 6000 LOOP
		IF (SELECT coalesce(cost_delay, 0) = 0 FROM sweep.progress WHERE pid = $pid) THEN RETURN; END IF;
		PERFORM pg_sleep(0.01);
	END LOOP;
	RAISE 'it still takes naps';
END \$\$;
SELECT sweep.slow($pid, 1);
END
poll_ok($node, "SELECT cost_delay > 0 FROM sweep.progress WHERE pid = $pid", 'and back');
is($session->query_safe("SELECT sweep.release($pid)"), 't', 'released');
poll_ok($node, "SELECT cost_limit || '/' || cost_delay = '$before' FROM sweep.progress WHERE pid = $pid", 'its own costs again');
is($session->query_safe("SELECT sweep.release($pid)"), 'f', 'there is nothing to release any more');

# without a limit, as `<` in pgsweep top: half of what it reads, dirties and logs
my $total = "SELECT read_mb_per_s + dirty_mb_per_s + wal_mb_per_s FROM sweep.progress WHERE pid = $pid";
my $rate = 0;
for (1 .. 200)
{
	my $now = poll_value($node, "SELECT t FROM ($total) AS r (t) WHERE t > 5");

	# it is an average, which has to forget how it hurried
	last if $rate > 0 && abs($now / $rate - 1) < 0.3;
	$rate = $now;
	usleep(2_000_000);
}
is($session->query_safe("SELECT sweep.slow($pid)"), 't', "slowed down from $rate MB/s, without a limit");
poll_ok($node, "SELECT t < 0.75 * $rate AND t > 0.2 * $rate FROM ($total) AS r (t)", 'to about half of what it did');
$session->query_safe("SELECT sweep.release($pid)");

# ---- the steering session ends

$session->query_safe("SELECT sweep.slow($pid, 0.5)");
poll_ok($node, "SELECT limited_by = 'sweep.slow()' FROM sweep.progress WHERE pid = $pid", 'slowed down once more');
$session->quit;
poll_ok($node, "SELECT cost_limit || '/' || cost_delay = '$before' FROM sweep.progress WHERE pid = $pid", 'the end of the steering session releases it');

# ---- the governor does not answer any more: what it has published is not believed for long

$session = session($node);
$session->query_safe("SELECT sweep.slow($pid, 0.5)");
poll_ok($node, "SELECT limited_by = 'sweep.slow()' FROM sweep.progress WHERE pid = $pid", 'slowed down, and the governor runs');
my $governor = governor_pid($node);
ok($governor, 'the governor is a process');
kill 'STOP', $governor;
my $deaf_s = seconds(sub { poll_until($node, "SELECT cost_limit || '/' || cost_delay = '$before' FROM sweep.progress WHERE pid = $pid") });
cmp_ok($deaf_s, '<', within(5), 'it is stopped: the vacuum has its own costs within seconds');
is(sql($node, q{SELECT DISTINCT detail FROM sweep.budget}), 'the governor is not running', 'sweep.budget says so');
my (undef, undef, $why) = $node->psql('postgres', "SELECT sweep.slow($pid)");
like($why, qr/the governor of pg_sweep is not running/, 'and so does sweep.slow()');
kill 'CONT', $governor;
poll_ok($node, "SELECT limited_by = 'sweep.slow()' FROM sweep.progress WHERE pid = $pid", 'it goes on: slow again');
$session->quit;
poll_ok($node, "SELECT cost_limit || '/' || cost_delay = '$before' FROM sweep.progress WHERE pid = $pid", 'and released');

# ---- a pause, and somebody who waits for the table

$session = session($node);
$session->query_safe("SELECT sweep.slow($pid, 0)");
pace_ok($pid, 0, 40, 'a pause');
my $waiter = session($node);
$waiter->query_until(qr/waits/, "\\echo waits\nLOCK TABLE own IN SHARE UPDATE EXCLUSIVE MODE NOWAIT;\nBEGIN; LOCK TABLE own IN SHARE UPDATE EXCLUSIVE MODE;\n");
poll_ok($node, "SELECT cost_limit || '/' || cost_delay = '$before' FROM sweep.progress WHERE relname = 'own' UNION ALL SELECT true FROM sweep.runs"
	  . " WHERE relname = 'own' LIMIT 1",
	'it ends when somebody waits for the table');
$session->quit;
sql($node, "SELECT pg_cancel_backend($pid)");
$waiter->quit;

# ---- a VACUUM command, which takes no naps by itself

big_table('manual');
my $manual = session($node);
$manual->query_until(qr/started/, "\\echo started\nSET vacuum_cost_delay = '2ms'; VACUUM manual;"
	  . " SELECT 'limit ' || current_setting('vacuum_cost_limit') || ' delay ' || current_setting('vacuum_cost_delay');\n");
$pid = pid_of('manual');
$session = session($node);
$session->query_safe("SELECT sweep.slow($pid, 1)");
pace_ok($pid, 60, 400, 'a VACUUM command is slowed down');
reload_with($node, 'vacuum_cost_limit' => 300);
pace_ok($pid, 60, 400, 'a reload does not change that');
$session->query_safe("SELECT sweep.hurry($pid)");
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'manual' AND outcome = 'done'", 'hurried, it ends');
like($manual->query('SELECT current_setting(\'vacuum_cost_limit\') || current_setting(\'vacuum_cost_delay\')'), qr/(200|300)2ms$/,
	'its settings are what they were');
$session->quit;

# an error, too, leaves them as they were
big_table('fails');
$manual->query_until(qr/started/, "\\echo started\nVACUUM fails;\n");
$pid = pid_of('fails');
$session = session($node);
$session->query_safe("SELECT sweep.slow($pid, 0.5)");
poll_ok($node, "SELECT limited_by = 'sweep.slow()' FROM sweep.progress WHERE pid = $pid", 'another is slowed down');
sql($node, "SELECT pg_cancel_backend($pid)");
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'fails' AND outcome = 'cancelled'", 'and cancelled');
like($manual->query('SELECT current_setting(\'vacuum_cost_limit\') || current_setting(\'vacuum_cost_delay\')'), qr/(200|300)2ms$/,
	'its settings are what they were after an error');

# ---- a parallel VACUUM: its workers keep to it, too

sql($node, <<'END');
CREATE TABLE parallel (a int, b int, c int, d int) WITH (autovacuum_enabled = false);
INSERT INTO parallel SELECT i, i, i, i FROM generate_series(1, 400000) i;
CREATE INDEX ON parallel (a);
CREATE INDEX ON parallel (b);
CREATE INDEX ON parallel (c);
CREATE INDEX ON parallel (d);
DELETE FROM parallel WHERE a % 3 = 0;
CHECKPOINT;
END
reload_with($node, min_parallel_index_scan_size => 0, max_parallel_maintenance_workers => 2, 'sweep.steer' => 'manual', 'sweep.adaptive' => 'off',
	'sweep.write_limit' => 4);
poll_ok($node, q{SELECT configured = 4 FROM sweep.budget WHERE name = 'write_limit'}, 'a limit');
$manual->query_until(qr/started/, "\\echo started\nSET vacuum_cost_delay = 0;\nVACUUM (PARALLEL 2) parallel;\nSET vacuum_cost_delay = '2ms';\n");
my ($at, $dirtied) = split /\|/, poll_value($node, q{SELECT clock_timestamp(), blks_dirtied FROM sweep.progress l}
	  . q{ WHERE relname = 'parallel' AND leader_pid IS NULL AND EXISTS (SELECT FROM sweep.progress WHERE leader_pid = l.pid)});
isnt($at, undef, 'a VACUUM command with parallel workers');
poll_ok($node, q{SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'parallel' AND outcome = 'done'}, 'it ends');
my $mb_s = sql($node, "SELECT (blks_dirtied - $dirtied) / 128.0 / EXTRACT(epoch FROM ended_at - '$at') FROM sweep.runs WHERE relname = 'parallel'");
# It is measured from there on, because the leader is free for its first tick before. Not paced
# at all they make a hundred and more.
cmp_ok($mb_s, '<', 6, "together with their leader they keep the limit of 4 MB/s ($mb_s)");
cmp_ok($mb_s, '>', 1.5, 'and use it');
reload_with($node, 'sweep.steer' => 'none', 'sweep.write_limit' => 0);

# ---- and so do workers that begin after it was steered

sql($node, 'DELETE FROM parallel WHERE a % 3 = 1; CHECKPOINT');
# a page that it has to wait for, after all that it has to do in the table
my $pinning = session($node);
$pinning->query_safe("BEGIN; DECLARE c CURSOR FOR SELECT * FROM parallel WHERE a = 399998; FETCH 1 FROM c");
$manual->query_until(qr/started/, "\\echo started\nSET vacuum_cost_delay = 0;\nVACUUM (FREEZE, PARALLEL 2) parallel;\nSET vacuum_cost_delay = '2ms';\n");
$pid = pid_of('parallel');
# naps that we switch on and off are not the server's failsafe, which switches them off, too
for my $how ("slow($pid, 3)", "release($pid)")
{
	my $now = sql($node, 'SELECT now()');

	is($session->query_safe("SELECT sweep.$how"), 't', $how);
	poll_ok($node, "SELECT count(*) >= 12 FROM sweep.governor WHERE at > '$now'", '... and it has looked at that');
}
is($session->query_safe("SELECT sweep.slow($pid, 3)"), 't', 'it can be slowed again');
$pinning->query_safe('COMMIT');
my $worker;
($worker, $at, $dirtied) = split /\|/, poll_value($node, q{SELECT w.pid, clock_timestamp(), l.blks_dirtied FROM sweep.progress l JOIN sweep.progress w ON w.leader_pid = l.pid}
	  . q{ WHERE l.relname = 'parallel' LIMIT 1});
poll_ok($node, "SELECT limited_by = 'sweep.slow()' FROM sweep.progress WHERE pid = $worker", 'its worker is slowed as well');
is($session->query_safe("SELECT sweep.slow($worker, 3)"), 't', 'who names a worker means all of the vacuum');
poll_ok($node, q{SELECT count(*) = 2 FROM sweep.runs WHERE relname = 'parallel' AND outcome = 'done'}, 'it ends');
$mb_s = sql($node, "SELECT (blks_dirtied - $dirtied) / 128.0 / EXTRACT(epoch FROM ended_at - '$at') FROM sweep.runs WHERE relname = 'parallel' ORDER BY run_id DESC LIMIT 1");
cmp_ok($mb_s, '<', 4.5, "together they keep to 3 MB/s ($mb_s)");
$pinning->quit;

# ---- off

$manual->query_until(qr/started/, "\\echo started\nVACUUM fails;\n");
$pid = pid_of('fails');
$session->query_safe("SELECT sweep.slow($pid, 0.5)");
poll_ok($node, "SELECT limited_by = 'sweep.slow()' FROM sweep.progress WHERE pid = $pid", 'slowed down');
reload_with($node, 'sweep.mode' => 'off');
my $took = seconds(sub { poll_until($node, "SELECT count(*) = 0 FROM pg_stat_progress_vacuum WHERE pid = $pid AND heap_blks_scanned < heap_blks_total") });
cmp_ok($took, '<', within(15), 'off: the vacuum goes on at its own pace');
my ($rc, $out, $err) = $node->psql('postgres', "SELECT sweep.slow($pid)");
like($err, qr/pg_sweep is off/, 'and nobody is steered');
$manual->quit;
$session->quit;
reload_with($node, 'sweep.mode' => 'act');
poll_ok($node, "SELECT count(*) > 0 FROM sweep.budget WHERE detail IS DISTINCT FROM 'the governor is not running'", 'act again');

# ---- core's worker

reload_with($node, 'sweep.exclude_databases' => '*', autovacuum => 'on', autovacuum_vacuum_cost_limit => 200);
big_table('core', 'true');
$pid = pid_of('core');
if ($core_can)
{
	poll_ok($node, "SELECT sweep.slow($pid, 0.5)", 'a core worker can be steered');
	$session = session($node);
	$session->query_safe("SELECT sweep.slow($pid, 0.5)");
	pace_ok($pid, 20, 250, 'it is slow');
	$session->query_safe("SELECT sweep.hurry($pid)");
	poll_ok($node, "SELECT count(*) >= 1 FROM sweep.runs WHERE relname = 'core' AND outcome = 'done'", 'and it ends, hurried');
	$session->quit;
}
else
{
	($rc, $out, $err) = $node->psql('postgres', "SELECT sweep.slow($pid, 0.5)");
	like($err, qr/cannot be steered on this version/, 'a core worker of 15 cannot be steered');
}
reload_with($node, autovacuum => 'off', 'sweep.exclude_databases' => '');

# ---- nothing to steer

poll_ok($node, "SELECT bool_and(detail IS DISTINCT FROM 'the governor is not running') FROM sweep.budget", 'the governor runs');
($rc, $out, $err) = $node->psql('postgres', 'SELECT sweep.slow(pg_backend_pid()), sweep.hurry(1), sweep.release(1)');
is($out, 'f|f|f', 'a process without a vacuum');
like($err, qr/is not running a vacuum/, 'is said');
($rc, $out, $err) = $node->psql('postgres', "SELECT sweep.slow(1, -1)");
like($err, qr/write_limit must be between 0/, 'a limit that is none');

# ---- against wraparound: whoever comes first, the command or core's worker, it is not slowed

$node->append_conf('postgresql.conf', "autovacuum_freeze_max_age = 100000\nsweep.exclude_databases = '*'\n");
sql($node, 'ALTER SYSTEM RESET ALL');
$node->restart;
sql($node, <<'END');
CREATE PROCEDURE use_up(n int) LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1 .. n LOOP
		PERFORM pg_current_xact_id();
		COMMIT;
	END LOOP;
END $$;
END
big_table('wrap');
sql($node, 'CALL use_up(101000)');
$manual = session($node);
$manual->query_until(qr/started/, "\\echo started\nSET vacuum_cost_delay = '2ms'; VACUUM wrap;\n");
$pid = pid_of('wrap');
for my $function ("slow($pid, 0.5)", "hurry($pid)")
{
	($rc, $out, $err) = $node->psql('postgres', "SELECT sweep.$function");
	like($err, qr/is preventing transaction ID wraparound/, "$function is refused");
}
sql($node, "SELECT pg_cancel_backend($pid)");
$manual->quit;

done_testing();
