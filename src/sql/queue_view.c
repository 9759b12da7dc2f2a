/*
 * queue_view.c
 *		sweep.queue: the tables of all databases that wait, and what for.
 *
 * Whoever reads the view finds out here what each table waits for.  A table
 * that somebody has asked for has one row, whether or not it is due as well.
 * It keeps the row while its vacuum runs.
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/timestamp.h"

#include "meter/meter.h"
#include "rules.h"
#include "server/clock.h"
#include "server/horizon.h"
#include "server/lock_waiter.h"
#include "server/standbys.h"
#include "shmem.h"
#include "sql/relation.h"
#include "sql/row.h"
#include "state/cleanings.h"
#include "state/decision_expiry.h"
#include "state/decision_text.h"
#include "state/decisions.h"
#include "state/hold.h"
#include "state/ledger.h"
#include "state/queue.h"
#include "state/requests.h"
#include "state/worker_pool.h"
#include "worker/candidates.h"

#define WAITING_LEN		400
#define NAMES_LEN		320		/* how much of it the names of the busy
								 * workers' tables may take */

/* What all tables have in common.  It is read once. */
typedef struct QueueView
{
	QueueEntry *entries;
	int			count;
	Request    *requests;
	int			requests_count;
	WorkerSlot	workers[SWEEP_WORKERS_LIMIT];
	char		busy[2][WAITING_LEN];	/* for other tables, and for catalogs
										 * (empty: a worker slot is free) */
} QueueView;

/* What a table waits for, and until when if that is known (else 0). */
typedef struct Waiting
{
	char		text[WAITING_LEN];
	TimestampTz until;
} Waiting;

/* Whom the vacuum of a worker waits for, palloc'd, or NULL. */
static char *
holders_of(int pid)
{
	MeterSlot	slot;

	for (int i = 0; i < shmem_meter_count(); i++)
	{
		if (meter_read(i, &slot) && slot.pid == pid)
			return meter_waits_for_lock(&slot) ? lock_holders(pid) : NULL;
	}
	return NULL;
}

/*
 * The table that a worker holds, palloc'd, and whom its vacuum waits for.  It
 * is by name where its meter knows that.
 */
static char *
name_of_work(const WorkerSlot *w)
{
	MeterSlot	slot;

	for (int i = 0; i < shmem_meter_count(); i++)
	{
		char	   *holders;

		if (!meter_read(i, &slot) || slot.pid != w->pid || slot.relname[0] == '\0')
			continue;
		holders = holders_of(w->pid);
		return psprintf("%s.%s%s", row_readable(slot.schemaname), row_readable(slot.relname),
						holders ? psprintf(" (waits for %s)", holders) : "");
	}
	if (w->relid != InvalidOid)
		return psprintf("relation %u of database %u", w->relid, w->dboid);
	return psprintf("looking at database %u", w->dboid);
}

/*
 * Catalogs have a place of their own, and may take the others as well.  Names
 * as many tables as there is room for, and says how many more there are.
 */
static void
describe_workers(const WorkerSlot *workers, bool for_catalogs, char *text)
{
	int			places = budget_workers() + (for_catalogs ? 1 : 0);
	int			busy = 0;
	int			named = 0;
	bool		full = false;
	StringInfoData list;

	initStringInfo(&list);
	for (int i = 0; i < SWEEP_WORKERS_LIMIT; i++)
	{
		char	   *name;

		if ((workers[i].state != WORKER_STARTING && workers[i].state != WORKER_RUNNING) ||
			(workers[i].catalogs_only && !for_catalogs))
			continue;
		busy++;
		name = name_of_work(&workers[i]);
		full = full || list.len + strlen(name) > NAMES_LEN;
		if (!full)
			appendStringInfo(&list, "%s%s", named++ > 0 ? ", " : "", name);
		pfree(name);
	}
	text[0] = '\0';
	if (busy > 0 && busy >= places)
	{
		if (named == 0)
			snprintf(text, WAITING_LEN, "worker slot: all %d busy", places);
		else if (named < busy)
			snprintf(text, WAITING_LEN, "worker slot: all %d busy with %s and %d more", places,
					 list.data, busy - named);
		else
			snprintf(text, WAITING_LEN, "worker slot: all %d busy with %s", places, list.data);
	}
	pfree(list.data);
}

