/*
 * hours.c
 *		Closes the hours that are over, and puts them into the archive.
 *
 * Runs in the launcher, in each round.  A few seconds after an hour is over,
 * what vacuums came to in it (history.c) and what users did (table_activity.c) are
 * appended to the archive (archive.c).  Sums of earlier hours that are not
 * there yet come first, say of before a restart.
 *
 * Now and then the archive is written anew instead: when hours are too old,
 * when runs were forgotten, and when the clock was set back.
 *
 * Locks: LOCK_LEDGER, for a slice of the sums.
 */
#include "launcher/hours.h"

#include "miscadmin.h"
#include "utils/timestamp.h"

#include "launcher/table_activity.h"
#include "policy/busiest.h"
#include "policy/keep_hours.h"
#include "policy/time_step.h"
#include "server/clock.h"
#include "settings.h"
#include "state/archive.h"
#include "state/history.h"

#define CLOSE_AFTER_MS		5000	/* a run that ends with the hour is
									 * counted by then */
#define RETRY_MS			60000
#define SLICE				256 /* sums copied under the lock */

/*
 * So many sums of tables are looked at to find those that are kept.  What is
 * beyond that is the cheapest.
 */
#define CANDIDATES			4096

/* More hours than a day has, if the clock was set back. */
#define HOURS_PER_DAY_LIMIT	25

static TimestampTz closed_hour; /* all before this one are closed */
static TimestampTz retry_at;	/* when a failure is tried again (0: none) */
static bool warned;				/* of that failure */
static TimestampTz forgotten_at;	/* runs before this are out of the archive */
static TimestampTz moved_at;	/* the hours are to be moved, see
								 * ArchiveChange */
static int64 moved_us;
static TimestampTz again_hour;	/* the present one is in the archive already,
								 * by a clock that was ahead (0: it is not) */

/* The hour that counts as the present one. */
static TimestampTz
hour_at(TimestampTz now)
{
	return time_step_begin(now - (clock_after(now, CLOSE_AFTER_MS) - now), USECS_PER_HOUR);
}

/* The clock was set back by so much in that hour of the old clock. */
static void
plan_move(TimestampTz hour, int64 us)
{
	if (moved_us == 0)
		moved_at = hour;
	moved_us += us;
}

void
hours_begin(void)
{
	TimestampTz hour = hour_at(clock_now());
	TimestampTz last;

	archive_load();
	last = archive_span()->last;
	if (archive_span()->count == 0 || last < hour)
		return;
	plan_move(last + USECS_PER_HOUR, last + USECS_PER_HOUR - hour);
	ereport(LOG,
			(errmsg("pg_sweep: the last hour in the history begins in the future"),
			 errdetail("The server's clock was set back while pg_sweep did not run.  Hours are moved back by at least %.0f h, so that none is there twice.",
					   moved_us / (double) USECS_PER_HOUR)));
}

void
hours_set_back(int64 us)
{
	TimestampTz now = clock_now();

	if (archive_span()->count > 0)
		plan_move(hour_at(now + us), us);
	clock_move(&forgotten_at, us);
	clock_move(&retry_at, us);
	closed_hour = 0;
	again_hour = 0;
	activity_set_back(us, hour_at(now));
}

void
hours_stop(void)
{
	activity_forget();
}

void
hours_begin_walk(TimestampTz now)
{
	activity_begin_walk(hour_at(now), now);
}

/* ----
 * The sums of an hour
 * ----
 */

/* A table's sums are neighbours. */
static int
by_table(const void *a, const void *b)
{
	const HistorySum *x = &((const HistoryRecord *) a)->sum;
	const HistorySum *y = &((const HistoryRecord *) b)->sum;

	if (x->dboid != y->dboid)
		return x->dboid < y->dboid ? -1 : 1;
	if (x->relid != y->relid)
		return x->relid < y->relid ? -1 : 1;
	return history_sort(x->starter, x->command) - history_sort(y->starter, y->command);
}

static int
dearer_first(const void *a, const void *b)
{
	int64		x = ((const HistoryRecord *) a)->sum.cost;
	int64		y = ((const HistoryRecord *) b)->sum.cost;

	return x < y ? 1 : (x > y ? -1 : 0);
}

