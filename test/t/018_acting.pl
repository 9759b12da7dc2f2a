# What users ask for: a vacuum now, a table left alone, no vacuums at all, a setting of its
# own. A request is served within two seconds, before everything else and whatever the
# thresholds say. A pause keeps due tables waiting and ends by itself.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;
use Time::HiRes qw(time);

# intervals that users name are real time, while the back-off of 10 s is 0.5 s here
my $node = sweep_node('acting', conf => <<'END');
sweep.debug_clock_rate = 20
sweep.max_workers = 2
max_worker_processes = 12
autovacuum_vacuum_cost_delay = 10ms
autovacuum_vacuum_cost_limit = 300
END

# 0.04 s a page
my $slow = 'autovacuum_vacuum_cost_delay = 10, autovacuum_vacuum_cost_limit = 1';

sub runs_of
{
	my ($table, $more) = @_;

	return sql($node, "SELECT count(*) FROM sweep.runs WHERE relname = '$table' AND started_by = 'sweep' " . ($more // ''));
}

sub requests { return sql($node, 'SELECT count(*) FROM sweep.queue WHERE request_id IS NOT NULL') }

# ---- a request

sql($node, "CREATE ROLE keeper; GRANT USAGE ON SCHEMA sweep TO keeper; GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA sweep TO keeper;"
	  . " GRANT CREATE ON SCHEMA public TO keeper");
sql($node, "SET ROLE keeper; CREATE TABLE asked (i int) WITH (autovacuum_enabled = off); INSERT INTO asked VALUES (1)");
rounds($node, 3);
is(runs_of('asked'), '0', 'a table that is not due, and disabled');
my $id;
my $took = seconds(
	sub {
		$id = sql($node, "SET ROLE keeper; SELECT sweep.vacuum('asked')");
		poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'asked' AND started_by = 'sweep' AND outcome = 'done' AND reason = 'requested by keeper'",
			'is vacuumed when somebody asks for it');
	});
cmp_ok($took, '<', within(2), 'within two seconds');
cmp_ok($id, '>', 0, 'the request has an id');
poll_ok($node, 'SELECT count(*) = 0 FROM sweep.queue WHERE request_id IS NOT NULL', 'and is over');
sql($node, "SET ROLE keeper; SELECT sweep.vacuum('asked')");
poll_ok($node, "SELECT count(*) = 2 FROM sweep.runs WHERE relname = 'asked' AND outcome = 'done'", 'again at once, without the minimum interval');

# in a database where pg_sweep has never been, for a table without statistics
sql($node, 'CREATE DATABASE fresh');
sql($node, 'CREATE EXTENSION pg_sweep; CREATE TABLE empty (i int)', 'fresh');
sql($node, "SELECT sweep.vacuum('empty')", 'fresh');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE datname = 'fresh' AND relname = 'empty' AND outcome = 'done'",
	'in a new database, a table without statistics');
sql($node, "SELECT sweep.vacuum('pg_database')", 'fresh');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'pg_database' AND reason LIKE 'requested by %' AND outcome = 'done'", 'a shared catalog');
sql($node, 'CREATE MATERIALIZED VIEW seen AS SELECT 1 AS i');
sql($node, "SELECT sweep.vacuum('seen')");
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'seen' AND outcome = 'done'", 'a materialized view');

# partitions, a foreign one and somebody else's left out
sql($node, 'CREATE TABLE parted (i int) PARTITION BY RANGE (i); CREATE TABLE p1 PARTITION OF parted FOR VALUES FROM (1) TO (2);'
	  . ' CREATE TABLE p2 PARTITION OF parted FOR VALUES FROM (2) TO (3) PARTITION BY RANGE (i); CREATE TABLE p2a PARTITION OF p2 FOR VALUES FROM (2) TO (3);'
	  . ' CREATE TABLE p3 PARTITION OF parted FOR VALUES FROM (3) TO (4); ALTER TABLE parted OWNER TO keeper; ALTER TABLE p1 OWNER TO keeper;'
	  . ' ALTER TABLE p2a OWNER TO keeper');
my ($rc, $out, $err) = $node->psql('postgres', "SET ROLE keeper; SELECT sweep.vacuum('parted')");
like($err, qr/WARNING:  permission denied to vacuum "p3", skipping it/, 'a partition of somebody else is skipped with a WARNING');
poll_ok($node, "SELECT array_agg(relname ORDER BY relname) = '{p1,p2a}' FROM sweep.runs WHERE relname ~ '^p(arted|[123])' AND outcome = 'done'",
	'the leaves of a partitioned table');