static void
view_read(QueueView *view)
{
	view->entries = palloc(sizeof(QueueEntry) * SWEEP_QUEUE_LIMIT);
	view->count = 0;
	/* this goes by what the launcher has heard of, not this session */
	if (pg_atomic_read_u32(&sweep_shared->metering) != 0)
	{
		LWLockAcquire(shmem_lock(LOCK_QUEUE), LW_SHARED);
		view->count = sweep_shared->queue_count;
		memcpy(view->entries, sweep_shared->queue, sizeof(QueueEntry) * view->count);
		LWLockRelease(shmem_lock(LOCK_QUEUE));
	}
	view->requests = requests_copy(&view->requests_count);

	LWLockAcquire(shmem_lock(LOCK_WORKERS), LW_SHARED);
	memcpy(view->workers, sweep_shared->workers, sizeof(view->workers));
	LWLockRelease(shmem_lock(LOCK_WORKERS));
	describe_workers(view->workers, false, view->busy[false]);
	describe_workers(view->workers, true, view->busy[true]);
}

static bool
horizon_is_behind(const Decision *d, const QueueEntry *entry)
{
	return FullTransactionIdIsValid(d->horizon) &&
		!decision_horizon_allows(d, entry->by_inserts ? 0 : entry->tuples, entry->by_inserts,
								 horizon_of_database(d->key.dboid, d->catalog_horizon));
}

static void
wait_for_hold(Waiting *waiting)
{
	waiting->until = hold_until();
	snprintf(waiting->text, WAITING_LEN, "hold until %s", timestamptz_to_str(waiting->until));
}

/* Does an earlier decision keep it waiting, and for what? */
static bool
describe_decision(const Decision *d, const QueueEntry *entry, Waiting *waiting)
{
	const char *until = d->not_before > clock_now() ? timestamptz_to_str(d->not_before) : NULL;
	char	   *text = waiting->text;

	if (d->kind == DECISION_OBSERVED)
	{
		snprintf(text, WAITING_LEN, "sweep.mode = act (it is %s)", settings_mode_name(sweep_mode));
		return sweep_mode != SWEEP_ACT;
	}
	if (horizon_is_behind(d, entry))
	{
		snprintf(text, WAITING_LEN, "horizon: enough of what is older than transaction %u has to end first",
				 XidFromFullTransactionId(d->horizon));
		return true;
	}
	if (until == NULL)
		return false;
	switch (d->kind)
	{
		case DECISION_VACUUMED:
		case DECISION_HELD_BACK:
			if (d->kind == DECISION_VACUUMED && d->failures > 0)
				snprintf(text, WAITING_LEN, "uncounted: its statistics know nothing of %d %s in a row, tried again at %s",
						 d->failures, d->failures == 1 ? "vacuum" : "vacuums", until);
			else
				snprintf(text, WAITING_LEN, "minimum interval until %s", until);
			break;
		case DECISION_LOCKED:
			snprintf(text, WAITING_LEN, "lock: not free %d %s in a row, tried again at %s", TIMES(d->failures), until);
			break;
		case DECISION_CANCELLED:
			snprintf(text, WAITING_LEN, "lock: cancelled %d %s in a row, tried again at %s", TIMES(d->failures), until);
			break;
		case DECISION_FAILED:
			snprintf(text, WAITING_LEN, "failed %d %s in a row, tried again at %s", TIMES(d->failures), until);
			break;
		case DECISION_SNOOZED:
			snprintf(text, WAITING_LEN, "snoozed until %s", until);
			break;
		case DECISION_CHECKPOINT_AHEAD:
			snprintf(text, WAITING_LEN, "checkpoint: vacuumed just before it, at %s", until);
			break;
		default:
			return false;
	}
	waiting->until = d->not_before;
	return true;
}

static bool
describe_database(Oid dboid, Waiting *waiting)
{
	TimestampTz next_visit = 0;

	LWLockAcquire(shmem_lock(LOCK_DATABASES), LW_SHARED);
	for (int i = 0; i < sweep_shared->databases_count; i++)
	{
		if (sweep_shared->databases[i].dboid == dboid)
			next_visit = sweep_shared->databases[i].next_visit;
	}
	LWLockRelease(shmem_lock(LOCK_DATABASES));
	if (next_visit <= clock_now())
		return false;
	snprintf(waiting->text, WAITING_LEN, "database: the last visit failed, the next is at %s",
			 timestamptz_to_str(next_visit));
	waiting->until = next_visit;
	return true;
}

static bool
describe_standbys(Oid dboid, Waiting *waiting)
{
	if (standbys_let_begin(dboid))
		return false;
	strlcpy(waiting->text, "standby: begins together with autovacuum's vacuums, see standby_conflicts in sweep.status",
			WAITING_LEN);
	return true;
}

