# Beside another extension that has hooks of its own: test/engine/other_engine.c, with the
# habits of Citus. Its utility hook reads the name of whatever is vacuumed and may raise an
# error. Its planner hook hides tables from clients' queries of pg_class.
#
# Vacuums run all the same, and nothing is sent to other servers. Every view has every table's
# name, and an error is one table's. Tables whose rows are elsewhere are recognized, and what is
# set for them is in force for their shards. And a table whose file is swapped, as pg_repack does,
# is vacuumed like any other.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SweepTest;
use Test::More;

my $engine = $ENV{PG_SWEEP_OTHER_ENGINE} // die 'tools/test builds test/engine and says where';

# min_interval is 3 s, and a back-off of a minute is 3 s
my $conf = <<'END';
sweep.debug_clock_rate = 20
sweep.max_workers = 2
allow_system_table_mods = on
END

my $node = sweep_node('other_engine', conf => "$conf\nshared_preload_libraries = '$engine,pg_sweep'\n");

sub vacuumed
{
	my ($table, $name, $more) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return poll_ok($node,
		"SELECT count(*) >= 1 FROM sweep.runs WHERE relname = '$table' AND started_by = 'sweep' AND outcome = 'done' " . ($more // ''),
		$name);
}

# ---- vacuums run, and stay here

garbage($node, 'postgres', 'shard_one');
is(sql($node, "SELECT count(*) FROM pg_class WHERE relname = 'shard_one'"), '0', 'a table that is hidden from clients');
vacuumed('shard_one', 'is vacuumed, and has its name in sweep.runs', "AND schemaname = 'public'");

# by the name only a partitioned table could be meant that has these partitions
sql($node, <<'END');
CREATE TABLE shard_parted (i int) PARTITION BY RANGE (i);
CREATE TABLE shard_part1 PARTITION OF shard_parted FOR VALUES FROM (0) TO (1000);
INSERT INTO shard_parted SELECT i FROM generate_series(0, 999) i;
ANALYZE shard_part1;
SELECT pg_stat_force_next_flush();
END
garbage($node, 'postgres', 'shard_visit');
poll_ok($node,
	"SELECT count(*) >= 1 FROM sweep.runs WHERE relname = 'shard_parted' AND command = 'ANALYZE' AND started_by = 'sweep'",
	'a partitioned one is analyzed');
unlike(log_since($node), qr/sent to all nodes by background worker/, 'nothing of it is sent elsewhere');
my (undef, undef, $too_little) = $node->psql('postgres', "SELECT count(*) FROM sweep.simulate_summary('{}', '1 day')");
like($too_little, qr/too little is recorded/, 'a library of pg_sweep finds its functions, and not those of the engine that have the same names');
sql($node, 'VACUUM shard_one');
like(log_since($node), qr/VACUUM \.?shard_one, OID \d+, sent to all nodes/, 'as the command of a client is');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'shard_one' AND started_by = 'manual'",
	'which is recorded once');

# ---- names

is(sql($node, "SELECT string_agg(relname, ' ' ORDER BY relname) FROM sweep.tables WHERE relname LIKE 'shard%' AND lane = 'user'"),
	'shard_one shard_part1 shard_parted shard_visit', 'sweep.tables has them all');
is(sql($node, "SELECT relname || ' ' || schemaname FROM sweep.decisions WHERE relid = 'shard_one'::regclass"),
	'shard_one public', 'sweep.decisions has the name');
is(sql($node, "SELECT count(*) >= 1 FROM sweep.explain('shard_one') WHERE relation = 'public.shard_one'"), 't', 'sweep.explain() knows it');
is(sql($node, "SELECT cause LIKE '%partitioned%' FROM sweep.explain('shard_parted') WHERE rank = 1"), 't', 'a partitioned one, too');

sql($node, "SELECT sweep.hold('1 hour')");
garbage($node, 'postgres', 'shard_waits');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.queue WHERE relname = 'shard_waits' AND schemaname = 'public' AND lane = 'user'",
	'sweep.queue has the name of one that no worker has looked at');
sql($node, "SELECT sweep.hold('0')");
vacuumed('shard_waits', 'and it is vacuumed later');

slow_table($node, 'postgres', 'shard_slow');
poll_ok($node,
	"SELECT count(*) >= 1 FROM sweep.progress WHERE relname = 'shard_slow' AND schemaname = 'public'",
	'sweep.progress has the name');
my $manual = session($node, 'postgres');
$manual->query_until(qr/asked/, "\\echo asked\nSET vacuum_cost_delay = 100; SET vacuum_cost_limit = 1; VACUUM shard_visit;\n");
poll_ok($node, "SELECT count(*) = 1 FROM sweep.progress WHERE relname = 'shard_visit' AND started_by = 'manual'",
	'and that of a manual VACUUM');
