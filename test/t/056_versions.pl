# Library and SQL objects of different versions: between the steps of an upgrade nothing crashes,
# every call that cannot work says why, and vacuums go on.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

my $node = sweep_node('versions', conf => "sweep.naptime = 100ms\n");
my $library = status($node, 'library_version');
my $started = sql($node, 'SELECT pg_postmaster_start_time()');

# fails NAME, QUERY, PATTERN...
sub fails
{
	my ($name, $query, @patterns) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', $query);

	isnt($rc, 0, "$name fails");
	like($err, $_, 'and says why') for @patterns;
}

# ---- newer SQL objects: an entry point that the library does not have

my $newer = q{CREATE FUNCTION newer() RETURNS text AS '$libdir/pg_sweep', 'sweep_status_9_9' LANGUAGE C};
fails('an update to newer SQL objects', $newer, qr/could not find function "sweep_status_9_9" in file ".*pg_sweep/);
# as on a standby, which gets them by replication
(my $older = $newer) =~ s/_9_9/_0_1/;
sql($node, "$older; UPDATE pg_proc SET prosrc = 'sweep_status_9_9' WHERE proname = 'newer'");
fails('a call of what is newer', 'SELECT newer()', qr/could not find function "sweep_status_9_9" in file ".*pg_sweep/);

# Each of them has a row. What has none does not fail.
sql($node, 'VACUUM pg_class');

# ---- the same entry point with other columns: older SQL objects have fewer, newer ones more

my $fit = qr/SQL objects of extension "pg_sweep" do not fit the loaded library, which is version \Q$library\E/;
my $hint = qr/HINT:  Restart the server if a newer library is installed, and run ALTER EXTENSION pg_sweep UPDATE\./;
my $more = join ', ', map { "OUT c$_ text" } 1 .. 60;
for my $entry (map { "sweep_${_}_0_1" } qw(databases features runs status tables xid_rate))
{
	my $set = sql($node, "SELECT proretset FROM pg_proc WHERE prosrc = '$entry' LIMIT 1") eq 't' ? 'SETOF' : '';
	for my $columns ('OUT c1 text, OUT c2 text', $more)
	{
		my $number = () = $columns =~ /OUT/g;
		sql($node, "DROP FUNCTION IF EXISTS other; CREATE FUNCTION other($columns) RETURNS $set record"
			  . " AS '\$libdir/pg_sweep', '$entry' LANGUAGE C");
		fails("$entry with $number columns", 'SELECT * FROM other()', $fit, $hint);
	}
}

# ---- what is said, and what goes on

sql($node, "UPDATE pg_extension SET extversion = '9.9' WHERE extname = 'pg_sweep'");
is(sql($node, 'SELECT sql_version, library_version FROM sweep.status'), "9.9|$library", 'sweep.status has both versions');
garbage($node, 'postgres', 'still');
poll_ok($node, "SELECT count(*) > 0 FROM sweep.runs WHERE relname = 'still' AND started_by = 'sweep' AND outcome = 'done'",
	'tables are vacuumed');
is(sql($node, 'SELECT pg_postmaster_start_time()'), $started, 'the server has not restarted');
unlike(slurp_file($node->logfile), qr/PANIC|TRAP|terminated by signal/, 'nothing has crashed');
$node->stop;
done_testing();