static int64
changes_of(const ArchivedHour *hour, Oid dboid, Oid relid)
{
	for (int i = 0; i < hour->table_count; i++)
	{
		const ActivityHour *table = &hour->tables[i];

		if (table->dboid == dboid && table->relid == relid)
			return table->inserted + table->updated + table->deleted;
	}
	return 0;
}

/* Puts those of the tables behind the sums of all tables that have a place of their own. */
static void
choose_tables(ArchivedHour *hour, HistoryRecord *sums, HistoryRecord *candidates, int count)
{
	BusiestTable *tables = palloc(sizeof(BusiestTable) * Max(count, 1));
	int			n = 0;
	int			limit = hour->sum_count + ARCHIVE_TABLE_SUMS;

	qsort(candidates, count, sizeof(HistoryRecord), by_table);
	for (int i = 0; i < count; i++)
	{
		const HistorySum *sum = &candidates[i].sum;

		if (i == 0 || sum->dboid != candidates[i - 1].sum.dboid || sum->relid != candidates[i - 1].sum.relid)
		{
			tables[n].cost = 0;
			tables[n].changes = changes_of(hour, sum->dboid, sum->relid);
			tables[n++].id = i;
		}
		tables[n - 1].cost += sum->cost;
	}
	n = busiest_choose(tables, n, ARCHIVE_TABLES);
	for (int i = 0; i < n; i++)
	{
		const HistorySum *first = &candidates[tables[i].id].sum;

		for (int j = tables[i].id; j < count && hour->sum_count < limit; j++)
		{
			if (candidates[j].sum.dboid != first->dboid || candidates[j].sum.relid != first->relid)
				break;
			sums[hour->sum_count++] = candidates[j];
		}
	}
	pfree(tables);
}

/* What vacuums came to in the step that begins then. */
static void
add_sums(ArchivedHour *hour, TimestampTz step)
{
	HistoryRecord *sums = palloc(sizeof(HistoryRecord) * (HISTORY_SORTS + ARCHIVE_TABLE_SUMS));
	HistoryRecord *candidates = palloc(sizeof(HistoryRecord) * CANDIDATES);
	HistoryRecord *slice = palloc(sizeof(HistoryRecord) * SLICE);
	int64		next = HISTORY_MINUTES * HISTORY_SORTS;
	int			count = 0;

	while (next >= 0)
	{
		int			n = history_copy(slice, SLICE, &next);

		for (int i = 0; i < n; i++)
		{
			const HistorySum *sum = &slice[i].sum;

			if (sum->begin != step)
				continue;
			if (sum->kind == HISTORY_HOUR && hour->sum_count < HISTORY_SORTS)
				sums[hour->sum_count++] = slice[i];
			if (sum->kind != HISTORY_TABLE)
				continue;
			if (count == CANDIDATES)
			{
				qsort(candidates, count, sizeof(HistoryRecord), dearer_first);
				count = CANDIDATES / 2;
			}
			candidates[count++] = slice[i];
		}
	}
	choose_tables(hour, sums, candidates, count);
	for (int i = 0; i < hour->sum_count; i++)
		sums[i].sum.begin = hour->begin;
	hour->sums = sums;
	pfree(candidates);
	pfree(slice);
}

/* ----
 * Closing
 * ----
 */

static int
earlier_first(const void *a, const void *b)
{
	TimestampTz x = *(const TimestampTz *) a;
	TimestampTz y = *(const TimestampTz *) b;

	return x < y ? -1 : (x > y ? 1 : 0);
}

/* When the hours begin that are over and not in the archive.  Returns how many. */
static int
find_hours(TimestampTz *begins, TimestampTz hour, const ArchivedHour *activity)
{
	HistoryRecord *slice = palloc(sizeof(HistoryRecord) * SLICE);
	int64		next = HISTORY_MINUTES * HISTORY_SORTS;
	TimestampTz after = archive_span()->last;
	int			count = 0;
	int			different = 0;

	if (activity != NULL)
		begins[count++] = activity->begin;
	/* the hours come before the tables */
	while (next >= 0 && next < HISTORY_STEPS * HISTORY_SORTS)
	{
		int			n = history_copy(slice, SLICE, &next);

		for (int i = 0; i < n; i++)
		{
			const HistorySum *sum = &slice[i].sum;

			if (sum->kind == HISTORY_HOUR && history_is_recent(HISTORY_HOUR, sum->begin, history_now()))
				begins[count++] = sum->begin;
		}
	}
	pfree(slice);
	qsort(begins, count, sizeof(TimestampTz), earlier_first);
	for (int i = 0; i < count; i++)
	{
		if ((begins[i] > after || begins[i] == again_hour) && begins[i] < hour &&
			(different == 0 || begins[i] != begins[different - 1]))
			begins[different++] = begins[i];
	}
	return different;
}

