# A vacuum does not wait for pg_class at its end, where nobody could end it. Here somebody locks
# pg_class as VACUUM FULL does, just when the vacuum has updated its row.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;
use Time::HiRes qw(time usleep);

my $node = sweep_node('catalogs', conf => <<'END2');
sweep.mode = observe
END2

sql($node, 'CREATE ROLE reader; CREATE TABLE kept (i int)');
my $granter = session($node);
my $locker = session($node);
# all that is asked later has been asked before: nobody can read pg_class then
my $watch = q{SELECT count(*) FROM pg_locks WHERE relation = 1259 AND mode = 'AccessExclusiveLock' AND };
$granter->query_safe($_) for ("$watch granted", "$watch NOT granted", 'SELECT pg_terminate_backend(0) WHERE false',
	q{SELECT count(*) FROM pg_locks WHERE locktype = 'transactionid' AND NOT granted AND pid = 0});

for my $case ([ 'VACUUM', 'kept' ], [ 'ANALYZE', 'kept' ])
{
	my ($command, $table) = @$case;
	my $vacuumer = session($node);
	my $pid = $vacuumer->query_safe('SELECT pg_backend_pid()');

	$granter->query_safe("BEGIN; GRANT SELECT ON $table TO reader");
	$vacuumer->query_until(qr/begun/, "\\echo begun\n$command $table;\n");
	my $until = time + 60;
	usleep(50_000) until $granter->query_safe("SELECT count(*) FROM pg_locks WHERE locktype = 'transactionid' AND NOT granted AND pid = $pid") eq '1' || time > $until;
	$locker->query_until(qr/begun/, "\\echo begun\nBEGIN; LOCK TABLE pg_class IN ACCESS EXCLUSIVE MODE;\n");
	usleep(50_000) until $granter->query_safe("$watch NOT granted") eq '1' || time > $until;
	$granter->query_safe('COMMIT');
	usleep(50_000) until $granter->query_safe("$watch granted") eq '1' || time > $until;
	is($granter->query_safe("$watch granted"), '1', "$command: pg_class is locked when it has ended");
	$granter->query_safe("SELECT pg_terminate_backend($pid)");
	usleep(50_000) while process_exists($pid) && time < $until;
	ok(!process_exists($pid), '... and whoever is told to leave does');
	$locker->query_safe('COMMIT');
	eval { $vacuumer->quit };
	is(sql($node, "SELECT outcome, relname FROM sweep.runs WHERE relid = '$table'::regclass AND command = '$command'"), "done|$table", '... the run is recorded');
}

$_->quit for ($granter, $locker);
$node->stop;
done_testing();
