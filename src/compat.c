/*
 * compat.c
 *		The differences between PostgreSQL 15 and 19, and nothing else.
 *
 * compat_locked_relations() reads the server's lock structures; it runs in the
 * process whose locks it reads, under the partition locks, shared.
 */
#include "compat.h"

#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "catalog/pg_database.h"
#include "postmaster/autovacuum.h"
#include "storage/latch.h"
#include "storage/latch.h"
#include "storage/lock.h"
#include "storage/lwlock.h"
#include "utils/acl.h"
#include "utils/backend_status.h"
#include "utils/pgstat_internal.h"
#include "utils/syscache.h"

const char *const compat_vacuum_settings[] = {
	"maintenance_work_mem",
	"vacuum_cost_page_hit",
	"vacuum_cost_page_miss",
	"vacuum_cost_page_dirty",
	"vacuum_cost_limit",
	"vacuum_cost_delay",
	"vacuum_freeze_min_age",
	"vacuum_freeze_table_age",
	"vacuum_multixact_freeze_min_age",
	"vacuum_multixact_freeze_table_age",
	"vacuum_failsafe_age",
	"vacuum_multixact_failsafe_age",
	"backend_flush_after",
	"effective_io_concurrency",
	"maintenance_io_concurrency",
#if PG_VERSION_NUM >= 160000
	"vacuum_buffer_usage_limit",
#endif
#if PG_VERSION_NUM >= 170000
	"io_combine_limit",
#endif
#if PG_VERSION_NUM >= 180000
	"vacuum_truncate",
	"vacuum_max_eager_freeze_failure_rate",
#endif
	NULL
};

/* Looks at one lock of ours; returns true when it is one on a relation here. */
static bool
proclock_relation(const PROCLOCK *proclock, LOCKMODE mode, Oid *relid)
{
	const LOCKTAG *tag = &proclock->tag.myLock->tag;

	if ((proclock->holdMask & LOCKBIT_ON(mode)) == 0 ||
		tag->locktag_type != LOCKTAG_RELATION ||
		tag->locktag_lockmethodid != DEFAULT_LOCKMETHOD)
		return false;

	*relid = (Oid) tag->locktag_field2;
	return true;
}

/*
 * The relations on which this process holds a lock of that mode, at most size
 * of them.  No allocation and no ERROR: for transaction callbacks.  The mode
 * must be one that never goes through the fast path (ShareUpdateExclusiveLock
 * and above), or the lock is not in these lists.
 *
 * 16 turned myProcLocks from SHM_QUEUE into dlist.
 */
int
compat_locked_relations(LOCKMODE mode, Oid *relids, int size)
{
	int			n = 0;

	for (int i = 0; i < NUM_LOCK_PARTITIONS && n < size; i++)
	{
		LWLock	   *partition = LockHashPartitionLockByIndex(i);

		LWLockAcquire(partition, LW_SHARED);
#if PG_VERSION_NUM >= 160000
		{
			dlist_iter	iter;

			dlist_foreach(iter, &MyProc->myProcLocks[i])
			{
				PROCLOCK   *proclock = dlist_container(PROCLOCK, procLink, iter.cur);

				if (n < size && proclock_relation(proclock, mode, &relids[n]))
					n++;
			}
		}
#else
		{
			SHM_QUEUE  *queue = &MyProc->myProcLocks[i];
			PROCLOCK   *proclock;

			proclock = (PROCLOCK *) SHMQueueNext(queue, queue, offsetof(PROCLOCK, procLink));
			while (proclock != NULL)
			{
				if (n < size && proclock_relation(proclock, mode, &relids[n]))
					n++;
				proclock = (PROCLOCK *) SHMQueueNext(queue, &proclock->procLink,
													 offsetof(PROCLOCK, procLink));
			}
		}
#endif
		LWLockRelease(partition);
	}
	return n;
}

