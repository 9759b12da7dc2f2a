# Which tables are vacuumed, and which are not.
#
# A table over its threshold is vacuumed in whatever database it is. A user's reloptions
# and the lists of databases win. Nothing is vacuumed twice within sweep.min_interval, and
# nothing for dead rows that cannot be removed yet.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

# naptime 50 ms, min_interval 3 s, a locked table again after 0.5 s, a survey after 30 s
my $node = sweep_node('decide', conf => <<'END');
sweep.debug_clock_rate = 20
sweep.exclude_databases = 'left_alone'
max_prepared_transactions = 2
END

sub run_count
{
	my ($table, $extra) = @_;

	return sql($node,
		"SELECT count(*) FROM sweep.runs WHERE relname = '$table'" . ($extra ? " AND $extra" : ''));
}

# A table that was just made due in the same database has been vacuumed. So a worker has
# looked at every table there.
my $canaries = 0;

sub after_a_visit
{
	my ($dbname, $name) = @_;
	my $canary = 'canary' . ++$canaries;

	garbage($node, $dbname, $canary);
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return poll_ok($node,
		"SELECT count(*) >= 1 FROM sweep.runs WHERE relname = '$canary' AND datname = '$dbname'",
		"$name: a worker was there");
}

# ---- any database

sql($node, "CREATE DATABASE $_") for ('other', 'left_alone', '"Mixed, ""Case"""');

garbage($node, $_, 'plain') for ('postgres', 'other', 'left_alone', 'Mixed, "Case"');
for my $dbname ('postgres', 'other', 'Mixed, "Case"')
{
	poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'plain' AND datname = '$dbname'",
		"a due table in database $dbname is vacuumed");
}
is( sql($node, <<'END'),
SELECT DISTINCT schemaname, command, started_by, outcome, tuples_removed, dead_not_removable,
       reason ~ '^dead tuples 500 > ', cost > 0, blks_hit > 0, ended_at >= started_at, relid IS NOT NULL
FROM sweep.runs WHERE relname = 'plain'
END
	'public|VACUUM|sweep|done|500|0|t|t|t|t|t',
	'its run says what was done, for whom and why');
is(sql($node, "SELECT vacuum_count, autovacuum_count, n_dead_tup FROM pg_stat_user_tables WHERE relname = 'plain'", 'other'),
	'1|0|0', 'it counts as vacuumed');
poll_ok($node, "SELECT decision = 'vacuumed' FROM sweep.decisions WHERE relname = 'plain' AND datname = 'other'", 'and so says sweep.decisions');
is(run_count('plain', "datname = 'left_alone'"), '0', 'an excluded database is left alone');
is( sql($node, "SELECT ours, reason FROM sweep.databases WHERE datname = 'left_alone'"),
	'f|in sweep.exclude_databases',
	'and sweep.databases says so');

sql($node, <<'END', 'other');
BEGIN;
CREATE TABLE appended AS SELECT i FROM generate_series(1, 5000) i;
COMMIT;
END
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'appended' AND reason LIKE 'inserted tuples 5000 > %'",
	'a table with many new rows is vacuumed');

sql($node, 'BEGIN; CREATE TEMP TABLE temporary AS SELECT i FROM generate_series(1, 5000) i; COMMIT;
CREATE UNLOGGED TABLE unlogged AS SELECT i FROM generate_series(1, 5000) i;
CREATE MATERIALIZED VIEW matview AS SELECT i FROM generate_series(1, 5000) i;
CREATE TABLE part (i int) PARTITION BY LIST (i); CREATE TABLE part1 PARTITION OF part DEFAULT;
INSERT INTO part SELECT i FROM generate_series(1, 5000) i;', 'other');
poll_ok($node, "SELECT count(DISTINCT relname) = 3 FROM sweep.runs WHERE relname IN ('unlogged', 'matview', 'part1')",
	'so are unlogged tables, materialized views and partitions');
is(run_count('temporary'), '0', 'temporary tables are not');

sql($node, "DO 'BEGIN FOR i IN 1 .. 600 LOOP CREATE ROLE passing; DROP ROLE passing; END LOOP; END'");
poll_ok($node, "SELECT count(*) >= 1 FROM sweep.runs WHERE relname = 'pg_authid' AND schemaname = 'pg_catalog' AND outcome = 'done' AND started_by = 'sweep'",
	'shared catalogs are vacuumed');
is(sql($node, "SELECT count(DISTINCT datid) FROM sweep.runs WHERE relname = 'pg_authid'"), '1', 'from one database');

# ---- reloptions

garbage($node, 'other', 'disabled', with => 'autovacuum_enabled = false');
garbage($node, 'other', 'tolerant', with => 'autovacuum_vacuum_threshold = 600, autovacuum_vacuum_insert_threshold = -1');
garbage($node, 'other', 'no_inserts', rows => 5000, dead => 1, with => 'autovacuum_vacuum_insert_threshold = -1');
after_a_visit('other', 'reloptions');
is(run_count($_), '0', "$_ is not vacuumed") for qw(disabled tolerant no_inserts);
poll_ok($node, "SELECT relname, decision, substring(reason, '^[^,]*') FROM sweep.decisions WHERE relname IN ('disabled', 'tolerant', 'no_inserts') ORDER BY 1",
	'and sweep.decisions tells why',
	expected => "disabled|disabled|switched off for this table\n"
	  . "no_inserts|below threshold|dead tuples 1 of 50\n"
	  . "tolerant|below threshold|dead tuples 500 of 600");

more_garbage($node, 'other', 'tolerant', 200);
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'tolerant' AND reason LIKE 'dead tuples 700 > 600, %'",
	'beyond its own higher threshold it is');

