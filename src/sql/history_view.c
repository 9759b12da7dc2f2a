/*
 * history_view.c
 *		sweep.totals and sweep.history: what the runs of the last hour, of the
 *		last day, of earlier hours and of all time came to.
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/timestamp.h"

#include "server/clock.h"
#include "shmem.h"
#include "sql/relation.h"
#include "sql/row.h"
#include "state/archive.h"
#include "state/history.h"

#define SLICE	256				/* sums that are copied at a time */

/* ----
 * sweep.totals
 * ----
 */

static void
put_sum(Row *row, const HistorySum *sum)
{
	int64		runs = 0;

	for (int i = 0; i < RUN_OUTCOME_COUNT; i++)
		runs += sum->ended[i];
	row_put(row, Int64GetDatum(runs));
	row_put(row, Int64GetDatum(sum->ended[RUN_FAILED]));
	row_put(row, Int64GetDatum(sum->ended[RUN_CANCELLED]));
	row_put(row, Int64GetDatum(sum->ended[RUN_SKIPPED]));
	row_put_counters(row, &sum->used);
	row_put(row, Int64GetDatum(sum->cost));
	row_put(row, Int64GetDatum(sum->tuples_removed));
	row_put(row, Float8GetDatum(sum->run_us / 1000.0));
	row_put(row, Float8GetDatum(sum->delay_us / 1000.0));
}

PG_FUNCTION_INFO_V1(sweep_totals_0_1);
Datum
sweep_totals_0_1(PG_FUNCTION_ARGS)
{
	static const char *const names[] = {"hour", "day", "all"};
	Row			row = {0};
	HistorySum	totals[HISTORY_SORTS];

	shmem_require();
	InitMaterializedSRF(fcinfo, 0);
	for (HistoryKind kind = 0; kind < HISTORY_TABLE; kind++)
	{
		TimestampTz since;
		TimestampTz complete_since;

		history_totals(kind, totals, &since, &complete_since);
		for (int starter = 0; starter < RUN_STARTER_COUNT; starter++)
			for (int command = RUN_NONE + 1; command < RUN_COMMAND_COUNT; command++)
			{
				row_put_text(&row, names[kind]);
				row_put_time(&row, since);
				row_put_time(&row, complete_since);
				row_put_text(&row, run_starter_name(starter));
				row_put_text(&row, run_command_name(command));
				put_sum(&row, &totals[history_sort(starter, command)]);
				row_store(fcinfo, &row);
			}
	}
	return (Datum) 0;
}

/* ----
 * sweep.history
 * ----
 */

static void
put_record(FunctionCallInfo fcinfo, const HistoryRecord *record)
{
	const HistorySum *sum = &record->sum;
	Row			row = {0};

	row_put_time(&row, sum->begin);
	row_put_oid(&row, sum->dboid);
	row_put_oid(&row, sum->relid);
	relation_put_names(&row, sum->dboid, sum->relid, record->schemaname, record->relname);
	row_put_text(&row, run_command_name(sum->command));
	row_put_text(&row, run_starter_name(sum->starter));
	put_sum(&row, sum);
	row_put_int64(&row, sum->dead_not_removable);
	row_put_time(&row, sum->last_at);
	row_store(fcinfo, &row);
}

/* What the sums of an hour have beyond those of its tables: the tables left out. */
static void
take_from_rest(HistoryRecord *rest, int count, const HistorySum *sum)
{
	for (int i = 0; i < count; i++)
	{
		if (rest[i].sum.begin == sum->begin && rest[i].sum.command == sum->command &&
			rest[i].sum.starter == sum->starter)
			history_add_sum(&rest[i].sum, sum, -1);
	}
}

