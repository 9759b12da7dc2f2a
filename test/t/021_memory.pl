# sweep.work_mem bounds what a vacuum may use for dead rows, and sweep.runs tells what it took.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

my $node = sweep_node('memory', conf => <<'END');
sweep.debug_clock_rate = 20
sweep.work_mem = 1MB
autovacuum_work_mem = 512MB
maintenance_work_mem = 256MB
shared_buffers = 256MB
fsync = off
END
my $major = major($node);

# What a worker has without any dead row: docs/views.md.
my $base = 2 * 1024 * 1024;
my $megabyte = 1024 * 1024;

# the owner of a database cannot change what its vacuums take
sql($node, "ALTER DATABASE postgres SET maintenance_work_mem = '1GB'");

# So many dead rows: before 17, six bytes each, a megabyte is full after 174,762.
sub vacuum_of
{
	my ($table, $dead) = @_;

	sql($node, <<"END");
BEGIN;
CREATE TABLE $table (id int);
INSERT INTO $table SELECT i FROM generate_series(1, $dead + 1000) i;
CREATE INDEX ON $table (id);
DELETE FROM $table WHERE id <= $dead;
COMMIT;
END
	poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = '$table' AND outcome = 'done' AND started_by = 'sweep'",
		"$table is vacuumed");
	return split /\|/,
	  sql($node, "SELECT index_pass, memory_bytes, tuples_removed FROM sweep.runs WHERE relname = '$table' AND started_by = 'sweep'");
}

my ($passes, $memory, $removed) = vacuum_of('small_memory', 400_000);
is($removed, '400000', 'with sweep.work_mem = 1MB all is removed');
is($passes, $major >= 17 ? '1' : '3', "... in as many index passes as it takes ($passes)");
cmp_ok($memory, '<=', $megabyte + $base, "... and within the bound ($memory bytes)");
cmp_ok($memory, '>', $major >= 17 ? 100_000 : $megabyte, '... which it has used');

reload_with($node, 'sweep.work_mem' => '64MB');
rounds($node);
my ($passes_large, $memory_large) = vacuum_of('large_memory', 400_000);
is($passes_large, '1', 'with 64MB one index pass will do');
cmp_ok($memory_large, '<=', 64 * $megabyte + $base, "... within the bound ($memory_large bytes)");
cmp_ok($memory_large, '>=', $memory + $megabyte, '... with more memory than before') if $major < 17;

reload_with($node, 'sweep.work_mem' => '-1', 'autovacuum_work_mem' => '1MB');
rounds($node);
my ($passes_auto) = vacuum_of('auto_memory', 200_000);
is($passes_auto, $major >= 17 ? '1' : '2', 'with -1 it is autovacuum_work_mem');

reload_with($node, 'autovacuum_work_mem' => '-1', 'maintenance_work_mem' => '1MB');
rounds($node);
my ($passes_maintenance) = vacuum_of('maintenance_memory', 200_000);
is($passes_maintenance, $major >= 17 ? '1' : '2', '... and if that is -1, maintenance_work_mem');

reload_with($node, 'sweep.work_mem' => '100kB');
is(sql($node, 'SHOW sweep.work_mem'), '1MB', 'less than 1 MB counts as that');

# ---- of whom it is known

sql($node, 'CREATE TABLE by_hand AS SELECT i FROM generate_series(1, 100) i; ');
sql($node, 'VACUUM ANALYZE by_hand');
sql($node, 'VACUUM FULL by_hand');
is( sql($node, "SELECT command, memory_bytes > 100000 FROM sweep.runs WHERE relname = 'by_hand' ORDER BY 1"),
	"ANALYZE|\nVACUUM|t\nVACUUM FULL|",
	'memory_bytes is known of every VACUUM, but not of others');

$node->stop;
done_testing();
