# One table's trouble is that table's own: a file that cannot be read, a folder that cannot
# be entered, an index with a page that is no index page.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

# the insert rules and lost counters have the visibility map counted
my $node = sweep_node('broken', conf => <<'END');
sweep.insert_cache_fraction = 0.0001
sweep.naptime = 100ms
sweep.debug_clock_rate = 20
sweep.mode = observe
END

# A file that nobody can read. Tests may run as root, who reads all: a folder in its place
# opens for nobody either.
sub make_unreadable
{
	my ($path) = @_;

	unlink $path;
	mkdir $path or die "could not create $path: $!";
	return;
}

sub path_of
{
	my ($relation) = @_;

	return $node->data_dir . '/' . sql($node, "SELECT pg_relation_filepath('$relation')");
}

# ---- files

my @broken = qw(main_file map_file index_file);
for my $table (@broken)
{
	sql($node, "CREATE TABLE $table (id int, pad text) WITH (autovacuum_vacuum_insert_threshold = 100000)");
	sql($node, "INSERT INTO $table SELECT i, repeat('x', 700) FROM generate_series(1, 4000) i");
	sql($node, "CREATE INDEX ${table}_i ON $table (id)") if $table eq 'index_file';
	sql($node, "VACUUM ANALYZE $table");
	sql($node, "INSERT INTO $table SELECT i, repeat('x', 700) FROM generate_series(1, 2000) i");
	sql($node, "DELETE FROM $table WHERE id <= 1500; SELECT pg_stat_force_next_flush()");
}
garbage($node, 'postgres', 'hot');
my @files = (path_of('main_file'), path_of('map_file') . '_vm', path_of('index_file_i'));
$node->stop;
make_unreadable($_) for @files;
my $offset = log_size($node);
$node->start;

is(sql($node, "SELECT count(*) FROM sweep.tables WHERE relname LIKE '%\\_file'"), '3', 'sweep.tables has them all');
like(sql($node, "SELECT string_agg(cause, ';') FROM sweep.explain('hot')"), qr/sweep\.mode is observe/, 'sweep.explain() explains another table');
for my $table (@broken)
{
	isnt(sql($node, "SELECT count(*) FROM sweep.explain('$table')"), '0', "it explains $table");
}
poll_ok($node, "SELECT count(*) = 1 FROM sweep.decisions WHERE relname = 'hot' AND decision = 'would vacuum'", 'a worker decides about another table');

reload_with($node, 'sweep.mode' => 'act');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'hot' AND started_by = 'sweep' AND outcome = 'done'", 'another table is vacuumed');
for my $table (@broken)
{
	poll_ok($node, "SELECT count(*) = 1 FROM sweep.decisions WHERE relname = '$table' AND decision = 'failed' AND reason ~ 'could not open file'",
		"$table has failed, and sweep.decisions says by which error");
	like(sql($node, "SELECT reason FROM sweep.runs WHERE relname = '$table' AND outcome = 'failed' ORDER BY run_id DESC LIMIT 1"),
		qr/could not open file "base/, "and so does sweep.runs of $table");
	# while it is tried again, the row says that it is due
	poll_ok($node, "SELECT decision = 'failed' FROM sweep.tables WHERE relname = '$table'", "and it is its row in sweep.tables ($table)");
}
like(sql($node, "SELECT evidence FROM sweep.explain('main_file') WHERE cause = 'its vacuum ended in an error'"), qr/could not open file/,
	'sweep.explain() has the error');
more_garbage($node, 'postgres', 'hot');
my $visits = status($node, 'visits');
poll_ok($node, "SELECT visits > $visits FROM sweep.status", 'visits go on');
unlike(log_since($node, $offset), qr/background worker "sweep worker".*exited with exit code/, 'no worker has ended in an error');

# a survey looks at all tables
my $surveys = status($node, 'surveys');
sql($node, 'SELECT pg_stat_reset()');
poll_ok($node, "SELECT surveys > $surveys FROM sweep.status", 'surveys go on, too');

# ---- after a crash, when no counter is left, all are looked at

$node->stop('immediate');
$node->start;
garbage($node, 'postgres', 'hot2');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'hot2' AND started_by = 'sweep' AND outcome = 'done'",
	'another table is vacuumed after a crash');

# ---- an index page that is none

sql($node, "CREATE TABLE rotten (id int); CREATE INDEX rotten_i ON rotten (id); INSERT INTO rotten SELECT generate_series(1, 20000); CREATE INDEX rotten_fine ON rotten (id)");
sql($node, "SELECT sweep.snooze('rotten', '1 day')");
my $rotten = path_of('rotten_i');
$node->stop;
break_index($rotten);
$node->start;
sql($node, 'DELETE FROM rotten WHERE id % 2 = 0; SELECT pg_stat_force_next_flush()');
$node->psql('postgres', 'VACUUM rotten');
# with checksums it is another error, which does not name the index
my $error = qr/index "rotten_i" contains corrupted page at block 3|invalid page in block 3 of relation [^,]*, index "rotten_i"/;
like(sql($node, "SELECT started_by, reason FROM sweep.runs WHERE relname = 'rotten' AND outcome = 'failed' ORDER BY run_id DESC LIMIT 1"),
	qr/^manual\|(?:$error)$/, 'sweep.runs has the error of a manual VACUUM');
sql($node, "SELECT sweep.snooze('rotten', '0')");
poll_ok($node, "SELECT count(*) = 1 FROM sweep.decisions WHERE relname = 'rotten' AND decision = 'failed' AND reason ~ 'index \"rotten_i\"'",
	'sweep.decisions has that of our own');
my $explained = sql($node, "SELECT evidence || '|' || fix FROM sweep.explain('rotten') WHERE cause = 'its vacuum ended in an error'");
like($explained, $error, 'sweep.explain() has it');
like($explained, qr/\|VACUUM \(INDEX_CLEANUP off\) (public\.)?rotten; REINDEX INDEX CONCURRENTLY (public\.)?rotten_i;/, 'and advises what works');

$node->stop;
done_testing();
