/*
 * worker.c
 *		The process that vacuums: one database, one table at a time, the most
 *		urgent first.
 *
 * Started by the launcher for a database in which something seems due.  It
 * looks at all tables with exact data, vacuums what is due, remembers for each
 * what it decided, lingers a little for more work, and leaves.
 */
#include "postgres.h"

#include "access/xact.h"
#include "commands/dbcommands.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "utils/guc.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "bgworker.h"
#include "breaker.h"
#include "candidates.h"
#include "clock.h"
#include "compat.h"
#include "decide.h"
#include "hold.h"
#include "partitioned.h"
#include "queue.h"
#include "requested.h"
#include "snooze.h"
#include "statement.h"
#include "table_vacuum.h"
#include "weigh.h"
#include "worker_slot.h"

static char *my_database;

/* Called between vacuums: a cancel request that comes too late is dropped. */
static bool
must_stop(void)
{
	bgworker_end_if_told(0);
	QueryCancelPending = false;
	CHECK_FOR_INTERRUPTS();
	if (ConfigReloadPending)
	{
		ConfigReloadPending = false;
		ProcessConfigFile(PGC_SIGHUP);
	}
	return worker_slot_is_stopped() || shmem_is_off() || settings_database_scope(my_database) != DATABASE_OURS;
}

static int
more_urgent_first(const ListCell *a, const ListCell *b)
{
	const Candidate *c = lfirst(a);
	const Candidate *d = lfirst(b);
	double		x = c->score.score;
	double		y = d->score.score;

	/*
	 * Every query needs the catalogs; nobody waits for ever; and a checkpoint
	 * does not wait.
	 */
	if ((c->lane == LANE_CATALOG) != (d->lane == LANE_CATALOG))
		return c->lane == LANE_CATALOG ? -1 : 1;
	if (c->overdue_since != d->overdue_since)
	{
		if (c->overdue_since == 0 || d->overdue_since == 0)
			return c->overdue_since != 0 ? -1 : 1;
		return c->overdue_since < d->overdue_since ? -1 : 1;
	}
	if ((c->due == DUE_CHECKPOINT) != (d->due == DUE_CHECKPOINT))
		return c->due == DUE_CHECKPOINT ? -1 : 1;
	return x < y ? 1 : (x > y ? -1 : 0);
}

/* The turn that comes next, of tables whose counters were lost; 0: none. */
static TimestampTz
earlier_turn(TimestampTz so_far, const Candidate *c)
{
	TimestampTz at;

	if (!weigh_turn_comes(c, &at))
		return so_far;
	return so_far == 0 ? at : Min(so_far, at);
}

/* The tables that were there at that time. */
typedef struct Inventory
{
	HTAB	   *relids;
	TimestampTz at;
} Inventory;

/* Of a newer decision nothing is known: its table may be new, or just snoozed. */
static bool
table_is_there(const Decision *decision, void *arg)
{
	const Inventory *inventory = arg;

	return decision->key.dboid != MyDatabaseId || decision->last_at >= inventory->at ||
		hash_search(inventory->relids, &decision->key.relid, HASH_FIND, NULL) != NULL;
}

