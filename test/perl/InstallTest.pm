# An installation like this server's, of which a test may change what it needs: the library, the
# cleaner's library, the SQL scripts. And a library of another version.

package InstallTest;

use strict;
use warnings FATAL => 'all';

use Exporter 'import';
use File::Basename qw(basename dirname);
use File::Copy qw(copy);
use File::Path qw(make_path);
use PostgreSQL::Test::Utils;

our @EXPORT = qw(make_install put_library put_extension_file own_library build_library build_simulate);

my $source = dirname(__FILE__) . '/../..';

sub config_of
{
	my ($what) = @_;

	chomp(my $dir = `"$ENV{PG_CONFIG}" --$what`);
	die "$ENV{PG_CONFIG} does not say its $what" if $? || $dir !~ m{^/};
	return $dir;
}

# make_install(): returns its path, as PostgreSQL::Test::Cluster wants it.
#
# A server loads libraries from its own folder, and no setting leads it elsewhere. It finds that
# folder, and the one of the SQL scripts, from where its program is. So the programs are copied, to
# the same path below a temporary folder. All else is linked.
sub make_install
{
	my $root = PostgreSQL::Test::Utils::tempdir('install');
	my ($bin, $lib, $share) = map { config_of($_) } qw(bindir pkglibdir sharedir);

	make_path("$root$bin", "$root$lib", "$root$share/extension");
	for my $program (glob "$bin/*")
	{
		my $to = "$root$bin/" . basename($program);

		# each of these looks for others beside itself
		if (basename($program) =~ /^(?:postgres|pg_ctl|initdb)$/)
		{
			copy($program, $to) or die "$program: $!";
			chmod 0755, $to or die "$to: $!";
		}
		else
		{
			symlink $program, $to or die "$to: $!";
		}
	}
	for my $file (glob("$lib/*"), glob("$share/*"), glob("$share/extension/*"))
	{
		next if $file eq "$share/extension";
		symlink $file, "$root$file" or die "$root$file: $!";
	}
	return dirname("$root$bin");
}

sub place_of
{
	my ($install, $what) = @_;

	return substr($install, 0, length($install) - length(dirname(config_of('bindir')))) . config_of($what);
}

# As a package does it: a new file takes the place of the old one, which servers that run keep.
sub replace
{
	my ($file, $to) = @_;

	copy($file, "$to.new") or die "$to.new: $!";
	rename "$to.new", $to or die "$to: $!";
	return;
}

# put_library INSTALL, NAME, FILE: processes that have loaded the one before keep it.
sub put_library
{
	my ($install, $name, $file) = @_;

	replace($file, place_of($install, 'pkglibdir') . "/$name.so");
	return;
}

# put_extension_file INSTALL, NAME, CONTENTS: a control file or a script
sub put_extension_file
{
	my ($install, $name, $contents) = @_;
	my $to = place_of($install, 'sharedir') . "/extension/$name";

	unlink $to;
	append_to_file($to, $contents);
	return;
}

# build_simulate VERSION: builds the library pg_sweep_simulate as if for that version of pg_sweep,
# and returns where it is. Objects that are there are taken.
sub build_simulate
{
	my ($version) = @_;
	my $dir = PostgreSQL::Test::Utils::tempdir('simulate');

	system_or_bail('cp', '-a', "$source/src", "$source/simulate", (grep { -e } "$source/.built-for"), $dir);
	unlink "$dir/simulate/simulate_view.o", "$dir/simulate/pg_sweep_simulate.so";
	system_or_bail('make', '-s', '-C', "$dir/simulate", "PG_CONFIG=$ENV{PG_CONFIG}", qq{COPT=-DSIMULATE_VERSION='"$version"'});
	return "$dir/simulate/pg_sweep_simulate.so";
}

# The library that is tested.
sub own_library { return config_of('pkglibdir') . '/pg_sweep.so' }

# build_library VERSION, CODE: builds a library of that version, with a source file more, and
# returns where it is. Objects that are there are taken, but for those that name the version.
sub build_library
{
	my ($version, $code) = @_;
	my $dir = PostgreSQL::Test::Utils::tempdir('library');

	system_or_bail('cp', '-a', "$source/src", "$source/Makefile", (grep { -e } "$source/.built-for"), $dir);
	for my $file (glob "$dir/src/*/*.c")
	{
		unlink $file =~ s/c$/o/r if slurp_file($file) =~ /SWEEP_VERSION/;
	}
	my $header = slurp_file("$source/src/shmem.h");
	$header =~ s/^(#define SWEEP_VERSION\s+).*/$1"$version"/m or die 'shmem.h does not name the version';
	mkdir "$dir/first" or die "$dir/first: $!";
	append_to_file("$dir/first/shmem.h", $header);
	append_to_file("$dir/src/sql/newer.c", $code);
	# it is built quickly, and need not be quick
	system_or_bail('make', '-s', '-j2', '-C', $dir, "PG_CONFIG=$ENV{PG_CONFIG}", "COPT=-I$dir/first -O0 -Wno-cpp", 'pg_sweep.so');
	return "$dir/pg_sweep.so";
}

1;
