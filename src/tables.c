/*
 * tables.c
 *		What stands behind sweep.tables: for each table of this database what is
 *		counted, what is allowed, and what would be decided now.
 *
 * Any backend.  Besides what candidates.c takes: the lock manager's partition
 * locks for a copy, as pg_locks does, and for tables of a megabyte and more an
 * AccessShareLock, only if it is free, for a look at their free space map.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/tableam.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/freespace.h"
#include "storage/lock.h"
#include "utils/array.h"

#include "candidates.h"
#include "clock.h"
#include "compat.h"
#include "decide.h"
#include "features.h"
#include "ledger.h"
#include "peek.h"
#include "row.h"
#include "weigh.h"

/* Smaller tables have nothing worth asking for at their end. */
#define TRUNCATE_LOOK_PAGES		128

/* How far back from the end is looked; what is beyond is not counted. */
#define TRUNCATE_LOOK_LIMIT		65536

/*
 * VACUUM gives back pages when there are that many or that share of the table.
 * Source: should_attempt_truncation() in PostgreSQL's vacuumlazy.c (15 to 19).
 */
#define TRUNCATE_MINIMUM		1000
#define TRUNCATE_FRACTION		16

/* Holds, or waits for, a lock that VACUUM's own conflicts with. */
typedef struct TableBlocker
{
	Oid			relid;
	int			pid;			/* 0: a prepared transaction */
} TableBlocker;

typedef struct TableBlockers
{
	TableBlocker *items;		/* by relid, pid */
	int			count;
} TableBlockers;

/* ----
 * Locks
 * ----
 */

static int
by_relid_and_pid(const void *a, const void *b)
{
	const TableBlocker *x = a;
	const TableBlocker *y = b;

	if (x->relid != y->relid)
		return x->relid < y->relid ? -1 : 1;
	return x->pid < y->pid ? -1 : (x->pid > y->pid ? 1 : 0);
}

/* Who waits for such a lock comes before a vacuum that asks for its own. */
static bool
conflicts(const LockInstanceData *lock)
{
	for (LOCKMODE mode = NoLock + 1; mode <= MaxLockMode; mode++)
	{
		if (((lock->holdMask & LOCKBIT_ON(mode)) != 0 || lock->waitLockMode == mode) &&
			DoLockModesConflict(ShareUpdateExclusiveLock, mode))
			return true;
	}
	return false;
}

static TableBlockers
read_blockers(void)
{
	LockData   *locks = GetLockStatusData();
	TableBlockers blockers = {0};

	blockers.items = palloc_extended(sizeof(TableBlocker) * (Size) Max(locks->nelements, 1),
									 MCXT_ALLOC_HUGE);
	for (int i = 0; i < locks->nelements; i++)
	{
		const LockInstanceData *lock = &locks->locks[i];
		const LOCKTAG *tag = &lock->locktag;

		if (tag->locktag_type != LOCKTAG_RELATION || !conflicts(lock) ||
			(tag->locktag_field1 != MyDatabaseId && tag->locktag_field1 != InvalidOid))
			continue;
		blockers.items[blockers.count].relid = tag->locktag_field2;
		blockers.items[blockers.count++].pid = lock->pid;
	}
	qsort(blockers.items, blockers.count, sizeof(TableBlocker), by_relid_and_pid);
	return blockers;
}

static void
put_blocked_by(Row *row, const TableBlockers *blockers, Oid relid)
{
	int			low = 0;
	int			high = blockers->count;
	int			n = 0;
	Datum	   *pids;

	while (low < high)
	{
		int			middle = low + (high - low) / 2;

		if (blockers->items[middle].relid < relid)
			low = middle + 1;
		else
			high = middle;
	}
	for (high = low; high < blockers->count && blockers->items[high].relid == relid; high++)
		 /* until the next table's */ ;
	if (low == high)
	{
		row_put_null(row);
		return;
	}

	pids = palloc(sizeof(Datum) * (high - low));
	for (int i = low; i < high; i++)
	{
		/* one that holds several modes is there once */
		if (i == low || blockers->items[i].pid != blockers->items[i - 1].pid)
			pids[n++] = Int32GetDatum(blockers->items[i].pid);
	}
	row_put(row, PointerGetDatum(construct_array(pids, n, INT4OID, sizeof(int32), true,
												 TYPALIGN_INT)));
}

/* ----
 * The end of the file
 * ----
 */

/*
 * Bytes at the end of the file that the last vacuum left completely empty, as
 * the free space map says; negative: unknown.  Rows that died since are not
 * considered, so it is what a vacuum gives back at least, but for pages that
 * were filled again meanwhile.
 */