/* Nothing else is in its way: it waits for a worker. */
static void
wait_for_worker(const QueueView *view, Oid relid, Waiting *waiting)
{
	const char *busy = view->busy[rules_is_catalog(relid)];

	char		text[WAITING_LEN];

	uint32		wal_left = pg_atomic_read_u32(&sweep_shared->wal_left_mb);

	if (wal_left < WAL_LEFT_ENOUGH)
		snprintf(waiting->text, WAITING_LEN, "disk: only %u MB are left for WAL", wal_left);
	else if (busy[0] != '\0')
		strlcpy(waiting->text, busy, WAITING_LEN);
	else if (worker_pool_is_short(text, sizeof(text)))
		snprintf(waiting->text, WAITING_LEN, "background worker: %s", text);
	else
		strlcpy(waiting->text, "next round", WAITING_LEN);
}

static void
put_estimate(Row *row, DecisionKey key)
{
	RunRecord	run;

	if (!ledger_last(key.dboid ? key.dboid : MyDatabaseId, key.relid, RUN_VACUUM, &run))
	{
		row_put_null(row);
		row_put_null(row);
		return;
	}
	row_put_interval(row, (double) (run.ended_at - run.started_at) / 1000.0);
	row_put_float(row, (double) (run.used.blks_read + run.used.blks_dirtied) * BLCKSZ / (1024 * 1024));
}

/*
 * Puts three columns.  The names in another database may be unknown.  Then it
 * is a user's table.
 */
static void
put_names_and_lane(Row *row, DecisionKey key, const char *schemaname, const char *relname)
{
	RelationNames names = relation_names(key.dboid, key.relid, schemaname, relname);

	row_put_text(row, names.schemaname);
	row_put_text(row, names.relname);
	row_put_text(row, lane_name(lane_of(key.relid, names.schemaname)));
}

/* A request overrules all that was decided about its table, but for a hold. */
static void
describe_request(const Request *r, const QueueView *view, Waiting *waiting)
{
	if (hold_is_on())
		wait_for_hold(waiting);
	else if (r->not_before > clock_now())
	{
		waiting->until = r->not_before;
		if (r->attempts == 0)
			snprintf(waiting->text, WAITING_LEN, "lock: another worker is at it, tried again at %s",
					 timestamptz_to_str(r->not_before));
		else
			snprintf(waiting->text, WAITING_LEN, "lock: not free %d %s in a row, tried again at %s",
					 TIMES(r->attempts), timestamptz_to_str(r->not_before));
	}
	else if (!describe_database(r->dboid, waiting))
		wait_for_worker(view, r->key.relid, waiting);
}

static void
describe_entry(const QueueEntry *entry, const Decision *d, const QueueView *view, Waiting *waiting)
{
	if (hold_is_on())
		wait_for_hold(waiting);
	else if (entry->sparse && !cleanings_have_room())
		strlcpy(waiting->text, "cleaner: busy", WAITING_LEN);
	else if (!(d && !entry->sparse && describe_decision(d, entry, waiting)) && !describe_database(entry->key.dboid, waiting) &&
			 !describe_standbys(entry->key.dboid, waiting))
		wait_for_worker(view, entry->key.relid, waiting);
}

/* Why the scout has put it there. */
static void
describe_reason(const QueueEntry *entry, const Decision *d, char *reason, size_t size)
{
	if (entry->sparse)
		snprintf(reason, size, "sparse garbage: dead tuples " INT64_FORMAT " > %.0f", entry->tuples, entry->threshold);
	else if ((double) entry->tuples > entry->threshold)
		snprintf(reason, size, "%s tuples " INT64_FORMAT " > %.0f",
				 entry->by_inserts ? "inserted" : "dead", entry->tuples, entry->threshold);
	else
		snprintf(reason, size, INT64_FORMAT " tuples inserted: a worker has to look at the table",
				 entry->tuples);
	if (entry->by_inserts && d && d->memory.late_since != 0)
		snprintf(reason + strlen(reason), size - strlen(reason), ", late since %s",
				 timestamptz_to_str(d->memory.late_since));
}

static bool
same_table(DecisionKey a, DecisionKey b)
{
	return a.dboid == b.dboid && a.relid == b.relid;
}

static bool
is_requested(const QueueView *view, DecisionKey key)
{
	for (int i = 0; i < view->requests_count; i++)
	{
		if (same_table(view->requests[i].key, key))
			return true;
	}
	return false;
}

