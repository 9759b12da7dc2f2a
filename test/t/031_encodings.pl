# Databases of different encodings side by side. Names of the others' tables, databases, roles
# and transactions are shown everywhere. Bytes that are no characters here are shown as \xNN.
# Nothing fails.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

my $node = sweep_node('encodings', init => [ extra => [ '--encoding=UTF8', '--no-locale' ] ], conf => <<'END');
max_prepared_transactions = 10
sweep.debug_clock_rate = 20
autovacuum_vacuum_cost_delay = 0
log_autovacuum_min_duration = 0
END

# what psql is told, in the encoding of the database
sub in_encoding
{
	my ($dbname, $sql) = @_;

	return $node->safe_psql($dbname, $sql);
}

my @databases = qw(postgres latin ascii euc);
sql($node, "CREATE DATABASE $_->[0] TEMPLATE template0 ENCODING '$_->[1]' LOCALE 'C'")
  for [ 'latin', 'LATIN1' ], [ 'ascii', 'SQL_ASCII' ], [ 'euc', 'EUC_JP' ];
sql($node, 'CREATE EXTENSION pg_sweep', $_) for @databases[ 1 .. 3 ];

# Each database has the same letter, an a with two dots, in its own encoding. The one without an
# encoding has a table of which each byte is odd.
my %letter = (postgres => "\xc3\xa4", latin => "\xe4", ascii => "\xe4\xff", euc => "\x8f\xab\xa3");
my %name = map { $_ => "t$letter{$_}" } @databases;

# ---- things with such names: a database and a role, a prepared transaction, an idle session

in_encoding('latin', "CREATE DATABASE \"d\xe4\" TEMPLATE template0; CREATE ROLE \"r\xe4\" SUPERUSER LOGIN");
my $idle = session($node, 'latin');
$idle->query_safe("BEGIN ISOLATION LEVEL REPEATABLE READ; CREATE TEMPORARY TABLE x (a int); SET LOCAL application_name = 'x'; SELECT 1 AS \"q\xe4\"");
in_encoding('latin', "SET ROLE \"r\xe4\"; BEGIN; SELECT pg_current_xact_id(); PREPARE TRANSACTION 'p\xe4'");

# ---- tables: vacuumed, held back, being vacuumed, asked for

for my $dbname (@databases)
{
	garbage($node, $dbname, "\"$name{$dbname}\"");
	sql($node, "CREATE TABLE \"asked$letter{$dbname}\" (a int)", $dbname);
}
# in EUC_JP these bytes are a character, in UTF-8 another, which LATIN1 does not have
garbage($node, 'euc', "\"k\xc6\xa1\"");
poll_ok($node, q{SELECT count(*) > 0 FROM sweep.runs WHERE datname = 'euc' AND relname LIKE 'k%' AND started_by = 'sweep'}, 'such a table is vacuumed as well');
poll_ok($node, qq{SELECT count(DISTINCT datid) >= 4 FROM sweep.runs WHERE relname LIKE 't%' AND started_by = 'sweep'}, 'a table is vacuumed in each');
poll_ok($node, q{SELECT count(*) >= 1 FROM sweep.decisions WHERE datname = 'latin' AND decision = 'held back'}, 'one is held back');
reload_with($node, 'sweep.max_workers' => 1, 'autovacuum_vacuum_cost_delay' => '2ms');
slow_table($node, 'latin', "\"s\xe4\"", pages => 1000);
poll_ok($node, q{SELECT count(*) = 1 FROM sweep.progress WHERE relname LIKE 's%' AND phase = 'scanning heap'}, 'one is being vacuumed');
garbage($node, 'euc', "\"w$letter{euc}\"");
poll_ok($node, q{SELECT count(*) >= 1 FROM sweep.queue WHERE datname = 'euc' AND relname IS NULL OR waiting_for LIKE 'worker slot%'}, 'one waits for it');
in_encoding('latin',
	"SET ROLE \"r\xe4\"; SELECT sweep.vacuum('\"asked\xe4\"'), sweep.snooze('\"asked\xe4\"', '1 h'), sweep.set('\"asked\xe4\"', 'min_interval', '5')");

# ---- read from everywhere

# It reads as a client of UTF-8 does. An answer that is no UTF-8 would break such
# a client's screens.
sub read_as_utf8
{
	my ($dbname, $query) = @_;
	my ($rc, $out, $err) = $node->psql($dbname, "SET client_encoding = 'UTF8'; $query");
	my $decoded = $out;

	return ($rc == 0 && utf8::decode($decoded), "$out\n$err");
}

