/*
 * history.c
 *		What all runs of the last hour, of the last day and of all time came
 *		to: sums in shared memory, of a size that is fixed at the server's start.
 *
 * Every run is counted where it ends, whether or not the ledger has room for
 * it.  It is counted in its minute, in its hour, in its table's hour, and in
 * the one step that began with the history and does not end.
 * The sums of all tables always fit.  Of those of single tables the cheapest
 * of a bucket make room.  What they lacked is then the rest of all tables'
 * sum, which the view shows.
 *
 * Any process counts, under LOCK_LEDGER.  Each sum knows the last run that is
 * in it.  So the file may hold sums that were copied a slice at a time, and
 * later runs are counted once.
 */
#include "state/history.h"

#include "common/hashfn.h"
#include "miscadmin.h"
#include "storage/lwlock.h"
#include "utils/timestamp.h"

#include "policy/time_step.h"
#include "server/clock.h"
#include "shmem.h"

static const struct
{
	int64		length;
	int64		span;
	int			first;			/* step */
	int			count;
}			kinds[] = {
	[HISTORY_MINUTE] = {SECS_PER_MINUTE * USECS_PER_SEC, USECS_PER_HOUR, 0, HISTORY_MINUTES},
	[HISTORY_HOUR] = {USECS_PER_HOUR, USECS_PER_DAY, HISTORY_MINUTES, HISTORY_HOURS},
	[HISTORY_ALL] = {0, 0, HISTORY_MINUTES + HISTORY_HOURS, 1},
	[HISTORY_TABLE] = {USECS_PER_HOUR, USECS_PER_DAY, 0, 0},
};

int
history_table_places(void)
{
	return shmem_last_run_buckets() * 2 * HISTORY_WAYS;
}

int64
history_places(void)
{
	return (int64) HISTORY_STEPS * HISTORY_SORTS + history_table_places();
}

/*
 * When the clock has been set back, the launcher moves the sums.  By so much
 * they are ahead until it has done so.
 */
static int64
sums_ahead(void)
{
	int64		lead = sweep_shared->clock_lead;

	return clock_set_back(&lead);
}

TimestampTz
history_now(void)
{
	return clock_now() + sums_ahead();
}

/* ----
 * Places
 * ----
 */

int
history_sort(int starter, int command)
{
	return starter * (RUN_COMMAND_COUNT - 1) + command - 1;
}

/* When the step that does not end began. */
static TimestampTz *
begin_of_all(void)
{
	return &sweep_shared->history.begins[kinds[HISTORY_ALL].first];
}

/* When the step of a run begins that ended then. */
static TimestampTz
step_at(HistoryKind kind, TimestampTz at)
{
	return kind == HISTORY_ALL ? *begin_of_all() : time_step_begin(at, kinds[kind].length);
}

/* The sum of all tables, or NULL for a time that is too long ago. */
static HistorySum *
sum_of_all(HistoryKind kind, TimestampTz begin, int starter, int command)
{
	HistoryState *history = &sweep_shared->history;
	TimestampTz *begins = history->begins + kinds[kind].first;
	int			n = time_step_for(begins, kinds[kind].count, begin);
	HistorySum *sum;

	if (n < 0)
		return NULL;
	if (begins[n] != begin)
	{
		if (begins[n] != 0)
			history->since_of[kind] = Max(history->since_of[kind], begins[n] + kinds[kind].length);
		memset(history->sums[kinds[kind].first + n], 0, sizeof(history->sums[0]));
		begins[n] = begin;
	}
	sum = &history->sums[kinds[kind].first + n][history_sort(starter, command)];
	if (sum->begin == 0)
	{
		sum->begin = begin;
		sum->kind = kind;
		sum->starter = starter;
		sum->command = command;
		sum->dead_not_removable = -1;
	}
	return sum;
}

static bool
is_of(const HistorySum *sum, const HistorySum *key)
{
	return sum->begin == key->begin && sum->dboid == key->dboid && sum->relid == key->relid &&
		sum->command == key->command && sum->starter == key->starter;
}