/* Does this process hold a lock of that mode on the relation? */
bool
compat_holds_lock(Oid relid, LOCKMODE mode)
{
	Oid			relids[16];
	int			n = compat_locked_relations(mode, relids, lengthof(relids));

	for (int i = 0; i < n; i++)
	{
		if (relids[i] == relid)
			return true;
	}
	return false;
}

/* 18 put a maximum on the vacuum threshold; negative: none. */
double
compat_vacuum_max_threshold(const AutoVacOpts *opts)
{
#if PG_VERSION_NUM >= 180000
	/* -2 is the reloption's "not set" */
	return opts && opts->vacuum_max_threshold >= -1 ?
		opts->vacuum_max_threshold : autovacuum_vac_max_thresh;
#else
	return -1;
#endif
}

/* 19 lets the parts of a table's score be weighted. */
ScoreWeights
compat_score_weights(void)
{
#if PG_VERSION_NUM >= 190000
	ScoreWeights weights = {
		.xid = autovacuum_freeze_score_weight,
		.mxid = autovacuum_multixact_freeze_score_weight,
		.vacuum = autovacuum_vacuum_score_weight,
		.vacuum_insert = autovacuum_vacuum_insert_score_weight,
		.analyze = autovacuum_analyze_score_weight,
	};
#else
	ScoreWeights weights = {1, 1, 1, 1, 1};
#endif

	return weights;
}

/* 18 counts a table's frozen pages in pg_class; 0: unknown. */
int64
compat_relallfrozen(void *pg_class_form)
{
#if PG_VERSION_NUM >= 180000
	return ((Form_pg_class) pg_class_form)->relallfrozen;
#else
	return 0;
#endif
}

/* 19 logs vacuums and analyzes by settings of their own. */
int
compat_log_vacuum_min_duration(const AutoVacOpts *opts)
{
	int			own = -1;

	if (opts)
#if PG_VERSION_NUM >= 190000
		own = opts->log_vacuum_min_duration;
#else
		own = opts->log_min_duration;
#endif
	return own >= 0 ? own : Log_autovacuum_min_duration;
}

int
compat_log_analyze_min_duration(void)
{
#if PG_VERSION_NUM >= 190000
	return Log_autoanalyze_min_duration;
#else
	return Log_autovacuum_min_duration;
#endif
}

/*
 * A table's counters, freshly read, or NULL; in the current memory context as
 * long as stats_fetch_consistency is "none".
 */
PgStat_StatTabEntry *
compat_fetch_stat_tabentry(bool shared, Oid relid)
{
#if PG_VERSION_NUM >= 190000
	return pgstat_fetch_stat_tabentry_ext(shared, relid, NULL);
#else
	return pgstat_fetch_stat_tabentry_ext(shared, relid);
#endif
}

/* The key of a relation's statistics; padding must be zero, it is hashed. */
void
compat_stat_key(struct PgStat_HashKey *key, Oid dboid, Oid relid)
{
	memset(key, 0, sizeof(*key));
	key->kind = PGSTAT_KIND_RELATION;
	key->dboid = dboid;
	compat_stat_objid(key) = relid;
}

/*
 * Might the current role run VACUUM on the table?  As
 * vacuum_is_permitted_for_relation(), which also warns, and insists on knowing
 * for which command.  17 added MAINTAIN; 15 and 16 ask for the owner of the
 * table.  The owner of the database may, unless it is a shared catalog.
 */
bool
compat_may_vacuum(Oid relid)
{
	bool		ok = false;
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));

	if (!HeapTupleIsValid(tuple))
		return false;
#if PG_VERSION_NUM >= 170000
	ok = pg_class_aclcheck(relid, GetUserId(), ACL_MAINTAIN) == ACLCHECK_OK ||
		(!((Form_pg_class) GETSTRUCT(tuple))->relisshared &&
		 object_ownercheck(DatabaseRelationId, MyDatabaseId, GetUserId()));
#elif PG_VERSION_NUM >= 160000
	ok = object_ownercheck(RelationRelationId, relid, GetUserId()) ||
		(!((Form_pg_class) GETSTRUCT(tuple))->relisshared &&
		 object_ownercheck(DatabaseRelationId, MyDatabaseId, GetUserId()));
