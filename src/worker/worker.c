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
#include "commands/vacuum.h"
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
#include "worker/table_analyze.h"
#include "worker/table_run.h"
#include "worker/table_vacuum.h"
#include "worker/turn.h"
#include "worker/weigh.h"
#include "worker/worth_survey.h"

/*
 * The server's caches of tables only grow in a process.  So a worker takes so
 * many, and then another one comes in its place.
 */
#define TABLES_LIMIT	1000

/*
 * A visit freezes ahead for so long, at least and at most.  A hundred
 * thousand small tables may be old at the same time, and before 16 each VACUUM
 * ends with a scan of pg_class.  So what was used of the processor is three
 * hundredths of the time until the next visit, and a survey one two-hundredth.
 */
#define FREEZE_LEAST_MS		100 /* although others are due */
#define FREEZE_VISIT_MS		10000
#define FREEZE_DISTANCE		30
#define SURVEY_DISTANCE		200
#define FREEZE_AGAIN_MS		1000

static char *my_database;
static int	taken = 0;

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

static HTAB *
create_relids(void)
{
	HASHCTL		info = {0};

	info.keysize = info.entrysize = sizeof(Oid);
	info.hcxt = CurrentMemoryContext;
	return hash_create("sweep tables", 1024, &info, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

/*
 * Forgets decisions about tables that are gone, which makes room for others.
 */
static void
forget_dropped_tables(HTAB *relids, List *partitioned, TimestampTz at)
{
	Inventory	inventory = {relids, at};
	ListCell   *lc;

	foreach(lc, partitioned)
		(void) hash_search(relids, &((PartitionedTable *) lfirst(lc))->candidate.key.relid,
						   HASH_ENTER, NULL);
	snooze_add_tables(relids);
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

/* Analyzes those that autovacuum has left.  Returns false as above. */
static bool
visit_late(List *late)
{
	ListCell   *lc;

	foreach(lc, late)
	{
		DecisionKey *key = lfirst(lc);

		if (must_stop())
			return false;
		if (!worker_slot_claim(*key))
			continue;
		table_analyze_late(*key);
		worker_slot_unclaim();
	}
	return true;
}

/*
 * Counts processor time that no vacuum has taken.  The launcher's naptime
 * goes by it.  What was spent on tables that are then vacuumed, the share
 * due, is a part of their vacuums.
 */
static void
account(double since_ms, bool survey, double due)
{
	uint64		us = (uint64) (Max((clock_cpu_ms() - since_ms) * 1000, 0) * (1 - due));

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

/* What a visit has found out so far. */
typedef struct Visit
{
	bool		vacuumed;		/* something */
	int			looked_at;		/* so many tables */
	bool		held;			/* a table's turn is not over */
	double		look_ms;		/* of a processor, until the first vacuum */
	int64		frozen_since;	/* since when it freezes tables ahead, by the
								 * steady clock (0: it does not) */
	double		freeze_cpu_ms;	/* what that took of a processor */
	TimestampTz revisit_at;		/* when tables have their turn (0: none) */
} Visit;

/* Judges a table.  Returns true if it is to be vacuumed. */
static bool
is_due(Candidate *c, Visit *v)
{
	Verdict		verdict = verdict_about(c);
	bool		due = verdict_is_to_vacuum(&verdict);

	v->looked_at++;
	if (!due)
	{
		remember_verdict(c, &verdict);
		v->revisit_at = earlier_turn(v->revisit_at, c);
	}
	v->held = v->held || (is_about_all(&verdict) && c->counters.history_lost);
	return due;
}

static bool
look(Candidate *c, Form_pg_class form, void *arg)
{
	return is_due(c, arg);
}

/* The tables that the scout has found, or all catalogs. */
static List *
find_due(Visit *v)
{
	bool		for_catalogs = worker_slot_is_for_catalogs();
	int			count;
	DecisionKey *keys = queue_due(for_catalogs, &count);
	List	   *due = NIL;
	ListCell   *lc;

	if (count < 0)
		return candidates_read(for_catalogs, look, v);
	foreach(lc, candidates_named(keys, count))
	{
		if (is_due(lfirst(lc), v))
			due = lappend(due, lfirst(lc));
	}
	return due;
}

/*
 * A survey sees what the scout cannot see, but takes two passes over pg_class.
 * There may be a million tables.  Of those that are not due only the OIDs are
 * kept.
 */
typedef struct Survey
{
	Visit	   *visit;
	HTAB	   *relids;
	WorthSurvey *worth;
	Forest	   *forest;
	LateTables *late;
	MemoryContext context;		/* of its list */
} Survey;

static bool
look_in_survey(Candidate *c, Form_pg_class form, void *arg)
{
	Survey	   *survey = arg;
	MemoryContext caller;

	(void) hash_search(survey->relids, &c->key.relid, HASH_ENTER, NULL);
	clean_lane_survey(c);
	worth_survey_look(survey->worth, c);
	partitioned_table_look(survey->forest, c);
	caller = MemoryContextSwitchTo(survey->context);
	table_analyze_look(survey->late, c);
	MemoryContextSwitchTo(caller);
	return is_due(c, survey->visit);
}

static List *
survey_tables(Visit *v, List **partitioned, LateTables *late, TimestampTz began)
{
	Survey		survey = {v, create_relids(), worth_survey_begin(), partitioned_table_begin(), late, CurrentMemoryContext};
	List	   *due = candidates_read(false, look_in_survey, &survey);

	*partitioned = partitioned_table_end(survey.forest);
	forget_dropped_tables(survey.relids, *partitioned, began);
	worth_survey_end(survey.worth);
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
			account(cpu_ms, false, 0);
		}
		else if (verdict_is_to_vacuum(&verdict))
		{
			int64		began = clock_steady();
			bool		by_inserts = candidate_is_due_by_inserts(c);

			if (table_vacuum(c, &verdict) == RUN_DONE && c->vacuumed_now && !by_inserts && !must_stop())
				table_analyze_after_vacuum(c, clock_steady() - began);
			v->vacuumed = true;
		}
		else
			remember_verdict(c, &verdict);
		v->held = v->held || (is_about_all(&verdict) && c->counters.history_lost);
	}
	v->revisit_at = earlier_turn(v->revisit_at, c);
}

/* Is the table due by nothing but its age, and all is not yet at stake? */
static bool
is_ahead(const Candidate *c)
{
	return c->weight.due == DUE_AGE && c->row.xid_age < vacuum_failsafe_age &&
		c->row.mxid_age < vacuum_multixact_failsafe_age;
}

/* Are there tables that have become due since the visit began? */
static bool
others_are_due(void)
{
	int			count;

	pfree(queue_due(false, &count));
	return count != 0;
}

static void
revisit_by(Visit *v, TimestampTz at)
{
	v->revisit_at = v->revisit_at == 0 ? at : Min(v->revisit_at, at);
}

/*
 * Claims the table.  To be frozen it has to wait for others: for what another
 * worker freezes, and, until it is beyond its limit, for those that are due,
 * and for the next visit if this one has done enough.
 */
static bool
claim(const Candidate *c, Visit *v)
{
	int64		now = clock_steady();
	TimestampTz again;

	if (!is_ahead(c))
		return worker_slot_claim(c->key);
	if (v->frozen_since == 0)
		v->frozen_since = now;
	if ((c->weight.score.score >= 1 || now - v->frozen_since < FREEZE_LEAST_MS * 1000 ||
		 (now - v->frozen_since < FREEZE_VISIT_MS * 1000 && !others_are_due())) &&
		worker_slot_claim_to_freeze(c->key))
		return true;
	again = clock_after(clock_now(), (int64) (FREEZE_AGAIN_MS + SURVEY_DISTANCE * v->look_ms +
											  FREEZE_DISTANCE * v->freeze_cpu_ms));
	revisit_by(v, again);
	return false;
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
	account(cpu_ms, false, 0);
}

/*
 * Only a survey finds what is to be analyzed.  What has to wait is looked at
 * again when that is over, though nothing may have changed until then: a table
 * that autovacuum may come to, a partitioned table whose ANALYZE came to
 * nothing, and one whose partitions grow and may have come to rest.
 */
static void
revisit_to_analyze(List *partitioned, const LateTables *late, Visit *v)
{
	TimestampTz now = clock_now();
	TimestampTz soonest = clock_after(now, (int64) (FREEZE_AGAIN_MS + SURVEY_DISTANCE * v->look_ms));
	ListCell   *lc;

	if (late->again != 0)
		revisit_by(v, Max(late->again, soonest));
	foreach(lc, partitioned)
	{
		Decision	d;

		if (!decision_get(((PartitionedTable *) lfirst(lc))->candidate.key, &d) || d.not_before <= now)
			continue;
		if (d.failures > 0)
			revisit_by(v, d.not_before);
		else if (d.kind == DECISION_ANALYZE_LATER)
			revisit_by(v, soonest);
	}
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
	List	   *partitioned = NIL;
	LateTables	late = {NIL};
	List	   *due;
	ListCell   *lc;
	bool		remembered;
	int64		lost = decisions_lost();

	standbys_visit_begins();
	due = survey ? survey_tables(&v, &partitioned, &late, began) : find_due(&v);
	overdue_mark(due);
	list_sort(due, more_urgent_first);
	pg_atomic_fetch_add_u64(&sweep_shared->visits, 1);
	pg_atomic_fetch_add_u64(&sweep_shared->surveys_made, survey);
	v.look_ms = clock_cpu_ms() - cpu_ms;
	account(cpu_ms, survey, survey || sweep_mode != SWEEP_ACT ? 0 : list_length(due) / (double) Max(v.looked_at, 1));

	foreach(lc, due)
	{
		Candidate  *c = lfirst(lc);
		bool		ahead;

		/* what somebody asks for meanwhile comes first */
		v.vacuumed = serve_requests(must_stop) || v.vacuumed;
		if (must_stop())
			return false;

		ahead = is_ahead(c);
		if (!claim(c, &v))
			continue;
		cpu_ms = clock_cpu_ms();
		vacuum_if_due(c, &v);
		if (ahead)
			v.freeze_cpu_ms += clock_cpu_ms() - cpu_ms;
		worker_slot_unclaim();
		if (++taken >= TABLES_LIMIT)
		{
			v.held = true;		/* others take what is left */
			break;
		}
	}
	v.vacuumed = serve_requests(must_stop) || v.vacuumed;

	if (!visit_partitioned(partitioned) || !visit_late(late.keys))
		return false;
	revisit_to_analyze(partitioned, &late, &v);
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
	return taken < TABLES_LIMIT && !must_stop();
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
	account(0, false, 0);

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
