/*
 * worker.c
 *		The process that vacuums: one database, one table at a time, the most
 *		urgent first.
 *
 * The launcher starts it for a database in which something seems due.  It
 * looks at what the scout has found, or now and then at all tables (a
 * survey).  It goes by exact data, vacuums what is due, and remembers what it
 * decided for each table.  Then it lingers a little for more work, and
 * leaves.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_class.h"
#include "commands/dbcommands.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "utils/guc.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "policy/order.h"
#include "server/bgworker.h"
#include "server/breaker.h"
#include "server/clock.h"
#include "server/compat.h"
#include "server/standbys.h"
#include "shmem.h"
#include "state/cleanings.h"
#include "state/frozen_ids.h"
#include "state/hold.h"
#include "state/queue.h"
#include "state/snooze.h"
#include "state/worker_slot.h"
#include "state/worth_tables.h"
#include "worker/candidates.h"
#include "worker/clean_lane.h"
#include "worker/dry_run.h"
#include "worker/overdue.h"
#include "worker/partitioned_table.h"
#include "worker/remember.h"
#include "worker/serve_requests.h"
#include "worker/statement.h"
#include "worker/table_run.h"
#include "worker/table_vacuum.h"
#include "worker/turn.h"
#include "worker/weigh.h"
#include "worker/worth_survey.h"

static char *my_database;

/*
 * Called between vacuums, where a cancel request comes too late and is
 * dropped.
 */
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

static OrderKey
order_key(const Candidate *c)
{
	OrderKey	key = {
		.catalog = c->row.lane == LANE_CATALOG,
		.overdue_since = c->overdue_since,
		.for_checkpoint = c->weight.due == DUE_CHECKPOINT,
		.score = c->weight.score.score,
	};

	return key;
}

static int
more_urgent_first(const ListCell *a, const ListCell *b)
{
	OrderKey	x = order_key(lfirst(a));
	OrderKey	y = order_key(lfirst(b));

	return order_compare(&x, &y);
}

/*
 * The next turn of the tables whose counters were lost.  0 if there is none.
 */
static TimestampTz
earlier_turn(TimestampTz so_far, const Candidate *c)
{
	TimestampTz at;

	if (!turn_comes(c, &at))
		return so_far;
	return so_far == 0 ? at : Min(so_far, at);
}

/* The tables that were there at a certain time. */
typedef struct Inventory
{
	HTAB	   *relids;
	TimestampTz at;
} Inventory;

/*
 * A decision that is newer says nothing about its table: that may be new, or
 * just snoozed.
 */
static bool
table_is_there(const Decision *decision, void *arg)
{
	const Inventory *inventory = arg;

	return decision->key.dboid != MyDatabaseId || decision->last_at >= inventory->at ||
		hash_search(inventory->relids, &decision->key.relid, HASH_FIND, NULL) != NULL;
}

static bool
cleaned_table_is_there(const Cleaning *cleaning, void *arg)
{
	const Inventory *inventory = arg;

	return cleaning->key.dboid != MyDatabaseId || cleaning->last_at >= inventory->at ||
		hash_search(inventory->relids, &cleaning->key.relid, HASH_FIND, NULL) != NULL;
}

/* One that another worker has just put there comes back with the next survey. */
static bool
followed_table_is_there(DecisionKey key, void *arg)
{
	const Inventory *inventory = arg;

	return key.dboid != MyDatabaseId ||
		hash_search(inventory->relids, &key.relid, HASH_FIND, NULL) != NULL;
}

/*
 * Forgets decisions about tables that are gone, which makes room for others.
 */
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
	cleaning_forget(cleaned_table_is_there, &inventory);
	worth_tables_forget(followed_table_is_there, &inventory);
	hash_destroy(relids);
}

/*
 * Analyzes those that are due.  Returns false when there is no point in
 * staying.
 */
