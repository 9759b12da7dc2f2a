/*
 * meter_record.c
 *		The exact record of a run, made at the end of its transaction.
 *
 * Every table is vacuumed in a transaction of its own.  So what a process did
 * between two transaction ends is one run.  The lock that is still held then
 * tells which table it was.
 *
 * Runs in the process that vacuums, inside transaction callbacks.  PRE_COMMIT
 * may take LWLocks and read the catalogs.  COMMIT and ABORT take one LWLock
 * and allocate nothing.
 */
#include "meter/meter.h"

#include "access/htup_details.h"
#include "catalog/catalog.h"
#include "catalog/pg_class.h"
#include "catalog/pg_namespace.h"
#include "commands/vacuum.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/lmgr.h"
#include "storage/proc.h"
#include "utils/backend_status.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "meter/log.h"
#include "meter/meter_process.h"
#include "policy/activity.h"
#include "server/compat.h"
#include "server/features.h"
#include "server/table_stats.h"
#include "state/ledger.h"

/* The last two whose VACUUM was recorded: a table and its TOAST table. */
static Oid	recorded[2] = {InvalidOid, InvalidOid};

void
meter_forget_recorded(void)
{
	recorded[0] = recorded[1] = InvalidOid;
}

static bool
was_just_recorded(Oid relid)
{
	return relid == recorded[0] || relid == recorded[1];
}

/*
 * Which table did this transaction vacuum or analyze?  InvalidOid if none.  A
 * table's lock outlives its transaction while its TOAST table is done.  So of
 * several tables it is one that was not recorded last.
 */
Oid
meter_relation_of_transaction(void)
{
	Oid			relids[8];
	int			n = compat_locked_relations(ShareUpdateExclusiveLock, relids, lengthof(relids));

	if (n > 1)
	{
		for (int i = 0; i < n; i++)
		{
			if (relids[i] != recorded[0])
				return relids[i];
		}
	}
	return n > 0 ? relids[0] : InvalidOid;
}

/* The catalogs that tell a table's name, and the indexes to find it there. */
static const Oid name_catalogs[] = {
	RelationRelationId, ClassOidIndexId, NamespaceRelationId, NamespaceOidIndexId
};

/*
 * Locks those catalogs, or none.  Whoever looks up a name waits for them,
 * where a VACUUM FULL of pg_class is at work, say.  The end of a vacuum does
 * not.
 */
static bool
lock_catalogs(void)
{
	for (int i = 0; i < lengthof(name_catalogs); i++)
	{
		if (ConditionalLockRelationOid(name_catalogs[i], AccessShareLock))
			continue;
		while (--i >= 0)
			UnlockRelationOid(name_catalogs[i], AccessShareLock);
		return false;
	}
	return true;
}

static void
unlock_catalogs(void)
{
	for (int i = lengthof(name_catalogs) - 1; i >= 0; i--)
		UnlockRelationOid(name_catalogs[i], AccessShareLock);
}

/*
 * VACUUM FULL locks the table, its indexes, its TOAST table and the new
 * copies exclusively.  The run was of the one that is a table.  This asks the
 * catalog, so it is for PRE_COMMIT only.  If that would have to wait, it is
 * what the last tick has seen.
 */
static Oid
relation_of_rewrite(void)
{
	Oid			relids[256];
	int			n = compat_locked_relations(AccessExclusiveLock, relids, lengthof(relids));
	Oid			table = InvalidOid;
	Oid			toast = InvalidOid;

	if (n == 0)
		return InvalidOid;
	if (!lock_catalogs())
		return meter_slot->command == RUN_VACUUM_FULL ? meter_slot->relid : InvalidOid;
	for (int i = 0; i < n && table == InvalidOid; i++)
	{
		char		relkind = get_rel_relkind(relids[i]);

		if (relkind == RELKIND_RELATION || relkind == RELKIND_MATVIEW)
			table = relids[i];
		if (relkind == RELKIND_TOASTVALUE)
			toast = relids[i];
	}
	unlock_catalogs();
	return table != InvalidOid ? table : toast;
}

/*
 * Finds out what a core autovacuum worker does by its activity text.  The
 * process flags tell more surely, but they are gone at ABORT, and they do not
 * tell an ANALYZE from a work item such as a BRIN summarization.
 */
static void
identify_autovacuum(RunRecord *run, bool in_vacuum)
{
	ActivityText text;

	if (in_vacuum)
	{
		run->command = RUN_VACUUM;
		return;
	}
	if (MyBEEntry == NULL || MyBEEntry->st_activity_raw[0] == '\0')
	{
		run->command = RUN_ANALYZE; /* track_activities is off */
		return;
	}
	if (!activity_parse((const char *) MyBEEntry->st_activity_raw, pgstat_track_activity_query_size,
						run->schemaname, run->relname, NAMEDATALEN, &text))
		return;
	run->command = text.vacuum && !was_just_recorded(run->relid) ? RUN_VACUUM : RUN_ANALYZE;

	if (text.wraparound && run->command == RUN_VACUUM)
	{
		run->starter = RUN_BY_AUTOVACUUM_WRAPAROUND;
		run->mode = RUN_MODE_AGGRESSIVE;
	}
}

