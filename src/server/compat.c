/*
 * compat.c
 *		The differences between PostgreSQL 15 and 19, and nothing else.
 *
 * compat_locked_relations() and compat_lock_wanted_ms() read the server's lock
 * structures, under the partition locks, shared.
 */
#include "server/compat.h"

#include "access/htup_details.h"
#include "access/multixact.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_database.h"
#include "postmaster/autovacuum.h"
#include "storage/latch.h"
#include "storage/lock.h"
#include "storage/lwlock.h"
#include "storage/proc.h"
#include "storage/procarray.h"
#include "utils/acl.h"
#include "utils/backend_status.h"
#include "utils/pgstat_internal.h"
#if PG_VERSION_NUM < 170000
#include "storage/sinvaladt.h"
#include "utils/old_snapshot.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"
#endif
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

/*
 * Calls look() for each lock of a process that is in one partition of the
 * lock table.  The caller holds the partition's lock.
 */
static void
look_at_locks(PGPROC *proc, int partition, void (*look) (const PROCLOCK *, void *), void *arg)
{
#if PG_VERSION_NUM >= 160000
	dlist_iter	iter;

	dlist_foreach(iter, &proc->myProcLocks[partition])
		look(dlist_container(PROCLOCK, procLink, iter.cur), arg);
#else
	SHM_QUEUE  *queue = &proc->myProcLocks[partition];
	PROCLOCK   *proclock;

	proclock = (PROCLOCK *) SHMQueueNext(queue, queue, offsetof(PROCLOCK, procLink));
	while (proclock != NULL)
	{
		look(proclock, arg);
		proclock = (PROCLOCK *) SHMQueueNext(queue, &proclock->procLink,
											 offsetof(PROCLOCK, procLink));
	}
#endif
}

/* Calls look() for each process that waits for a lock. */
static void
look_at_waiters(LOCK *lock, void (*look) (PGPROC *, void *), void *arg)
{
#if PG_VERSION_NUM >= 160000
	dlist_iter	iter;

	dclist_foreach(iter, &lock->waitProcs)
		look(compat_waiter(iter.cur), arg);
#else
	PGPROC	   *proc = (PGPROC *) lock->waitProcs.links.next;

	for (int i = 0; i < lock->waitProcs.size; i++)
	{
		look(proc, arg);
		proc = (PGPROC *) proc->links.next;
	}
#endif
}

typedef struct LockedRelations
{
	LOCKMODE	mode;
	Oid		   *relids;
	int			size;
	int			n;
} LockedRelations;

/* Adds the lock if it is one of that mode, on a relation here. */
static void
add_locked_relation(const PROCLOCK *proclock, void *arg)
{
	LockedRelations *found = arg;
	const LOCKTAG *tag = &proclock->tag.myLock->tag;

	if (found->n < found->size && (proclock->holdMask & LOCKBIT_ON(found->mode)) != 0 &&
		tag->locktag_type == LOCKTAG_RELATION &&
		tag->locktag_lockmethodid == DEFAULT_LOCKMETHOD)
		found->relids[found->n++] = (Oid) tag->locktag_field2;
}

/*
 * Finds the relations on which this process holds a lock of that mode, at
 * most size of them.  It allocates nothing and raises no ERROR, because
 * transaction callbacks call it.  The mode must be one that never goes
 * through the fast path (ShareUpdateExclusiveLock and above).  Otherwise the
 * lock is not in these lists.
 */
int
compat_locked_relations(LOCKMODE mode, Oid *relids, int size)
{
	LockedRelations found = {mode, relids, size, 0};

	for (int i = 0; i < NUM_LOCK_PARTITIONS && found.n < size; i++)
	{
		LWLock	   *partition = LockHashPartitionLockByIndex(i);

		LWLockAcquire(partition, LW_SHARED);
		look_at_locks(MyProc, i, add_locked_relation, &found);
		LWLockRelease(partition);
	}
	return found.n;
}

typedef struct WantedLock
{
	const LOCK *lock;
	LOCKMASK	held;			/* of that lock, by the process in question */
	TimestampTz now;
	int64		ms;				/* the longest wait so far (-1: none) */
} WantedLock;