static bool
visit_partitioned(List *partitioned)
{
	ListCell   *lc;

	foreach(lc, partitioned)
	{
		PartitionedTable *table = lfirst(lc);

		if (!partitioned_table_remember(table) || hold_is_on())
			continue;
		if (must_stop())
			return false;
		if (!worker_slot_claim(table->candidate.key))
			continue;
		partitioned_table_analyze(table);
		worker_slot_unclaim();
	}
	return true;
}

/*
 * Counts processor time that no vacuum has taken.  The launcher's naptime
 * goes by it.
 */
static void
account(double since_ms, bool survey)
{
	uint64		us = (uint64) Max((clock_cpu_ms() - since_ms) * 1000, 0);

	pg_atomic_fetch_add_u64(&sweep_shared->visits_cpu_us, us);
	if (!survey)
		return;
	pg_atomic_fetch_add_u64(&sweep_shared->surveys_cpu_us, us);
	worker_slot_surveyed(us / 1000.0);
}

/* Is it put off, whichever table it is?  Then its turn is not over. */
static bool
is_about_all(const Verdict *verdict)
{
	return verdict->kind == DECISION_HELD || verdict->kind == DECISION_SPACED_OUT;
}

/*
 * Reads the tables that the scout has found, or all of them in a survey.  A
 * survey sees what the scout cannot see, but takes two passes over pg_class.
 */
static List *
read_candidates(bool survey, bool for_catalogs)
{
	DecisionKey *keys;
	int			count;

	if (survey)
		return candidates_read(false);
	keys = queue_due(for_catalogs, &count);
	return count < 0 ? candidates_read(for_catalogs) : candidates_named(keys, count);
}

/* What a visit has found out so far. */
typedef struct Visit
{
	bool		vacuumed;		/* something */
	bool		held;			/* a table's turn is not over */
	TimestampTz revisit_at;		/* when tables have their turn (0: none) */
} Visit;

/* Judges all tables, and returns those to be vacuumed, the first one first. */
static List *
find_due(List *candidates, Visit *v)
{
	List	   *due = NIL;
	ListCell   *lc;

	foreach(lc, candidates)
	{
		Candidate  *c = lfirst(lc);
		Verdict		verdict = verdict_about(c);

		if (verdict_is_to_vacuum(&verdict))
			due = lappend(due, c);
		else
		{
			remember_verdict(c, &verdict);
			v->revisit_at = earlier_turn(v->revisit_at, c);
		}
		v->held = v->held || (is_about_all(&verdict) && c->counters.history_lost);
	}
	overdue_mark(due);
	list_sort(due, more_urgent_first);
	return due;
}

/*
 * Vacuums a table that the caller has claimed, if it is still due.  Much may
 * have happened while others were vacuumed.
 */
static void
vacuum_if_due(Candidate *c, Visit *v)
{
	if (candidate_refresh(c))
	{
		Verdict		verdict = verdict_about(c);

		if (verdict_is_to_vacuum(&verdict) && verdict.trial)
		{
			double		cpu_ms = clock_cpu_ms();

			dry_run(c, &verdict);
			account(cpu_ms, false);
		}
		else if (verdict_is_to_vacuum(&verdict))
		{
			table_vacuum(c, &verdict);
			v->vacuumed = true;
		}
		else
			remember_verdict(c, &verdict);
		v->held = v->held || (is_about_all(&verdict) && c->counters.history_lost);
	}
	v->revisit_at = earlier_turn(v->revisit_at, c);
}

/*
 * Finds out the database's oldest ids.  Before 16 each VACUUM has done that.
 * It may fail for want of a lock, and comes again.
 */
static void
find_oldest_ids(void)
{
	bool		moved = table_vacuum_moved_oldest();
	double		cpu_ms = clock_cpu_ms();

	if (!COMPAT_HAS_SKIP_DATABASE_STATS || !frozen_ids_take_turn(MyDatabaseId, moved))
		return;
	(void) statement_try(statement_database_stats(), my_database);
	account(cpu_ms, false);
}

/*
 * Looks at the tables and vacuums what is due.  Returns false when there is
 * no point in staying.
 */