/*
 * Fills in which run this transaction was.  Returns false if it was none.  At
 * ABORT the process flags are gone already, and the catalogs cannot be asked.
 */
bool
meter_identify_run(RunRecord *run, bool committing)
{
	bool		in_vacuum = (MyProc->statusFlags & PROC_IN_VACUUM) != 0;

	memset(run, 0, sizeof(*run));
	run->starter = meter_starter_now();
	run->mode = meter_mode_now(meter_slot);

	if (meter_this.statement.active && meter_this.statement.full)
		run->relid = committing ? relation_of_rewrite() : meter_this.statement.failed_relid;
	else if (!committing && meter_this.statement.active && meter_this.statement.only_relid != InvalidOid)
		run->relid = meter_this.statement.only_relid;
	else
		run->relid = meter_relation_of_transaction();

	/* the ANALYZE part of VACUUM (FULL, ANALYZE) has rewritten nothing */
	if (run->relid == InvalidOid)
		run->relid = meter_relation_of_transaction();
	if (run->relid == InvalidOid)
		return false;

	if (meter_this.kind == PROCESS_AUTOVACUUM)
		identify_autovacuum(run, in_vacuum);
	else if (meter_this.statement.full && !was_just_recorded(run->relid))
		run->command = RUN_VACUUM_FULL;
	else if (in_vacuum)
		run->command = RUN_VACUUM;
	else if (!committing && meter_this.statement.vacuum && !was_just_recorded(run->relid))
		run->command = RUN_VACUUM;
	else
		run->command = RUN_ANALYZE;
	return run->command != RUN_NONE;
}

static void
read_name(RunRecord *run)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(run->relid));
	Form_pg_class form;
	char	   *schemaname;

	if (!HeapTupleIsValid(tuple))
		return;
	form = (Form_pg_class) GETSTRUCT(tuple);
	schemaname = get_namespace_name(form->relnamespace);
	strlcpy(run->relname, NameStr(form->relname), NAMEDATALEN);
	if (schemaname)
		strlcpy(run->schemaname, schemaname, NAMEDATALEN);
	run->pages = form->relpages;
	ReleaseSysCache(tuple);
}

/*
 * Copies the names and the size that the table has now, if they can be read
 * without waiting.  Else the names are those that the run began with, where it
 * has any.  What this reads itself does not count as the run's.  For
 * PRE_COMMIT only.
 */
void
meter_describe_run(RunRecord *run)
{
	RunCounters before;
	RunCounters after;

	run->pages = -1;
	meter_read_usage(&before);
	HOLD_INTERRUPTS();
	if (lock_catalogs())
	{
		read_name(run);
		unlock_catalogs();
	}
	RESUME_INTERRUPTS();
	meter_read_usage(&after);
	run_counters_subtract(&after, &before);
	meter_slot_busy = 1;
	meter_this.base.blks_hit += after.blks_hit;
	meter_this.base.blks_read += after.blks_read;
	meter_this.base.blks_dirtied += after.blks_dirtied;
	meter_slot_busy = 0;
}

/*
 * Takes what VACUUM left behind from its report, or else from the statistics.
 */
void
meter_count_remains(RunRecord *run)
{
	PgStat_StatTabEntry entry;

	run->tuples_removed = meter_this.report.tuples_removed;
	run->dead_not_removable = meter_this.report.dead_not_removable;
	if (run->dead_not_removable < 0 && run->command == RUN_VACUUM && pgstat_track_counts &&
		feature_is_ok(FEATURE_SCOUT) &&
		table_stats_read(IsSharedRelation(run->relid) ? InvalidOid : MyDatabaseId,
						 run->relid, &entry))
		run->dead_not_removable = compat_tab_dead(&entry);
}

/*
 * What has this process allocated, if its vacuum has allocated most of it?
 * The caches' own contexts, thousands in a large database, are left out.
 * Where the store of dead rows is gone already, the most that it was seen to
 * hold is added.  That is the highest value that a tick has seen, or the last
 * one.  For PRE_COMMIT only.
 */
void
meter_measure_memory(RunRecord *run)
{
	Size		bytes = MemoryContextMemAllocated(TopMemoryContext, false);

	run->memory_bytes = -1;
	if (run->command != RUN_VACUUM)
		return;
	for (MemoryContext child = TopMemoryContext->firstchild; child != NULL; child = child->nextchild)
		bytes += MemoryContextMemAllocated(child, child != CacheMemoryContext);
	if (COMPAT_DEAD_ARE_FREED && pgstat_track_activities && MyBEEntry != NULL)
	{
		int64		dead = MyBEEntry->st_progress_param[COMPAT_PROGRESS_DEAD];

		if (meter_slot->relid == run->relid && meter_slot->command == RUN_VACUUM)
			dead = Max(dead, meter_slot->dead_peak);
		bytes += (Size) Max(dead, 0);
	}
	run->memory_bytes = (int64) bytes;
}