static void
measure_wait(PGPROC *waiter, void *arg)
{
	WantedLock *wanted = arg;
	const LOCKMETHODID method = wanted->lock->tag.locktag_lockmethodid;
	const LOCKMASK conflicts =
		GetLockTagsMethodTable(&wanted->lock->tag)->conflictTab[waiter->waitLockMode];
	TimestampTz since = (TimestampTz) pg_atomic_read_u64(&waiter->waitStart);

	if (method != DEFAULT_LOCKMETHOD || (conflicts & wanted->held) == 0 ||
		(waiter->statusFlags & PROC_IS_AUTOVACUUM) != 0)
		return;
	/* waitStart is set a moment after the wait has begun */
	wanted->ms = Max(wanted->ms, since == 0 ? 0 : (wanted->now - since) / 1000);
}

static void
measure_waits(const PROCLOCK *proclock, void *arg)
{
	WantedLock *wanted = arg;
	LOCK	   *lock = proclock->tag.myLock;

	if (lock->waitMask == 0 ||
		(lock->tag.locktag_type != LOCKTAG_RELATION &&
		 lock->tag.locktag_type != LOCKTAG_VIRTUALTRANSACTION))
		return;
	wanted->lock = lock;
	wanted->held = proclock->holdMask;
	if (lock->tag.locktag_type == LOCKTAG_RELATION)
		wanted->held &= ~LOCKBIT_ON(AccessExclusiveLock);
	look_at_waiters(lock, measure_wait, wanted);
}

/*
 * How long has a process that does not vacuum automatically waited for a lock
 * that this one holds, on a relation or on its transaction?  -1 if none does.
 * AccessExclusiveLock does not count on relations, because VACUUM gives it up
 * by itself.  Weak locks are in these lists as soon as somebody wants a
 * strong one.
 */