sql($node, "SELECT pg_cancel_backend(pid) FROM sweep.progress WHERE relname = 'shard_visit'");
$manual->quit;

# what was set for a hidden table is not taken for that of a dropped one
sql($node, "SELECT sweep.set('shard_one', 'min_interval', '7 s')");
sql($node, "CREATE TABLE dropped (i int); SELECT sweep.set('dropped', 'min_interval', '8 s'); DROP TABLE dropped");
sql($node, "SELECT sweep.set('shard_visit', 'min_interval', '9 s')");
is(sql($node, "SELECT string_agg(value, ',' ORDER BY value) FROM sweep.table_settings"), '7 s,9 s',
	'sweep.set() removes what was set for dropped tables only');

# ---- a table that is locked is passed over in silence, as before

my $locker = session($node, 'postgres');
sql($node, 'CREATE TABLE shard_locked (id int, pad text)');
$locker->query_safe('BEGIN; LOCK TABLE shard_locked IN SHARE MODE');
my $request = sql($node, "SELECT sweep.vacuum('shard_locked')");
poll_ok($node, "SELECT attempts >= 1 FROM sweep.queue WHERE request_id = $request", 'a locked table is passed over');
$locker->query_safe('COMMIT');
$locker->quit;
vacuumed('shard_locked', 'until it is free');
unlike(log_since($node), qr/skipping vacuum of/, 'without a line in the log');

# ---- errors

for my $when ('before', 'after')
{
	my $table = "shard_angry_$when";

	reload_with($node, "other_engine.throw_$when" => $table);
	my $offset = log_size($node);
	garbage($node, 'postgres', $table);
	log_poll_ok($node, qr/other engine: no "$table", please/, $offset, "an error $when the command");
	log_poll_ok($node, qr/\u$when the command "VACUUM public\.$table"/, $offset, 'whose text names the table');
	garbage($node, 'postgres', "shard_calm_$when");
	vacuumed("shard_calm_$when", 'other tables are vacuumed');
	if ($when eq 'before')
	{
		poll_ok($node, "SELECT decision = 'failed' FROM sweep.decisions WHERE relname = '$table'", 'its own is tried again later');
		my ($rc, undef, $err) = $node->psql('postgres', "VACUUM $table");
		like($err, qr/please/, 'a client gets the error');
		is(sql($node, "SHOW vacuum_cost_delay"), '0', 'and nothing is left behind');
		poll_ok($node, "SELECT count(*) = 0 FROM sweep.progress WHERE relname = '$table'", 'nor in sweep.progress');
	}
	else
	{
		vacuumed($table, 'its own was done by then');
		is(sql($node, "SELECT count(*) FROM sweep.runs WHERE relname = '$table' AND outcome = 'failed'"), '0', 'and is not called failed');
	}
	reload_with($node, "other_engine.throw_$when" => '');
}
vacuumed('shard_angry_before', 'when there is no error any more, it is done');

# ---- rows that are elsewhere

like(sql($node, "SELECT cause FROM sweep.explain('shard_one') WHERE rank = 1"), qr/threshold|interval/, 'a table of this server');
sql($node, <<'END');
CREATE TABLE pg_catalog.pg_dist_partition (logicalrelid regclass NOT NULL, partmethod "char" NOT NULL);
CREATE TABLE shell (i int);
INSERT INTO pg_catalog.pg_dist_partition VALUES ('shell', 'h');
END
is(sql($node, "SELECT lane FROM sweep.tables WHERE relname = 'pg_dist_partition'"), 'aux',
	'what an extension keeps in pg_catalog is auxiliary');