#else
	ok = pg_class_ownercheck(relid, GetUserId()) ||
		(!((Form_pg_class) GETSTRUCT(tuple))->relisshared &&
		 pg_database_ownercheck(MyDatabaseId, GetUserId()));
#endif
	ReleaseSysCache(tuple);
	return ok;
}

/* As any process may, see ForwardSyncRequest(); it may have gone meanwhile. */
void
compat_wake_checkpointer(void)
{
	volatile PROC_HDR *procs = ProcGlobal;

	/* read once: it is taken back when the checkpointer ends */
#if PG_VERSION_NUM >= 180000
	ProcNumber	number = procs->checkpointerProc;

	if (number != INVALID_PROC_NUMBER)
		SetLatch(&GetPGProcByNumber(number)->procLatch);
#else
	Latch	   *latch = procs->checkpointerLatch;

	if (latch)
		SetLatch(latch);
#endif
}

/*
 * The status entries of all backends, MaxBackends of them; NULL in a process
 * that has none itself.  Core hands out copies only, of all with their texts.
 */
struct PgBackendStatus *
compat_backend_status(void)
{
	if (MyBEEntry == NULL || compat_backend_index() < 0)
		return NULL;
	return (PgBackendStatus *) MyBEEntry - compat_backend_index();
}

/*
 * The same for a process without an entry: from core's copy, which it makes
 * and frees again.
 */
void
compat_copy_application_name(int pid, char *name, size_t size)
{
	int			count;

	name[0] = '\0';
	pgstat_clear_backend_activity_snapshot();
	count = pgstat_fetch_stat_numbackends();
	for (int i = 1; i <= count; i++)
	{
#if PG_VERSION_NUM >= 160000
		LocalPgBackendStatus *local = pgstat_get_local_beentry_by_index(i);
#else
		LocalPgBackendStatus *local = pgstat_fetch_stat_local_beentry(i);
#endif

		if (local != NULL && local->backendStatus.st_procpid == pid)
			strlcpy(name, local->backendStatus.st_appname, size);
	}
	pgstat_clear_backend_activity_snapshot();
}

/* Does it decode a database's WAL?  Since 16 its own entry says so. */
bool
compat_walsender_has_database(int pid)
{
#if PG_VERSION_NUM < 160000
	for (uint32 i = 0; i < ProcGlobal->allProcCount; i++)
	{
		volatile PGPROC *proc = &ProcGlobal->allProcs[i];

		if (proc->procLatch.owner_pid == pid)
			return proc->databaseId != InvalidOid;
	}
#endif
	return false;
}

int
compat_server_version_built(void)
{
	return PG_VERSION_NUM;
}

/* 19 has one phase more, before the files are swapped. */
const char *
compat_rewrite_phase_name(int phase, const char *const *names, int count)
{
#if PG_VERSION_NUM >= 190000
	if (phase == PROGRESS_REPACK_PHASE_CATCH_UP)
		return "catching up";
	if (phase > PROGRESS_REPACK_PHASE_CATCH_UP)
		phase--;
#endif
	return phase >= 0 && phase < count ? names[phase] : NULL;
}

/* 18 dropped run_once. */
void
compat_portal_run(Portal portal, DestReceiver *dest)
{
#if PG_VERSION_NUM >= 180000
	(void) PortalRun(portal, FETCH_ALL, true, dest, dest, NULL);
#else
	(void) PortalRun(portal, FETCH_ALL, true, true, dest, dest, NULL);
#endif
}

/* 19 sizes a shared hash by one number. */
HTAB *
compat_shmem_hash(const char *name, int64 size, HASHCTL *info, int flags)
{
#if PG_VERSION_NUM >= 190000
	return ShmemInitHash(name, size, info, flags);
#else
	return ShmemInitHash(name, size, size, info, flags);
#endif
}
