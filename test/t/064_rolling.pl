# A rolling upgrade of a primary and its standby, and the way back: the standby is restarted with
# the new library first, then the primary, then the SQL objects are updated. Somebody changes
# rows, vacuums and asks all the time.
#
# Whichever library and SQL objects meet, nothing crashes, every view answers, what cannot work
# says why, tables are vacuumed, and no finished run is forgotten.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use InstallTest;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

# ---- the next release: it has a function and a view more, and all that this one has

my $next = '9.9';
my $next_library = build_library($next, <<'END');
#include "postgres.h"

#include "fmgr.h"
#include "utils/builtins.h"

#include "shmem.h"

PG_FUNCTION_INFO_V1(sweep_newer_9_9);
Datum
sweep_newer_9_9(PG_FUNCTION_ARGS)
{
	shmem_require();
	PG_RETURN_TEXT_P(cstring_to_text(SWEEP_VERSION));
}
END
my $update = <<'END';
CREATE FUNCTION sweep.newer() RETURNS text AS 'MODULE_PATHNAME', 'sweep_newer_9_9' LANGUAGE C;
CREATE VIEW sweep.news AS SELECT sweep.newer() AS said;
END

# ---- the two servers

my $primary = sweep_node('primary', install_path => make_install(), init => [ allows_streaming => 1 ], conf => "sweep.naptime = 100ms\n");
my $this = status($primary, 'library_version');
# as the server itself finds it
my $control = slurp_file(sql($primary, "SELECT setting FROM pg_config WHERE name = 'SHAREDIR'") . '/extension/pg_sweep.control');
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby', install_path => make_install());
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->append_conf('postgresql.conf', "hot_standby_feedback = on\nwal_retrieve_retry_interval = 100ms\n");
$standby->start;

# A package is installed under the running server.
sub install_next
{
	my ($node) = @_;
	my $install = $node->install_path;

	put_library($install, 'pg_sweep', $next_library);
	put_extension_file($install, 'pg_sweep.control', $control =~ s/(default_version = )'.*'/$1'$next'/r);
	put_extension_file($install, "pg_sweep--$this--$next.sql", $update);
	return;
}

sub install_this
{
	my ($node) = @_;

	put_library($node->install_path, 'pg_sweep', own_library());
	put_extension_file($node->install_path, 'pg_sweep.control', $control);
	return;
}

# ---- somebody works all the time, and connects anew for each statement

my $stop = $primary->basedir . '/stop';
my @working;

sub begin_work
{
	my ($node, $statements) = @_;
	my $script = $node->basedir . '/work.sql';
	my $said = $node->basedir . '/work.log';

	append_to_file($script, $statements);
	local %ENV = $node->_get_env();
	push @working, IPC::Run::start(
		[ 'sh', '-c', 'until [ -e "$1" ]; do psql -XAtq -v ON_ERROR_STOP=1 -f "$2" "$3"; sleep 0.1; done', 'sh', $stop, $script, $node->connstr('postgres') ],
		'<', \undef, '>', '/dev/null', '2>', $said);
	return $said;
}

sql($primary, 'CREATE TABLE busy AS SELECT i, 0 AS n FROM generate_series(1, 1000) i; CREATE TABLE first (i int); VACUUM first');
# the standby knows the table from the first statement on
$primary->wait_for_catchup($standby);
my @said = (begin_work($primary, "UPDATE busy SET n = n + 1;\nVACUUM busy;\nSELECT count(*) FROM sweep.progress;\n"),
	begin_work($standby, "SELECT count(*) FROM busy;\nSELECT count(*) FROM sweep.status;\n"));

# ---- what must hold at each step

my @views = qw(progress runs totals history databases decisions status features tables queue blockers budget governor audit trial cleanings);
my $turn = 0;