int64
compat_lock_wanted_ms(PGPROC *proc, int pid, TimestampTz now)
{
	WantedLock	wanted = {NULL, 0, now, -1};

	for (int i = 0; i < NUM_LOCK_PARTITIONS; i++)
	{
		LWLock	   *partition = LockHashPartitionLockByIndex(i);

		LWLockAcquire(partition, LW_SHARED);

		/*
		 * a process that has ended had no locks any more when it gave up its
		 * entry
		 */
		if (proc->pid == pid)
			look_at_locks(proc, i, measure_waits, &wanted);
		LWLockRelease(partition);
	}
	return wanted.ms;
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

/*
 * 18 put a maximum on the vacuum threshold.  Negative if there is none.
 * Before 18 it is 18's default.
 */
double
compat_vacuum_max_threshold(const AutoVacOpts *opts)
{
#if PG_VERSION_NUM >= 180000
	/* -2 is the reloption's "not set" */
	return opts && opts->vacuum_max_threshold >= -1 ?
		opts->vacuum_max_threshold : autovacuum_vac_max_thresh;
#else
	return 100000000;
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

/* 18 counts a table's frozen pages in pg_class.  0 if unknown. */
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
 * From 19 on autovacuum may vacuum indexes with parallel workers, and how many
 * is set.  -1: that is not said.
 */
int
compat_autovacuum_parallel_workers(const AutoVacOpts *opts)
{
#if PG_VERSION_NUM >= 190000
	if (opts && opts->autovacuum_parallel_workers >= 0)
		return opts->autovacuum_parallel_workers;
	if (autovacuum_max_parallel_workers > 0)
		return autovacuum_max_parallel_workers;
#endif
	return -1;
}

/*
 * The key of a relation's statistics.  It is hashed, so its padding must be
 * zero.
 */
void
compat_stat_key(struct PgStat_HashKey *key, Oid dboid, Oid relid)
{
	memset(key, 0, sizeof(*key));
	key->kind = PGSTAT_KIND_RELATION;
	key->dboid = dboid;
	compat_stat_objid(key) = relid;
}

/*
 * May the current role run VACUUM on the table?  This answers as
 * vacuum_is_permitted_for_relation() does.  That function also warns, and
 * wants to know for which command.  17 added MAINTAIN, while 15 and 16 ask
 * for the owner of the table.  The owner of the database may as well, unless
 * it is a shared catalog.
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

/*
 * Wakes the checkpointer, as any process may: see ForwardSyncRequest().  It
 * may have gone meanwhile.
 */
void
compat_wake_checkpointer(void)
{
	volatile PROC_HDR *procs = ProcGlobal;

	/*
	 * read only once, because the number is taken back when the checkpointer
	 * ends
	 */
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
 * The status entries of all backends, MaxBackends of them.  NULL in a process
 * that has none itself.  Core hands out only copies, of all entries with all
 * their texts.
 */
struct PgBackendStatus *
compat_backend_status(void)
{
	if (MyBEEntry == NULL || compat_backend_index() < 0)
		return NULL;
	return (PgBackendStatus *) MyBEEntry - compat_backend_index();
}

/*
 * The same for a process without an entry.  It takes the name from core's
 * copy, which it has made and frees again.
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

/* Does it decode a database's WAL?  From 16 on its own entry says so. */
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

#if PG_VERSION_NUM < 170000
/*
 * Source: TransactionIdLimitedForOldSnapshots() and
 * GetOldSnapshotFromTimeMapping() of snapmgr.c (15, 16), which want a
 * relation.  A threshold of 0, which is for core's own tests, is left out.
 */
TransactionId
compat_limited_horizon(TransactionId xid)
{
	volatile	OldSnapshotControlData *control = oldSnapshotControl;
	TimestampTz at;
	TimestampTz next_update;
	TransactionId latest;
	TransactionId limit = InvalidTransactionId;

	if (old_snapshot_threshold <= 0)
		return xid;
	at = GetCurrentTimestamp();
	at -= at % USECS_PER_MINUTE + old_snapshot_threshold * USECS_PER_MINUTE;
	SpinLockAcquire(&control->mutex_latest_xmin);
	latest = control->latest_xmin;
	next_update = control->next_map_update;
	SpinLockRelease(&control->mutex_latest_xmin);

	if (at >= next_update)
		limit = latest;
	else
	{
		LWLockAcquire(OldSnapshotTimeMapLock, LW_SHARED);
		if (control->count_used > 0 && at >= control->head_timestamp)
		{
			int64		offset = (at - control->head_timestamp) / USECS_PER_MINUTE;

			if (offset >= control->count_used)
				offset = control->count_used - 1;
			limit = control->xid_by_minute[(control->head_offset + offset) % OLD_SNAPSHOT_TIME_MAP_ENTRIES];
		}
		LWLockRelease(OldSnapshotTimeMapLock);
	}
	if (TransactionIdIsNormal(limit) && TransactionIdFollows(limit, latest))
		limit = latest;
	return TransactionIdIsNormal(limit) && TransactionIdFollows(limit, xid) ? limit : xid;
}
#endif

bool
compat_members(MultiXactId *next, MultiXactId *oldest, uint64 *next_member, uint64 *first_member)
{
	MultiXactOffset offset;
#if PG_VERSION_NUM >= 190000
	uint32		count;
	MultiXactOffset first;

	GetMultiXactInfo(&count, &offset, oldest, &first);
	*next = *oldest + count;
	*first_member = first;
	*next_member = offset;
	return true;
#else
	Oid			dboid;

	MultiXactGetCheckptMulti(false, next, &offset, oldest, &dboid);
	*next_member = offset;
	return false;
#endif
}

int
compat_temp_owner(Oid namespace_oid)
{
	PGPROC	   *proc;

	if (checkTempNamespaceStatus(namespace_oid) != TEMP_NAMESPACE_IN_USE)
		return 0;
#if PG_VERSION_NUM >= 170000
	proc = ProcNumberGetProc(GetTempNamespaceProcNumber(namespace_oid));
#else
	proc = BackendIdGetProc(GetTempNamespaceBackendId(namespace_oid));
#endif
	/* it may end at any time */
	return proc ? proc->pid : 0;
}