static void
put_rest(FunctionCallInfo fcinfo, HistoryRecord *rest)
{
	int64	   *counters = (int64 *) &rest->sum.used;
	int64		runs = 0;

	/* some may have ended between the copies */
	for (int i = 0; i < RUN_OUTCOME_COUNT; i++)
	{
		rest->sum.ended[i] = Max(rest->sum.ended[i], 0);
		runs += rest->sum.ended[i];
	}
	if (runs == 0)
		return;
	for (int i = 0; i < RUN_COUNTERS; i++)
		counters[i] = Max(counters[i], 0);
	rest->sum.cost = Max(rest->sum.cost, 0);
	rest->sum.run_us = Max(rest->sum.run_us, 0);
	rest->sum.delay_us = Max(rest->sum.delay_us, 0);
	rest->sum.tuples_removed = Max(rest->sum.tuples_removed, 0);
	rest->sum.dead_not_removable = -1;
	rest->sum.last_at = 0;
	put_record(fcinfo, rest);
}

/* Which hours shared memory knows. */
typedef struct KnownHours
{
	FunctionCallInfo fcinfo;
	TimestampTz since;			/* earlier ones are not asked for */
	TimestampTz reset_at;
	int			count;
	TimestampTz begins[HISTORY_HOURS * HISTORY_SORTS];
} KnownHours;

/* Shows the sums in shared memory. */
static void
put_recent(KnownHours *known)
{
	TimestampTz now = history_now();
	HistoryRecord *records = palloc(sizeof(HistoryRecord) * SLICE);
	HistoryRecord *rest = palloc(sizeof(HistoryRecord) * HISTORY_HOURS * HISTORY_SORTS);
	int64		next = HISTORY_MINUTES * HISTORY_SORTS;
	int			rests = 0;

	/* the hours come before the tables */
	while (next >= 0)
	{
		int			n = history_copy(records, SLICE, &next);

		CHECK_FOR_INTERRUPTS();
		for (int i = 0; i < n; i++)
		{
			if (records[i].sum.kind == HISTORY_ALL ||
				!history_is_recent(HISTORY_TABLE, records[i].sum.begin, now))
				continue;
			if (records[i].sum.begin < known->since)
				continue;
			if (records[i].sum.kind == HISTORY_HOUR)
			{
				known->begins[known->count++] = records[i].sum.begin;
				rest[rests++] = records[i];
			}
			else
			{
				take_from_rest(rest, rests, &records[i].sum);
				put_record(known->fcinfo, &records[i]);
			}
		}
	}
	for (int i = 0; i < rests; i++)
		put_rest(known->fcinfo, &rest[i]);
	pfree(records);
	pfree(rest);
}

/* Shows the sums of an hour in the archive, but not those that were shown or forgotten. */
static void
put_archived(const ArchivedHour *hour, void *arg)
{
	const KnownHours *known = arg;
	HistoryRecord rest[HISTORY_SORTS];
	int			rests = 0;

	if (hour->begin < known->reset_at)
		return;
	for (int i = 0; i < known->count; i++)
	{
		if (known->begins[i] == hour->begin)
			return;
	}
	for (int i = 0; i < hour->sum_count; i++)
	{
		if (hour->sums[i].sum.kind != HISTORY_TABLE)
		{
			if (rests < HISTORY_SORTS)
				rest[rests++] = hour->sums[i];
			continue;
		}
		take_from_rest(rest, rests, &hour->sums[i].sum);
		put_record(known->fcinfo, &hour->sums[i]);
	}
	for (int i = 0; i < rests; i++)
		put_rest(known->fcinfo, &rest[i]);
}

PG_FUNCTION_INFO_V1(sweep_history_0_1);
Datum
sweep_history_0_1(PG_FUNCTION_ARGS)
{
	KnownHours *known;

	shmem_require();
	InitMaterializedSRF(fcinfo, 0);
	known = palloc(sizeof(KnownHours));
	known->fcinfo = fcinfo;
	known->since = archive_oldest(clock_now());
	if (!PG_ARGISNULL(0))
		known->since = Max(known->since, PG_GETARG_TIMESTAMPTZ(0));
	known->count = 0;
	put_recent(known);
	known->reset_at = history_reset_at();
	archive_read(known->since, put_archived, known);
	return (Datum) 0;
}