# ---- only the TOAST table

sql($node, "CREATE TABLE wide (i int, t text); ALTER TABLE wide ALTER t SET STORAGE EXTERNAL; INSERT INTO wide VALUES (1, repeat('x', 10000))");
my $toast = sql($node, "SELECT relname FROM pg_class WHERE oid = (SELECT reltoastrelid FROM pg_class WHERE relname = 'wide')");
sql($node, "SELECT sweep.vacuum('wide', aux => true)");
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = '$toast' AND outcome = 'done' AND reason LIKE 'requested by %'",
	'sweep.vacuum(aux): the TOAST table');
rounds($node, 3);
is(runs_of('wide'), '0', 'and not the table');
($rc, $out, $err) = $node->psql('postgres', "CREATE TABLE narrow (i int); SELECT sweep.vacuum('narrow', aux => true)");
is($out, '0', 'sweep.vacuum(aux): 0 where there is none');
like($err, qr/NOTICE:  "narrow" has no auxiliary tables/, 'with a NOTICE');

# ---- before everything else, merged, and after the vacuum that is running

reload_with($node, 'sweep.max_workers' => 1, 'sweep.exclude_databases' => 'postgres');
rounds($node, 2);
slow_table($node, 'postgres', "due$_", pages => 100, with => $slow) for 1 .. 3;
sql($node, 'CREATE TABLE urgent (i int)');
reload_with($node, 'sweep.exclude_databases' => '');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.progress WHERE started_by = 'sweep' AND relname LIKE 'due%'",
	'three tables are due, the only worker is at the first');
my $first = sql($node, "SELECT sweep.vacuum('urgent')");
is(sql($node, "SELECT sweep.vacuum('urgent')"), $first, 'a request that is there already is the same');
is(sql($node, "SELECT relname, state, attempts, requested_by = current_user, aux, datname FROM sweep.queue WHERE request_id IS NOT NULL"), 'urgent|waiting|0|t|f|postgres',
	'sweep.queue shows it, once');
poll_ok($node, "SELECT count(*) = 3 FROM sweep.runs WHERE relname ~ '^due[123]' AND outcome = 'done'", 'all are vacuumed');
is(sql($node, "SELECT count(*) FROM sweep.runs WHERE relname ~ '^due[123]' AND started_at < (SELECT min(started_at) FROM sweep.runs WHERE relname = 'urgent')"),
	'1', 'the one asked for next');
is(runs_of('urgent'), '1', 'once');

slow_table($node, 'postgres', 'running', pages => 100, with => $slow);
poll_ok($node, "SELECT count(*) = 1 FROM sweep.progress WHERE started_by = 'sweep' AND relname = 'running'", 'a table is being vacuumed');
sql($node, "SELECT sweep.vacuum('running')");
rounds($node, 3);
is(sql($node, "SELECT state || ' ' || attempts FROM sweep.queue WHERE request_id IS NOT NULL"), 'waiting 0', 'a request for it waits');
poll_ok($node, "SELECT count(*) = 2 FROM sweep.runs WHERE relname = 'running' AND outcome = 'done'", 'and comes afterwards');
is(sql($node, "SELECT string_agg((reason LIKE 'requested by%')::text, ' ' ORDER BY started_at) FROM sweep.runs WHERE relname = 'running'"), 'false true',
	'in this order');
reload_with($node, 'sweep.max_workers' => 2);

poll_ok($node, 'SELECT count(*) = 0 FROM sweep.queue WHERE request_id IS NOT NULL', 'no request is left');

# ---- a lock: tried again, then given up

sql($node, 'CREATE TABLE locked (i int)');
my $user = session($node);
$user->query_safe('BEGIN; LOCK TABLE locked IN SHARE MODE');
sql($node, "SELECT sweep.vacuum('locked')");
poll_ok($node, "SELECT attempts >= 1 AND not_before IS NOT NULL AND state = 'waiting' FROM sweep.queue WHERE request_id IS NOT NULL AND relname = 'locked'",
	'a locked table is tried again later');
