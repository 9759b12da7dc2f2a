/*
 * features.c
 *		What reads private structures of the server, and whether it may.
 *
 * pg_sweep is compiled against the headers of one minor release and may be
 * loaded into another.  The structures that it reads have never changed
 * within a major, but nobody promises that.  So before the first use a
 * function of the server writes each of them and we read it back, or the
 * other way round.  What does not agree is switched off.
 *
 * Runs once, inside a transaction, in the launcher or in the first backend
 * that says VACUUM.  The only lock it takes, conditionally, is on a relation
 * OID that nothing uses.
 */
#include "server/features.h"

#include "access/xact.h"
#include "catalog/pg_database.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/lmgr.h"
#include "storage/proc.h"
#include "utils/backend_status.h"
#include "utils/fmgrprotos.h"
#include "utils/pgstat_internal.h"
#include "utils/syscache.h"

#include "server/compat.h"
#include "server/table_stats.h"
#include "shmem.h"

/*
 * No relation has this OID.  It is far above what bootstrap assigns, and
 * below FirstNormalObjectId.
 */
#define UNUSED_RELATION		((Oid) 15999)

#define PROBE_PARAM			(PGSTAT_NUM_PROGRESS_PARAM - 1)
#define PROBE_VALUE			INT64CONST(0x5357454550)

static const char *const names[FEATURE_COUNT] = {
	[FEATURE_METER] = "meter",
	[FEATURE_LOCKS] = "locks",
	[FEATURE_SCOUT] = "scout",
	[FEATURE_WORKER] = "worker",
};

static const char *const reasons[FEATURE_COUNT] = {
	[FEATURE_METER] = "live counters of a running vacuum: progress entry, buffer and WAL usage",
	[FEATURE_LOCKS] = "which table a finished vacuum was of: this process's list of locks",
	[FEATURE_SCOUT] = "which tables are due, in all databases: shared statistics",
	[FEATURE_WORKER] = "own vacuums give way to users: process flags",
};

const char *
feature_name(SweepFeature feature)
{
	return names[feature];
}

bool
feature_is_ok(SweepFeature feature)
{
	return pg_atomic_read_u32(&sweep_shared->features[feature]) == FEATURE_OK;
}

const char *
feature_reason(SweepFeature feature)
{
	return reasons[feature];
}

/*
 * The server writes our progress entry and counts a buffer.  Do we see both?
 */
static bool
check_meter(void)
{
	int64		blocks = pgBufferUsage.shared_blks_hit + pgBufferUsage.shared_blks_read;
	bool		ok = true;
	HeapTuple	tuple;

	if (MyBEEntry == NULL || MyBEEntry->st_procpid != MyProcPid)
		return false;

	if (pgstat_track_activities && MyBEEntry->st_progress_command == PROGRESS_COMMAND_INVALID)
	{
		pgstat_progress_update_param(PROBE_PARAM, PROBE_VALUE);
		ok = MyBEEntry->st_progress_param[PROBE_PARAM] == PROBE_VALUE;
		pgstat_progress_update_param(PROBE_PARAM, 0);
	}

	/* the catalog has to be read, because this OID is in no cache */
	tuple = SearchSysCache1(DATABASEOID, ObjectIdGetDatum(UNUSED_RELATION));
	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	else
		ok = ok && pgBufferUsage.shared_blks_hit + pgBufferUsage.shared_blks_read > blocks;
	return ok;
}

/* We lock something.  Is it in the list, and only while it is locked? */
static bool
check_locks(void)
{
	bool		held;

	if (!ConditionalLockRelationOid(UNUSED_RELATION, ShareUpdateExclusiveLock))
		return true;			/* another process is checking just now */
	held = compat_holds_lock(UNUSED_RELATION, ShareUpdateExclusiveLock);
	UnlockRelationOid(UNUSED_RELATION, ShareUpdateExclusiveLock);
	return held && !compat_holds_lock(UNUSED_RELATION, ShareUpdateExclusiveLock);
}

/*
 * The server's own function and the scout must find the same counters of a
 * table that every server has.  They may differ by what happens in between.
 */
static bool
check_scout(void)
{
	Datum		oid = ObjectIdGetDatum(DatabaseRelationId);
	PgStat_StatTabEntry entry;
	int64		before;
	int64		after;

	pgstat_clear_snapshot();
	before = DatumGetInt64(DirectFunctionCall1(pg_stat_get_tuples_inserted, oid));
	if (!table_stats_read(InvalidOid, DatabaseRelationId, &entry))
		return before == 0;
	pgstat_clear_snapshot();
	after = DatumGetInt64(DirectFunctionCall1(pg_stat_get_tuples_inserted, oid));
	return entry.tuples_inserted >= before && entry.tuples_inserted <= after;
}

/* Are our own flags and database where others see them? */
static bool
check_worker(void)
{
	return MyProc != NULL && MyProc->pid == MyProcPid &&
		MyProc->databaseId == MyDatabaseId &&
		MyProc->pgxactoff >= 0 && MyProc->pgxactoff < (int) ProcGlobal->allProcCount &&
		ProcGlobal->statusFlags[MyProc->pgxactoff] == MyProc->statusFlags &&
		MyProc->procLatch.owner_pid == MyProcPid;
}

void
features_check(void)
{
	static bool (*const checks[FEATURE_COUNT]) (void) = {
		[FEATURE_METER] = check_meter,
		[FEATURE_LOCKS] = check_locks,
		[FEATURE_SCOUT] = check_scout,
		[FEATURE_WORKER] = check_worker,
	};

	Assert(IsTransactionState());

	for (int i = 0; i < FEATURE_COUNT; i++)
	{
		bool		ok;

		if (pg_atomic_read_u32(&sweep_shared->features[i]) != FEATURE_UNCHECKED)
			continue;
		ok = checks[i] ();
		pg_atomic_write_u32(&sweep_shared->features[i], ok ? FEATURE_OK : FEATURE_BAD);
		if (!ok)
			ereport(WARNING,
					(errmsg("pg_sweep: \"%s\" is switched off", names[i]),
					 errdetail("This server's structures are not those that pg_sweep was built for: %s.",
							   reasons[i]),
					 errhint("Build and install pg_sweep for PostgreSQL %s, then restart the server.",
							 PG_VERSION)));
	}
}