is(sql($node, "SELECT verdict FROM sweep.explain('shell') WHERE rank = 1"), 'its rows are elsewhere', 'sweep.explain() says so');
is(sql($node, "SELECT count(*) FROM sweep.explain('shell')"), '1', 'and nothing else');
like(sql($node, "SELECT fix FROM sweep.explain('shell') WHERE rank = 1"), qr/^SELECT \* FROM run_command_on_shards\('public\.shell', /, 'and whom to ask');
for my $call ("sweep.vacuum('shell')", "sweep.vacuum('shell', aux => true)", "sweep.clean('shell')", "sweep.snooze('shell', '1 hour')")
{
	my ($rc, undef, $err) = $node->psql('postgres', "SELECT $call");
	(my $name = $call) =~ s/\(.*//;
	like($err, qr/"shell" is distributed by Citus and has no rows of its own.*run_command_on_shards\('public\.shell', \$cmd\$SELECT \Q$name\E\('%s'/s,
		"$name() says so");
}
is(sql($node, "SELECT sweep.snooze('shell', '0') IS NULL"), 't', 'a snooze from before can be ended');

# ---- what is set for a distributed table is in force for its shards here

sub decided
{
	my ($table, $decision, $name) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return poll_ok($node, "SELECT count(*) = 1 FROM sweep.tables WHERE relname = '$table' AND schemaname = 'public' AND decision = '$decision'", $name);
}

# Citus shortens a name that gets too long with the number behind it
my $long = 'shell_with_a_name_that_is_as_long_as_the_name_of_a_table_can_be';
(my $long_shard = $long) =~ s/^(.{47}).*/$1_0a1b2c3d_102020/;
sql($node, <<"END");
CREATE TABLE pg_catalog.pg_dist_shard (logicalrelid regclass NOT NULL, shardid bigint NOT NULL, shardstorage "char");
CREATE TABLE $long (i int);
INSERT INTO pg_catalog.pg_dist_partition VALUES ('$long', 'h');
INSERT INTO pg_catalog.pg_dist_shard SELECT 'shell', i, 't' FROM generate_series(102008, 102015) i;
INSERT INTO pg_catalog.pg_dist_shard VALUES ('$long', 102020, 't'), (0, 102099, 't');
CREATE SCHEMA elsewhere;
CREATE ROLE somebody;
END
my (undef, undef, $notice) = $node->psql('postgres', "SELECT sweep.set('shell', 'enabled', 'off'); SELECT sweep.set('$long', 'enabled', 'off')");
like($notice, qr/"shell" is distributed by Citus: this holds for its shards on this node/, 'sweep.set() says for what it holds');
garbage($node, 'postgres', 'shell_102008');
garbage($node, 'postgres', $long_shard);
decided('shell_102008', 'disabled', 'it holds for a shard that comes later');
decided($long_shard, 'disabled', 'also for one with a shortened name');
is(sql($node, "SELECT cause || ' ' || fix FROM sweep.explain('shell_102008') WHERE rank = 1"),
	"pg_sweep is disabled for this table by sweep.set() SELECT sweep.set('public.shell', 'enabled', NULL);", 'sweep.explain() says so');

# an unlisted number, another schema, another owner, another name
garbage($node, 'postgres', 'shell_103000');
garbage($node, 'postgres', 'elsewhere.shell_102009');
garbage($node, 'postgres', 'shell_102010');
sql($node, 'ALTER TABLE shell_102010 OWNER TO somebody');
garbage($node, 'postgres', 'bombshell_102011');
vacuumed($_, "$_ only looks like a shard") for qw(shell_103000 shell_102009 shell_102010 bombshell_102011);

sql($node, "SELECT sweep.set('shell_102008', 'min_interval', '6 s'); SELECT sweep.set('shell', 'min_interval', '1 h')");
is(sql($node, "SELECT sweep_internal.get_interval_in_force('shell_102008'::regclass, 'user') || ' ' || sweep_internal.get_settings_of('shell_102008'::regclass, 'min_interval')"),
	'6 shell_102008', 'what is set for the shard itself wins');
decided('shell_102008', 'disabled', 'and all else is as for its table');
sql($node, "SELECT sweep.set('shell_102008', 'enabled', 'on')");
vacuumed('shell_102008', 'a shard that is enabled itself is vacuumed');
sql($node, 'DROP TABLE shell_102008');
garbage($node, 'postgres', 'shell_102008');
decided('shell_102008', 'disabled', 'a shard that is made anew has what its table has');

# who locks the list: nobody knows what is to be left alone
$locker = session($node, 'postgres');
$locker->query_safe('BEGIN; LOCK TABLE pg_dist_shard IN ACCESS EXCLUSIVE MODE');
my $offset = log_size($node);
garbage($node, 'postgres', 'shard_late');
log_poll_ok($node, qr/could not obtain lock on "pg_catalog.pg_dist_shard"/, $offset, 'nothing is vacuumed while the list of shards is locked');
$locker->query_safe('COMMIT');
$locker->quit;
vacuumed('shard_late', 'and then it is');

sql($node, "SELECT sweep.set(t, 'enabled', NULL), sweep.set(t, 'min_interval', NULL) FROM unnest('{shell,$long}'::regclass[]) t");
vacuumed('shell_102008', 'without the setting a shard is vacuumed');
sql($node, 'DROP TABLE pg_catalog.pg_dist_partition, pg_catalog.pg_dist_shard');
is(sql($node, "SELECT sweep.vacuum('shell') > 0"), 't', 'without Citus it is a table like any other');

# ---- on whose behalf a session is here

my $remote = session($node, 'postgres');
$remote->query_safe("SET application_name = 'citus_internal gpid=20000000077'; BEGIN; CREATE TABLE pg_temp.t (); SELECT txid_current()");
poll_ok($node, "SELECT count(*) = 1 FROM sweep.blockers WHERE name = 'citus_internal gpid=20000000077 (pid 77 on node 2)'",
	'sweep.blockers names node and pid of the origin');
my $fix = "SELECT fix FROM sweep.blockers WHERE name LIKE 'citus_internal%'";
like(sql($node, $fix), qr/^SELECT pg_catalog\.pg_terminate_backend\(\d+\);$/, 'without Citus only what is here can be ended');
sql($node, "CREATE FUNCTION pg_catalog.pg_terminate_backend(bigint, bigint DEFAULT 0) RETURNS bool LANGUAGE sql AS 'SELECT true'");
is(sql($node, $fix), 'SELECT pg_catalog.pg_terminate_backend(20000000077::bigint); -- a global pid', 'with it, the origin');
$remote->query_safe('ROLLBACK');
$remote->query_safe("SET application_name = 'citus_internal'; BEGIN; SELECT txid_current()");
poll_ok($node, "SELECT count(*) = 1 FROM sweep.blockers WHERE name = 'citus_internal'", 'any other name is just that');
$remote->quit;

# ---- a table's file is swapped for another's

sub swap
{
	my ($one, $other) = @_;

	return <<"END";
BEGIN;
LOCK TABLE $one, $other IN ACCESS EXCLUSIVE MODE;
UPDATE pg_class c SET relfilenode = o.relfilenode, relpages = o.relpages, reltuples = o.reltuples,
	relallvisible = o.relallvisible, relfrozenxid = o.relfrozenxid, relminmxid = o.relminmxid
FROM pg_class o WHERE (c.oid, o.oid) IN (('$one'::regclass, '$other'::regclass), ('$other'::regclass, '$one'::regclass));
COMMIT;
END
}

slow_table($node, 'postgres', 'swapped', with => 'toast_tuple_target = 8160, autovacuum_vacuum_cost_delay = 100, autovacuum_vacuum_cost_limit = 1');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.progress WHERE relname = 'swapped' AND blks_hit + blks_read > 0", 'a vacuum is running');
# it is not read, because that would prune the table and leave nothing to vacuum
sql($node, "CREATE TABLE copy (LIKE swapped INCLUDING STORAGE); INSERT INTO copy SELECT -i, repeat('x', 700) FROM generate_series(1, 300) i");
my $oid = sql($node, "SELECT 'swapped'::regclass::oid");
sql($node, swap('swapped', 'copy'));
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relid = $oid AND outcome = 'cancelled'", 'it gave way to who swaps the file');
is(sql($node, "SELECT count(*) || ' ' || sum(id) FROM swapped"), '300 -45150', 'the rows are there');
sql($node, 'DROP TABLE copy; ALTER TABLE swapped RESET (autovacuum_vacuum_cost_delay, autovacuum_vacuum_cost_limit)');
sql($node, 'DELETE FROM swapped WHERE id % 2 = 0; SELECT pg_stat_force_next_flush()');
sql($node, "SELECT sweep.vacuum('swapped')");
poll_ok($node, "SELECT count(*) >= 1 FROM sweep.runs WHERE relid = $oid AND started_by = 'sweep' AND outcome = 'done' AND tuples_removed = 150",
	'the new file is vacuumed');
is(sql($node, "SELECT count(*) || ' ' || sum(id) FROM swapped"), '150 -22500', 'and has what it should');
SKIP:
{
	skip 'this server lacks the contrib module amcheck', 1 unless has_module($node, 'amcheck');
	is(sql($node, "SELECT count(*) FROM verify_heapam('swapped')"), '0', 'without damage');
}

unlike(log_since($node), qr/terminated by signal|TRAP:|PANIC/, 'nothing has crashed');
$node->stop;

# ---- the hooks in the other order

$node = sweep_node('other_order', conf => "$conf\nshared_preload_libraries = 'pg_sweep,$engine'\nother_engine.throw_after = shard_after\n");
garbage($node, 'postgres', 'shard_one');
vacuumed('shard_one', 'the other way round: vacuumed', "AND tuples_removed = 500");
garbage($node, 'postgres', 'shard_after');
vacuumed('shard_after', 'also where an error comes after it');
my ($rc, undef, $err) = $node->psql('postgres', 'VACUUM shard_after');
like($err, qr/please/, 'a client gets the error');
poll_ok($node, "SELECT count(*) = 1 FROM sweep.runs WHERE relname = 'shard_after' AND started_by = 'manual' AND outcome = 'done'",
	'of a vacuum that is done');
unlike(log_since($node), qr/sent to all nodes by background worker/, 'nothing is sent elsewhere');
unlike(log_since($node), qr/terminated by signal|TRAP:|PANIC/, 'nothing has crashed');
$node->stop;

done_testing();
