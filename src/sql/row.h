/*
 * row.h
 *		A result row being filled, column by column, in order.
 */
#ifndef SWEEP_ROW_H
#define SWEEP_ROW_H

#include "postgres.h"

#include "access/tupdesc.h"
#include "fmgr.h"

#include "exported.h"
#include "state/run.h"

#define ROW_COLUMNS_LIMIT	40

typedef struct Row
{
	int			n;
	Datum		values[ROW_COLUMNS_LIMIT];
	bool		nulls[ROW_COLUMNS_LIMIT];
} Row;

extern PGDLLEXPORT void row_put(Row *row, Datum value);
extern void row_put_null(Row *row);

/*
 * These put NULL if there is none: no text, no OID, time 0, a negative
 * number.
 */
extern PGDLLEXPORT void row_put_text(Row *row, const char *text);
extern PGDLLEXPORT void row_put_oid(Row *row, Oid oid);
extern PGDLLEXPORT void row_put_time(Row *row, TimestampTz time);
extern void row_put_int64(Row *row, int64 value);
extern PGDLLEXPORT void row_put_float(Row *row, double value);
extern PGDLLEXPORT void row_put_interval(Row *row, double ms);

/*
 * Makes a copy in which bytes that are no characters of this database's
 * encoding are shown as \\xNN.  In a database without encoding the client's
 * counts.
 */
extern PGDLLEXPORT char *row_readable(const char *text);

/* These put six columns, and two. */
extern void row_put_counters(Row *row, const RunCounters *used);
extern void row_put_cost_settings(Row *row, const RunCosts *costs);

/*
 * Raises an error unless the function has as many columns.  SQL objects of
 * another version may have others under the same name.
 */
extern void row_require(const Row *row, TupleDesc desc);

/* Adds the row to the function's result.  Then the row is empty again. */
extern PGDLLEXPORT void row_store(FunctionCallInfo fcinfo, Row *row);

#endif							/* SWEEP_ROW_H */