sql($node, 'ALTER TABLE disabled SET (autovacuum_enabled = true)', 'other');
after_a_visit('other', 'enabled again');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'disabled'",
	'a table that is enabled again is vacuumed');

# The scout knows only the server's settings. That a table has a lower one of its own is
# found out when a worker looks at all tables (the survey), or by chance before.
sql($node, 'CREATE DATABASE sensitive');
garbage($node, 'sensitive', 'eager', dead => 8, with => 'autovacuum_vacuum_threshold = 5, autovacuum_vacuum_scale_factor = 0');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'eager'",
	'a table with a lower threshold is found in a database where nothing else is due');
more_garbage($node, 'sensitive', 'eager', 8);
poll_ok($node, "SELECT count(*) = 2 FROM sweep.runs WHERE relname = 'eager'",
	'and from then on without another survey');

garbage($node, 'other', 'costly', with => 'autovacuum_vacuum_cost_delay = 7.5, autovacuum_vacuum_cost_limit = 1234');
garbage($node, 'other', 'free', with => 'autovacuum_vacuum_cost_delay = 0');
garbage($node, 'other', 'usual');
poll_ok($node, "SELECT count(*) = 3 FROM sweep.runs WHERE relname IN ('costly', 'free', 'usual')",
	'tables with cost settings are vacuumed');
is( sql($node, "SELECT relname, cost_limit, cost_delay FROM sweep.runs WHERE relname IN ('costly', 'free', 'usual') ORDER BY 1"),
	"costly|1234|7.5\nfree||\nusual|200|2",
	'each with its own, and the next one with the server\'s');

sql($node, <<'END', 'other');
BEGIN;
CREATE TABLE keeps_pages (id int) WITH (vacuum_truncate = false);
CREATE TABLE gives_pages (id int);
INSERT INTO keeps_pages SELECT generate_series(1, 20000);
INSERT INTO gives_pages SELECT generate_series(1, 20000);
DELETE FROM keeps_pages WHERE id > 10;
DELETE FROM gives_pages WHERE id > 10;
COMMIT;
END
poll_ok($node, "SELECT count(DISTINCT relname) = 2 FROM sweep.runs WHERE relname IN ('keeps_pages', 'gives_pages')",
	'tables with an empty end are vacuumed');
is(sql($node, "SELECT pg_relation_size('gives_pages') < 100000, pg_relation_size('keeps_pages') > 500000", 'other'),
	't|t', 'vacuum_truncate = false is obeyed');

# a table that somebody else uses all the time: the lock is tried for, as autovacuum does
my $user = session($node, 'other');
sql($node, 'CREATE TABLE busy_end (id int)', 'other');
$user->query_safe('BEGIN; LOCK TABLE busy_end IN ACCESS SHARE MODE');
sql($node, 'INSERT INTO busy_end SELECT generate_series(1, 300000); ANALYZE busy_end; DELETE FROM busy_end WHERE id > 10', 'other');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'busy_end' AND outcome = 'done' AND ended_at - started_at > '4.5 s'",
	'where others have a lock its end is waited for, for five seconds');
$user->query_safe('COMMIT');
$user->quit;

# ---- TOAST tables have options and runs of their own

sub toasted
{
	my ($table, $with) = @_;

	sql($node, <<"END", 'other');
BEGIN;
CREATE TABLE $table (id int, pad text) WITH ($with);
ALTER TABLE $table ALTER pad SET STORAGE EXTERNAL;
INSERT INTO $table SELECT i, repeat('x', 5000) FROM generate_series(1, 200) i;
DELETE FROM $table WHERE id > 120;
COMMIT;
END
	return sql($node, "SELECT reltoastrelid::regclass FROM pg_class WHERE oid = '$table'::regclass", 'other') =~ s/.*\.//r;
}

