
# One psql that is asked again and again. Starting one for each question was most of what the
# tests' waiting cost: a process forked from this one, a connection, and empty caches in it.

package ReadSession;

use strict;
use warnings FATAL => 'all';

use IPC::Open2;

my $end = '-- end of the answer --';

# new ReadSession CONNSTR
sub new
{
	my ($class, $connstr) = @_;
	my ($out, $in);

	# the first error ends it, and its text comes between the answers, where it is none
	my $pid = open2($out, $in, 'psql', '-X', '-A', '-t', '-q', '-v', 'ON_ERROR_STOP=1', '-d', $connstr, '-f', '-');
	return bless { pid => $pid, in => $in, out => $out, answer => '' }, $class;
}

# ask QUERY: the answer as psql prints it, without its last newline; or undef when the query
# fails or the server is gone. Then this session is of no more use.
sub ask
{
	my ($self, $query) = @_;
	local $SIG{PIPE} = 'IGNORE';

	syswrite($self->{in}, "$query\n;\n\\echo $end\n") or return;
	for (;;)
	{
		my $at = index($self->{answer}, "$end\n");

		if ($at >= 0)
		{
			my $answer = substr($self->{answer}, 0, $at + length("$end\n"), '');
			return substr($answer, 0, $at > 0 ? $at - 1 : 0);
		}
		sysread($self->{out}, $self->{answer}, 8192, length $self->{answer}) or return;
	}
}

sub DESTROY
{
	my ($self) = @_;
	local ($?, $!, $@);

	close $self->{in};
	close $self->{out};
	waitpid $self->{pid}, 0;
	return;
}

1;
