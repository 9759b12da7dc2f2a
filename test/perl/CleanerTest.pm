# What the tests of the library pg_sweep_cleaner share: a library that is built in another
# way, a server that loads it, and all rows of a table by each of its indexes.

package CleanerTest;

use strict;
use warnings FATAL => 'all';

use Exporter 'import';
use File::Basename qw(dirname);
use File::Copy qw(copy);
use File::Path qw(make_path);
use InstallTest;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

our @EXPORT = qw(
  build_cleaner install_cleaner replace_cleaner
  point_order point_is_passed
  clean_once
  check_rows dead_items
);

my $source = dirname(__FILE__) . '/../..';

# build_cleaner NAME, MACROS: builds the library, and returns where it is.
sub build_cleaner
{
	my ($name, $macros) = @_;
	my $dir = PostgreSQL::Test::Utils::tempdir($name);

	make_path("$dir/cleaner", "$dir/src/worker");
	copy($_, "$dir/cleaner") or die "$_: $!" for glob("$source/cleaner/*.[ch]"), "$source/cleaner/Makefile";
	copy("$source/src/worker/clean_job.h", "$dir/src/worker") or die $!;
	copy("$source/src/exports.map", "$dir/src") or die $!;
	system_or_bail('make', '-s', '-C', "$dir/cleaner", "PG_CONFIG=$ENV{PG_CONFIG}", "COPT=$macros");
	return "$dir/cleaner/pg_sweep_cleaner";
}

# install_cleaner LIBRARY: an installation with that library.
sub install_cleaner
{
	my ($library) = @_;
	my $install = make_install();

	replace_cleaner($install, $library);
	return $install;
}

# Processes that have loaded the one before keep it.
sub replace_cleaner
{
	my ($install, $library) = @_;

	put_library($install, 'pg_sweep_cleaner', "$library.so");
	return;
}

# ---- points of a library that was built with CLEAN_POINTS, see cleaner/clean_point.c

# point_order NODE, POINT, PASS, ACTION: what is to happen there. All of it is read at once.
sub point_order
{
	my ($node, $point, $pass, $action) = @_;
	my $file = $node->data_dir . '/clean_point';

	open(my $out, '>', "$file.new") or die "$file.new: $!";
	print $out "$point $pass $action\n";
	close $out or die "$file.new: $!";
	rename "$file.new", $file or die "$file: $!";
	return;
}

sub point_is_passed { return !-e $_[0]->data_dir . '/clean_point' }

# clean_once NODE, TABLE: has it cleaned, and returns how that ended and how many rows were
# removed ('done|200').
sub clean_once
{
	my ($node, $table) = @_;
	my $before = sql($node, 'SELECT coalesce(max(run_id), 0) FROM sweep.runs');

	sql($node, "SELECT sweep.clean('$table', by_row => true)");
	return poll_value($node, <<"END");
SELECT outcome, tuples_removed FROM sweep.runs
WHERE run_id > $before AND command = 'CLEAN' AND relid = '$table'::regclass ORDER BY run_id LIMIT 1
END
}

# ---- what a table and its indexes hold

# check_rows NODE, TABLE, EXPECTED, { INDEX => CONDITION }, NAME: the rows of the table, and those
# that each index finds by a condition which all rows meet, in one snapshot. EXPECTED are their
# number and the sum of their ids ('10|55'). Nothing may be corrupt, and no entry of an index may
# have a row pointer that is unused: another row would take it. It is one test.
sub check_rows
{
	my ($node, $table, $expected, $conditions, $name) = @_;
	my $rows = "count(*), sum(id) FROM $table";
	my $by_index = join '', map { "SELECT '$_', $rows WHERE $conditions->{$_};\n" } sort keys %$conditions;
	my ($rc, $out, $err) = $node->psql('postgres', <<"END");
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT 'table', $rows;
SET LOCAL enable_seqscan = off;
SET LOCAL enable_bitmapscan = off;
${by_index}COMMIT;
SELECT 'corrupt', t.* FROM verify_heapam('$table') t;
SELECT 'checked', count(*) FROM
	(SELECT bt_index_parent_check(indexrelid, true, true) FROM pg_index i JOIN pg_class c ON c.oid = indexrelid
	 WHERE indrelid = '$table'::regclass AND indisvalid AND relam = (SELECT oid FROM pg_am WHERE amname = 'btree')) x;
WITH used AS (
	SELECT format('(%s,%s)', b, lp)::tid AS tid
	FROM generate_series(0, pg_relation_size('$table') / current_setting('block_size')::int - 1) b,
		heap_page_items(get_raw_page('$table', b::int))
	WHERE lp_flags <> 0),
entries AS (
	SELECT unnest(coalesce(e.tids, ARRAY[e.htid])) AS tid
	FROM pg_index i,
		generate_series(1, pg_relation_size(indexrelid) / current_setting('block_size')::int - 1) b,
		bt_page_items(indexrelid::regclass::text, b::int) e
	WHERE indrelid = '$table'::regclass AND indisvalid AND e.dead IS NOT NULL)
SELECT 'unused', count(*) FROM entries WHERE NOT EXISTS (SELECT FROM used WHERE used.tid = entries.tid);
END
	my @names = ('table', sort keys %$conditions);
	my $wanted = join("\n", map { "$_|$expected" } @names) . "\nchecked|" . scalar(keys %$conditions) . "\nunused|0";

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return is("$out$err", $wanted, $name);
}

# The row pointers of a table that are dead. This reads pages, and no scan prunes them.
sub dead_items
{
	my ($node, $table) = @_;

	return sql($node, <<"END");
SELECT count(*) FILTER (WHERE lp_flags = 3) FROM generate_series(0, pg_relation_size('$table') / current_setting('block_size')::int - 1) b,
	heap_page_items(get_raw_page('$table', b::int))
END
}

1;