my $of_default = toasted('toasted_default', 'autovacuum_vacuum_threshold = 10000');
my $of_own = toasted('toasted_own', 'autovacuum_vacuum_threshold = 10000, toast.autovacuum_vacuum_threshold = 20, toast.autovacuum_vacuum_cost_delay = 3.5');
my $of_off = toasted('toasted_off', 'toast.autovacuum_enabled = false');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = '$of_own' AND schemaname = 'pg_toast' AND cost_delay = 3.5",
	'a TOAST table with options of its own is vacuumed by them, and alone');
poll_ok($node, "SELECT count(*) = 0 FROM sweep.decisions WHERE relname = 'toasted_own' AND decision = 'vacuumed'",
	'its main table is not');
after_a_visit('other', 'TOAST');
is(run_count($of_default), '0', 'a TOAST table without options has its table\'s');
is(run_count($of_off), '0', 'toast.autovacuum_enabled = false is obeyed');

# ---- lists of databases

reload_with($node, 'sweep.databases' => 'sensitive');
rounds($node, 3);
garbage($node, 'other', 'not_ours_now');
more_garbage($node, 'sensitive', 'eager', 100);
poll_ok($node, "SELECT count(*) = 3 FROM sweep.runs WHERE relname = 'eager'", 'sweep.databases names one: it is looked after');
is(run_count('not_ours_now'), '0', 'the others are not');
reload_with($node, 'sweep.databases' => '*, nonsense');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'not_ours_now'", 'and are again after a reload');

# ---- never twice within sweep.min_interval, whatever else happens in that database

reload_with($node, 'sweep.min_interval' => '1h');    # 3 minutes by this clock
rounds($node, 3);
garbage($node, 'other', 'hot');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'hot'", 'sweep.min_interval: the first run');
more_garbage($node, 'other', 'hot');
rounds($node, 5);
is(run_count('hot'), '1', 'no second run within it');
garbage($node, 'other', 'hot2');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'hot2'", 'another table is vacuumed at once');
after_a_visit('other', 'sweep.min_interval');    # hot2 is not due during this visit
more_garbage($node, 'other', 'hot2');
rounds($node, 5);
after_a_visit('other', 'sweep.min_interval');
is(run_count('hot2'), '1', 'no second run, though a worker has seen the table not due in between');
reload_with($node, 'sweep.min_interval' => '1s');
rounds($node, 3);

# ---- no futile vacuum

my $holder = session($node, 'other');
$holder->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM plain');
garbage($node, 'other', 'held');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'held'",
	'dead rows that a transaction still sees: one run');
is( sql($node, "SELECT tuples_removed, dead_not_removable, outcome FROM sweep.runs WHERE relname = 'held'"),
	'0|500|done', 'which removed nothing and says so');
poll_ok($node, "SELECT decision = 'held back' FROM sweep.decisions WHERE relname = 'held' AND reason LIKE 'dead rows are still needed:%'",
	'the decision says what it waits for');
more_garbage($node, 'other', 'held');
after_a_visit('other', 'held back');
rounds($node, 10);
is(run_count('held'), '1', 'and no further run as long as that transaction is there');

garbage($node, 'postgres', 'not_held');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'not_held' AND tuples_removed = 500 AND dead_not_removable = 0",
	'a transaction in another database holds nothing back');

$holder->query_safe('COMMIT');
poll_ok($node, "SELECT count(*) = 2 FROM sweep.runs WHERE relname = 'held'", 'when it has ended, one more run');
rounds($node, 10);
is( sql($node, "SELECT count(*), max(tuples_removed) FROM sweep.runs WHERE relname = 'held'"),
	'2|1000', 'which removes everything, and no more after it');
$holder->quit;

# Other things may hold rows back as well: a transaction that has only written, or a prepared one.
for my $kind ('writing', 'prepared')
{
	my $writer = session($node, 'other');

	$writer->query_safe("BEGIN; CREATE TABLE of_$kind (i int)");
	$writer->query_safe("PREPARE TRANSACTION 'prepared'") if $kind eq 'prepared';
	garbage($node, 'other', "held_by_$kind");
	poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'held_by_$kind' AND dead_not_removable = 500",
		"rows held back by a transaction that is $kind: one run");
	after_a_visit('other', "held back by one that is $kind");
	rounds($node, 60);
	is(run_count("held_by_$kind"), '1', 'and no further run as long as it is there');
	$writer->query_safe($kind eq 'prepared' ? "COMMIT PREPARED 'prepared'" : 'COMMIT');
	poll_ok($node, "SELECT count(*) = 2 FROM sweep.runs WHERE relname = 'held_by_$kind'", 'when it has ended, one more run');
	$writer->quit;
}