/* Decisions about tables that are gone make room for others. */
static void
forget_dropped_tables(List *candidates, List *partitioned, TimestampTz at)
{
	HASHCTL		info = {0};
	HTAB	   *relids;
	Inventory	inventory;
	ListCell   *lc;

	info.keysize = info.entrysize = sizeof(Oid);
	info.hcxt = CurrentMemoryContext;
	relids = hash_create("sweep tables", Max(list_length(candidates), 1), &info,
						 HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	foreach(lc, candidates)
		(void) hash_search(relids, &((Candidate *) lfirst(lc))->key.relid, HASH_ENTER, NULL);
	foreach(lc, partitioned)
		(void) hash_search(relids, &((PartitionedTable *) lfirst(lc))->candidate.key.relid,
						   HASH_ENTER, NULL);
	snooze_add_tables(relids);
	inventory.relids = relids;
	inventory.at = at;
	decision_forget(table_is_there, &inventory);
	hash_destroy(relids);
}

/* Analyzes those that are due; false when there is no point in staying. */
static bool
visit_partitioned(List *partitioned)
{
	ListCell   *lc;

	foreach(lc, partitioned)
	{
		PartitionedTable *table = lfirst(lc);

		if (!partitioned_decide(table) || hold_is_on())
			continue;
		if (must_stop())
			return false;
		if (!worker_slot_claim(table->candidate.key))
			continue;
		partitioned_analyze(table);
		worker_slot_unclaim();
	}
	return true;
}

/*
 * Looks at all tables and vacuums what is due; false when there is no point in
 * staying.
 */
static bool
visit(void)
{
	TimestampTz began = clock_now();
	bool		for_catalogs = worker_slot_is_for_catalogs();
	bool		vacuumed = requested_vacuum_all(must_stop);
	List	   *candidates = candidates_read(for_catalogs);
	List	   *partitioned = for_catalogs ? NIL : partitioned_read(candidates);
	List	   *due = NIL;
	ListCell   *lc;
	Verdict		verdict;
	TimestampTz revisit_at = 0;
	bool		held = false;
	bool		remembered;
	uint64		dropped = pg_atomic_read_u64(&sweep_shared->decisions_dropped);

	if (!for_catalogs)
		forget_dropped_tables(candidates, partitioned, began);
	foreach(lc, candidates)
	{
		Candidate  *c = lfirst(lc);

		if (decide(c, &verdict))
			due = lappend(due, c);
		else
			revisit_at = earlier_turn(revisit_at, c);
		held = held || (verdict.kind == DECISION_HELD && c->history_lost);
	}
	queue_mark_overdue(due);
	list_sort(due, more_urgent_first);

	foreach(lc, due)
	{
		Candidate  *c = lfirst(lc);

		/* what somebody asks for meanwhile comes first */
		vacuumed = requested_vacuum_all(must_stop) || vacuumed;
		if (must_stop())
			return false;

		/* much may have happened while others were vacuumed */
		if (!worker_slot_claim(c->key))
			continue;
		if (candidate_refresh(c) && decide(c, &verdict))
		{
			table_vacuum(c, &verdict);
			vacuumed = true;
		}
		held = held || (verdict.kind == DECISION_HELD && c->history_lost);
		revisit_at = earlier_turn(revisit_at, c);
		worker_slot_unclaim();
	}
	vacuumed = requested_vacuum_all(must_stop) || vacuumed;

	if (!visit_partitioned(partitioned))
		return false;

	/* what could not be remembered would be asked for again at once */
	remembered = pg_atomic_read_u64(&sweep_shared->decisions_dropped) == dropped;
	if (held)					/* their turn is not over */
		worker_slot_visited(remembered, 0, began);
	else
		worker_slot_visited(remembered, began, revisit_at);
	if (!remembered)
		return false;

	if (vacuumed && COMPAT_HAS_SKIP_DATABASE_STATS && !must_stop())
		(void) statement_try(statement_database_stats(), my_database);
	return !must_stop();
}

/* Waits for the launcher to want another visit; false: nothing came. */
static bool
linger(void)
{
	TimestampTz until = clock_after(clock_now(), (int64) sweep_linger_s * 1000);

	pgstat_report_activity(STATE_IDLE, NULL);
	worker_slot_linger();
	while (!worker_slot_is_wanted() && clock_now() < until && !must_stop())
		clock_wait_until(until);
	return worker_slot_linger_end() && !must_stop();
}

void
sweep_worker_main(Datum arg)
{
	MemoryContext context;

	bgworker_prologue();
	breaker_mark_process(&sweep_shared->worker_marks[bgworker_arg_slot(arg)]);
	if (!worker_slot_begin(arg))
		proc_exit(0);

	BackgroundWorkerInitializeConnectionByOid(worker_slot_database(), InvalidOid, 0);
	bgworker_become_vacuum();

	/* not a child of anything that VACUUM's commits reset */
	context = AllocSetContextCreate(TopMemoryContext, "sweep visit", ALLOCSET_DEFAULT_SIZES);
	StartTransactionCommand();
	my_database = MemoryContextStrdup(TopMemoryContext, get_database_name(MyDatabaseId));
	CommitTransactionCommand();
	table_vacuum_prepare(my_database);

	for (;;)
	{
		bool		more;

		MemoryContextSwitchTo(context);
		more = !must_stop() && visit();
		MemoryContextSwitchTo(context);
		MemoryContextReset(context);
		if (!more || !linger())
			break;
	}
	proc_exit(0);
}
