/*
 * parallel_indexes.c
 *		With how many parallel workers are a table's indexes vacuumed?
 *
 * The workers are the server's own.  They end with the vacuum, and keep to its
 * rate.  A table's indexes have none of them while somebody else wants the
 * processors or the background workers, nor where one belongs to an access
 * method that is not the server's: a worker that hangs in it would not leave.
 */
#include "worker/parallel_indexes.h"

#include <sys/statvfs.h>

#include "access/htup_details.h"
#include "access/transam.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "catalog/pg_index.h"
#include "miscadmin.h"
#include "optimizer/paths.h"
#include "storage/dsm_impl.h"
#include "storage/lmgr.h"
#include "utils/syscache.h"

#include "policy/parallel.h"
#include "server/compat.h"
#include "server/control_group.h"
#include "server/system_file.h"
#include "server/table_indexes.h"
#include "shmem.h"

#define INDEXES_LIMIT	64
#define SHM_DIRECTORY	"/dev/shm"

static bool
is_core_index(Oid index)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(index));
	bool		core;

	if (!HeapTupleIsValid(tuple))
		return false;
	core = ((Form_pg_class) GETSTRUCT(tuple))->relam < FirstNormalObjectId;
	ReleaseSysCache(tuple);
	return core;
}

/*
 * 0 where one of them is not to be vacuumed by a parallel worker, or the
 * catalog of indexes is locked.
 */
static int
count_large(Oid relid)
{
	MemoryContext context = CurrentMemoryContext;
	Oid			oids[INDEXES_LIMIT];
	int64		pages[INDEXES_LIMIT];
	int			count = 0;
	int			large = 0;

	StartTransactionCommand();
	if (ConditionalLockRelationOid(IndexRelationId, AccessShareLock))
		count = table_indexes(relid, INDEXES_LIMIT, oids, pages);
	for (int i = 0; i < Min(count, INDEXES_LIMIT) && large >= 0; i++)
	{
		if (!is_core_index(oids[i]))
			large = -1;
		else
			large += (double) pages[i] * BLCKSZ >= PARALLEL_INDEX_BYTES;
	}
	CommitTransactionCommand();
	MemoryContextSwitchTo(context);
	return Max(large, 0);
}

/*
 * What is found dead is kept in shared memory then, where a container often
 * has little.  The vacuum would fail as soon as that is full.
 */
static bool
has_shared_memory(void)
{
	struct statvfs fs;

	return dynamic_shared_memory_type != DSM_IMPL_POSIX ||
		(statvfs(SHM_DIRECTORY, &fs) == 0 &&
		 (double) fs.f_bavail * fs.f_frsize >= 2 * 1024.0 * maintenance_work_mem);
}

/* The first number of /proc/loadavg: see proc(5).  Negative if it cannot be read. */
static double
load_average(void)
{
	char		text[64];

	return system_file_read("/proc/loadavg", text, sizeof(text)) > 0 ? strtod(text, NULL) : -1;
}

int
parallel_indexes_workers(const Candidate *c, const StatementOptions *options)
{
	int			set = compat_autovacuum_parallel_workers(c->rules.opts);
	ParallelRoom room = {
		.limit = max_parallel_maintenance_workers,
		.spare = (int) pg_atomic_read_u32(&sweep_shared->spare_workers),
	};

	if (set >= 0)
		return set;
	if (c->row.lane == LANE_CATALOG || candidate_is_due_by_inserts(c) || options->keep_indexes ||
		pg_atomic_read_u32(&sweep_shared->parallel_failed) != 0)
		return 0;
	room.processors = control_group_processors();
	room.load = load_average();
	/* whether it is worth the look at the indexes */
	room.large_indexes = INDEXES_LIMIT;
	if (parallel_workers(&room) == 0 || !has_shared_memory())
		return 0;
	room.large_indexes = count_large(c->key.relid);
	return parallel_workers(&room);
}

void
parallel_indexes_failed(int sqlstate)
{
	if (sqlstate == ERRCODE_QUERY_CANCELED || sqlstate == ERRCODE_LOCK_NOT_AVAILABLE ||
		sqlstate == ERRCODE_DATA_CORRUPTED || sqlstate == ERRCODE_INDEX_CORRUPTED)
		return;
	if (pg_atomic_exchange_u32(&sweep_shared->parallel_failed, 1) == 0)
		ereport(LOG,
				(errmsg("pg_sweep vacuums indexes without parallel workers until the server is restarted"),
				 errdetail("A vacuum with parallel workers has failed, see above.")));
}
