# Who has held, slowed, cancelled, snoozed or set what is in sweep.audit and in the log: what
# has acted, once, with its values and with both roles, and nothing that was refused.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

my $node = sweep_node('audit', conf => "sweep.naptime = 200ms\n");

sub audit
{
	my ($columns, $where) = @_;

	return sql($node, "SELECT $columns FROM sweep.audit" . ($where ? " WHERE $where" : ''));
}

is(audit('count(*)'), 0, 'nothing at first');
sql($node, <<'END');
CREATE ROLE alice LOGIN SUPERUSER;
CREATE ROLE oncall;
GRANT USAGE ON SCHEMA sweep TO oncall;
GRANT EXECUTE ON FUNCTION sweep.hold(interval), sweep.snooze(regclass, interval), sweep.vacuum(regclass, boolean) TO oncall;
CREATE TABLE plain (id int);
CREATE TABLE parent (id int) PARTITION BY LIST (id);
CREATE TABLE child PARTITION OF parent FOR VALUES IN (1);
END

# ---- on the server and on tables

my $offset = log_size($node);
my $alice = session($node, 'postgres', extra_params => [ '-U', 'alice' ]);
$alice->query_safe($_) for (
	"SET application_name = 'the tests'",
	"SELECT sweep.hold('2 h')",
	"SELECT sweep.hold('0')",
	"SELECT sweep.snooze('plain', '1 day')",
	"SELECT sweep.snooze('parent', '0')",
	"SELECT sweep.set('plain', 'min_interval', '10 s')",
	"SELECT sweep.set('plain', 'min_interval', NULL)",
	"SELECT sweep.vacuum('plain')",
	'SELECT sweep.rearm()',
	'SELECT sweep.reset_runs()');
is(audit("string_agg(concat_ws(' ', command, schemaname, relname, regexp_replace(detail, 'until .*', 'until then')), '; ' ORDER BY called_at)"),
	'hold until then; hold ended; snooze public plain until then; snooze public parent ended; '
	  . "set public plain min_interval = '10 s'; set public plain min_interval = NULL; vacuum public plain; rearm it was not off; reset_runs",
	'each call has a row, in the order of the calls');
is(audit("DISTINCT usename, role, application_name, datname, datid = (SELECT oid FROM pg_database WHERE datname = 'postgres'), vacuum_pid IS NULL"),
	'alice|alice|the tests|postgres|t|t', 'with who called it, and where');
is(audit('count(*)', 'called_at NOT BETWEEN pg_postmaster_start_time() AND now()'), 0, 'and when');
is(audit('count(*)', "relname = 'plain' AND relid IS DISTINCT FROM 'plain'::regclass"), 0, 'and the table');
my $log = log_since($node, $offset);
like($log, qr/LOG:  pg_sweep: "alice" called sweep\.hold\(\): until \d{4}-/, 'the log has a hold');
like($log, qr/LOG:  pg_sweep: "alice" called sweep\.set\(\): "public\.plain", min_interval = '10 s'\n/, 'a setting');
like($log, qr/LOG:  pg_sweep: "alice" called sweep\.reset_runs\(\)\n/, 'and what has no value');
is(() = $log =~ /LOG:  pg_sweep: "alice" called /g, 9, 'once each');

# ---- another role's rights, and what is refused