/*
 * As reported, or as the progress entry has it, whose counters outlive the
 * command.
 */
static int64
index_passes(const RunRecord *run)
{
	if (meter_this.report.index_scans >= 0)
		return meter_this.report.index_scans;
	if (run->command != RUN_VACUUM)
		return -1;
	if (run->outcome == RUN_DONE && pgstat_track_activities && feature_is_ok(FEATURE_METER))
		return MyBEEntry->st_progress_param[PROGRESS_VACUUM_NUM_INDEX_VACUUMS];
	if (meter_slot->relid == run->relid && meter_slot->ticks > 0)
		return meter_slot->params[PROGRESS_VACUUM_NUM_INDEX_VACUUMS];
	return -1;
}

/*
 * How long has it slept?  What the server has timed counts if it is this
 * run's.  If no tick has seen the run, nothing is timed.  What VACUUM has put
 * onto its balance since its last nap was not slept.
 */
static int64
delay_of(const RunRecord *run)
{
	int64		elapsed_us = run->ended_at - run->started_at;
	MeterNaps  *naps = &meter_this.naps;
	double		ms;

	if (run->command == RUN_VACUUM_FULL)
		return 0;
	if (compat_delay_is_timed() && meter_slot->delay_us >= 0 && meter_slot->ticks > 0 &&
		meter_slot->relid == run->relid && meter_slot->command == run->command)
		return Min(meter_slot->delay_us, elapsed_us);

	/* after an error naps are switched off already */
	if (VacuumCostActive || run->outcome != RUN_DONE)
		meter_count_naps(&run->costs);
	if (naps->unknown)
		return run_delay_sampled(meter_slot->delay_ticks, meter_slot->ticks, elapsed_us);
	ms = naps->ms;
	/* one that only the pacer held has no costs any more, but it did nap */
	if (run->costs.limit > 0)
		ms -= (double) (VacuumCostBalance - naps->balance) * run->costs.delay / run->costs.limit;
	return (int64) Min(Max(ms, 0) * 1000.0, (double) elapsed_us);
}

/* Completes the record and hands it to the ledger.  For COMMIT and ABORT. */
void
meter_record_run(RunRecord *run, RunOutcome outcome)
{
	TimestampTz now = GetCurrentTimestamp();

	meter_slot_busy = 1;
	run->pid = MyProcPid;
	run->dboid = MyDatabaseId;
	run->outcome = outcome;
	run->started_at = meter_this.base_at;
	run->ended_at = Max(now, meter_this.base_at);
	meter_read_usage(&run->used);
	run_counters_subtract(&run->used, &meter_this.base);
	meter_read_costs(&run->costs);
	run->partition_changes = meter_this.own.active ? meter_this.own.partition_changes : -1;

	/*
	 * the failsafe, or the end of the command, has switched the costs off
	 * already
	 */
	if (run->costs.limit == 0)
		run->costs = meter_slot->costs;
	if (run->mode == RUN_MODE_UNKNOWN && meter_slot->relid == run->relid)
		run->mode = meter_slot->mode;
	run->index_pass = index_passes(run);
	run->delay_us = delay_of(run);
	if (meter_this.own.active)
	{
		memcpy(run->schemaname, meter_this.own.schemaname, NAMEDATALEN);
		memcpy(run->relname, meter_this.own.relname, NAMEDATALEN);
		memcpy(run->reason, meter_this.own.reason, RUN_REASON_LEN);
	}
	else if (run->relname[0] == '\0' && meter_slot->relid == run->relid)
	{
		memcpy(run->schemaname, meter_slot->schemaname, NAMEDATALEN);
		memcpy(run->relname, meter_slot->relname, NAMEDATALEN);
	}
	if (outcome == RUN_FAILED && log_last_error[0] != '\0')
		run_add_reason(run->reason, log_last_error);
	if (meter_this.own.active)
	{
		meter_this.own.run = *run;
		meter_this.own.recorded = true;
	}
	meter_slot_busy = 0;

	ledger_add(run);
	meter_this.statement.tables++;
	if (run->command != RUN_ANALYZE && run->command != RUN_CLEAN && outcome == RUN_DONE)
	{
		recorded[1] = recorded[0];
		recorded[0] = run->relid;
	}
}

RunOutcome
meter_outcome_of_error(int sqlstate)
{
	switch (sqlstate)
	{
		case ERRCODE_QUERY_CANCELED:
		case ERRCODE_ADMIN_SHUTDOWN:
		case ERRCODE_T_R_DEADLOCK_DETECTED:
			return RUN_CANCELLED;
		case ERRCODE_LOCK_NOT_AVAILABLE:
			return RUN_SKIPPED;
		default:
			return RUN_FAILED;
	}
}