# state_is NODE, NAME, LIBRARY, SQL OBJECTS
sub state_is
{
	my ($node, $name, $library, $objects) = @_;

	$name = $node->name . ", $name";
	poll_ok($node, "SELECT (library_version, sql_version) = ('$library', '$objects') FROM sweep.status", "$name: library $library, SQL objects $objects");
	my ($rc, $out, $err) = $node->psql('postgres', join '', map { "SELECT count(*) FROM sweep.$_;\n" } @views, 'explain()', 'sensors()');
	is("$rc$err", '0', "$name: all views answer");
	return;
}

# The primary goes on, and knows all runs that it knew.
sub goes_on
{
	my ($name) = @_;
	my $table = 'due' . ++$turn;

	garbage($primary, 'postgres', $table);
	poll_ok($primary, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = '$table' AND started_by = 'sweep' AND outcome = 'done'", "$name: tables are vacuumed");
	is(sql($primary, q{SELECT string_agg(DISTINCT relname, ' ' ORDER BY relname) FROM sweep.runs WHERE relname = 'first' OR relname LIKE 'due%'}),
		join(' ', (map { "due$_" } 1 .. $turn), 'first'), "$name: all runs are known");
	return;
}

sub restart
{
	my ($node) = @_;

	$node->restart;
	# by then the launcher has read the file of runs
	poll_until($node, 'SELECT rounds > 0 FROM sweep.status') or die 'the launcher does not start' if $node eq $primary;
	return;
}

# not_there NODE, QUERY, NAME: it fails, and says which function is missing
sub not_there
{
	my ($node, $query, $name) = @_;
	my ($rc, undef, $err) = $node->psql('postgres', $query);

	like("$rc $err", qr/^[1-9].*could not find function "sweep_newer_9_9" in file ".*pg_sweep/s, "$name: it says what is missing");
	return;
}

goes_on('before');

# ---- up: the standby, the primary, the SQL objects

install_next($standby);
state_is($standby, 'installed', $this, $this);
restart($standby);
state_is($standby, 'restarted', $next, $this);

install_next($primary);
state_is($primary, 'installed', $this, $this);
not_there($primary, 'ALTER EXTENSION pg_sweep UPDATE', 'updated too early');
state_is($primary, 'updated too early', $this, $this);
goes_on('installed');
restart($primary);
state_is($primary, 'restarted', $next, $this);
goes_on('restarted');

sql($primary, 'ALTER EXTENSION pg_sweep UPDATE');
state_is($primary, 'updated', $next, $next);
$primary->wait_for_catchup($standby);
for my $node ($primary, $standby)
{
	is(sql($node, 'SELECT said FROM sweep.news'), $next, $node->name . ', updated: what is new works');
}
state_is($standby, 'updated', $next, $next);
goes_on('updated');

# ---- back, the library only: the standby, which then has newer SQL objects, and the primary

install_this($standby);
restart($standby);
state_is($standby, 'back', $this, $next);
not_there($standby, 'SELECT said FROM sweep.news', 'standby, back');

install_this($primary);
restart($primary);
state_is($primary, 'back', $this, $next);
not_there($primary, 'SELECT said FROM sweep.news', 'primary, back');
goes_on('back');

# ---- and up again, with SQL objects that wait for it

install_next($primary);
restart($primary);
state_is($primary, 'up again', $next, $next);
is(sql($primary, 'SELECT said FROM sweep.news'), $next, 'up again: what is new works');
goes_on('up again');

# ---- what the others noticed

append_to_file($stop, '');
$_->finish for @working;
# a restart ends sessions, which is no error of a statement
unlike(slurp_file($_), qr/ERROR:/, 'no statement of theirs has failed') for @said;
cmp_ok(sql($primary, 'SELECT min(n) FROM busy'), '>', 10, 'somebody has worked all the time');

for my $node ($primary, $standby)
{
	$node->stop;
	unlike(slurp_file($node->logfile), qr/PANIC|TRAP|terminated by signal|pg_sweep\.runs/, $node->name . ': nothing has crashed, and the file of runs was taken each time');
}
done_testing();