static int64
truncatable_bytes(const Candidate *c)
{
	Relation	rel = NULL;
	BlockNumber pages;
	BlockNumber empty = 0;

	if (c->pages >= TRUNCATE_LOOK_PAGES && !c->temporary)
		rel = peek_open(c->key.relid);
	if (rel == NULL)
		return -1;
	if (rel->rd_tableam != GetHeapamTableAmRoutine())
	{
		peek_close(rel);
		return -1;
	}

	pages = RelationGetNumberOfBlocks(rel);
	while (empty < pages && empty < TRUNCATE_LOOK_LIMIT &&
		   GetRecordedFreeSpace(rel, pages - empty - 1) >= MaxHeapTupleSize)
	{
		CHECK_FOR_INTERRUPTS();
		empty++;
	}
	peek_close(rel);

	if (empty < TRUNCATE_MINIMUM && empty < pages / TRUNCATE_FRACTION)
		return 0;
	return (int64) empty * BLCKSZ;
}

/* ----
 * The decision
 * ----
 */

/* What decided it earlier, or what would be decided now. */
static void
put_decision(Row *row, const Candidate *c, const Verdict *verdict)
{
	char		reason[DECISION_REASON_LEN];
	Decision	now;

	if (verdict->waiting)
		now = *c->decision;
	else
	{
		memset(&now, 0, sizeof(now));
		now.kind = verdict->kind;
		now.dead = c->dead;
		now.ins = c->ins;
	}
	now.dead_threshold = c->thresholds.vacuum;
	now.ins_threshold = c->thresholds.insert;

	row_put(row, BoolGetDatum(verdict->due));
	row_put_text(row, verdict->kind == DECISION_NONE ? "vacuum" : decision_name(verdict->kind));
	if (verdict->kind == DECISION_NONE)
		candidate_why_due(c, reason, sizeof(reason));
	else
		decision_reason(&now, reason);
	row_put_text(row, reason);
	row_put_time(row, verdict->waiting && now.not_before > clock_now() ? now.not_before : 0);
}

static void
put_last_run(Row *row, const Candidate *c)
{
	RunRecord	run;

	if (ledger_last(MyDatabaseId, c->key.relid, RUN_VACUUM, &run))
		row_put_time(row, run.ended_at);
	else
		row_put_null(row);
}

/* As counted in the visibility map where it was, else what pg_class tells. */
static int64
frozen_pages(const Candidate *c)
{
	if (c->memory.counted_vacuums >= 0)
		return c->memory.frozen_pages;
	return COMPAT_HAS_RELALLFROZEN ? c->frozen_pages : -1;
}

static void
put_table(Row *row, const Candidate *c, const TableBlockers *blockers)
{
	Verdict		verdict = decide_about(c);

	row_put_oid(row, c->key.relid);
	row_put_text(row, lane_name(c->lane));
	row_put(row, Int64GetDatum(c->live));
	row_put(row, Int64GetDatum(c->dead));
	row_put_float(row, c->thresholds.vacuum);
	row_put(row, Int64GetDatum(c->ins));
	row_put_float(row, c->thresholds.insert);
	row_put(row, Int64GetDatum(c->mod));
	row_put_float(row, c->thresholds.analyze);
	row_put_int64(row, frozen_pages(c));
	row_put(row, Int32GetDatum(c->xid_limit));
	row_put(row, Int32GetDatum(c->mxid_limit));
	row_put_float(row, c->score.score);
	row_put_float(row, c->score.xid_score);
	row_put_float(row, c->score.mxid_score);
	row_put_float(row, c->score.vacuum_score);
	row_put_float(row, c->score.vacuum_insert_score);
	row_put_float(row, c->score.analyze_score);
	put_decision(row, c, &verdict);
	put_blocked_by(row, blockers, c->key.relid);
	row_put_int64(row, truncatable_bytes(c));
	row_put_time(row, c->decision && c->decision->kind == DECISION_SNOOZED &&
				 c->decision->not_before > clock_now() ? c->decision->not_before : 0);
	put_last_run(row, c);
}

PG_FUNCTION_INFO_V1(sweep_tables_0_1);
Datum
sweep_tables_0_1(PG_FUNCTION_ARGS)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "sweep tables",
												  ALLOCSET_DEFAULT_SIZES);
	TableBlockers blockers;
	Row			row = {0};
	List	   *candidates;
	ListCell   *lc;

	shmem_require();
	InitMaterializedSRF(fcinfo, 0);

	/* both are of the server's private structures */
	if (!feature_is_ok(FEATURE_SCOUT) || !feature_is_ok(FEATURE_WORKER))
		return (Datum) 0;

	candidates = candidates_collect(false);
	blockers = read_blockers();
	foreach(lc, candidates)
	{
		const Candidate *c = lfirst(lc);
		MemoryContext caller;

		CHECK_FOR_INTERRUPTS();
		caller = MemoryContextSwitchTo(context);
		put_table(&row, c, &blockers);
		row_store(fcinfo, &row);
		MemoryContextSwitchTo(caller);
		MemoryContextReset(context);
	}
	MemoryContextDelete(context);
	return (Datum) 0;
}