my @views = split /\n/, sql($node, q{SELECT viewname FROM pg_views WHERE schemaname = 'sweep' ORDER BY 1});
for my $dbname (@databases)
{
	for my $view (map { "SELECT * FROM $_" } (map { "sweep.$_" } @views), 'sweep.explain()', 'sweep.sensors()', "sweep.explain('\"$name{$dbname}\"')")
	{
		# names are given in the encoding of the database, and read in the client's
		my ($ok, $answer) = $view =~ /explain\('/ && $dbname ne 'postgres'
		  ? read_as_utf8($dbname,
			q{SELECT e.* FROM pg_class c, sweep.explain(c.oid::regclass) e WHERE c.relname LIKE 't%' AND c.relnamespace = 'public'::regnamespace})
		  : read_as_utf8($dbname, $view);
		my $what = $view =~ /explain\('/ ? "sweep.explain() of a table" : $view;
		ok($ok, "in $dbname: $what") or diag($answer);
	}
}

# ---- and what is read there

for my $view (map { "sweep.$_" } @views)
{
	my ($rc, undef, $err) = $node->psql('postgres', "SET client_encoding = 'LATIN1'; SELECT * FROM $view");
	is($rc, 0, "LATIN1: $view") or diag($err);
}
is($node->safe_psql('postgres', q{SET client_encoding = 'LATIN1'; SELECT DISTINCT relname FROM sweep.runs WHERE datname = 'euc' AND relname LIKE 'k%'}),
	'k\xc6\xa1', 'LATIN1: bytes of another encoding that look like a character which it does not have');

is(sql($node, q{SELECT DISTINCT relname FROM sweep.runs WHERE datname = 'latin' AND relname LIKE 't%'}), 't\xe4', 'UTF8: a name in LATIN1');
is(sql($node, q{SELECT DISTINCT relname FROM sweep.runs WHERE datname = 'ascii' AND relname LIKE 't%'}), 't\xe4\xff', 'UTF8: bytes of SQL_ASCII');
is(sql($node, q{SELECT DISTINCT relname FROM sweep.runs WHERE datname = 'postgres' AND relname LIKE 't%'}), "t\xc3\xa4", 'UTF8: its own name is what it is');
is(sql($node, q{SELECT DISTINCT relname FROM sweep.runs WHERE datname = 'latin' AND relname LIKE 't%'}, 'latin'), "t\xe4",
	'LATIN1: its own name is what it is');
is(sql($node, q{SELECT DISTINCT relname FROM sweep.decisions WHERE datname = 'latin' AND decision = 'held back' AND relname LIKE 't%'}), 't\xe4',
	'UTF8: a decision about it');
like(sql($node, q{SELECT withholds FROM sweep.blockers WHERE datname = 'latin' AND kind = 'idle in transaction'}), qr/latin\.public\.t\\xe4/,
	'UTF8: what is withheld');
like(sql($node, q{SELECT query FROM sweep.blockers WHERE datname = 'latin' AND kind = 'idle in transaction'}), qr/"q\\xe4"/, 'UTF8: the text of a query');
is(sql($node, q{SELECT name || ' ' || usename FROM sweep.blockers WHERE kind = 'prepared transaction' LIMIT 1}), 'p\xe4 r\xe4',
	'UTF8: a prepared transaction and its owner');
is(sql($node, q{SELECT count(*) FROM sweep.databases WHERE datname = 'd\xe4'}), '1', 'UTF8: the name of a database');
is(sql($node, q{SELECT relname || ' ' || requested_by FROM sweep.queue WHERE request_id IS NOT NULL}), 'asked\xe4 r\xe4', 'UTF8: a request');
is(sql($node, q{SELECT relname FROM sweep.progress WHERE datname = 'latin' AND phase = 'scanning heap'}), 's\xe4', 'UTF8: a vacuum that runs');

# ---- from the ledger's file

$idle->quit;
in_encoding('latin', "ROLLBACK PREPARED 'p\xe4'");
$node->restart;
is(sql($node, q{SELECT DISTINCT relname FROM sweep.runs WHERE datname = 'ascii' AND relname LIKE 't%'}), 't\xe4\xff', 'the same from the file');

$node->stop;
done_testing();
