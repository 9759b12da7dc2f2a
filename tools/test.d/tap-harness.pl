# tap-harness.pl COUNTS JOBS EXEC FILE...: runs TAP programs by prove's own library and writes
# "passed failed skipped file" lines into COUNTS, which prove's printed summary does not give.
# EXEC is the command that runs a file, "-" when the file is a program itself, and empty
# when its first line says what runs it.

use strict;
use warnings;
use TAP::Harness;

my ($counts, $jobs, $exec, @files) = @ARGV;
my %args = (verbosity => 0, jobs => $jobs, errors => 1, timer => 1);
$args{exec} = [ split ' ', $exec ] if $exec ne '';
$args{exec} = [] if $exec eq '-';
my $all = TAP::Harness->new(\%args)->runtests(@files);
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
