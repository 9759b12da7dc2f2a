/*
 * tables.c
 *		What stands behind sweep.tables: for each table of this database what
 *		is counted, what is allowed, and what would be decided now.
 *
 * Runs in any backend.  It reads pg_class itself, because there are
 * extensions that hide a part of it from clients' queries.  Besides the locks
 * that candidates.c takes, it takes two kinds.  It takes the lock manager's
 * partition locks for a copy, as pg_locks does.  And for tables of a megabyte
 * and more it takes an AccessShareLock, only if it is free, for a look at
 * their free space map.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/multixact.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/transam.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/freespace.h"
#include "storage/lock.h"
#include "utils/array.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"

#include "server/clock.h"
#include "server/compat.h"
#include "server/features.h"
#include "server/peek.h"
#include "shmem.h"
#include "sql/row.h"
#include "state/decision_text.h"
#include "state/ledger.h"
#include "worker/candidates.h"
#include "worker/verdict.h"
#include "worker/weigh.h"

/* Smaller tables have nothing worth asking for at their end. */
#define TRUNCATE_LOOK_PAGES		128

/* How far back from the end it looks.  What is beyond is not counted. */
#define TRUNCATE_LOOK_LIMIT		65536

/*
 * VACUUM gives back pages when there are that many or that share of the table.
 * Source: should_attempt_truncation() in PostgreSQL's vacuumlazy.c (15 to 19).
 */
#define TRUNCATE_MINIMUM		1000
#define TRUNCATE_FRACTION		16

/*
 * Columns of sweep_internal.get_tables(): where some groups begin, and how many there
 * are.
 */
#define COLUMN_PAGES		11
#define COLUMN_DECISION		26
#define COLUMN_COUNT		33

/* It holds, or waits for, a lock that conflicts with VACUUM's own. */
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

/*
 * A process that waits for such a lock comes before a vacuum that asks for
 * its own.
 */
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
		/* a process that holds several modes is there once */
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
 * How many bytes at the end of the file did the last vacuum leave completely
 * empty?  The free space map says so.  Negative if unknown.  Rows that died
 * since are not considered.  So a vacuum gives back at least this much, but
 * for pages that were filled again meanwhile.
 */
static void
count_empty_end(Relation rel, void *bytes)
{
	BlockNumber pages;
	BlockNumber empty = 0;

	if (rel->rd_tableam != GetHeapamTableAmRoutine())
		return;
	pages = RelationGetNumberOfBlocks(rel);
	while (empty < pages && empty < TRUNCATE_LOOK_LIMIT &&
		   GetRecordedFreeSpace(rel, pages - empty - 1) >= MaxHeapTupleSize)
	{
		CHECK_FOR_INTERRUPTS();
		empty++;
	}
	*(int64 *) bytes = empty < TRUNCATE_MINIMUM && empty < pages / TRUNCATE_FRACTION ? 0 : (int64) empty * BLCKSZ;
}

static int64
truncatable_bytes(const Candidate *c)
{
	int64		bytes = -1;

	if (c->row.pages >= TRUNCATE_LOOK_PAGES && !c->row.temporary)
		(void) peek(c->key.relid, count_empty_end, &bytes);
	return bytes;
}

/* ----
 * The decision
 * ----
 */

/* Puts what was decided earlier, or what would be decided now. */
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
		now.dead = c->counters.dead;
		now.ins = c->counters.ins;
	}
	now.dead_threshold = c->weight.thresholds.vacuum;
	now.ins_threshold = c->weight.thresholds.insert;

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

/* As counted in the visibility map if it was, or else what pg_class tells. */
static int64
frozen_pages(const Candidate *c)
{
	if (c->memory.counted_vacuums >= 0)
		return c->memory.frozen_pages;
	return COMPAT_HAS_RELALLFROZEN ? c->row.frozen_pages : -1;
}

/*
 * Puts three columns about its pages, as of its last VACUUM or ANALYZE: what
 * pg_class tells, and what we know.
 */
static void
put_pages(Row *row, Form_pg_class form, const Candidate *c)
{
	row_put(row, Int64GetDatum((int64) form->relpages));
	row_put_int64(row, c ? frozen_pages(c) : -1);
	row_put(row, Int64GetDatum((int64) form->relallvisible));
}

static void
put_ages(Row *row, Form_pg_class form)
{
	if (TransactionIdIsNormal(form->relfrozenxid))
		row_put(row, Int32GetDatum((int32) (ReadNextTransactionId() - form->relfrozenxid)));
	else
		row_put_null(row);
	if (MultiXactIdIsValid(form->relminmxid))
		row_put(row, Int32GetDatum((int32) (ReadNextMultiXactId() - form->relminmxid)));
	else
		row_put_null(row);
}

static void
put_names(Row *row, Form_pg_class form)
{
	char	   *schemaname = get_namespace_name(form->relnamespace);

	row_put_oid(row, form->oid);
	row_put_text(row, schemaname);
	row_put_text(row, NameStr(form->relname));
	row_put_text(row, lane_name(lane_of(form->oid, schemaname ? schemaname : "")));
}

