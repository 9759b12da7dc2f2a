# The owner of a database, who is no superuser, can dump it after a superuser's CREATE
# EXTENSION, as before. Otherwise what the extension brings stays closed to him.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

my $node = sweep_node('dump', conf => "sweep.mode = observe\n");

sql($node, 'CREATE ROLE alice LOGIN; CREATE ROLE bob LOGIN; CREATE ROLE mallory LOGIN; CREATE ROLE backup LOGIN IN ROLE pg_read_all_data;'
	  . ' CREATE DATABASE app OWNER alice');
sql($node, 'CREATE EXTENSION pg_sweep', 'app');
sql($node, 'GRANT ALL ON SCHEMA public TO alice', 'app');

sub as
{
	my ($role, $command) = @_;
	my ($rc, $out, $err) = $node->psql('app', $command, extra_params => [ '-U', $role ]);

	return $rc == 0 ? $out : $err =~ s/\n.*//sr;
}

is(as('alice', 'CREATE TABLE queue AS SELECT generate_series(1, 10) AS i'), '', 'a database of somebody who is no superuser');
sql($node, "SELECT sweep.set('queue', 'min_interval', '5 s')", 'app');

# ---- pg_dump

my $file = $node->basedir . '/app.dump';
my @dump = ('pg_dump', '-h', $node->host, '-p', $node->port);
$node->command_ok([ @dump, '-U', 'alice', '-F', 'c', '-f', $file, 'app' ], 'the owner dumps it');
$node->command_ok([ @dump, '-U', 'backup', '-F', 'c', '-f', "$file.backup", 'app' ], 'so does a role that may read all data');
$node->command_ok([ @dump, '-U', 'alice', '-s', '-f', "$file.schema", 'app' ], 'and the schema alone');
$node->command_fails_like([ @dump, '-U', 'mallory', '-f', "$file.mallory", 'app' ], qr/permission denied/, 'somebody else does not');
unlike(slurp_file("$file.schema"), qr/GRANT .*sweep|REVOKE .*sweep/, 'the privileges are the extension\'s, not the dump\'s');

# ---- restored by a superuser

sql($node, 'CREATE DATABASE copy OWNER alice');
$node->command_ok([ 'pg_restore', '-h', $node->host, '-p', $node->port, '-e', '-d', 'copy', $file ], 'it is restored');
is(sql($node, "SELECT relid, name, value FROM sweep.table_settings", 'copy'), 'queue|min_interval|5 s', 'with the settings of its tables');
is(sql($node, 'SELECT count(*) FROM queue', 'copy'), '10', 'and their rows');
$node->command_ok([ @dump, '-U', 'alice', '-f', "$file.copy", 'copy' ], 'the owner dumps the copy, too');

# ---- what stays forbidden

for my $command (
	"INSERT INTO sweep.table_settings VALUES ('queue', 'enabled', 'off')",
	"UPDATE sweep.table_settings SET value = '1'",
	'DELETE FROM sweep.table_settings',
	'TRUNCATE sweep.table_settings',
	'CREATE TABLE sweep.mine ()',
	'DROP TABLE sweep.table_settings',
	"SELECT sweep.set('queue', 'enabled', 'off')",
	"SELECT sweep.vacuum('queue')",
	'SELECT sweep.cancel(1)',
	'SELECT sweep.hold()',
	'SELECT sweep.reset_runs()',
	map { "SELECT * FROM sweep.$_" } qw(progress runs databases decisions status features tables queue blockers budget governor))
{
	like(as('alice', $command), qr/ERROR: +(permission denied|must be owner)/, "the owner may not: $command");
}
like(as('mallory', 'SELECT * FROM sweep.table_settings'), qr/permission denied/, 'others may not even read it');
is(as('alice', 'SELECT relid, name, value FROM sweep.table_settings'), 'queue|min_interval|5 s', 'the owner may');

# ---- it is the owner of the moment

sql($node, 'ALTER DATABASE app OWNER TO bob');
sql($node, 'GRANT SELECT ON queue TO bob', 'app');
$node->command_ok([ @dump, '-U', 'bob', '-f', "$file.bob", 'app' ], 'a new owner dumps it');
like(as('alice', 'SELECT * FROM sweep.table_settings'), qr/permission denied/, 'the old one may not read it any more');

$node->stop;
done_testing();
