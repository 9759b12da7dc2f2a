# tap-harness.pl COUNTS JOBS EXEC FILE...: runs TAP programs by prove's own library and writes
# "passed failed skipped file" lines into COUNTS, which prove's printed summary does not give.
# EXEC is the command that runs a file, "-" when the file is a program itself, and empty
# when its first line says what runs it.
#
# TESTDATADIR   where the programs have their servers. Their data directories are left until all
#               is over, because an ext4 without a journal creates files slowly where many were
#               removed in the last minute. Only their large files go when a program ends.
# KEEP          if it is set, these stay as well

use strict;
use warnings;
use File::Basename;
use File::Find;
use File::Glob ':bsd_glob';
use TAP::Harness;

my ($counts, $jobs, $exec, @files) = @ARGV;

# In the data directories that PostgreSQL::Test made for the file: WAL and tables.
sub remove_large_files
{
	my ($test) = @_;
	my @folders = glob "$ENV{TESTDATADIR}/t_" . basename($test->[0], '.pl') . '_*_data';

	find({ no_chdir => 1, wanted => sub { unlink $_ if -f $_ && -s _ > 1024 * 1024 } }, @folders) if @folders;
	return;
}

my %args = (verbosity => 0, jobs => $jobs, errors => 1, timer => 1);
$args{exec} = [ split ' ', $exec ] if $exec ne '';
$args{exec} = [] if $exec eq '-';
my $harness = TAP::Harness->new(\%args);
$harness->callback(after_test => \&remove_large_files) if $ENV{TESTDATADIR} && !$ENV{KEEP};
my $all = $harness->runtests(@files);
open my $out, '>', $counts or die "$counts: $!";
for my $file ($all->descriptions)
{
	my ($tap) = $all->parsers($file);
	my ($good, $bad, $skip) = (scalar $tap->passed, scalar $tap->failed, scalar $tap->skipped);
	$skip = 1 if $tap->skip_all;
	$good -= $skip unless $tap->skip_all;
	# a wrong plan, a crash after the last test
	$bad = 1 if $bad == 0 && $tap->has_problems;
	print $out join("\t", $good, $bad, $skip, $file), "\n";
}
close $out;
exit($all->all_passed ? 0 : 1);
