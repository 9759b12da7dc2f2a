
# What the TAP tests of pg_sweep share: a server with the library preloaded, tables in need
# of a vacuum, and waiting by asking.
#
# Nothing here sleeps for a fixed time in the hope that something has happened meanwhile:
# what must happen is polled for, and what must not happen is looked for after the launcher
# has made so many more rounds.

package SweepTest;

use strict;
use warnings FATAL => 'all';

use Exporter 'import';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use ReadSession;
use Test::More;
use Time::HiRes qw(time usleep);

our @EXPORT = qw(
  sweep_node sweep_conf session
  sql status poll_until poll_ok poll_value rounds reload_with restart_with kernel_says
  garbage more_garbage slow_table
  log_size log_since log_poll_ok pids_of governor_pid process_title process_exists
  seconds within major has_module need_modules break_index
);

# Makes a page of a btree's file none, while the server is down: it has no special area.
sub break_index
{
	my ($path) = @_;

	open(my $file, '+<', $path) or die "could not open $path: $!";
	binmode $file;
	seek($file, 8192 * 3 + 16, 0);    # pd_special of block 3
	print $file pack('S', 8192);
	close($file) or die "could not write $path: $!";
	return;
}

# Autovacuum is off so that every vacuum is ours or the test's. Only partitioned tables are
# analyzed, and a table waits for a minute, so that tests can count runs. After a crash the server
# restarts, as it does everywhere but under PostgreSQL::Test. At wal_level minimal a new
# table's pages are dirtied once more at commit, and a vacuum's cost would depend on the
# table's size. Vacuums obey the cost settings here, so that tests can say how long one takes.
# The tests of the budget switch adaptive on.
#
# A page that another process is just writing is pinned. A vacuum leaves its dead rows, but
# tests count rows. So everything fits into shared_buffers, and neither the background writer
# nor the checkpointer writes on its own. It is the same in test/sweep.conf.
my $base_conf = <<'END';
shared_preload_libraries = 'pg_sweep'
sweep.mode = act
sweep.adaptive = off
sweep.analyze_scope = partitioned
sweep.min_interval = 60s
autovacuum = off
restart_after_crash = on
wal_level = replica
log_statement = none
log_checkpoints = off
max_connections = 20
shared_buffers = 128MB
bgwriter_lru_maxpages = 0
checkpoint_timeout = 1h
max_wal_size = 4GB
END

sub sweep_conf { return $base_conf }