$user->query_safe('ROLLBACK');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'locked' AND outcome = 'done'", 'until it is free');
poll_ok($node, 'SELECT count(*) = 0 FROM sweep.queue WHERE request_id IS NOT NULL', 'then the request is over');
my $offset = log_size($node);
$user->query_safe('BEGIN; LOCK TABLE locked IN SHARE MODE');
sql($node, 'SELECT sweep.reset_runs()');
sql($node, "SELECT sweep.vacuum('locked')");
log_poll_ok($node, qr/LOG:  pg_sweep: the vacuum of "public\.locked" that "\S+" asked for is given up: lock not available, 6 times/, $offset, 'not for ever');
is(requests(), '0', 'it is gone');
is(runs_of('locked', "AND outcome = 'skipped'"), '6', 'six attempts');
$user->query_safe('ROLLBACK');

# one for a table that is dropped meanwhile, and one whose worker is ended
$user->query_safe('BEGIN; LOCK TABLE locked IN ACCESS EXCLUSIVE MODE');
sql($node, "SELECT sweep.vacuum('locked')");
poll_ok($node, "SELECT attempts >= 1 FROM sweep.queue WHERE request_id IS NOT NULL", 'a request waits');
$user->query_safe('DROP TABLE locked; COMMIT');
poll_ok($node, "SELECT count(*) = 0 FROM sweep.queue WHERE request_id IS NOT NULL", 'and is over when its table is dropped');
slow_table($node, 'postgres', 'interrupted', pages => 100, with => "autovacuum_enabled = off, $slow");
sql($node, "SELECT sweep.vacuum('interrupted')");
my $pid = poll_value($node, "SELECT pid FROM sweep.progress WHERE relname = 'interrupted' AND started_by = 'sweep'");
is(sql($node, "SELECT state, position, waiting_for, requested_by = current_user FROM sweep.queue WHERE request_id IS NOT NULL"), 'running|||t', 'a request is being served');
sql($node, "SELECT pg_terminate_backend($pid)");
poll_ok($node, "SELECT attempts = 1 AND state = 'running' FROM sweep.queue WHERE request_id IS NOT NULL AND relname = 'interrupted'", 'its worker is ended: another one takes it');
$pid = poll_value($node, "SELECT pid FROM sweep.progress WHERE relname = 'interrupted' AND started_by = 'sweep'");
my $second = sql($node, "SELECT sweep.vacuum('interrupted')");
is( sql($node, "SELECT string_agg(state, ' ' ORDER BY request_id), count(position) FROM sweep.queue WHERE relname = 'interrupted'"),
	'running waiting|1', 'who asks again while it runs asks for another vacuum');
sql($node, "SELECT pg_cancel_backend($pid)");
poll_ok($node, "SELECT count(*) = 0 FROM sweep.queue WHERE request_id < $second", 'a cancelled request is over');
poll_ok($node, "SELECT count(*) = 0 FROM sweep.queue WHERE request_id = $second", 'and so is the other one in the end');

# ---- nobody would serve it

sub refused
{
	my ($query, $detail, $name) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', $query);

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	like($err, $detail, $name);
	is(requests(), '0', "$name: nothing is put");
	return;
}

sql($node, "SELECT sweep.hold('1 day')");
sql($node, "SELECT sweep.vacuum('narrow')");
is(requests(), '1', 'a request waits for the end of a hold');
is(sql($node, "SELECT waiting_for LIKE 'hold until %', not_before > now() FROM sweep.queue WHERE relname = 'narrow'"), 't|t', 'and the queue says until when');
$offset = log_size($node);
reload_with($node, 'sweep.mode' => 'observe');
log_poll_ok($node, qr/LOG:  pg_sweep: the vacuum of "public\.narrow" that "\S+" asked for is given up: pg_sweep does not vacuum any more/, $offset,
	'it is given up when the mode changes to observe');
refused("SELECT sweep.vacuum('narrow')", qr/ERROR:  pg_sweep vacuums nothing here now\n.*DETAIL:  "sweep.mode" is "observe"/, 'observe');
refused("SELECT sweep.vacuum('wide', aux => true)", qr/DETAIL:  "sweep.mode" is "observe"/, 'observe, TOAST');
reload_with($node, 'sweep.mode' => 'off');
refused("SELECT sweep.vacuum('narrow')", qr/DETAIL:  "sweep.mode" is "off"/, 'off');
reload_with($node, 'sweep.mode' => 'act', 'sweep.exclude_databases' => 'postgres');
refused("SELECT sweep.vacuum('narrow')", qr/DETAIL:  This database is not among/, 'an excluded database');
reload_with($node, 'sweep.exclude_databases' => '', 'sweep.max_workers' => 0);
refused("SELECT sweep.vacuum('narrow')", qr/DETAIL:  "sweep.max_workers" is 0/, 'no workers');
reload_with($node, 'sweep.max_workers' => 2);

