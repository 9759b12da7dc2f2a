/*
 * queue.c
 *		The tables of all databases that are over a threshold and wait, and what
 *		they wait for.
 *
 * The scout notes them in the launcher's memory while it holds locks of the
 * statistics; after the round the launcher publishes them under LOCK_QUEUE.
 * The most urgent SWEEP_QUEUE_LIMIT are kept, the others are counted.  What
 * each waits for is found out by who reads the view.
 */
#include "queue.h"

#include "catalog/catalog.h"
#include "fmgr.h"
#include "funcapi.h"
#include "lib/binaryheap.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/hsearch.h"
#include "utils/timestamp.h"

#include "clock.h"
#include "decisions.h"
#include "hold.h"
#include "horizon.h"
#include "ledger.h"
#include "meter.h"
#include "policy/score.h"
#include "requests.h"
#include "row.h"

/* ----
 * The launcher: collecting
 * ----
 */

static QueueEntry collected[SWEEP_QUEUE_LIMIT];
static int	collected_count;
static int64 collected_dropped;
static binaryheap *least_urgent;	/* of collected, built when that is full */

static int
less_urgent_first(Datum a, Datum b, void *arg)
{
	double		x = ((const QueueEntry *) DatumGetPointer(a))->score;
	double		y = ((const QueueEntry *) DatumGetPointer(b))->score;

	return x < y ? 1 : (x > y ? -1 : 0);
}

void
queue_begin(void)
{
	collected_count = 0;
	collected_dropped = 0;
}

static void
collect(const QueueEntry *entry)
{
	if (collected_count < SWEEP_QUEUE_LIMIT)
	{
		collected[collected_count++] = *entry;
		return;
	}

	if (collected_dropped++ == 0)
	{
		if (least_urgent == NULL)
		{
			MemoryContext caller = MemoryContextSwitchTo(TopMemoryContext);

			least_urgent = binaryheap_allocate(SWEEP_QUEUE_LIMIT, less_urgent_first, NULL);
			MemoryContextSwitchTo(caller);
		}
		binaryheap_reset(least_urgent);
		for (int i = 0; i < collected_count; i++)
			binaryheap_add_unordered(least_urgent, PointerGetDatum(&collected[i]));
		binaryheap_build(least_urgent);
	}
	else
		Assert(least_urgent != NULL);

	{
		QueueEntry *least = (QueueEntry *) DatumGetPointer(binaryheap_first(least_urgent));

		if (least->score >= entry->score)
			return;
		*least = *entry;
		binaryheap_replace_first(least_urgent, PointerGetDatum(least));
	}
}

void
queue_note(DecisionKey key, const Thresholds *t, int64 dead, int64 ins)
{
	double		by_dead = (double) dead / Max(t->vacuum, 1);
	double		by_ins = t->insert >= 0 ? (double) ins / Max(t->insert, 1) : 0;
	QueueEntry	entry = {0};

	entry.key = key;
	entry.by_inserts = by_ins > by_dead;
	entry.score = Max(by_dead, by_ins);
	entry.tuples = entry.by_inserts ? ins : dead;
	entry.threshold = entry.by_inserts ? t->insert : t->vacuum;
	collect(&entry);
}

void
queue_note_waiting(const Decision *d, int64 dead, int64 ins)
{
	Thresholds	t = {.vacuum = d->dead_threshold,.insert = d->ins_threshold,.analyze = -1};

	switch (d->kind)
	{
		case DECISION_VACUUMED:
		case DECISION_OBSERVED:
		case DECISION_HELD_BACK:
		case DECISION_LOCKED:
		case DECISION_CANCELLED:
		case DECISION_FAILED:
		case DECISION_LEFT_TO_CORE:
		case DECISION_SNOOZED:
		case DECISION_CHECKPOINT_AHEAD:
			if (threshold_vacuum_due(&t, dead) || threshold_insert_due(&t, ins))
				queue_note(d->key, &t, dead, ins);
			break;
		default:
			break;				/* it is not waiting for anything */
	}
}

/* ----
 * The launcher: publishing
 * ----
 */

