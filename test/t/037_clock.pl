# The server's clock is set back, by minutes or by days. pg_sweep goes on as if it had not
# been. It waits no longer for anything than it would have, and keeps what users have
# said.
#
# sweep.debug_clock_offset sets the clock that pg_sweep sees.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

# the minimum interval of a minute takes six seconds
my $node = sweep_node('clock', conf => <<'END');
sweep.debug_clock_rate = 10
sweep.debug_clock_offset = '10 d'
autovacuum_vacuum_cost_delay = 0
END
poll_ok($node, 'SELECT rounds > 0 FROM sweep.status', 'the launcher works');

my $runs = "FROM sweep.runs WHERE outcome = 'done' AND started_by = 'sweep' AND relname";
my $offset = 864000;

garbage($node, 'postgres', $_) for qw(busy snoozed);
poll_ok($node, "SELECT count(*) = 1 $runs = '$_'", "$_ is vacuumed") for qw(busy snoozed);
sql($node, "SELECT sweep.snooze('snoozed', '40 seconds')");

for my $seconds (86400, 3600, 900)
{
	my $log = log_size($node);
	my $before = sql($node, "SELECT count(*) $runs = 'busy'");

	more_garbage($node, 'postgres', 'busy');
	$offset -= $seconds;
	reload_with($node, 'sweep.debug_clock_offset' => $offset);
	log_poll_ok($node, qr/LOG:  pg_sweep: the server's clock was set back by $seconds s/, $log, "$seconds s back: the log says so");
	rounds($node, 5);
	pass("$seconds s back: the launcher goes on");
	poll_ok($node, "SELECT count(*) > $before $runs = 'busy'", "$seconds s back: a table waits for its minimum interval and no longer");
	poll_ok($node, 'SELECT workers = 0 FROM sweep.status', "$seconds s back: a worker lingers, and leaves");
}

# What has been counted in the last hour and day stays there, and is not of the future.
poll_ok($node, "SELECT bool_and(t.vacuums = r.count)"
	  . " FROM sweep.totals t, (SELECT count(*) FROM sweep.runs WHERE command <> 'ANALYZE' AND started_by = 'sweep') r WHERE t.started_by = 'sweep'",
	'the totals of the hour, the day and of all time have all vacuums');
is(sql($node, "SELECT count(*) FROM sweep.history WHERE hour > clock_timestamp() + $offset * interval '1 second'"), '0', 'no hour begins in the future');

# An order of a user lasts as long as was said: not longer, and not shorter.
more_garbage($node, 'postgres', 'snoozed');
my $left = sql($node,
	"SELECT extract(epoch FROM not_before - clock_timestamp())::int - $offset FROM sweep.decisions WHERE relname = 'snoozed' AND decision = 'snoozed'");
cmp_ok($left eq '' ? 0 : $left, '<=', 40, 'a snooze does not get longer');
poll_ok($node, "SELECT count(*) = 2 $runs = 'snoozed'", 'it ends, and the table is vacuumed');

sql($node, q{SELECT sweep.hold('1 hour')});
reload_with($node, 'sweep.debug_clock_offset' => $offset - 86400);
poll_ok($node, "SELECT held_until < clock_timestamp() + ($offset - 86400 + 3610) * interval '1 second'"
	  . " AND held_until > clock_timestamp() + ($offset - 86400) * interval '1 second' FROM sweep.status",
	'a hold lasts as long as was said');
sql($node, "SELECT sweep.hold('0')");

# ---- a lower naptime does not wait for the old one

reload_with($node, 'sweep.naptime' => '1h');
poll_ok($node, 'SELECT naptime = 3600000 FROM sweep.status', 'a naptime of an hour');
my $rounds = status($node, 'rounds');
reload_with($node, 'sweep.naptime' => '100ms');
rounds($node, 10);
cmp_ok(status($node, 'rounds'), '>', $rounds, 'a lower sweep.naptime counts at once');

$node->stop;
done_testing();