# a full queue
sql($node, 'CREATE TABLE many (i int) PARTITION BY RANGE (i)');
sql($node, "DO \$\$ BEGIN FOR i IN 1 .. 1025 LOOP EXECUTE format('CREATE TABLE many%s PARTITION OF many FOR VALUES FROM (%s) TO (%s)', i, i, i + 1);"
	  . " END LOOP; END \$\$");
refused("SELECT sweep.vacuum('many')", qr/ERROR:  too many vacuums are requested\n.*DETAIL:  1025 more tables do not fit.  There is room for 1024/,
	'a full queue');
sql($node, 'DROP TABLE many1');
sql($node, "SELECT sweep.vacuum('many')");
is(sql($node, 'SELECT count(*), count(DISTINCT request_id) FROM sweep.queue WHERE request_id IS NOT NULL'), '1024|1', 'as many as fit, under one id');
($rc, $out, $err) = $node->psql('postgres', "SELECT sweep.vacuum('narrow')");
like($err, qr/ERROR:  too many vacuums are requested/, 'and no more');
sql($node, "SELECT sweep.vacuum('many2')");
sql($node, 'DROP TABLE many');

# ---- hold

is(sql($node, "SELECT held_until BETWEEN now() + interval '23 hours' AND now() + interval '1 day' FROM sweep.status"), 't', 'sweep.status shows the hold');
slow_table($node, 'postgres', 'before', pages => 100, with => $slow);
is(sql($node, "SELECT sweep.hold('0') IS NULL"), 't', 'sweep.hold() of 0 ends it');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.progress WHERE relname = 'before' AND started_by = 'sweep'", 'what was due is vacuumed');
sql($node, "SELECT sweep.hold('1 hour')");
garbage($node, 'postgres', 'held');
rounds($node, 10);
is(runs_of('held'), '0', 'no new vacuum begins in a hold');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'before' AND outcome = 'done'", 'what was running ends in order');
$node->restart;
poll_ok($node, "SELECT held_until > now() + interval '50 minutes' FROM sweep.status", 'a restart does not end it');
rounds($node, 10);
is(runs_of('held'), '0', 'nothing begins after it');
my $until = sql($node, "SELECT extract(epoch FROM sweep.hold('3 seconds'))");
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'held' AND outcome = 'done'", 'it ends by itself');
cmp_ok(sql($node, "SELECT extract(epoch FROM started_at) FROM sweep.runs WHERE relname = 'held'"), '>=', $until, 'not before its time');
is(status($node, 'held_until'), '', 'sweep.status has none any more');
is(sql($node, "SELECT sweep.hold('0') IS NULL"), 't', 'there is none to end');

# ---- snooze

sql($node, "SELECT sweep.hold('1 hour')");
garbage($node, 'postgres', 'snoozed', with => 'autovacuum_vacuum_threshold = 10');
is(sql($node, "SELECT sweep.snooze('snoozed', '1 hour') > now()"), 't', 'a due table is snoozed');
sql($node, "CREATE TABLE unknown (i int); SELECT sweep.snooze('unknown', '1 hour')");
sql($node, "SELECT sweep.hold('0')");
garbage($node, 'postgres', 'other');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'other'", 'another table is vacuumed');
rounds($node, 10);
is(runs_of('snoozed'), '0', 'the snoozed one is not');
is(sql($node, "SELECT decision FROM sweep.decisions WHERE relname = 'unknown'"), 'snoozed', 'one without statistics is not forgotten by a visit');

# it survives vacuums by others, and one that is asked for
sql($node, 'VACUUM snoozed');
more_garbage($node, 'postgres', 'snoozed');
rounds($node, 5);
is(runs_of('snoozed'), '0', 'it stays snoozed after a vacuum by hand, however due');
sql($node, "SELECT sweep.vacuum('snoozed')");
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'snoozed' AND reason LIKE 'requested%' AND outcome = 'done'",
	'who asks for a vacuum gets it');
more_garbage($node, 'postgres', 'snoozed');
rounds($node, 5);
is(runs_of('snoozed'), '1', 'it stays snoozed after that');
is(sql($node, "SELECT decision, not_before > now() + interval '50 minutes' FROM sweep.decisions WHERE relname = 'snoozed'"), 'snoozed|t',
	'and sweep.decisions says so');