/* The HISTORY_WAYS places that the sum of a table may have. */
static HistoryRecord *
bucket_for(const HistorySum *key)
{
	uint32		hash = hash_combine(hash_combine(murmurhash32(key->dboid), murmurhash32(key->relid)),
									hash_combine(murmurhash32((uint32) (key->begin / USECS_PER_SEC)),
												 (uint32) history_sort(key->starter, key->command)));

	return sweep_table_hours + hash % (history_table_places() / HISTORY_WAYS) * HISTORY_WAYS;
}

/*
 * The sum of one table.  What has to make room for it is then in the sum of
 * all tables only.
 */
static HistorySum *
sum_of_table(const HistorySum *key, const char *schemaname, const char *relname)
{
	HistoryRecord *bucket = bucket_for(key);
	TimeStepPlace places[HISTORY_WAYS];
	HistoryRecord *record = NULL;

	for (int i = 0; i < HISTORY_WAYS && record == NULL; i++)
	{
		if (is_of(&bucket[i].sum, key))
			record = &bucket[i];
		places[i] = (TimeStepPlace)
		{
			bucket[i].sum.begin, bucket[i].sum.cost
		};
	}
	if (record == NULL)
	{
		record = bucket + time_step_makes_room(places, HISTORY_WAYS,
											   time_step_begin(history_now() - USECS_PER_DAY, USECS_PER_HOUR));
		memset(record, 0, sizeof(*record));
		record->sum.begin = key->begin;
		record->sum.dboid = key->dboid;
		record->sum.relid = key->relid;
		record->sum.kind = HISTORY_TABLE;
		record->sum.command = key->command;
		record->sum.starter = key->starter;
		record->sum.dead_not_removable = -1;
	}
	/* it may have been renamed */
	if (relname[0] != '\0')
	{
		strlcpy(record->schemaname, schemaname, NAMEDATALEN);
		strlcpy(record->relname, relname, NAMEDATALEN);
	}
	return &record->sum;
}

/* ----
 * Counting
 * ----
 */

void
history_add_sum(HistorySum *to, const HistorySum *from, int sign)
{
	for (int i = 0; i < RUN_OUTCOME_COUNT; i++)
		to->ended[i] += sign * from->ended[i];
	if (sign > 0)
		run_counters_add(&to->used, &from->used);
	else
		run_counters_subtract(&to->used, &from->used);
	to->cost += sign * from->cost;
	to->run_us += sign * from->run_us;
	to->delay_us += sign * from->delay_us;
	to->tuples_removed += sign * from->tuples_removed;
}

static void
add_run(HistorySum *sum, const RunRecord *run, TimestampTz at)
{
	HistorySum	one = {0};

	if (sum == NULL || run->run_id <= sum->last_run_id)
		return;
	one.ended[run->outcome] = 1;
	one.used = run->used;
	one.cost = run_cost(&run->used, &run->costs);
	one.run_us = run->ended_at - run->started_at;
	one.delay_us = Max(run->delay_us, 0);
	one.tuples_removed = Max(run->tuples_removed, 0);
	history_add_sum(sum, &one, 1);
	sum->last_run_id = run->run_id;
	sum->last_at = Max(sum->last_at, at);
	if (run->dead_not_removable >= 0)
		sum->dead_not_removable = run->dead_not_removable;
}

/*
 * Has the bucket met this run?  The newest sum of a bucket never makes room,
 * so its number tells.  The sum of the run itself may be gone, to make room.
 * If it came back, it would push out another.
 */
static bool
bucket_knows(const HistoryRecord *bucket, int64 run_id)
{
	for (int i = 0; i < HISTORY_WAYS; i++)
	{
		if (bucket[i].sum.begin != 0 && bucket[i].sum.last_run_id >= run_id)
			return true;
	}
	return false;
}

