# Why is this table not being vacuumed?  Each cause that needs other processes, time or
# transactions is brought about for real, and the explanation read.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

my $node = sweep_node('explain', init => [ allows_streaming => 1 ], conf => <<'END');
sweep.debug_clock_rate = 20
autovacuum_vacuum_cost_delay = 0
max_prepared_transactions = 10
max_worker_processes = 12
autovacuum_freeze_max_age = 100000
wal_level = logical
END

# Polls until the explanation has a row of that table and cause as told. It makes
# one test each for verdict, evidence and fix, and one that a fix has its risk.
sub explained
{
	my ($name, $table, %want) = @_;
	my $dbname = $want{db} // 'postgres';
	my $cause = $want{cause} =~ s/'/''/gr;
	my $what = "FROM sweep.explain('$table') WHERE cause ~ '$cause'";

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($ok) = poll_until($node, "SELECT count(*) >= 1 $what" . ($want{first} // 1 ? ' AND rank = 1' : ''), db => $dbname);
	ok($ok, "$name: the cause");
	if (!$ok)
	{
		diag(sql($node, "SELECT * FROM sweep.explain('$table')", $dbname));
		diag(sql($node, "SELECT * FROM sweep.queue"));
		diag(sql($node, "SELECT * FROM sweep.decisions"));
		return;
	}
	my ($verdict, $evidence, $fix, $risk) = split /\t/, $node->safe_psql($dbname,
		"SELECT verdict, evidence, fix, risk $what ORDER BY rank LIMIT 1", extra_params => [ '-F', "\t" ]), -1;
	is($verdict, $want{verdict}, "$name: the verdict") if $want{verdict};
	like($evidence, $want{evidence}, "$name: the evidence") if $want{evidence};
	like($fix, $want{fix}, "$name: the fix") if $want{fix};
	isnt($risk, '', "$name: the fix's risk") if $fix ne '';
	return;
}

# Something holds the horizon, so a table is vacuumed in vain, and waits.
sub held_back
{
	my ($name, $table, %want) = @_;
	my $dbname = $want{db} // 'postgres';

	garbage($node, $dbname, $table) unless $want{catalog};
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	poll_ok($node, "SELECT count(*) >= 1 FROM sweep.decisions WHERE relname = '$table' AND decision = 'held back'", "$name: held back");
	explained($name, $table, %want, cause => $want{cause}, verdict => 'due, but waiting');
	my ($kind, $withholds) = split /\t/, $node->safe_psql('postgres',
		"SELECT kind, withholds FROM sweep.blockers WHERE kind = '$want{kind}' LIMIT 1", extra_params => [ '-F', "\t" ]), -1;
	is($kind, $want{kind}, "$name: in sweep.blockers");
	like($withholds // '', qr/dead rows of \d+ tables?: .*\b$table\b/, "$name: what it withholds");
	return;
}

# What was held back is vacuumed when the holder is gone.
sub released
{
	my ($name, $table) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	poll_ok($node, "SELECT count(*) >= 1 FROM sweep.runs WHERE relname = '$table' AND tuples_removed >= 500", "$name: the fix lets it go");
	poll_ok($node, "SELECT verdict = 'not due' AND cause = 'below the threshold' FROM sweep.explain('$table') WHERE rank = 1",
		"$name: and it is explained as done");
	return;
}

# ---- nothing is in the way

garbage($node, 'postgres', 'quiet', rows => 900, dead => 20);
explained('below the threshold', 'quiet', cause => 'below the threshold', verdict => 'not due',
	evidence => qr/^dead tuples 20 of 50 \(30 missing\)\. Inserted tuples 900 of 1000 \(100 missing\)\. It was never vacuumed, so the rate is unknown$/,
	fix => qr/^$/);
# a worker's snapshot from before that is in the way for a moment
for (1 .. 100)
{
	sql($node, 'VACUUM quiet');
	last if sql($node, q{SELECT n_dead_tup FROM pg_stat_all_tables WHERE relname = 'quiet'}) eq '0';
}
more_garbage($node, 'postgres', 'quiet', 30);
poll_ok($node, q{SELECT n_dead_tup = 30 FROM pg_stat_all_tables WHERE relname = 'quiet'}, 'at a rate: its counters are there');
explained('at a rate', 'quiet', cause => 'below the threshold', verdict => 'not due',
	evidence => qr/^dead tuples 30 of 226 \(196 missing\)\. .*\. At the rate since the last vacuum at \S+ \S+ it is due at 20\d\d-\d\d-\d\d /,
	fix => qr/^ALTER TABLE public\.quiet SET \(autovacuum_vacuum_scale_factor = 0\.05\);$/);
sql($node, 'ALTER TABLE quiet SET (autovacuum_vacuum_scale_factor = 0.05)');
explained('at a rate, the fix in force', 'quiet', cause => 'below the threshold', verdict => 'not due', fix => qr/^$/);
sql($node, "ALTER TABLE quiet RESET (autovacuum_vacuum_scale_factor); SELECT sweep.set('quiet', 'vacuum_scale_factor', '0.3')");
explained('at a rate, a value by sweep.set()', 'quiet', cause => 'below the threshold', verdict => 'not due',
	fix => qr/^SELECT sweep\.set\('public\.quiet', 'vacuum_scale_factor', '0\.05'\);$/);
sql($node, "SELECT sweep.set('quiet', 'vacuum_scale_factor', NULL)");

# ---- an open transaction, and one that is idle

my $session = session($node);
sub in_transaction { $session->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_class'); return }

in_transaction();
my $pid = sql($node, q{SELECT pid FROM pg_stat_activity WHERE state = 'idle in transaction'});
held_back('idle in transaction', 'by_idle', kind => 'idle in transaction', cause => 'a session that is idle in transaction still needs its dead rows',
	evidence => qr/the last vacuum left dead rows that it may still see, pid $pid, \w+, .*idle in transaction, in database postgres, since .*transactions? old/,
	fix => qr/^SELECT pg_catalog\.pg_terminate_backend\($pid\);$/);
$session->query_safe('COMMIT');
released('idle in transaction', 'by_idle');

# the statement runs as long as somebody holds an advisory lock
sql($node, 'CREATE TABLE gate (a int)');
my $gate = session($node);
$gate->query_safe('SELECT pg_advisory_lock(1)');
$session->query_until(qr/begun/, "\\echo begun\nSELECT pg_advisory_lock(1), pg_advisory_unlock(1);\n");
poll_ok($node, q{SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event = 'advisory' AND backend_xmin IS NOT NULL}, 'a query runs');
held_back('an open transaction', 'by_query', kind => 'transaction', cause => 'an open transaction still needs its dead rows',
	evidence => qr/pid $pid, .*active, .*pg_advisory_lock\(1\)/, fix => qr/^SELECT pg_catalog\.pg_cancel_backend\($pid\);$/);
sql($node, "SELECT pg_cancel_backend($pid)");
released('an open transaction', 'by_query');
$session->quit;
$session = session($node);

# ---- a shared catalog is held back from another database as well

sql($node, 'CREATE DATABASE other');
sql($node, 'CREATE EXTENSION pg_sweep', 'other');
my $elsewhere = session($node, 'other');
$elsewhere->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_class');
sql($node, 'DO $$ BEGIN FOR i IN 1 .. 600 LOOP CREATE ROLE transient; DROP ROLE transient; END LOOP; END $$');
held_back('another database', 'pg_authid', catalog => 1, kind => 'idle in transaction',
	cause => 'a session that is idle in transaction still needs its dead rows \(it is in another database, but this catalog is shared\)',
	evidence => qr/in database other/, fix => qr/pg_terminate_backend/);
garbage($node, 'postgres', 'not_shared');
poll_ok($node, q{SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'not_shared' AND tuples_removed = 500}, 'tables of this database are not held back by it');
$elsewhere->query_safe('COMMIT');
$elsewhere->quit;

# ---- prepared transactions, Citus' among them

sql($node, q{BEGIN; CREATE TABLE prepared_one (a int); PREPARE TRANSACTION 'left behind'});
held_back('a prepared transaction', 'by_prepared', kind => 'prepared transaction', cause => 'a prepared transaction still needs its dead rows',
	evidence => qr/left behind, prepared, in database postgres/, fix => qr/^ROLLBACK PREPARED 'left behind';/);
sql($node, q{ROLLBACK PREPARED 'left behind'});
released('a prepared transaction', 'by_prepared');
sql($node, q{BEGIN; CREATE TABLE prepared_one (a int); PREPARE TRANSACTION 'citus_0_12_3_4'});
# It has a row for each database in which it is felt.
is(sql($node, q{SELECT DISTINCT fix FROM sweep.blockers WHERE name = 'citus_0_12_3_4'}), 'SELECT recover_prepared_transactions(); -- on the coordinator',
	'a prepared transaction of Citus is recovered, not rolled back');
sql($node, q{ROLLBACK PREPARED 'citus_0_12_3_4'});

# ---- CREATE INDEX CONCURRENTLY that waits for somebody

sql($node, 'CREATE TABLE indexed (id int, pad text); INSERT INTO indexed VALUES (1)');
# It has built the index, has its snapshot, and waits for a transaction in another database.
$gate->query_safe('SELECT pg_advisory_unlock_all()');
$gate->query_safe('SELECT pg_advisory_lock(2)');
sql($node, q{CREATE FUNCTION slow(a int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_lock_shared(2); RETURN a; END $$});
$session->query_until(qr/begun/, "\\echo begun\nCREATE INDEX CONCURRENTLY slowly ON indexed (slow(id));\n");
poll_ok($node, q{SELECT count(*) = 1 FROM pg_stat_progress_create_index JOIN pg_stat_activity USING (pid)}
	  . q{ WHERE backend_xmin IS NOT NULL AND wait_event = 'advisory'}, 'an index is being made');
$pid = sql($node, q{SELECT pid FROM pg_stat_progress_create_index});
held_back('create index', 'by_index', kind => 'create index', cause => 'a long CREATE INDEX still needs its dead rows',
	evidence => qr/pid $pid, .*CREATE INDEX CONCURRENTLY/, fix => qr/^SELECT pg_catalog\.pg_cancel_backend\($pid\);$/);

# its table is locked by it
more_garbage($node, 'postgres', 'indexed');
explained('locked', 'indexed', cause => "locked by pid $pid", verdict => 'due, but waiting', first => 0,
	evidence => qr/^ShareUpdateExclusiveLock, .*CREATE INDEX CONCURRENTLY/, fix => qr/pg_cancel_backend\($pid\)/);
is(sql($node, q{SELECT blocked_by FROM sweep.tables WHERE relname = 'indexed'}), "{$pid}", 'sweep.tables tells who blocks it');
poll_ok($node, q{SELECT waiting_for ~ '^lock: not free \d+ times? in a row, tried again at 20' FROM sweep.queue WHERE relname = 'indexed'},
	'the queue tells that it waits for a lock');
sql($node, "SELECT pg_cancel_backend($pid)");
released('create index', 'by_index');
$session->quit;
sql($node, 'DROP TABLE indexed');

# ---- ANALYZE holds a snapshot, VACUUM does not

sql($node, q{CREATE TABLE analyzed (a int); INSERT INTO analyzed VALUES (1); CREATE INDEX ON analyzed (slow(a)) WHERE a IS NULL;
	CREATE STATISTICS slowly ON slow(a), (a + 1) FROM analyzed});
$session = session($node);
$session->query_until(qr/begun/, "\\echo begun\nANALYZE analyzed;\n");
poll_ok($node, q{SELECT count(*) = 1 FROM pg_stat_progress_analyze JOIN pg_stat_activity USING (pid) WHERE wait_event = 'advisory'}, 'an ANALYZE runs');
$pid = sql($node, q{SELECT pid FROM pg_stat_progress_analyze});
held_back('a long ANALYZE', 'by_analyze', kind => 'vacuum', cause => 'a long VACUUM FULL or ANALYZE still needs its dead rows',
	evidence => qr/pid $pid, .*ANALYZE analyzed/, fix => qr/pg_cancel_backend\($pid\)/);
sql($node, "SELECT pg_cancel_backend($pid)");
released('a long ANALYZE', 'by_analyze');
$session->quit;
$gate->query_safe('SELECT pg_advisory_unlock_all()');

# ---- locks: a session, somebody who waits, a prepared transaction

garbage($node, 'postgres', 'locked', rows => 1000, dead => 20);
$session = session($node);
$session->query_safe('BEGIN; LOCK TABLE locked IN SHARE MODE');
$pid = sql($node, q{SELECT pid FROM pg_stat_activity WHERE state = 'idle in transaction'});
sql($node, 'ALTER SYSTEM SET autovacuum_vacuum_threshold = 10; ALTER SYSTEM SET autovacuum_vacuum_scale_factor = 0');
sql($node, 'SELECT pg_reload_conf()');
explained('locked by a session', 'locked', cause => "locked by pid $pid", verdict => 'due, but waiting',
	evidence => qr/^ShareLock, .*idle in transaction, since .*LOCK TABLE locked/, fix => qr/pg_terminate_backend\($pid\)/);
$session->query_safe('ROLLBACK');
released_lock('locked');
sql($node, q{BEGIN; LOCK TABLE locked IN SHARE UPDATE EXCLUSIVE MODE; PREPARE TRANSACTION 'locks it'});
more_garbage($node, 'postgres', 'locked');
explained('locked by a prepared transaction', 'locked', cause => 'locked by prepared transaction "locks it"', verdict => 'due, but waiting', first => 0,
	evidence => qr/^ShareUpdateExclusiveLock, since /, fix => qr/^ROLLBACK PREPARED 'locks it'; -- in its database$/);
is(sql($node, q{SELECT blocked_by FROM sweep.tables WHERE relname = 'locked'}), '{0}', 'sweep.tables: a prepared transaction has no process');
sql($node, q{ROLLBACK PREPARED 'locks it'});
sql($node, q{BEGIN; LOCK TABLE locked IN SHARE UPDATE EXCLUSIVE MODE; PREPARE TRANSACTION 'citus_0_locks_it'});
more_garbage($node, 'postgres', 'locked');
explained('locked by a prepared transaction of Citus', 'locked', cause => 'locked by prepared transaction "citus_0_locks_it"', verdict => 'due, but waiting',
	first => 0,
	evidence => qr/^ShareUpdateExclusiveLock, since /, fix => qr/^SELECT recover_prepared_transactions\(\);/);
sql($node, q{ROLLBACK PREPARED 'citus_0_locks_it'});
reload_with($node, autovacuum_vacuum_threshold => 50, autovacuum_vacuum_scale_factor => '0.2');

sub released_lock
{
	my ($table) = @_;

	poll_ok($node, "SELECT count(*) >= 1 FROM sweep.runs WHERE relname = '$table' AND outcome = 'done' AND tuples_removed > 0", "$table is free, and vacuumed");
	return;
}

# ---- just vacuumed

reload_with($node, 'sweep.min_interval' => '1h');
garbage($node, 'postgres', 'again');
poll_ok($node, q{SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'again' AND tuples_removed = 500}, 'a table is vacuumed');
more_garbage($node, 'postgres', 'again');
explained('the minimum interval', 'again', cause => 'it was vacuumed a short while ago and waits for the minimum interval', verdict => 'due, but waiting',
	evidence => qr/^dead tuples \d+ > 150, score \d+\.\d+, number \d+ of \d+, waiting since .*, for: minimum interval until 20/,
	fix => qr/^SELECT sweep\.set\('public\.again', 'min_interval', '5 s'\);$/);
like(sql($node, q{SELECT lane, state, request_id, requested_by, requested_at, aux, attempts, not_before > now(), waiting_since <= now(), estimated_duration > '0', estimated_mb >= 0 FROM sweep.queue WHERE relname = 'again'}),
	qr/^user\|waiting\|\|\|\|\|\|t\|t\|t\|t$/, 'the queue knows how long its last run took');
sql($node, "SELECT sweep.set('again', 'min_interval', '5s')");
# it holds from the next vacuum on
explained('the minimum interval, the fix in force', 'again', cause => 'it was vacuumed a short while ago and waits for the minimum interval',
	verdict => 'due, but waiting', fix => qr/^$/);
sql($node, "SELECT sweep.set('again', 'min_interval', NULL)");
reload_with($node, 'sweep.min_interval' => '60s');

# ---- what users said

sql($node, "SELECT sweep.snooze('again', '1 hour')");
explained('snoozed', 'again', cause => 'it is snoozed', verdict => 'due, but waiting', evidence => qr/, for: snoozed until 20/,
	fix => qr/^SELECT sweep\.snooze\('public\.again', '0'\);$/);
is(sql($node, q{SELECT snoozed_until > now() FROM sweep.tables WHERE relname = 'again'}), 't', 'sweep.tables tells until when');
sql($node, 'SELECT sweep.hold()');
explained('on hold', 'again', cause => 'all vacuums of pg_sweep are on hold', verdict => 'due, but waiting', evidence => qr/, for: hold until 20/,
	fix => qr/^SELECT sweep\.hold\('0'\);$/);
sql($node, "SELECT sweep.hold('0')");
sql($node, "SELECT sweep.set('again', 'enabled', 'off')");
explained('disabled by sweep.set()', 'again', cause => 'pg_sweep is disabled for this table by sweep.set()', verdict => 'due, but pg_sweep does not act',
	evidence => qr/^by \w+ at 20/, fix => qr/^SELECT sweep\.set\('public\.again', 'enabled', NULL\);$/);
sql($node, "SELECT sweep.set('again', 'enabled', NULL)");
sql($node, "SELECT sweep.snooze('again', '0')");

# ---- all workers are busy

reload_with($node, 'sweep.max_workers' => 1, autovacuum_vacuum_cost_delay => '2ms');
slow_table($node, 'postgres', 'slow_one');
poll_ok($node, q{SELECT count(*) = 1 FROM sweep.progress WHERE relname = 'slow_one' AND phase = 'scanning heap'}, 'the only worker is busy');
explained('being vacuumed', 'slow_one', cause => 'a vacuum is working on it', verdict => 'being vacuumed now',
	evidence => qr/^pid \d+ \(sweep\), scanning heap since .*% done$/);
garbage($node, 'other', 'waits');
explained('all worker slots are busy', 'waits', db => 'other', cause => 'all worker slots are busy', verdict => 'due, but waiting',
	evidence => qr/, for: worker slot: all 1 busy with public\.slow_one$/, fix => qr/^ALTER SYSTEM SET sweep\.max_workers = 2;/);
is(sql($node, q{SELECT position > 0, datname, lane, score > 1, estimated_duration IS NULL FROM sweep.queue}
	  . q{ WHERE waiting_for ~ 'worker slot' AND datname = 'other' AND lane = 'user'}),
	't|other|user|t|t', 'the queue has it from another database too');
my $since = sql($node, q{SELECT waiting_since FROM sweep.queue WHERE datname = 'other' AND lane = 'user'});
rounds($node, 5);
is(sql($node, q{SELECT waiting_since FROM sweep.queue WHERE datname = 'other' AND lane = 'user'}), $since, 'and knows since when, from round to round');

# ---- keeps being cancelled

$session = session($node);
$session->query_safe(q{SET application_name = 'impatient'});
$pid = $session->query_safe('SELECT pg_backend_pid()');
$session->query_safe('BEGIN; LOCK TABLE slow_one IN ACCESS EXCLUSIVE MODE; ROLLBACK');
explained('cancelled', 'slow_one', cause => 'its vacuums keep being cancelled', verdict => 'due, but waiting',
	evidence => qr/^1 time since .*\. It is tried again at .*\. The last one was pid \d+ \(sweep\) after .*; gave way to pid $pid \(\w+, impatient, .*\. All their work is lost: \d+ pages? read and \d+ \w+ of WAL written in 1 run$/s,
	fix => qr/^VACUUM public\.slow_one;$/);
$session->quit;
poll_ok($node, q{SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'waits' AND outcome = 'done'}, 'the worker is free then');
sql($node, 'DROP TABLE slow_one');
reload_with($node, 'sweep.max_workers' => 2, autovacuum_vacuum_cost_delay => 0);

# ---- replication: a logical slot, a physical one, feedback

sql($node, q{SELECT pg_create_logical_replication_slot('stuck', 'pgoutput')});
my $columns = join(', ', map { "c$_ int" } 1 .. 100);
sql($node, "DO \$\$ BEGIN FOR i IN 1 .. 20 LOOP CREATE TABLE wide ($columns); DROP TABLE wide; END LOOP; END \$\$");
held_back('a logical slot', 'pg_attribute', catalog => 1, kind => 'logical slot', cause => 'a logical replication slot still needs its dead rows',
	evidence => qr/stuck, inactive/, fix => qr/^SELECT pg_catalog\.pg_drop_replication_slot\('stuck'\);$/);
is(sql($node, q{SELECT withholds LIKE '%; empty index pages, in all databases' FROM sweep.blockers WHERE name = 'stuck'}), major($node) < 16 ? 't' : 'f',
	'before 16 it keeps empty index pages of all tables');
garbage($node, 'postgres', 'not_a_catalog');
poll_ok($node, q{SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'not_a_catalog' AND tuples_removed = 500},
	'a logical slot does not hold back other tables');
is(sql($node, q{SELECT count(*) FROM sweep.explain('not_a_catalog') WHERE cause ~ 'replication slot'}), '0', 'and does not explain them');
sql($node, q{SELECT pg_drop_replication_slot('stuck')});

sql($node, q{SELECT pg_create_physical_replication_slot('standby')});
$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->append_conf('postgresql.conf', <<'END');
hot_standby_feedback = on
wal_receiver_status_interval = 1s
primary_slot_name = 'standby'
END
$standby->start;
$node->wait_for_catchup($standby);
my $reader = session($standby);
$reader->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_class');
poll_ok($node, q{SELECT xmin IS NOT NULL FROM pg_replication_slots WHERE slot_name = 'standby'}, 'the primary knows what a query on the standby needs');
held_back('standby feedback with a slot', 'by_standby', kind => 'standby feedback', cause => 'a standby still needs its dead rows: it sends feedback',
	evidence => qr/standby, active/, fix => qr/^ALTER SYSTEM SET hot_standby_feedback = off;/);
$standby->stop('immediate');
eval { $reader->quit };
explained('a slot that nobody uses', 'by_standby', cause => 'a physical replication slot still needs its dead rows', verdict => 'due, but waiting',
	evidence => qr/standby, inactive/, fix => qr/^SELECT pg_catalog\.pg_drop_replication_slot\('standby'\);$/);
sql($node, q{SELECT pg_drop_replication_slot('standby')});
released('a slot that nobody uses', 'by_standby');

$standby->append_conf('postgresql.conf', "primary_slot_name = ''\n");
$standby->start;
$reader = session($standby);
$reader->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_class');
poll_ok($node, q{SELECT backend_xmin IS NOT NULL FROM pg_stat_replication}, 'feedback without a slot');
held_back('standby feedback', 'by_feedback', kind => 'standby feedback', cause => 'a standby still needs its dead rows: it sends feedback',
	evidence => qr/pid \d+, .*since /, fix => qr/^ALTER SYSTEM SET hot_standby_feedback = off;/);
is(sql($node, q{SELECT count(*) FROM sweep.blockers WHERE kind = 'standby feedback' AND datname IS NULL}), '1', 'it holds back all databases');
is($standby->safe_psql('postgres', 'SELECT count(*) FROM sweep.blockers WHERE pid IS NULL'), '0', 'the views can be read on the standby');
$reader->query_safe('COMMIT');
$reader->quit;
released('standby feedback', 'by_feedback');
$standby->stop;

# ---- the order: the oldest comes first

my $older = session($node);
$older->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT pg_current_xact_id()');
sql($node, 'SELECT pg_current_xact_id()') for 1 .. 3;
sql($node, q{BEGIN; CREATE TABLE prepared_one (a int); PREPARE TRANSACTION 'younger'});
is(sql($node, q{SELECT string_agg(kind, ', ') FROM sweep.blockers WHERE kind IN ('idle in transaction', 'prepared transaction')}),
	'idle in transaction, prepared transaction', 'blockers by age');
sql($node, q{ROLLBACK PREPARED 'younger'});
$older->quit;
poll_ok($node, q{SELECT count(*) = 0 FROM sweep.blockers}, 'none is left');

# ---- the dry run

reload_with($node, 'sweep.mode' => 'observe');
rounds($node, 2);
garbage($node, 'postgres', 'dry');
my $dry = q{FROM sweep.decisions WHERE relname = 'dry'};
poll_ok($node, "SELECT decision = 'would vacuum' AND vacuumed_instead_at IS NULL $dry", 'what would have been vacuumed');
my $would = sql($node, "SELECT would_vacuum_at $dry");
sql($node, 'VACUUM dry');
is(sql($node, "SELECT would_vacuum_at = '$would', vacuumed_instead_at > would_vacuum_at, vacuumed_instead_by $dry"), 't|t|manual', 'and who did it instead');
reload_with($node, autovacuum => 'on', autovacuum_naptime => '1s');
more_garbage($node, 'postgres', 'dry');
poll_ok($node, "SELECT vacuumed_instead_by = 'autovacuum' AND vacuumed_instead_at > would_vacuum_at AND would_vacuum_at >= '$would' $dry",
	'autovacuum does it the next time');
reload_with($node, autovacuum => 'off');
poll_ok($node, q{SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type LIKE 'autovacuum%'}, 'autovacuum is gone');
more_garbage($node, 'postgres', 'dry', 300);
poll_ok($node, "SELECT would_vacuum_at > (SELECT max(ended_at) FROM sweep.runs WHERE relname = 'dry') AND vacuumed_instead_at IS NULL $dry",
	'it begins anew when the table is due again');
reload_with($node, 'sweep.mode' => 'act');
poll_ok($node, "SELECT decision = 'vacuumed' AND would_vacuum_at IS NULL $dry", 'and ends when pg_sweep does it');

# ---- wraparound: in mode observe, because in mode act it is frozen long before

reload_with($node, 'sweep.mode' => 'observe');
sql($node, 'CREATE TABLE aged (a int); INSERT INTO aged VALUES (1)');
sql($node, q{CREATE PROCEDURE consume(n int) LANGUAGE plpgsql AS $$ BEGIN FOR i IN 1 .. n LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$});
sql($node, 'CALL consume(60000)');
my $rate = sql($node, "SELECT per_s FROM sweep.wraparound WHERE ids = 'xid'");
cmp_ok($rate, '>', 0, 'the rate of transaction ids is known');
my $vacuums = qr/autovacuum's anti-wraparound vacuum comes at 20\d\d-.*/;
explained('wraparound', 'aged', cause => 'wraparound ahead: its oldest transaction id is past half of the age', first => 0,
	evidence => qr/^age 6\d\d\d\d of 100000\. Since 20.*, \d+\.\d\d a second were used\. At that rate $vacuums, and the server stops taking writes at 2\d\d\d-/,
	fix => qr/^VACUUM \(FREEZE\) public\.aged;$/);
sql($node, 'CALL consume(36000)');
explained('wraparound is near', 'aged', cause => 'wraparound ahead', verdict => 'due, and wraparound ahead', evidence => qr/^age 9\d\d\d\d of 100000/);

# ---- nothing is known: after pg_upgrade, or after a crash

sql($node, 'SET track_counts = off; CREATE TABLE upgraded (a int); INSERT INTO upgraded SELECT generate_series(1, 100000)');
explained('after pg_upgrade', 'upgraded', cause => 'how many rows are dead is not known', verdict => 'unknown',
	evidence => qr/no number of rows, and the file has \d+ kB\. The counters know nothing/, fix => qr/^VACUUM \(ANALYZE\) public\.upgraded;$/);
sql($node, 'CREATE UNLOGGED TABLE crashed (a int); INSERT INTO crashed SELECT generate_series(1, 100000); VACUUM crashed; CHECKPOINT');
$node->stop('immediate');
$node->start;
explained('after a crash', 'crashed', cause => 'the table is empty: a crash empties an unlogged table', verdict => 'not due',
	evidence => qr/and 100000 rows, and the file has 0 bytes/);

# ---- the memory of a vacuum was too small

reload_with($node, 'sweep.mode' => 'act');

SKIP:
{
	skip '17 and later keep dead rows in less memory', 1 if major($node) >= 17;
	reload_with($node, maintenance_work_mem => '1MB');
	sql($node, q{CREATE TABLE dense (a int PRIMARY KEY); INSERT INTO dense SELECT generate_series(1, 250000);
		DELETE FROM dense});
	explained('two passes over the index', 'dense', cause => 'its last vacuum read its indexes 2 times', first => 0,
		evidence => qr/^250000 dead rows, with maintenance_work_mem = 1MB, in /, fix => qr/^ALTER SYSTEM SET maintenance_work_mem = '3 MB'; /);
}
# ---- which pg_monitor may read

sql($node, 'CREATE ROLE watcher LOGIN IN ROLE pg_monitor; CREATE TABLE secret (a int); REVOKE ALL ON secret FROM PUBLIC');
$session = session($node);
my $blocker = $session->query_safe('SELECT pg_backend_pid()');
$session->query_safe('BEGIN; SELECT pg_current_xact_id()');
sql($node, 'SELECT pg_current_xact_id()');
is($node->safe_psql('postgres', qq{SELECT count(DISTINCT pid), bool_and(query IS NOT NULL AND usename IS NOT NULL) FROM sweep.blockers WHERE pid = $blocker},
	extra_params => [ '-U', 'watcher' ]), '1|t',
	'a member of pg_monitor sees who blocks');
is($node->safe_psql('postgres', q{SELECT count(*) > 0 FROM sweep.explain('secret')}, extra_params => [ '-U', 'watcher' ]), 't',
	'and the explanation of any table');
$session->quit;

$node->stop;
done_testing();
