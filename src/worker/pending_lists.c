/*
 * pending_lists.c
 *		The new rows' entries that a table's GIN indexes keep aside.
 *
 * VACUUM's cleanup of such an index reads it whole.  In any process but an
 * autovacuum worker it also goes on until the list is empty, however fast
 * entries come.  So a vacuum for new rows leaves the indexes out.  This
 * empties the lists instead: up to the entries that are there when it begins,
 * as autovacuum does.
 *
 * What VACUUM does around it is done here as well: the table's lock, if it is
 * free, the owner's rights for functions of the operator class, costs, and a
 * transaction that holds nobody's horizon.  A worker's search_path is safe
 * (bgworker.c).
 */
#include "worker/pending_lists.h"

#include "access/genam.h"
#include "access/gin_private.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_am.h"
#include "commands/progress.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "storage/proc.h"
#include "utils/backend_progress.h"
#include "utils/guc.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "meter/meter.h"
#include "server/compat.h"
#include "worker/statement.h"
#include "worker/table_run.h"

#define REASON	"pending lists of its GIN indexes"

typedef struct PendingJob
{
	Oid			relid;
	bool		locked;			/* by somebody else */
	bool		some;			/* there was something to be done */
} PendingJob;

/* As vacuum_rel() does: no vacuum of another table has to wait for this one. */
static void
become_vacuum(void)
{
	LWLockAcquire(ProcArrayLock, LW_EXCLUSIVE);
	MyProc->statusFlags |= PROC_IN_VACUUM;
	ProcGlobal->statusFlags[MyProc->pgxactoff] = MyProc->statusFlags;
	LWLockRelease(ProcArrayLock);
}

static bool
has_list(Relation index)
{
	GinStatsData stats;

	if (index->rd_rel->relam != GIN_AM_OID || !index->rd_index->indisvalid)
		return false;
	ginGetStats(index, &stats);
	return stats.nPendingPages > 0;
}

static void
empty_list(Oid indexid, PendingJob *job)
{
	Relation	index;
	GinState	state;
	IndexBulkDeleteResult stats = {0};

	if (!ConditionalLockRelationOid(indexid, RowExclusiveLock))
	{
		job->locked = true;
		return;
	}
	index = index_open(indexid, NoLock);
	if (has_list(index))
	{
		job->some = true;
		initGinState(&state, index);
		ginInsertCleanup(&state, false, true, true, &stats);
	}
	index_close(index, RowExclusiveLock);
}

static void
empty_lists(Relation rel, PendingJob *job)
{
	Oid			user;
	int			security;
	int			guc_level;
	List	   *indexes = RelationGetIndexList(rel);
	ListCell   *lc;

	GetUserIdAndSecContext(&user, &security);
	SetUserIdAndSecContext(rel->rd_rel->relowner, security | SECURITY_RESTRICTED_OPERATION);
	guc_level = NewGUCNestLevel();
	foreach(lc, indexes)
	{
		CHECK_FOR_INTERRUPTS();
		empty_list(lfirst_oid(lc), job);
	}
	AtEOXact_GUC(false, guc_level);
	SetUserIdAndSecContext(user, security);
}

static void
run_job(void *arg)
{
	PendingJob *job = arg;
	MemoryContext context = CurrentMemoryContext;
	Relation	rel;

	StartTransactionCommand();
	become_vacuum();
	PushActiveSnapshot(GetTransactionSnapshot());
	rel = ConditionalLockRelationOid(job->relid, ShareUpdateExclusiveLock) ?
		try_table_open(job->relid, NoLock) : NULL;
	job->locked = rel == NULL;
	if (rel != NULL)
	{
		pgstat_progress_start_command(PROGRESS_COMMAND_VACUUM, job->relid);
		pgstat_progress_update_param(PROGRESS_VACUUM_PHASE, PROGRESS_VACUUM_PHASE_INDEX_CLEANUP);
		compat_begin_costs();
		empty_lists(rel, job);
		compat_end_costs();
		pgstat_progress_end_command();
		table_close(rel, NoLock);
	}
	PopActiveSnapshot();
	CommitTransactionCommand();
	MemoryContextSwitchTo(context);
}

bool
pending_lists_empty(const Candidate *c)
{
	PendingJob	job = {.relid = c->key.relid};
	Verdict		verdict = {.yields = PACER_YIELDS};
	RunRecord	run;
	int			sqlstate;

	table_run_begin(c, RUN_CLEAN, REASON, &verdict, -1);
	meter_clean_begin();
	sqlstate = statement_try_call(run_job, &job, job.relid, "clean-up", c->row.relname);
	if (sqlstate != 0)
		compat_end_costs();
	if (sqlstate == 0 && !job.some)
		meter_clean_forget();
	else
		meter_clean_end(job.relid, sqlstate, 0, 0);
	(void) table_run_end(&run);
	/* one that cannot be read is not tried again at each vacuum */
	return !job.locked && sqlstate != ERRCODE_QUERY_CANCELED;
}