/* Must the archive be written anew, and how? */
static bool
find_change(ArchiveChange *change, TimestampTz reset_at, TimestampTz now)
{
	const ArchiveSpan *span = archive_span();
	TimestampTz *begins;
	int			most = sweep_history_days * HOURS_PER_DAY_LIMIT;
	int			count;
	int			first;

	memset(change, 0, sizeof(*change));
	if (span->count == 0)
		return false;
	if (reset_at > forgotten_at)
		change->forget_before = reset_at;
	/* once a day */
	if (moved_us == 0 && change->forget_before == 0 && span->count <= most + HOURS_PER_DAY_LIMIT &&
		span->first >= archive_oldest(now) - USECS_PER_DAY)
		return false;

	begins = archive_begins(&count);
	if (moved_us != 0)
	{
		first = keep_hours_moved(begins, count, moved_at, moved_us);
		change->move_us = moved_us;
		change->move_from = first < count ? begins[first] : PG_INT64_MAX;
	}
	first = keep_hours_first(begins, count, archive_oldest(now), most);
	change->expire_before = first < count ? begins[first] : now;
	pfree(begins);
	return true;
}

/* Writes the hours, and before them the change if there is one. */
static bool
write_hours(const ArchiveChange *change, TimestampTz hour, const ArchivedHour *activity)
{
	TimestampTz begins[HISTORY_HOURS * HISTORY_SORTS + 1];
	int			count;
	bool		ok = true;

	if (change == NULL && find_hours(begins, hour, activity) == 0)
		return true;
	if (!archive_begin(change))
		return false;
	count = find_hours(begins, hour, activity);
	for (int i = 0; ok && i < count; i++)
	{
		ArchivedHour one = {.xids = -1};

		if (activity != NULL && activity->begin == begins[i])
			one = *activity;
		one.begin = Max(begins[i], archive_span()->last + 1);
		add_sums(&one, begins[i]);
		ok = archive_add(&one);
		pfree(unconstify(HistoryRecord *, one.sums));
	}
	return archive_end(ok);
}

/* Closes what is over before that hour.  false: errno tells. */
static bool
close_before(TimestampTz hour, TimestampTz now)
{
	ArchiveChange change;
	ArchivedHour activity;
	TimestampTz reset_at = history_reset_at();
	bool		changes = find_change(&change, reset_at, now);
	bool		active = activity_last(&activity);

	if (!write_hours(changes ? &change : NULL, hour, active ? &activity : NULL))
		return false;
	activity_taken();
	if (again_hour < hour)
		again_hour = archive_span()->last >= hour ? hour : 0;
	moved_us = 0;
	forgotten_at = reset_at;
	return true;
}

void
hours_close(TimestampTz now)
{
	TimestampTz hour = hour_at(now);

	if (hour <= closed_hour && moved_us == 0 && retry_at == 0 && history_reset_at() <= forgotten_at)
		return;
	if (retry_at != 0 && now < retry_at)
		return;

	/* who cancels the launcher means nothing that it could stop */
	HOLD_CANCEL_INTERRUPTS();
	PG_TRY();
	{
		if (close_before(hour, now))
		{
			closed_hour = Max(closed_hour, hour);
			retry_at = 0;
			warned = false;
		}
		else
		{
			int			save_errno = errno;

			retry_at = clock_after(now, RETRY_MS);
			errno = save_errno;
			if (!warned)
				ereport(WARNING,
						(errcode_for_file_access(),
						 errmsg("pg_sweep: could not save the hourly sums: %m"),
						 errdetail("Saving is tried again every %d s.  What users did to tables in an hour is lost when the next hour is over.  What vacuums came to is kept for a day.",
								   RETRY_MS / 1000)));
			warned = true;
		}
	}
	PG_CATCH();
	{
		archive_abandon();
		retry_at = clock_after(now, RETRY_MS);
		PG_RE_THROW();
	}
	PG_END_TRY();
	RESUME_CANCEL_INTERRUPTS();
}