/* Nothing is counted of this one, and nothing can be decided. */
static void
put_uncounted(Row *row, Form_pg_class form)
{
	bool		partitioned = form->relkind == RELKIND_PARTITIONED_TABLE;

	put_names(row, form);
	while (row->n < COLUMN_PAGES)
		row_put_null(row);
	put_pages(row, form, NULL);
	put_ages(row, form);
	while (row->n < COLUMN_DECISION)
		row_put_null(row);
	row_put_text(row, partitioned ? "partitioned" : "unknown");
	row_put_text(row, partitioned ? "has no rows of its own. Each of its partitions is vacuumed by itself" :
				 (form->relpages == 0 ? "no row was written since the statistics began" :
				  "statistics missing or reset"));
	while (row->n < COLUMN_COUNT)
		row_put_null(row);
}

static void
put_table(Row *row, Form_pg_class form, const Candidate *c, const TableBlockers *blockers)
{
	Verdict		verdict = verdict_about(c);

	put_names(row, form);
	row_put(row, Int64GetDatum(c->counters.live));
	row_put(row, Int64GetDatum(c->counters.dead));
	row_put_float(row, c->weight.thresholds.vacuum);
	row_put(row, Int64GetDatum(c->counters.ins));
	row_put_float(row, c->weight.thresholds.insert);
	row_put(row, Int64GetDatum(c->counters.mod));
	row_put_float(row, c->weight.thresholds.analyze);
	put_pages(row, form, c);
	put_ages(row, form);
	row_put(row, Int32GetDatum(c->rules.xid_limit));
	row_put(row, Int32GetDatum(c->rules.mxid_limit));
	row_put(row, Int32GetDatum((int32) (c->weight.freeze_share * c->rules.xid_limit)));
	row_put_float(row, c->weight.score.score);
	row_put_float(row, c->weight.score.xid_score);
	row_put_float(row, c->weight.score.mxid_score);
	row_put_float(row, c->weight.score.vacuum_score);
	row_put_float(row, c->weight.score.vacuum_insert_score);
	row_put_float(row, c->weight.score.analyze_score);
	put_decision(row, c, &verdict);
	put_blocked_by(row, blockers, c->key.relid);
	row_put_int64(row, truncatable_bytes(c));
	row_put_time(row, c->decision && c->decision->kind == DECISION_SNOOZED &&
				 c->decision->not_before > clock_now() ? c->decision->not_before : 0);
	put_last_run(row, c);
}

static bool
is_table(Form_pg_class form)
{
	return form->relkind == RELKIND_RELATION || form->relkind == RELKIND_MATVIEW ||
		form->relkind == RELKIND_TOASTVALUE || form->relkind == RELKIND_PARTITIONED_TABLE;
}

typedef struct TablesCall
{
	FunctionCallInfo fcinfo;
	Row			row;
	HTAB	   *counted;		/* OIDs of the tables that have their rows */
	TableBlockers blockers;
} TablesCall;

static bool
put_counted(Candidate *c, Form_pg_class form, void *arg)
{
	TablesCall *call = arg;

	put_table(&call->row, form, c, &call->blockers);
	row_store(call->fcinfo, &call->row);
	(void) hash_search(call->counted, &form->oid, HASH_ENTER, NULL);
	return false;
}

/* Partitioned tables, and those that have no statistics. */
static void
put_others(TablesCall *call)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "sweep tables",
												  ALLOCSET_DEFAULT_SIZES);
	Relation	rel = table_open(RelationRelationId, AccessShareLock);
	TableScanDesc scan = table_beginscan_catalog(rel, 0, NULL);
	HeapTuple	tuple;

	while ((tuple = heap_getnext(scan, ForwardScanDirection)) != NULL)
	{
		Form_pg_class form = (Form_pg_class) GETSTRUCT(tuple);
		MemoryContext caller;

		CHECK_FOR_INTERRUPTS();
		if (!is_table(form) || hash_search(call->counted, &form->oid, HASH_FIND, NULL) != NULL)
			continue;
		caller = MemoryContextSwitchTo(context);
		put_uncounted(&call->row, form);
		row_store(call->fcinfo, &call->row);
		MemoryContextSwitchTo(caller);
		MemoryContextReset(context);
	}
	table_endscan(scan);
	table_close(rel, AccessShareLock);
	MemoryContextDelete(context);
}

/* There may be a million, so none is kept but for its OID. */
PG_FUNCTION_INFO_V1(sweep_tables_0_1);
Datum
sweep_tables_0_1(PG_FUNCTION_ARGS)
{
	TablesCall	call = {.fcinfo = fcinfo};
	HASHCTL		info = {0};

	shmem_require();
	InitMaterializedSRF(fcinfo, 0);

	info.keysize = info.entrysize = sizeof(Oid);
	info.hcxt = CurrentMemoryContext;
	call.counted = hash_create("sweep tables", 1024, &info, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	call.blockers = read_blockers();
	/* both are of the server's private structures */
	if (feature_is_ok(FEATURE_SCOUT) && feature_is_ok(FEATURE_WORKER))
		(void) candidates_collect(false, put_counted, &call);
	put_others(&call);
	hash_destroy(call.counted);
	return (Datum) 0;
}