# it ends
is(sql($node, "SELECT sweep.snooze('snoozed', '0') IS NULL"), 't', 'ended by hand');
poll_ok($node, "SELECT count(*) = 2 FROM sweep.runs WHERE relname = 'snoozed' AND started_by = 'sweep'", 'it is vacuumed again');
$until = sql($node, "SELECT extract(epoch FROM sweep.snooze('snoozed', '3 seconds'))");
more_garbage($node, 'postgres', 'snoozed');
poll_ok($node, "SELECT count(*) = 3 FROM sweep.runs WHERE relname = 'snoozed' AND started_by = 'sweep'", 'it ends by itself');
cmp_ok(sql($node, "SELECT extract(epoch FROM max(started_at)) FROM sweep.runs WHERE relname = 'snoozed' AND started_by = 'sweep'"), '>=', $until,
	'not before its time');

# cancel and snooze
slow_table($node, 'postgres', 'stubborn', pages => 300);
$pid = poll_value($node, "SELECT pid FROM sweep.progress WHERE relname = 'stubborn' AND started_by = 'sweep' AND phase = 'scanning heap'");
is(sql($node, "SELECT sweep.cancel($pid, '1 hour')"), 't', 'sweep.cancel() with a snooze');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'stubborn' AND outcome = 'cancelled'", 'the vacuum is cancelled');
rounds($node, 5);
is(sql($node, "SELECT decision, times, not_before > now() + interval '50 minutes' FROM sweep.decisions WHERE relname = 'stubborn'"), 'snoozed|1|t',
	'and its table is left alone for so long');
is(runs_of('stubborn'), '1', 'really');

# ---- settings of a table

sql($node, 'CREATE TABLE queue (id int, pad text)');
reload_with($node, 'sweep.min_interval' => '10min');    # 30 s here
sql($node, "SELECT sweep.set('queue', 'min_interval', '2s')");
more_garbage($node, 'postgres', $_) for qw(queue);
poll_ok($node, "SELECT count(*) >= 1 FROM sweep.runs WHERE relname = 'queue' AND started_by = 'sweep'", 'a queue is vacuumed');
poll_ok($node, "SELECT bool_and(not_before - last_at < interval '1 second') FROM sweep.decisions WHERE relname = 'queue' AND decision = 'vacuumed'",
	'and may be again by its own minimum interval');
for my $n (2 .. 3)
{
	more_garbage($node, 'postgres', 'queue');
	poll_ok($node, "SELECT count(*) >= $n FROM sweep.runs WHERE relname = 'queue' AND started_by = 'sweep'", 'again', timeout => 10);
}
reload_with($node, 'sweep.min_interval' => '60s');

# thresholds that the scout does not know, told at once
garbage($node, 'postgres', 'sensitive', rows => 1000, dead => 20);
garbage($node, 'postgres', 'patient', rows => 1000, dead => 20);
rounds($node, 5);
is(runs_of('sensitive'), '0', 'a table is not due');
sql($node, "SELECT sweep.set('sensitive', 'vacuum_threshold', '5'); SELECT sweep.set('sensitive', 'vacuum_scale_factor', '0')");
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'sensitive' AND started_by = 'sweep' AND reason LIKE 'dead tuples 20 > 5,%'",
	'it is by a threshold of its own', timeout => 10);
is(runs_of('patient'), '0', 'another one is not');
sql($node, "SELECT sweep.set('patient', 'enabled', 'off')");
more_garbage($node, 'postgres', 'patient');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.decisions WHERE relname = 'patient' AND decision = 'disabled'", 'one that is switched off');
sql($node, "SELECT sweep.set('patient', 'enabled', NULL)");
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'patient' AND started_by = 'sweep'", 'and on again', timeout => 10);
garbage($node, 'postgres', 'disabled', with => 'autovacuum_enabled = off');
rounds($node, 3);
sql($node, "SELECT sweep.set('disabled', 'enabled', 'on')");
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'disabled' AND started_by = 'sweep'", 'sweep.set() wins over autovacuum_enabled',
	timeout => 10);
sql($node, "CREATE TABLE inserted (id int, pad text); SELECT sweep.set('inserted', 'insert_threshold', '-1')");
sql($node, 'INSERT INTO inserted SELECT i FROM generate_series(1, 25000) i');
poll_ok($node, "SELECT n_ins_since_vacuum = 25000 FROM pg_stat_all_tables WHERE relname = 'inserted'", 'many rows are inserted');
rounds($node, 5);
is(runs_of('inserted'), '0', 'no vacuum for inserts into a table with insert_threshold -1');