# sweep_node NAME, conf => TEXT, init => [...], start => 0, extension => 0, install_path => PATH
# A started server with the extension in the database postgres.
sub sweep_node
{
	my ($name, %args) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name, $args{install_path} ? (install_path => $args{install_path}) : ());

	$node->init(@{ $args{init} // [] });
	$node->append_conf('postgresql.conf', $base_conf . ($args{conf} // ''));
	return $node if defined $args{start} && !$args{start};
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION pg_sweep')
	  unless defined $args{extension} && !$args{extension};
	return $node;
}

# By the name of a server: a session in its database postgres that only reads (see sql).
my %readers;

# A session that stays open, with ->query, ->query_safe, ->query_until, ->quit.
sub session
{
	my ($node, $dbname, %args) = @_;

	return $node->background_psql($dbname // 'postgres', on_error_stop => 0, %args);
}

# sql NODE, QUERY [, DATABASE]: returns its result, and dies if it fails.
sub sql
{
	my ($node, $query, $dbname) = @_;
	my $answer;

	$dbname //= 'postgres';
	# see only_reads
	delete $readers{ $node->name } if $query =~ /reload_conf/;
	return $node->safe_psql($dbname, $query) if $dbname ne 'postgres' || !only_reads($query);
	$answer = $readers{ $node->name }->ask($query) if $readers{ $node->name };
	return $answer if defined $answer;
	# there is none yet, or the server was restarted, or this query fails: then safe_psql says why
	delete $readers{ $node->name };
	$answer = $node->safe_psql($dbname, $query);
	$readers{ $node->name } = ReadSession->new($node->connstr($dbname));
	return $answer;
}

# One SELECT that leaves nothing behind in its session. After a reload the next one must find
# the new settings, which a session that is already there learns a moment later. What a session
# has read of a table comes into the statistics a second later or more, unless the session
# ends. So only views are read in it, and catalogs.
sub only_reads
{
	my ($query) = @_;
	my @from = $query =~ /\b(?:FROM|JOIN)\s+(?!(?:sweep\.|sweep_internal\.|pg_|\())(\S+)/gi;

	return 0 if @from;
	return $query =~ /\A\s*SELECT\b[^;]*\z/i && $query !~ /advisory|set_config|reload_conf|pg_(?:terminate|cancel)_backend|\bINTO\b|pg_backend_pid/i;
}

# One column of sweep.status.
sub status
{
	my ($node, $column) = @_;

	return sql($node, "SELECT $column FROM sweep.status");
}

sub major
{
	my ($node) = @_;

	return int($node->safe_psql('postgres', 'SHOW server_version_num') / 10000);
}

# has_module NODE, NAME: creates the extension of a contrib module, if this server has it.
sub has_module
{
	my ($node, $name) = @_;

	return 0 if $node->safe_psql('postgres', "SELECT count(*) FROM pg_available_extensions WHERE name = '$name'") == 0;
	$node->safe_psql('postgres', "CREATE EXTENSION $name");
	return 1;
}

# need_modules NODE, NAME...: the same for each. A file is skipped if this server lacks one.
sub need_modules
{
	my ($node, @names) = @_;

	for my $name (@names)
	{
		plan(skip_all => "this server lacks the contrib module $name") unless has_module($node, $name);
	}
	return;
}

# ---- waiting

my $patience = $PostgreSQL::Test::Utils::timeout_default / 3;

# Asks once. A psql that cannot connect may be gone before it is asked, and then IPC::Run
# dies of the broken pipe.
sub ask
{
	my ($node, $query, %args) = @_;
	my ($rc, $out, $err) = eval { $node->psql($args{db} // 'postgres', $query, @{ $args{psql} // [] }) };

	return ($rc // 2, $out // '', $err // $@);
}

# Asks until enough is true of an answer. Errors are no answers, because a server may be
# restarting. Returns whether it was in time, the last answer, and the last error.
sub ask_until
{
	my ($node, $query, $enough, %args) = @_;
	my $until = time + ($args{timeout} // $patience);
	my ($session, $out, $err, $rc);

	for (;;)
	{
		# The first is asked by a psql of its own, and so are all that need one made specially.
		# A session costs a tenth of that, and is gone when this returns.
		if (defined $session && defined($out = $session->ask($query))) { ($rc, $err) = (0, ''); }
		else
		{
			undef $session;
			($rc, $out, $err) = ask($node, $query, %args);
			$session = ReadSession->new($node->connstr($args{db} // 'postgres')) if $rc == 0 && !$enough->($out) && !$args{psql};
		}
		return (1, $out, '') if $rc == 0 && $enough->($out);
		return (0, $out, $err) if time > $until;
		usleep(50_000);
	}
}

# Asks until the answer is what is expected ('t'). Returns the last answer in list context.
sub poll_until
{
	my ($node, $query, %args) = @_;
	my $expected = $args{expected} // 't';
	my ($ok, $out, $err) = ask_until($node, $query, sub { $_[0] eq $expected }, %args);

	return wantarray ? ($ok, $out . ($err ? "\n$err" : '')) : $ok;
}

# The same as a test. On failure it shows what pg_sweep knows.
sub poll_ok
{
	my ($node, $query, $name, %args) = @_;
	my ($ok, $last) = poll_until($node, $query, %args);

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	ok($ok, $name);
	return 1 if $ok;
	diag("asked: $query\nlast answer: $last");
	for my $view (
		'SELECT * FROM sweep.status',
		'SELECT datname, relname, decision, reason, times, not_before - now() AS wait, dead_tuples, next_dead_tuples FROM sweep.decisions LIMIT 10',
		'SELECT run_id, datname, relname, command, started_by, started_at, ended_at, outcome, reason FROM sweep.runs ORDER BY run_id DESC LIMIT 10',
		'SELECT pid, datname, relname, command, started_by, phase, blks_hit, waiters FROM sweep.progress')
	{
		my ($rc, $out, $err) = ask($node, $view, psql => [ extra_params => [ '-x', '--pset=tuples_only=off' ] ]);
		diag("$view\n$out$err");
	}
	return 0;
}

# Asks until there is an answer, and returns it ('' if there never is one).
sub poll_value
{
	my ($node, $query, %args) = @_;
	my ($ok, $out) = ask_until($node, $query, sub { $_[0] ne '' }, %args);

	return $ok ? $out : '';
}

# Waits until the launcher has looked at everything that many times more.
sub rounds
{
	my ($node, $more) = @_;
	my $target = status($node, 'rounds') + ($more // 3);

	poll_until($node, "SELECT rounds >= $target FROM sweep.status")
	  or die "the launcher of \"" . $node->name . "\" made no $more rounds";
	return;
}

# alter_system NODE, NAME => VALUE...: the statements, one psql for all of them.
sub alter_system
{
	my ($node, %settings) = @_;

	# see only_reads
	delete $readers{ $node->name };
	return join('', map { "ALTER SYSTEM SET $_ = '$settings{$_}';\n" } sort keys %settings);
}

# reload_with NODE, NAME => VALUE...: ALTER SYSTEM and reload. A session sees it at once.
sub reload_with
{
	my ($node, %settings) = @_;
	my $names = join(', ', map { "'$_'" } keys %settings);

	my $refused = $node->safe_psql('postgres',
		alter_system($node, %settings) .
		  "DO 'BEGIN PERFORM pg_reload_conf(); END';\nSELECT name FROM pg_file_settings WHERE error LIKE '%could not be applied%' AND name IN ($names)");
	die "not changed without a restart: $refused" if $refused;
	return;
}

# restart_with NODE, NAME => VALUE...: the same, for what only a restart changes.
sub restart_with
{
	my ($node, %settings) = @_;

	$node->safe_psql('postgres', alter_system($node, %settings));
	$node->restart;
	return;
}

# A file of the kernel below sweep.debug_sensor_root, whole at any moment.
sub kernel_says
{
	my ($path, $text) = @_;

	open my $file, '>', "$path.new" or die "$path: $!";
	print $file "$text\n";
	close $file or die "$path: $!";
	rename "$path.new", $path or die "$path: $!";
	return;
}

# How long does that take?
sub seconds
{
	my ($code) = @_;
	my $start = time;

	$code->();
	return time - $start;
}

# A promised time, or more where everything is slower, as with the sanitizers.
# There PG_TEST_TIMEOUT_DEFAULT is set.
sub within
{
	my ($promised) = @_;
	my $factor = $PostgreSQL::Test::Utils::timeout_default / 180;

	return $promised * ($factor > 1 ? $factor : 1);
}

# ---- tables

# A table in need of a vacuum: of its rows (1000), some (500) are deleted. This is one
# transaction, so that nobody vacuums it in between. The statistics are flushed before it
# returns.
sub garbage
{
	my ($node, $dbname, $table, %args) = @_;
	my $rows = $args{rows} // 1000;
	my $dead = $args{dead} // 500;
	my $with = defined $args{with} ? "WITH ($args{with})" : '';

	$node->safe_psql($dbname, <<"END");
BEGIN;
CREATE TABLE $table (id int, pad text) $with;
INSERT INTO $table SELECT i, repeat('x', 20) FROM generate_series(1, $rows) i;
DELETE FROM $table WHERE id <= $dead;
COMMIT;
SELECT pg_stat_force_next_flush();
END
	return;
}

# Makes it due again.
sub more_garbage
{
	my ($node, $dbname, $table, $dead) = @_;

	$dead //= 500;
	$node->safe_psql($dbname, <<"END");
BEGIN;
INSERT INTO $table SELECT -i, '' FROM generate_series(1, $dead) i;
DELETE FROM $table WHERE id < 0;
COMMIT;
SELECT pg_stat_force_next_flush();
END
	return;
}

# A due table of that many pages (300), with one row each. All are flushed, so that a
# vacuum dirties every page again. Its automatic vacuum takes at least 0.1 s per page.
sub slow_table
{
	my ($node, $dbname, $table, %args) = @_;
	my $pages = $args{pages} // 300;
	my $with = $args{with} // 'autovacuum_vacuum_cost_delay = 100, autovacuum_vacuum_cost_limit = 1';

	# there is one row per page, and a second version of each makes the first dead
	$node->safe_psql($dbname, <<"END");
BEGIN;
CREATE TABLE $table (id int, pad text) WITH (fillfactor = 10@{[ $with ne '' ? ", $with" : '' ]});
ALTER TABLE $table ALTER pad SET STORAGE PLAIN;
INSERT INTO $table SELECT i, repeat('x', 700) FROM generate_series(1, $pages) i;
UPDATE $table SET id = -id;
CHECKPOINT;
COMMIT;
SELECT pg_stat_force_next_flush();
END
	return;
}

# ---- the log and the processes

sub log_size { return -s $_[0]->logfile }

sub log_since
{
	my ($node, $offset) = @_;

	return slurp_file($node->logfile, $offset // 0);
}

# Tests that the log, from offset on, comes to say something.
sub log_poll_ok
{
	my ($node, $regexp, $offset, $name) = @_;
	my $until = time + $patience;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	until (log_since($node, $offset) =~ $regexp)
	{
		if (time > $until)
		{
			fail($name);
			diag("not in the log: $regexp\n" . log_since($node, $offset));
			return 0;
		}
		usleep(50_000);
	}
	pass($name);
	return 1;
}

# The ids of a server's processes of that kind ('sweep launcher').
sub pids_of
{
	my ($node, $type) = @_;

	return split /\n/, sql($node,
		"SELECT pid FROM pg_stat_activity WHERE backend_type = '$type' ORDER BY backend_start");
}

# The governor's id, which is not in pg_stat_activity.
sub governor_pid
{
	my ($node) = @_;
	my ($postmaster) = slurp_file($node->data_dir . '/postmaster.pid') =~ /^(\d+)/;

	for my $file (glob '/proc/[0-9]*/cmdline')
	{
		my ($of) = $file =~ /(\d+)/;
		my $title = eval { slurp_file($file) } // '';
		next if $title !~ /sweep governor/;
		return $of if (eval { slurp_file("/proc/$of/stat") } // '') =~ /\) \S+ $postmaster /;
	}
	return;
}

# The title as ps shows it, or '' when there is no such process.
sub process_title
{
	my ($pid) = @_;

	open(my $file, '<', "/proc/$pid/cmdline") or return '';
	local $/;
	my $title = <$file> // '';
	$title =~ tr/\0/ /;
	$title =~ s/\s+$//;
	return $title;
}

sub process_exists { return kill(0, $_[0]) ? 1 : 0 }

1;
