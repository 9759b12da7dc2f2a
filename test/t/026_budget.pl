# A budget: limits in MB/s are kept by counters that are not ours, divided between vacuums
# that run at a time, and bind nobody in the mode observe or who was not asked. Not adaptive
# but where it says so: the questions of the test are users, too.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;
use Time::HiRes qw(time usleep);

my $node = sweep_node('budget', conf => <<'END');
sweep.max_workers = 3
max_worker_processes = 12
autovacuum_vacuum_cost_delay = 20ms
autovacuum_vacuum_cost_limit = 20
END

my $running = 'FROM sweep.progress WHERE leader_pid IS NULL AND phase = \'scanning heap\'';

# A table of so many MB, with garbage on each page. Only what is asked for vacuums it.
sub table_of
{
	my ($table, $mb) = @_;
	my $rows = $mb * 128 * 4;

	sql($node, <<"END");
CREATE TABLE $table (id int, pad text) WITH (autovacuum_enabled = false);
ALTER TABLE $table ALTER pad SET STORAGE PLAIN;
BEGIN;
INSERT INTO $table SELECT i, repeat('x', 1900) FROM generate_series(1, $rows) i;
DELETE FROM $table WHERE id % 4 = 0;
COMMIT;
CHECKPOINT;
END
	return;
}

sub lsn_and_time { return split /\|/, sql($node, "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0'), extract(epoch FROM clock_timestamp())") }

# Written to data files by everybody, in bytes.
sub written
{
	sql($node, 'CHECKPOINT');
	return sql($node, <<'END') if major($node) >= 16;
SELECT sum(coalesce((to_jsonb(s) ->> 'write_bytes')::numeric, writes * (to_jsonb(s) ->> 'op_bytes')::numeric)) FROM pg_stat_io s WHERE object = 'relation'
END
	return sql($node, 'SELECT 8192 * (buffers_checkpoint + buffers_clean + buffers_backend) FROM pg_stat_bgwriter');
}

sub settled_written
{
	my ($last, $now) = (-1, written());

	while ($now != $last)
	{
		usleep(600_000);
		($last, $now) = ($now, written());
	}
	return $now;
}

# ---- a limit on what is written

my $mb = 1024 * 1024;

# MB/s of a vacuum over ten seconds.
sub write_rate
{
	my ($table) = @_;

	table_of($table, 140);
	my $before = settled_written();
	sql($node, "SELECT sweep.vacuum('$table')");
	my $pid = poll_value($node, "SELECT pid $running AND relname = '$table'");
	usleep(10_000_000);
	sql($node, "SELECT pg_cancel_backend($pid)");
	my $took = poll_value($node, "SELECT extract(epoch FROM ended_at - started_at) FROM sweep.runs WHERE relname = '$table' AND outcome = 'cancelled'");
	my $written = settled_written() - $before;
	sql($node, "DROP TABLE $table");
	return $written / $took / $mb;
}

# The rate is never above the limit. It is below it only when the machine does something else
# for so long, which does not happen each time.
sub limit_kept
{
	my ($limit, $name, $rate_of) = @_;
	my @rates;

	for my $i (1 .. 3)
	{
		push @rates, $rate_of->($i);
		last if $rates[-1] > 0.9 * $limit;
	}
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	ok($rates[-1] > 0.9 * $limit && !(grep { $_ >= 1.1 * $limit } @rates), $name) or diag("MB/s: @rates");
	return;
}

reload_with($node, 'sweep.write_limit' => 8);
limit_kept(8, 'write_limit = 8 is kept', sub { return write_rate("w$_[0]") });

# ---- on WAL, with full-page images, and what says so

reload_with($node, 'sweep.write_limit' => 0, 'sweep.wal_limit' => 6);
table_of('l', 300);
sql($node, "SELECT sweep.vacuum('l')");
poll_ok($node, "SELECT limited_by = 'wal_limit' $running AND relname = 'l'", 'sweep.progress names the limit');
poll_ok($node, "SELECT configured = 6 AND measured BETWEEN 4 AND 8 AND binding AND sensor <> 'broken' FROM sweep.budget WHERE name = 'wal_limit'",
	'sweep.budget shows it');
poll_ok($node, "SELECT count(*) = 3 AND count(*) FILTER (WHERE configured IS NULL) = 2 AND array_agg(name) FILTER (WHERE binding) = '{wal_limit}'"
	  . " FROM sweep.budget WHERE name IN ('read_limit', 'write_limit', 'wal_limit')",
	'and only it');
poll_ok($node, "SELECT count(*) > 4 AND bool_and(vacuums = 1) FROM (SELECT * FROM sweep.governor ORDER BY at DESC LIMIT 8) g",
	'sweep.governor shows its steps');
limit_kept(6, 'wal_limit = 6 is kept', sub {
	my ($lsn, $at) = lsn_and_time();

	usleep(6_000_000);
	my ($now, $later) = lsn_and_time();
	return ($now - $lsn) / ($later - $at) / $mb;
});

# ---- two share it, and when one has ended the other has all

table_of('m', 40);
sql($node, "SELECT sweep.vacuum('m')");
poll_ok($node, "SELECT count(*) = 2 AND bool_and(wal_mb_per_s BETWEEN 1.5 AND 4.5) $running", 'two share it');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'm' AND outcome = 'done'", 'one ends');
poll_ok($node, "SELECT wal_mb_per_s BETWEEN 5 AND 7.5 $running AND relname = 'l'", 'the other has all again');

# ---- a limit that is changed, or taken away

reload_with($node, 'sweep.wal_limit' => 2);
poll_ok($node, "SELECT wal_mb_per_s BETWEEN 1.2 AND 2.6 $running AND relname = 'l'", 'a lower limit');
reload_with($node, 'sweep.wal_limit' => 0, 'sweep.adaptive' => 'on');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'l' AND outcome = 'done'", 'adaptive, without a limit: not by the cost settings',
	timeout => 240);

# ---- commands are not asked, unless sweep.steer says so

reload_with($node, 'sweep.write_limit' => 2);
table_of('by_hand', 60);
my $session = session($node);
my $seconds = seconds(sub { $session->query_safe('VACUUM by_hand') });
cmp_ok($seconds, '<', within(12), 'a VACUUM command does not keep the budget');
reload_with($node, 'sweep.steer' => 'manual');
table_of('by_hand2', 60);
$session->query_until(qr/begun/, "\\echo begun\nVACUUM by_hand2;\n");
poll_ok($node, "SELECT dirty_mb_per_s BETWEEN 1.2 AND 2.7 AND limited_by = 'write_limit' $running AND relname = 'by_hand2'", 'with sweep.steer = manual it does');

# ---- observe binds nobody

reload_with($node, 'sweep.mode' => 'observe');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'by_hand2' AND outcome = 'done'", 'in the mode observe nobody is bound');
is($session->query("SELECT current_setting('vacuum_cost_delay')"), '0', 'its settings are what they were');
$session->quit;
poll_ok($node, "SELECT count(*) = 0 FROM sweep.budget WHERE detail = 'the governor is not running'", 'the governor goes on looking');

# ---- and off ends it

reload_with($node, 'sweep.mode' => 'off');
poll_ok($node, "SELECT bool_and(detail = 'the governor is not running') FROM sweep.budget", 'off: it does not');

done_testing();