static void
count_run(const RunRecord *run, TimestampTz at)
{
	HistorySum	key = {0};

	for (HistoryKind kind = 0; kind < HISTORY_TABLE; kind++)
		add_run(sum_of_all(kind, step_at(kind, at), run->starter, run->command), run, at);
	key.begin = time_step_begin(at, USECS_PER_HOUR);
	key.dboid = run->dboid;
	key.relid = run->relid;
	key.command = run->command;
	key.starter = run->starter;
	if (!bucket_knows(bucket_for(&key), run->run_id))
		add_run(sum_of_table(&key, run->schemaname, run->relname), run, at);
}

void
history_add(const RunRecord *run)
{
	count_run(run, clock_at(run->ended_at) + sums_ahead());
}

/* Is so old a step, or one of a clock that was ahead, of no use any more? */
bool
history_is_recent(HistoryKind kind, TimestampTz begin, TimestampTz now)
{
	return kind == HISTORY_ALL ? begin != 0 :
		time_step_is_within(begin, kinds[kind].length, now, kinds[kind].span);
}

void
history_count_late(const RunRecord *run)
{
	TimestampTz at = clock_at(run->ended_at);

	if (history_is_recent(HISTORY_TABLE, time_step_begin(at, USECS_PER_HOUR), history_now()))
		count_run(run, at);
	else
		add_run(sum_of_all(HISTORY_ALL, step_at(HISTORY_ALL, at), run->starter, run->command), run, at);
}

void
history_begin(void)
{
	sweep_shared->history.since = clock_now();
	*begin_of_all() = sweep_shared->history.since;
}

void
history_reset(void)
{
	memset(&sweep_shared->history, 0, sizeof(sweep_shared->history));
	memset(sweep_table_hours, 0, sizeof(HistoryRecord) * history_table_places());
	history_begin();
	sweep_shared->history.reset_at = sweep_shared->history.since;
}

TimestampTz
history_reset_at(void)
{
	TimestampTz at;

	LWLockAcquire(shmem_lock(LOCK_LEDGER), LW_SHARED);
	at = sweep_shared->history.reset_at;
	LWLockRelease(shmem_lock(LOCK_LEDGER));
	return at;
}

void
history_incomplete_before(TimestampTz when)
{
	LWLockAcquire(shmem_lock(LOCK_LEDGER), LW_EXCLUSIVE);
	sweep_shared->history.since = Max(sweep_shared->history.since, when);
	LWLockRelease(shmem_lock(LOCK_LEDGER));
}

/* All sums one after the other: minutes, hours, the one that does not end, tables. */
static HistorySum *
sum_at(int64 i)
{
	if (i < HISTORY_STEPS * HISTORY_SORTS)
		return &sweep_shared->history.sums[i / HISTORY_SORTS][i % HISTORY_SORTS];
	return &sweep_table_hours[i - HISTORY_STEPS * HISTORY_SORTS].sum;
}

/* Their steps do not begin at the full hour then, and take no more runs. */
void
history_set_back(int64 us)
{
	HistoryState *history = &sweep_shared->history;

	LWLockAcquire(shmem_lock(LOCK_LEDGER), LW_EXCLUSIVE);
	clock_move(&history->since, us);
	clock_move(&history->reset_at, us);
	for (HistoryKind kind = 0; kind < HISTORY_TABLE; kind++)
		clock_move(&history->since_of[kind], us);
	for (int i = 0; i < HISTORY_STEPS; i++)
		clock_move(&history->begins[i], us);
	for (int64 i = 0; i < history_places(); i++)
	{
		clock_move(&sum_at(i)->begin, us);
		clock_move(&sum_at(i)->last_at, us);
	}
	LWLockRelease(shmem_lock(LOCK_LEDGER));
}

/* ----
 * The file
 * ----
 */

#define SLICE	256				/* places looked at under the lock */

StaticAssertDecl(SLICE % HISTORY_WAYS == 0 && HISTORY_STEPS * HISTORY_SORTS % HISTORY_WAYS == 0,
				 "no bucket lies in two slices");