static bool
visit(void)
{
	TimestampTz began = clock_now();
	bool		survey = worker_slot_is_survey();
	Visit		v = {.vacuumed = serve_requests(must_stop)};
	double		cpu_ms = clock_cpu_ms();
	List	   *candidates = read_candidates(survey, worker_slot_is_for_catalogs());
	List	   *partitioned = survey ? partitioned_table_read(candidates) : NIL;
	List	   *due;
	ListCell   *lc;
	bool		remembered;
	int64		lost = decisions_lost();

	standbys_visit_begins();
	if (survey)
	{
		forget_dropped_tables(candidates, partitioned, began);
		clean_lane_survey(candidates);
		worth_survey(candidates);
	}
	due = find_due(candidates, &v);
	pg_atomic_fetch_add_u64(&sweep_shared->visits, 1);
	pg_atomic_fetch_add_u64(&sweep_shared->surveys_made, survey);
	account(cpu_ms, survey);

	foreach(lc, due)
	{
		Candidate  *c = lfirst(lc);

		/* what somebody asks for meanwhile comes first */
		v.vacuumed = serve_requests(must_stop) || v.vacuumed;
		if (must_stop())
			return false;

		if (!worker_slot_claim(c->key))
			continue;
		vacuum_if_due(c, &v);
		worker_slot_unclaim();
	}
	v.vacuumed = serve_requests(must_stop) || v.vacuumed;

	if (!visit_partitioned(partitioned))
		return false;
	if (!worker_slot_is_for_catalogs())
		clean_lane(must_stop);

	/* what could not be remembered would be asked for again at once */
	remembered = decisions_lost() == lost;
	if (v.held)					/* the tables' turn is not over */
		worker_slot_visited(remembered, 0, began);
	else
		worker_slot_visited(remembered, survey ? began : 0, v.revisit_at);
	if (!remembered)
		return false;

	if (v.vacuumed && !must_stop())
		find_oldest_ids();
	return !must_stop();
}

/*
 * Waits for the launcher to want another visit.  Returns false if nothing
 * came.  It does not wait in a mode in which nothing is done, because nobody
 * should meet a worker then.
 */
static bool
linger(void)
{
	int64		until = clock_after(clock_steady(), (int64) sweep_debug_linger_s * 1000);

	pgstat_report_activity(STATE_IDLE, NULL);
	worker_slot_linger();
	while (!worker_slot_is_wanted() && clock_steady() < until && !must_stop() &&
		   sweep_mode == SWEEP_ACT)
		clock_wait_until_steady(until);
	return worker_slot_linger_end() && !must_stop();
}

void
sweep_worker_main(Datum arg)
{
	MemoryContext context;

	bgworker_prologue();
	breaker_own_process();
	if (!worker_slot_begin(arg))
		proc_exit(0);

	bgworker_before_connecting(worker_slot_owner());
	BackgroundWorkerInitializeConnectionByOid(worker_slot_database(), InvalidOid, 0);
	bgworker_become_vacuum();

	/* a context that no commit of VACUUM resets */
	context = AllocSetContextCreate(TopMemoryContext, "sweep visit", ALLOCSET_DEFAULT_SIZES);
	StartTransactionCommand();
	my_database = MemoryContextStrdup(TopMemoryContext, get_database_name(MyDatabaseId));

	/*
	 * this waits where somebody has locked pg_class: see worker_slot_is_up()
	 */
	(void) get_rel_namespace(RelationRelationId);
	CommitTransactionCommand();
	table_run_prepare(my_database);
	weighing_is_by_worker();
	worker_slot_is_up();
	account(0, false);

	for (;;)
	{
		bool		more;

		bgworker_follow_owner();
		MemoryContextSwitchTo(context);
		more = !must_stop() && visit();
		MemoryContextSwitchTo(context);
		MemoryContextReset(context);
		if (!more || !linger())
			break;
	}
	proc_exit(0);
}
