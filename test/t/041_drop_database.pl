# The owner of a database, who is no superuser, can always drop it WITH (FORCE), whether a
# worker of ours vacuums there, lingers, or is just connecting. In the mode observe none
# lingers.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

my $node = sweep_node('drop', conf => <<'END');
sweep.naptime = 100ms
sweep.max_workers = 4
sweep.debug_linger = 100s
autovacuum_vacuum_cost_delay = 0
max_worker_processes = 16
END

sql($node, 'CREATE ROLE alice LOGIN CREATEDB; CREATE ROLE mallory LOGIN; CREATE ROLE bob LOGIN CREATEDB; GRANT bob, pg_checkpoint TO alice');
my @failed;

# What is the role told when it says that? '' if it may.
sub as
{
	my ($role, $command) = @_;
	my ($rc, undef, $err) = $node->psql('postgres', $command, extra_params => [ '-U', $role ]);

	return $rc == 0 ? '' : $err =~ s/\n.*//sr;
}

# A session that has just been left may still be there. Were it a superuser's, the owner could
# not end it.
sub by_alice
{
	my ($make, @args) = @_;

	local $ENV{PGUSER} = 'alice';
	$make->(@args);
	return;
}

sub drop
{
	my ($dbname) = @_;
	my $error = as('alice', "DROP DATABASE $dbname WITH (FORCE)");

	push @failed, "$dbname: $error" if $error ne '';
	return;
}

sub is_idle_in
{
	my ($dbname) = @_;

	return "SELECT count(*) = 1 FROM pg_stat_activity WHERE backend_type = 'sweep worker' AND datname = '$dbname' AND state = 'idle'"
	  . " AND EXISTS (SELECT FROM sweep.runs WHERE datname = '$dbname' AND started_by = 'sweep')";
}

# ---- act: a worker vacuums there, or comes just then

my $met = 0;
for my $i (1 .. 20)
{
	die if as('alice', "CREATE DATABASE d$i") ne '';
	if ($i % 4 != 0)
	{
		by_alice(\&slow_table, $node, "d$i", 'slow');
		$met += poll_until($node, "SELECT count(*) = 1 FROM sweep.progress WHERE datname = 'd$i' AND started_by = 'sweep'");
	}
	else
	{
		by_alice(\&garbage, $node, "d$i", 'quick');
	}
	drop("d$i");
}
is(join("\n", @failed), '', 'act: DROP DATABASE WITH (FORCE) by the owner succeeds 20 times');
is($met, 15, 'act: a worker vacuumed in most of them');

# ---- act: it lingers

die if as('alice', 'CREATE DATABASE lingered') ne '';
garbage($node, 'lingered', 'quick');
poll_ok($node, is_idle_in('lingered'), 'a worker lingers');

my $worker = sql($node, "SELECT pid FROM pg_stat_activity WHERE backend_type = 'sweep worker' AND datname = 'lingered'");
like(as('mallory', "SELECT pg_terminate_backend($worker)"), qr/ERROR: /, 'others may not end a worker there');
like(as('mallory', 'DROP DATABASE lingered WITH (FORCE)'), qr/must be owner of database/, 'nor drop the database');
is(sql($node, "SELECT count(*) FROM pg_stat_activity WHERE pid = $worker"), '1', 'the worker is still there');
is(as('alice', 'DROP DATABASE lingered WITH (FORCE)'), '', 'act: the owner drops it while a worker lingers there');

# ---- act: another owner

die if as('alice', 'CREATE DATABASE given') ne '';
garbage($node, 'given', 'quick');
poll_ok($node, is_idle_in('given'), 'a worker lingers in a database');
is(as('alice', 'ALTER DATABASE given OWNER TO bob'), '', 'which is given to somebody else');
slow_table($node, 'given', 'slow');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.progress WHERE relname = 'slow' AND started_by = 'sweep'", 'it vacuums again');
is(as('bob', 'DROP DATABASE given WITH (FORCE)'), '', 'act: the new owner drops it');

# ---- observe: nobody lingers

reload_with($node, 'sweep.mode' => 'observe');
poll_ok($node, "SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'sweep worker'", 'observe: those that lingered leave');
my $gone = 0;
for my $i (1 .. 20)
{
	die if as('alice', "CREATE DATABASE o$i") ne '';
	by_alice(\&garbage, $node, "o$i", 'quick');
	$gone += poll_until($node, "SELECT count(*) = 1 FROM sweep.decisions WHERE datname = 'o$i' AND relname = 'quick'")
	  && poll_until($node, "SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'sweep worker' AND datname = 'o$i'", timeout => within(2))
	  if $i % 4 == 0;
	drop("o$i");
}
is(join("\n", @failed), '', 'observe: DROP DATABASE WITH (FORCE) by the owner succeeds 20 times');
is($gone, 5, 'observe: workers that had looked were gone at once');

$node->stop;
done_testing();