int
history_copy(HistoryRecord *to, int limit, int64 *next)
{
	int64		end = Min(*next + SLICE, history_places());
	int			n = 0;

	LWLockAcquire(shmem_lock(LOCK_LEDGER), LW_SHARED);
	for (; *next < end && n < limit; (*next)++)
	{
		const HistorySum *sum = sum_at(*next);

		if (sum->begin == 0)
			continue;
		if (sum->kind == HISTORY_TABLE)
			to[n++] = *(const HistoryRecord *) sum;
		else
		{
			memset(&to[n], 0, sizeof(to[n]));
			to[n++].sum = *sum;
		}
	}
	LWLockRelease(shmem_lock(LOCK_LEDGER));
	if (*next == history_places())
		*next = -1;
	return n;
}

/* A string that is not terminated would be read beyond its end. */
bool
history_is_sane(const HistoryRecord *record)
{
	const HistorySum *sum = &record->sum;

	for (int i = 0; i < RUN_OUTCOME_COUNT; i++)
	{
		if (sum->ended[i] < 0)
			return false;
	}
	return sum->begin != 0 && sum->kind < HISTORY_KIND_COUNT &&
		sum->command > RUN_NONE && sum->command < RUN_COMMAND_COUNT &&
		sum->starter < RUN_STARTER_COUNT && sum->last_run_id >= 0 &&
		memchr(record->schemaname, '\0', NAMEDATALEN) && memchr(record->relname, '\0', NAMEDATALEN);
}

/* The file knows of runs before those since the server's start. */
static void
move_begin_of_all(TimestampTz begin)
{
	*begin_of_all() = begin;
	for (int sort = 0; sort < HISTORY_SORTS; sort++)
	{
		HistorySum *sum = &sweep_shared->history.sums[kinds[HISTORY_ALL].first][sort];

		if (sum->begin != 0)
			sum->begin = begin;
	}
}

void
history_load(const HistoryRecord *records, int count, TimestampTz since)
{
	HistoryState *history = &sweep_shared->history;
	TimestampTz now = history_now();

	for (int64 i = 0; i < history_places(); i++)
		sum_at(i)->last_run_id = 0;
	history->since = since;
	for (int i = 0; i < count; i++)
	{
		const HistorySum *from = &records[i].sum;
		HistorySum *to;

		/* the clock was set back meanwhile: nobody knows by how much */
		if (from->begin > now)
			history->since = now;
		if (!history_is_recent(from->kind, from->begin, now))
			continue;
		if (from->kind == HISTORY_ALL && from->begin < *begin_of_all())
			move_begin_of_all(from->begin);
		to = from->kind == HISTORY_TABLE ? sum_of_table(from, records[i].schemaname, records[i].relname) :
			sum_of_all(from->kind, step_at(from->kind, from->begin), from->starter, from->command);
		if (to == NULL)
			continue;
		history_add_sum(to, from, 1);
		to->last_run_id = from->last_run_id;
		to->last_at = Max(to->last_at, from->last_at);
		if (to->dead_not_removable < 0)
			to->dead_not_removable = from->dead_not_removable;
	}
}

/* ----
 * Reading
 * ----
 */

void
history_totals(HistoryKind kind, HistorySum totals[HISTORY_SORTS],
			   TimestampTz *since, TimestampTz *complete_since)
{
	const HistoryState *history = &sweep_shared->history;
	TimestampTz now = history_now();

	memset(totals, 0, sizeof(HistorySum) * HISTORY_SORTS);
	LWLockAcquire(shmem_lock(LOCK_LEDGER), LW_SHARED);
	if (kind == HISTORY_ALL)
	{
		*since = *begin_of_all();
		*complete_since = history->since;
	}
	else
	{
		*since = time_step_since(0, kinds[kind].length, now, kinds[kind].span);
		*complete_since = time_step_since(Max(history->since, history->since_of[kind]),
										  kinds[kind].length, now, kinds[kind].span);
	}
	for (int i = kinds[kind].first; i < kinds[kind].first + kinds[kind].count; i++)
	{
		if (!history_is_recent(kind, history->begins[i], now))
			continue;
		for (int sort = 0; sort < HISTORY_SORTS; sort++)
			history_add_sum(&totals[sort], &history->sums[i][sort], 1);
	}
	LWLockRelease(shmem_lock(LOCK_LEDGER));
}
