# When the file system of WAL is nearly full no vacuum of ours writes WAL any more. Here a
# library in front of the server's says how full it is.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

my $dir = PostgreSQL::Test::Utils::tempdir();
append_to_file("$dir/disk.c", <<'END');
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>

int
statvfs(const char *path, struct statvfs *fs)
{
	int			(*next) (const char *, struct statvfs *) = dlsym(RTLD_NEXT, "statvfs");
	int			rc = next(path, fs);
	FILE	   *file = fopen(getenv("DISK_LEFT"), "r");
	long		mb;

	if (file != NULL)
	{
		if (fscanf(file, "%ld", &mb) == 1)
			fs->f_bavail = mb * 1024 * 1024 / fs->f_frsize;
		fclose(file);
	}
	return rc;
}
END
plan skip_all => 'a library cannot come before the sanitizers' if ($ENV{PG_CONFIG} // '') =~ /asan/;
system("cc -shared -fPIC -o $dir/disk.so $dir/disk.c -ldl") == 0 or plan skip_all => 'no compiler';

sub disk_left
{
	my ($mb) = @_;

	unlink "$dir/left";
	append_to_file("$dir/left", "$mb\n");
	return;
}

my $node = sweep_node('wal_disk', conf => "sweep.naptime = 100ms\n", start => 0);
disk_left(100_000);
{
	local $ENV{LD_PRELOAD} = "$dir/disk.so";
	local $ENV{DISK_LEFT} = "$dir/left";
	$node->start;
}
sql($node, 'CREATE EXTENSION pg_sweep');
slow_table($node, 'postgres', 'slow', pages => 1000);
poll_ok($node, q{SELECT count(*) = 1 FROM sweep.progress WHERE relname = 'slow'}, 'with room a table is vacuumed');

disk_left(50);
poll_ok($node, q{SELECT count(*) = 0 FROM sweep.progress}, 'with the disk nearly full the vacuum stops');
is(sql($node, q{SELECT effective_mode, reason FROM sweep.status}), 'act|only 50 MB are left for WAL: vacuums wait until there is more', 'sweep.status says so');
my $runs = sql($node, 'SELECT count(*) FROM sweep.runs');
garbage($node, 'postgres', 'due');
rounds($node, 20);
is(sql($node, 'SELECT count(*) FROM sweep.runs'), $runs, 'and none begins');
is(sql($node, q{SELECT waiting_for FROM sweep.queue WHERE relname = 'due'}), 'disk: only 50 MB are left for WAL', 'sweep.queue says so');
is(sql($node, q{SELECT cause FROM sweep.explain('due') WHERE rank = 1}), 'the file system of WAL is nearly full, and a vacuum writes WAL', 'and sweep.explain()');

disk_left(100_000);
poll_ok($node, q{SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'due' AND outcome = 'done'}, 'with room again they go on');

$node->stop;
done_testing();