# ---- the log

my $log = log_since($node);
unlike($log, qr/automatic vacuum of table/, 'log_autovacuum_min_duration is 10 min: nothing was logged so far');

reload_with($node, 'log_autovacuum_min_duration' => '0');
rounds($node, 2);
my $offset = log_size($node);
garbage($node, 'other', 'logged');
log_poll_ok($node, qr/LOG:  automatic vacuum of table "other\.public\.logged": index scans: 0/, $offset,
	'log_autovacuum_min_duration = 0: core\'s line is written');
my $line = log_since($node, $offset);
like($line, qr/tuples: 500 removed, 500 remain, 0 are dead but not yet removable/, 'with core\'s report');
like($line, qr/\n\tsweep: dead tuples 500 > \d+, score [\d.]+/, 'and a note of ours');
is(() = $line =~ /automatic vacuum of table "other\.public\.logged"/g, 1, 'once');

reload_with($node, 'log_autovacuum_min_duration' => '1h');
rounds($node, 2);
$offset = log_size($node);
garbage($node, 'other', 'log_of_server');
garbage($node, 'other', 'log_of_table', with => 'log_autovacuum_min_duration = 0');
after_a_visit('other', 'log_autovacuum_min_duration = 1h');
poll_ok($node, "SELECT count(*) = 2 FROM sweep.runs WHERE relname LIKE 'log\\_of\\_%'", 'both were vacuumed');
unlike(log_since($node, $offset), qr/log_of_server/, 'the server\'s log_autovacuum_min_duration is obeyed');
log_poll_ok($node, qr/automatic vacuum of table "other\.public\.log_of_table"/, $offset, 'and a table\'s own');

# ---- a threshold that rises while the table was waited for: nobody is sent for it any more

sql($node, 'CREATE TABLE rising (id int, pad text)', 'other');
my $locker = session($node, 'other');
$locker->query_safe('BEGIN; LOCK TABLE rising IN SHARE UPDATE EXCLUSIVE MODE');
more_garbage($node, 'other', 'rising');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.decisions WHERE relname = 'rising' AND decision = 'locked'", 'a table that somebody has locked');
reload_with($node, 'autovacuum_vacuum_threshold' => 100000);
# a new session is one that the postmaster has made after it has told all processes
poll_until($node, q{SELECT current_setting('autovacuum_vacuum_threshold') = '100000'});
$locker->query_safe('COMMIT');
$locker->quit;
poll_ok($node, "SELECT count(*) = 1 FROM sweep.decisions WHERE relname = 'rising' AND next_dead_tuples >= 100000",
	'the threshold rises meanwhile: the scout knows');
rounds($node, 40);
is(sql($node, "SELECT count(*) FROM sweep.queue WHERE relname = 'rising' AND score IS NOT NULL"), '0', 'it does not count as due');
is(run_count('rising', "outcome = 'done'"), '0', 'nor is it vacuumed');
reload_with($node, 'autovacuum_vacuum_threshold' => 50);
more_garbage($node, 'other', 'rising');
after_a_visit('other', 'a lower threshold again');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'rising' AND outcome = 'done'", 'and then it is');

# ---- a table that cannot be vacuumed

reload_with($node, 'sweep.mode' => 'observe');
rounds($node, 3);
garbage($node, 'other', 'broken');
my $path = $node->data_dir . '/' . sql($node, "CHECKPOINT; SELECT pg_relation_filepath('broken')", 'other');
$log = log_since($node);
$node->stop;
open(my $file, '+<:raw', $path) or die "$path: $!";
print $file 'nonsense' x 1024;
close $file;
$node->start;
reload_with($node, 'sweep.mode' => 'act');
garbage($node, 'other', 'sound');
poll_ok($node, "SELECT count(*) >= 1 FROM sweep.runs WHERE relname = 'broken' AND outcome = 'failed'",
	'a table that cannot be vacuumed: its run is recorded as failed');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'sound' AND outcome = 'done'", 'other tables are vacuumed');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.decisions WHERE relname = 'broken' AND decision = 'failed'"
	  . " AND reason LIKE 'ended in an error, 2 times in a row%' AND not_before - last_at = '6 s'",
	'it is tried again, after twice the time');
my $failures = log_since($node);
like($failures, qr/ERROR:  invalid page in block 0 of relation .*CONTEXT:  .*pg_sweep/s, 'the log has the error, and who met it');

unlike($log, qr/\b(INFO|NOTICE):/, 'no INFO or NOTICE in the server\'s log');
unlike($log, qr/\b(WARNING|ERROR|PANIC):/, 'nor anything worse');

$node->stop;
done_testing();