# the TOAST table takes its table's
sql($node, "CREATE TABLE fat (i int, t text); ALTER TABLE fat ALTER t SET STORAGE EXTERNAL; SELECT sweep.set('fat', 'enabled', 'off')");
sql($node, "BEGIN; INSERT INTO fat SELECT i, repeat('x', 4000) FROM generate_series(1, 300) i; DELETE FROM fat; COMMIT");
poll_ok($node, "SELECT count(*) = 2 FROM sweep.decisions WHERE decision = 'disabled' AND relid IN (SELECT unnest(ARRAY[oid, reltoastrelid]) FROM pg_class"
	  . " WHERE relname = 'fat')", 'a TOAST table takes what is set for its table');

# ---- a dump takes them along, by name

sql($node, 'CREATE SCHEMA "Odd Schema"; CREATE TABLE "Odd Schema"."Odd ""Table" (i int); CREATE TABLE dropped (i int)');
sql($node, q{SELECT sweep.set('"Odd Schema"."Odd ""Table"', 'min_interval', '7s'); SELECT sweep.set('dropped', 'min_interval', '8s');}
	  . q{ SELECT sweep.set('pg_class', 'min_interval', '9s')});
sql($node, 'DROP TABLE dropped');
is(sql($node, "SELECT count(*) FROM sweep.table_settings WHERE value = '8s'"), '1', 'a dropped table has left its setting');
my $dump = $node->basedir . '/dump.sql';
$node->command_ok([ 'pg_dump', '-f', $dump, '-d', $node->connstr('postgres') ], 'pg_dump');
sql($node, 'CREATE DATABASE restored; ');
sql($node, 'CREATE TABLE shift_the_oids (i int)', 'restored');
$node->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', $dump, '-d', $node->connstr('restored') ], 'psql restores it');
my $all = q{SELECT string_agg(relid || ' ' || name || ' ' || value || ' ' || set_by, E'\n' ORDER BY relid::text COLLATE "C", name) FROM sweep.table_settings}
	  . q{ WHERE value <> '8s'};
is(sql($node, $all, 'restored'), sql($node, $all), 'the settings are the same, by name');
is(sql($node, "SELECT count(*) FROM sweep.table_settings WHERE value = '8s'", 'restored'), '0', 'but for what was dropped');
is(sql($node, q{SELECT relid = '"Odd Schema"."Odd ""Table"'::regclass::oid FROM sweep.table_settings WHERE value = '7s'}, 'restored'), 't',
	'they belong to the restored tables');

# ---- a table of that name that is not the extension's is not read

sql($node, 'CREATE ROLE mallory LOGIN; CREATE DATABASE prey OWNER mallory');
sql($node, 'GRANT ALL ON SCHEMA public TO mallory', 'prey');
sql($node, "SET ROLE mallory; CREATE SCHEMA sweep; CREATE TABLE sweep.table_settings (relid regclass, name text, value text, set_by text, set_at timestamptz);"
	  . " CREATE TABLE victim (id int, pad text); INSERT INTO sweep.table_settings VALUES ('victim', 'enabled', 'off')", 'prey');
$user = session($node, 'prey');
$user->query_safe('BEGIN; LOCK TABLE sweep.table_settings');
more_garbage($node, 'prey', 'victim');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE datname = 'prey' AND relname = 'victim' AND started_by = 'sweep' AND outcome = 'done'",
	'a fake sweep.table_settings is neither read nor waited for');
$user->quit;

# A restore may bring nonsense, which is left out. While the real one is locked nothing is vacuumed.
sql($node,
	"INSERT INTO sweep.table_settings VALUES ('queue', 'unheard_of', '1'), ('queue', 'enabled', repeat('x', 100000)), ('queue', 'vacuum_threshold', '-7')");
more_garbage($node, 'postgres', 'queue');
poll_ok($node, "SELECT count(*) >= 4 FROM sweep.runs WHERE relname = 'queue' AND started_by = 'sweep'", 'nonsense in it is left out');
poll_ok($node, "SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'sweep worker'", 'no worker is there');
$user = session($node);
$user->query_safe('BEGIN; LOCK TABLE sweep.table_settings');
$offset = log_size($node);
garbage($node, 'postgres', 'blocked');
log_poll_ok($node, qr/ERROR:  could not obtain lock on "sweep\.table_settings"/, $offset, 'a worker does not wait for a lock on it');
is(runs_of('blocked'), '0', 'nor vacuum what might have been switched off');
$user->query_safe('ROLLBACK');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'blocked' AND outcome = 'done'", 'then it goes on');
$user->quit;

$node->stop;
done_testing();