/*
 * The request's table as the scout has found it, or NULL.  It belongs to one
 * request only: who asks again while a vacuum runs makes a second one.  So the
 * rows that have a score are as many as tables are due.
 */
static const QueueEntry *
entry_of(const QueueView *view, int number)
{
	DecisionKey key = view->requests[number].key;

	for (int i = 0; i < view->requests_count; i++)
	{
		const Request *other = &view->requests[i];

		if (i != number && other->state == REQUEST_WAITING && same_table(other->key, key))
			return NULL;
	}
	for (int i = 0; i < view->count; i++)
	{
		if (same_table(view->entries[i].key, key))
			return &view->entries[i];
	}
	return NULL;
}

/* It is being vacuumed: whom does that vacuum wait for? */
static void
describe_running(const Request *r, const QueueView *view, Waiting *waiting)
{
	for (int i = 0; i < SWEEP_WORKERS_LIMIT; i++)
	{
		const WorkerSlot *w = &view->workers[i];
		char	   *holders;

		if (w->state != WORKER_RUNNING || w->relid != r->key.relid ||
			w->dboid != r->dboid)
			continue;
		holders = holders_of(w->pid);
		if (holders)
			snprintf(waiting->text, WAITING_LEN, "lock: its vacuum waits for %s", holders);
	}
}

static void
put_request(Row *row, int number, const QueueView *view)
{
	const Request *r = &view->requests[number];
	const QueueEntry *entry = entry_of(view, number);
	bool		due = entry && entry->score >= 0;
	char		reason[DECISION_REASON_LEN];
	Waiting		waiting = {0};
	Decision	d;

	if (r->state == REQUEST_WAITING)
		describe_request(r, view, &waiting);
	else
		describe_running(r, view, &waiting);
	if (due)
		describe_reason(entry, decision_get(r->key, &d) ? &d : NULL, reason, sizeof(reason));
	else
		snprintf(reason, sizeof(reason), "requested by %s", r->requested_by);

	row_put_text(row, request_state_name(r->state));
	row_put_oid(row, r->key.dboid);
	row_put_oid(row, r->key.relid);
	put_names_and_lane(row, r->key, r->schemaname, r->relname);
	row_put_float(row, due ? entry->score : -1);	/* only a table that is
													 * due has one */
	row_put_text(row, reason);
	row_put_time(row, due ? Min(entry->since, r->requested_at) : r->requested_at);
	row_put_text(row, waiting.text[0] != '\0' ? waiting.text : NULL);
	row_put_time(row, waiting.until);
	put_estimate(row, r->key);
	row_put(row, Int64GetDatum(r->id));
	row_put_text(row, r->requested_by);
	row_put_time(row, r->requested_at);
	row_put(row, BoolGetDatum(r->aux));
	row_put(row, Int32GetDatum(r->attempts));
}

static void
put_entry(Row *row, const QueueEntry *entry, const QueueView *view)
{
	char		reason[DECISION_REASON_LEN];
	Waiting		waiting = {0};
	Decision	d;
	bool		known = decision_get(entry->key, &d);

	describe_entry(entry, known ? &d : NULL, view, &waiting);
	describe_reason(entry, known ? &d : NULL, reason, sizeof(reason));

	row_put_text(row, request_state_name(REQUEST_WAITING));
	row_put_oid(row, entry->key.dboid);
	row_put_oid(row, entry->key.relid);
	put_names_and_lane(row, entry->key, known ? d.schemaname : "", known ? d.relname : "");
	row_put_float(row, entry->score);
	row_put_text(row, reason);
	row_put_time(row, entry->since);
	row_put_text(row, waiting.text);
	row_put_time(row, waiting.until);
	put_estimate(row, entry->key);
	for (int i = 0; i < 5; i++)
		row_put_null(row);		/* nobody has asked for it */
}

PG_FUNCTION_INFO_V1(sweep_queue_0_1);
Datum
sweep_queue_0_1(PG_FUNCTION_ARGS)
{
	Row			row = {0};
	QueueView	view;

	shmem_require();
	InitMaterializedSRF(fcinfo, 0);

	view_read(&view);
	for (int i = 0; i < view.requests_count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		put_request(&row, i, &view);
		row_store(fcinfo, &row);
	}
	for (int i = 0; i < view.count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (is_requested(&view, view.entries[i].key))
			continue;
		put_entry(&row, &view.entries[i], &view);
		row_store(fcinfo, &row);
	}
	return (Datum) 0;
}