$alice->query_safe("SET ROLE oncall; SELECT sweep.hold('1 min'); RESET ROLE");
is(audit('role', "usename = 'alice' AND detail LIKE 'until%' ORDER BY called_at DESC LIMIT 1"), 'oncall', 'SET ROLE: both roles are listed');
my $before = audit('count(*)');
for my $refused (
	"SET ROLE oncall; SELECT sweep.snooze('plain', '1 h')",
	"SET ROLE oncall; SELECT sweep.vacuum('plain')",
	"SET ROLE oncall; SELECT sweep.set('plain', 'min_interval', '1 s')",
	"SELECT sweep.hold('-1 h')",
	"SELECT sweep.set('plain', 'nonsense', '1')")
{
	my ($rc) = $node->psql('postgres', $refused, on_error_stop => 1);
	is($rc, 3, "$refused is refused");
}
is(sql($node, 'SELECT sweep.cancel(1), sweep.slow(1)'), 'f|f', 'there is no such vacuum');
is(audit('count(*)'), $before, 'what is refused is not listed');
$alice->query_safe("BEGIN; SELECT sweep.snooze('child', '1 h'); ROLLBACK");
is(audit('count(*)', "relname = 'child'"), 1, 'what has acted is, whatever becomes of its transaction');
$alice->query_safe("SELECT sweep.hold('0')");

# ---- on a running vacuum

slow_table($node, 'postgres', 'slow');
my $pid = poll_value($node, "SELECT pid FROM sweep.progress WHERE relname = 'slow' AND phase = 'scanning heap'");
# a vacuum by a worker can be steered once the governor has seen it
poll_until($node, "SELECT count(*) = 1 FROM sweep.progress WHERE pid = $pid AND cost_limit IS NOT NULL") or die 'it is not paced';
# steering ends with its session
is($alice->query_safe(<<"END"), "t\nt\nt\nt\nt\nt", 'a vacuum is slowed down, released, paused and cancelled');
SELECT sweep.slow($pid, 5, 3);
SELECT sweep.release($pid);
SELECT sweep.slow($pid);
SELECT sweep.slow($pid, 0);
SELECT sweep.release($pid);
SELECT sweep.cancel($pid, '1 h');
END
is(audit("string_agg(concat_ws(' ', command, schemaname, relname, regexp_replace(regexp_replace(detail, 'until .*', 'until then'), '^[\\d.]+ MB/s in', 'N MB/s in')), '; ' ORDER BY called_at)", "vacuum_pid = $pid"),
	'slow public slow write_limit 5.0 MB/s, read_limit 3.0 MB/s; release public slow; slow public slow N MB/s in all; '
	  . 'slow public slow paused for a minute; release public slow; cancel public slow snoozed until then',
	'with what it was slowed down to');
like(log_since($node, $offset), qr/called sweep\.slow\(\): process $pid, "public\.slow", write_limit 5\.0 MB\/s, read_limit 3\.0 MB\/s/, 'the log names the process');

# ---- names that are no words, and long ones

my $long = 'x' x 63;
my $odd = join "\n", 'x' x 31, 'y' x 31;
sql($node, qq{CREATE ROLE "e'v""il" SUPERUSER; CREATE TABLE "$odd" (id int); SET ROLE "e'v""il"; SET application_name = '}
	  . 'x' x 63 . qq{'; SELECT sweep.snooze('"$odd"', '1 h')});
is(audit('length(application_name), length(relname), role', "relname LIKE 'xxx%'"), '63|63|e\'v"il', 'names are kept whole');
is(() = log_since($node, $offset) =~ /STATEMENT: .*sweep\.(?:rearm|reset_runs)/g, 0, 'a line of the log is all that it takes');

# ---- more than are kept

$before = sql($node, 'SELECT max(called_at) FROM sweep.audit');
sql($node, "DO \$\$ BEGIN FOR i IN 1 .. 510 LOOP PERFORM sweep.snooze('plain', make_interval(hours => 1 + i % 2)); END LOOP; END \$\$");
is(audit("count(*), count(*) FILTER (WHERE called_at > '$before')"), '500|500', 'the last 500 are kept');
is(sql($node, 'SELECT bool_and(called_at >= before) FROM (SELECT called_at, lag(called_at, 1, called_at) OVER () AS before FROM sweep.audit) s'), 't',
	'the oldest first');
$alice->quit;
$node->restart;
is(audit('count(*)'), 0, 'they begin anew with the server');
$node->stop;
done_testing();
