# A vacuum's first second, before the governor has seen it: it does not fill a slow disk's
# queue. The governor sleeps while there is no vacuum. Here it is stopped, which takes it
# longer still.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

# without the governor only the cost delay would hold it
my $node = sweep_node('first_second', conf => <<'END');
sweep.adaptive = on
autovacuum_vacuum_cost_delay = 0
END

# 31 MB with garbage in every page
sql($node, <<'END');
CREATE TABLE cold (id int, pad text) WITH (autovacuum_enabled = false);
ALTER TABLE cold ALTER pad SET STORAGE PLAIN;
INSERT INTO cold SELECT i, repeat('x', 1900) FROM generate_series(1, 16000) i;
DELETE FROM cold WHERE id % 4 = 0;
END
# nothing of it is in memory
$node->restart;
poll_until($node, 'SELECT launcher_pid IS NOT NULL AND rounds > 0 FROM sweep.status');
poll_until($node, "SELECT count(*) > 0 FROM sweep.budget WHERE detail IS DISTINCT FROM 'the governor is not running'");

my $governor = governor_pid($node);
ok($governor, 'the governor is a process');
# A vacuum while the governor is stopped: what it read, for how long, and how long it slept.
sub vacuum_unseen
{
	kill 'STOP', $governor;
	poll_ok($node, "SELECT bool_and(detail = 'the governor is not running') FROM sweep.budget", 'its last budget is too old');
	my $at = sql($node, "SELECT clock_timestamp() FROM sweep.vacuum('cold')");
	my $run = poll_value($node, "SELECT blks_read, extract(epoch FROM ended_at - started_at), delay_time FROM sweep.runs WHERE relname = 'cold' AND outcome = 'done' AND ended_at > '$at'");
	kill 'CONT', $governor;
	return split /\|/, $run;
}

my ($read, $took_s, $delay_ms) = vacuum_unseen();
cmp_ok($read, '>', 3000, 'the table was read');
# At 4 MB/s it is far from its end after a second. Not held, it takes a tenth of that.
cmp_ok($took_s, '>=', 0.8, 'it was held in its first second');
# its costs were the server's again when it ended, and those ask for no delay
cmp_ok($delay_ms, '>=', 500, 'and its record says so');

# ---- a limit holds from the beginning, too

sql($node, 'DELETE FROM cold WHERE id % 4 = 1');
$node->append_conf('postgresql.conf', "sweep.adaptive = off\nsweep.read_limit = 4");
$node->restart;
poll_until($node, "SELECT configured = 4 AND detail IS DISTINCT FROM 'the governor is not running' FROM sweep.budget WHERE name = 'read_limit'");
$governor = governor_pid($node);
($read, $took_s) = vacuum_unseen();
cmp_ok($read, '>', 3000, 'the table was read again');
cmp_ok($took_s, '>=', 0.8, 'a limit holds in the first second');

$node->stop;
done_testing();