static HTAB *
index_by_key(const QueueEntry *entries, int count)
{
	HASHCTL		info = {0};
	HTAB	   *index;

	info.keysize = sizeof(DecisionKey);
	info.entrysize = sizeof(QueueEntry);
	info.hcxt = CurrentMemoryContext;
	index = hash_create("sweep queue", Max(count, 1), &info, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	for (int i = 0; i < count; i++)
	{
		QueueEntry *entry = hash_search(index, &entries[i].key, HASH_ENTER, NULL);

		*entry = entries[i];
	}
	return index;
}

void
queue_publish(bool (*is_ours) (Oid dboid), TimestampTz now)
{
	/* nobody else writes it */
	HTAB	   *before = index_by_key(sweep_shared->queue, sweep_shared->queue_count);
	int			n = 0;

	for (int i = 0; i < collected_count; i++)
	{
		const QueueEntry *earlier;

		if (collected[i].key.dboid != InvalidOid && !is_ours(collected[i].key.dboid))
			continue;
		earlier = hash_search(before, &collected[i].key, HASH_FIND, NULL);
		collected[i].since = earlier ? earlier->since : now;
		collected[n++] = collected[i];
	}
	hash_destroy(before);

	LWLockAcquire(shmem_lock(LOCK_QUEUE), LW_EXCLUSIVE);
	memcpy(sweep_shared->queue, collected, sizeof(QueueEntry) * n);
	sweep_shared->queue_count = n;
	sweep_shared->queue_dropped = collected_dropped;
	LWLockRelease(shmem_lock(LOCK_QUEUE));
	collected_count = n;
}

/* While pg_sweep is off nothing waits for it. */
void
queue_clear(void)
{
	if (sweep_shared->queue_count == 0)
		return;
	LWLockAcquire(shmem_lock(LOCK_QUEUE), LW_EXCLUSIVE);
	sweep_shared->queue_count = 0;
	LWLockRelease(shmem_lock(LOCK_QUEUE));
}

/* ----
 * A worker: who has waited for too long
 * ----
 */

void
queue_mark_overdue(List *candidates)
{
	QueueEntry *entries;
	TimestampTz now = clock_now();
	int			n = 0;
	HTAB	   *overdue;
	ListCell   *lc;

	if (candidates == NIL)
		return;
	entries = palloc(sizeof(QueueEntry) * SWEEP_QUEUE_LIMIT);
	LWLockAcquire(shmem_lock(LOCK_QUEUE), LW_SHARED);
	for (int i = 0; i < sweep_shared->queue_count; i++)
	{
		if (now > clock_after(sweep_shared->queue[i].since, (int64) sweep_max_wait_s * 1000))
			entries[n++] = sweep_shared->queue[i];
	}
	LWLockRelease(shmem_lock(LOCK_QUEUE));

	overdue = index_by_key(entries, n);
	foreach(lc, candidates)
	{
		Candidate  *c = lfirst(lc);
		const QueueEntry *entry = hash_search(overdue, &c->key, HASH_FIND, NULL);

		c->overdue_since = entry ? entry->since : 0;
	}
	hash_destroy(overdue);
	pfree(entries);
}

/* ----
 * Any backend: what they wait for
 * ----
 */

#define WAITING_LEN		400

/* What all tables have in common, read once. */
typedef struct QueueView
{
	QueueEntry *entries;
	int			count;
	Request    *requests;
	int			requests_count;
	char		busy[2][WAITING_LEN];	/* for other tables, for catalogs;
										 * empty: a worker slot is free */
} QueueView;

/* The table that a worker holds, by name where its meter knows it. */
static void
name_of_work(const WorkerSlot *w, char *name, size_t size)
{
	MeterSlot	slot;

	for (int i = 0; i < shmem_meter_count(); i++)
	{
		if (meter_read(i, &slot) && slot.pid == w->pid && slot.relname[0] != '\0')
		{
			snprintf(name, size, "%s.%s", slot.schemaname, slot.relname);
			return;
		}
	}
	if (w->relid != InvalidOid)
		snprintf(name, size, "relation %u of database %u", w->relid, w->dboid);
	else
		snprintf(name, size, "looking at database %u", w->dboid);
}

/* Catalogs have a place of their own, and may take the others as well. */
static void
describe_workers(const WorkerSlot *workers, bool for_catalogs, char *text)
{
	int			places = sweep_max_workers + (for_catalogs ? 1 : 0);
	int			busy = 0;
	StringInfoData list;

	initStringInfo(&list);
	for (int i = 0; i < SWEEP_WORKERS_LIMIT; i++)
	{
		char		name[NAMEDATALEN * 2 + 2];

		if ((workers[i].state != WORKER_STARTING && workers[i].state != WORKER_RUNNING) ||
			(workers[i].catalogs_only && !for_catalogs))
			continue;
		name_of_work(&workers[i], name, sizeof(name));
		appendStringInfo(&list, "%s%s", busy++ > 0 ? ", " : "", name);
	}
	text[0] = '\0';
	if (busy > 0 && busy >= places)
	{
		char	   *whole = psprintf("worker slot: all %d busy with %s", places, list.data);

		/* names are cut between characters */
		strlcpy(text, whole, pg_mbcliplen(whole, (int) strlen(whole), WAITING_LEN - 1) + 1);
		pfree(whole);
	}
	pfree(list.data);
}

static void
queue_read(QueueView *view)
{
	WorkerSlot	workers[SWEEP_WORKERS_LIMIT];

	view->entries = palloc(sizeof(QueueEntry) * SWEEP_QUEUE_LIMIT);
	LWLockAcquire(shmem_lock(LOCK_QUEUE), LW_SHARED);
	view->count = sweep_shared->queue_count;
	memcpy(view->entries, sweep_shared->queue, sizeof(QueueEntry) * view->count);
	LWLockRelease(shmem_lock(LOCK_QUEUE));

	LWLockAcquire(shmem_lock(LOCK_WORKERS), LW_SHARED);
	memcpy(workers, sweep_shared->workers, sizeof(workers));
	LWLockRelease(shmem_lock(LOCK_WORKERS));
	describe_workers(workers, false, view->busy[false]);
	describe_workers(workers, true, view->busy[true]);
}

static bool
horizon_is_behind(const Decision *d)
{
	return FullTransactionIdIsValid(d->horizon) &&
		!FullTransactionIdFollowsOrEquals(horizon_of_database(d->key.dboid, d->catalog_horizon),
										  d->horizon);
}

/* Does an earlier decision keep it waiting, and for what? */
static bool
describe_decision(const Decision *d, char *text)
{
	const char *until = d->not_before > clock_now() ? timestamptz_to_str(d->not_before) : NULL;

	if (d->kind == DECISION_OBSERVED)
	{
		snprintf(text, WAITING_LEN, "sweep.mode = act; it is %s", settings_mode_name(sweep_mode));
		return sweep_mode != SWEEP_ACT;
	}
	if (horizon_is_behind(d))
	{
		snprintf(text, WAITING_LEN, "horizon: what is older than transaction %u has to end first",
				 XidFromFullTransactionId(d->horizon));
		return true;
	}
	if (until == NULL)
		return false;
	switch (d->kind)
	{
		case DECISION_VACUUMED:
		case DECISION_HELD_BACK:
			snprintf(text, WAITING_LEN, "minimum interval until %s", until);
			return true;
		case DECISION_LOCKED:
			snprintf(text, WAITING_LEN, "lock: not free %d times in a row, tried again at %s", d->failures, until);
			return true;
		case DECISION_CANCELLED:
			snprintf(text, WAITING_LEN, "lock: cancelled %d times in a row, tried again at %s", d->failures, until);
			return true;
		case DECISION_FAILED:
			snprintf(text, WAITING_LEN, "failed %d times in a row, tried again at %s", d->failures, until);
			return true;
		case DECISION_SNOOZED:
			snprintf(text, WAITING_LEN, "snoozed until %s", until);
			return true;
		case DECISION_CHECKPOINT_AHEAD:
			snprintf(text, WAITING_LEN, "checkpoint: vacuumed just before it, at %s", until);
			return true;
		case DECISION_LEFT_TO_CORE:
			strlcpy(text, "the core daemon's anti-wraparound vacuum", WAITING_LEN);
			return true;
		default:
			return false;
	}
}

static bool
describe_database(Oid dboid, char *text)
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
	snprintf(text, WAITING_LEN, "database: the last visit failed, the next is at %s",
			 timestamptz_to_str(next_visit));
	return true;
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

/* A request overrules all that was decided about its table, but for a hold. */
static void
describe_request(const Request *r, const QueueView *view, char *text)
{
	const char *busy = view->busy[IsCatalogRelationOid(r->key.relid)];

	if (hold_is_on())
		snprintf(text, WAITING_LEN, "hold until %s", timestamptz_to_str(hold_until()));
	else if (r->not_before > clock_now())
		snprintf(text, WAITING_LEN, "lock: not free %d times in a row, tried again at %s",
				 r->attempts, timestamptz_to_str(r->not_before));
	else if (!describe_database(r->dboid, text))
		strlcpy(text, busy[0] != '\0' ? busy : "next round", WAITING_LEN);
}

static void
put_request(Row *row, const Request *r, const QueueView *view)
{
	char		reason[DECISION_REASON_LEN];
	char		waiting[WAITING_LEN];

	describe_request(r, view, waiting);
	snprintf(reason, sizeof(reason), "requested by %s", r->requested_by);
	row_put_oid(row, r->key.dboid);
	row_put_oid(row, r->key.relid);
	row_put_text(row, r->schemaname);
	row_put_text(row, r->relname);
	row_put_text(row, IsCatalogRelationOid(r->key.relid) ? lane_name(LANE_CATALOG) : NULL);
	row_put_null(row);
	row_put_text(row, reason);
	row_put_time(row, r->requested_at);
	row_put_text(row, waiting);
	put_estimate(row, r->key);
	row_put(row, BoolGetDatum(true));
}

static bool
is_requested(const QueueView *view, DecisionKey key)
{
	for (int i = 0; i < view->requests_count; i++)
	{
		const Request *r = &view->requests[i];

		if (r->state == REQUEST_WAITING && r->key.dboid == key.dboid && r->key.relid == key.relid)
			return true;
	}
	return false;
}

static void
put_entry(Row *row, const QueueEntry *entry, const QueueView *view)
{
	char		reason[DECISION_REASON_LEN];
	char		waiting[WAITING_LEN];
	Decision	d;
	bool		known = decision_get(entry->key, &d);
	bool		catalog = IsCatalogRelationOid(entry->key.relid);

	if (hold_is_on())
		snprintf(waiting, sizeof(waiting), "hold until %s", timestamptz_to_str(hold_until()));
	else if (!(known && describe_decision(&d, waiting)) && !describe_database(entry->key.dboid, waiting))
		strlcpy(waiting, view->busy[catalog][0] != '\0' ? view->busy[catalog] : "next round",
				sizeof(waiting));
	if ((double) entry->tuples > entry->threshold)
		snprintf(reason, sizeof(reason), "%s tuples " INT64_FORMAT " > %.0f",
				 entry->by_inserts ? "inserted" : "dead", entry->tuples, entry->threshold);
	else
		snprintf(reason, sizeof(reason), INT64_FORMAT " tuples inserted: a worker has to look at the table",
				 entry->tuples);

	row_put_oid(row, entry->key.dboid);
	row_put_oid(row, entry->key.relid);
	row_put_text(row, known ? d.schemaname : NULL);
	row_put_text(row, known ? d.relname : NULL);
	row_put_text(row, catalog ? lane_name(LANE_CATALOG) : NULL);
	row_put_float(row, entry->score);
	row_put_text(row, reason);
	row_put_time(row, entry->since);
	row_put_text(row, waiting);
	put_estimate(row, entry->key);
	row_put(row, BoolGetDatum(false));
}

PG_FUNCTION_INFO_V1(sweep_queue_0_1);
Datum
sweep_queue_0_1(PG_FUNCTION_ARGS)
{
	Row			row = {0};
	QueueView	view;

	shmem_require();
	InitMaterializedSRF(fcinfo, 0);
	/* what the launcher has heard of, not this session */
	if (pg_atomic_read_u32(&sweep_shared->metering) == 0)
		return (Datum) 0;

	queue_read(&view);
	view.requests = requests_copy(&view.requests_count);
	for (int i = 0; i < view.requests_count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (view.requests[i].state != REQUEST_WAITING)
			continue;
		put_request(&row, &view.requests[i], &view);
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
