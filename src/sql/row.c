/*
 * row.c
 *		A result row being filled, column by column, in order.
 */
#include "sql/row.h"

#include "access/xact.h"
#include "catalog/namespace.h"
#include "common/string.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "nodes/execnodes.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "shmem.h"

void
row_put_null(Row *row)
{
	row->values[row->n] = (Datum) 0;
	row->nulls[row->n++] = true;
}

void
row_put(Row *row, Datum value)
{
	row->values[row->n] = value;
	row->nulls[row->n++] = false;
}

/*
 * Has the client's encoding all these characters?  What are bytes of another
 * encoding may look like characters of this one, which the client cannot
 * have.
 */
static bool
is_sendable(const char *text, int length)
{
	int			from = GetDatabaseEncoding();
	int			to = pg_get_client_encoding();
	Oid			proc;
	char	   *converted;
	int			done;

	if (from == to || from == PG_SQL_ASCII || to == PG_SQL_ASCII || pg_is_ascii(text) ||
		pg_encoding_verifymbstr(from, text, length) != length || !IsTransactionState())
		return true;
	proc = FindDefaultConversionProc(from, to);
	if (!OidIsValid(proc))
		return true;
	converted = palloc(length * MAX_CONVERSION_GROWTH + 1);
	done = pg_do_encoding_conversion_buf(proc, from, to, (unsigned char *) unconstify(char *, text), length,
										 (unsigned char *) converted, length * MAX_CONVERSION_GROWTH + 1, true);
	pfree(converted);
	return done == length;
}

/*
 * Names of other databases' objects are in those databases' encodings, and
 * what comes from a file may be anything.  A database without an encoding
 * gives out whatever its client can read.
 */
char *
row_readable(const char *text)
{
	int			encoding = GetDatabaseEncoding() == PG_SQL_ASCII ?
		pg_get_client_encoding() : GetDatabaseEncoding();
	int			left = (int) strlen(text);
	StringInfoData readable;

	bool		sendable = is_sendable(text, left);

	if (sendable && pg_encoding_verifymbstr(encoding, text, left) == left)
		return pstrdup(text);
	initStringInfo(&readable);
	while (left > 0)
	{
		int			length = pg_encoding_verifymbchar(encoding, text, left);

		if (length > 0 && (sendable || !IS_HIGHBIT_SET(*text)))
			appendBinaryStringInfo(&readable, text, length);
		else
		{
			appendStringInfo(&readable, "\\x%02x", (unsigned char) *text);
			length = 1;
		}
		text += length;
		left -= length;
	}
	return readable.data;
}

void
row_put_text(Row *row, const char *text)
{
	if (text == NULL || text[0] == '\0')
		row_put_null(row);
	else
		row_put(row, CStringGetTextDatum(row_readable(text)));
}

void
row_put_oid(Row *row, Oid oid)
{
	if (oid == InvalidOid)
		row_put_null(row);
	else
		row_put(row, ObjectIdGetDatum(oid));
}

void
row_put_time(Row *row, TimestampTz time)
{
	if (time == 0)
		row_put_null(row);
	else
		row_put(row, TimestampTzGetDatum(time));
}

/* NULL if negative, which means unknown. */
void
row_put_int64(Row *row, int64 value)
{
	if (value < 0)
		row_put_null(row);
	else
		row_put(row, Int64GetDatum(value));
}

void
row_put_float(Row *row, double value)
{
	if (value < 0)
		row_put_null(row);
	else
		row_put(row, Float8GetDatum(value));
}

static void
row_put_numeric(Row *row, uint64 value)
{
	char		text[32];

	snprintf(text, sizeof(text), UINT64_FORMAT, value);
	row_put(row, DirectFunctionCall3(numeric_in, CStringGetDatum(text),
									 ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1)));
}

void
row_put_interval(Row *row, double ms)
{
	Interval   *interval;

	if (ms < 0)
	{
		row_put_null(row);
		return;
	}
	interval = palloc0(sizeof(Interval));
	interval->time = (TimeOffset) (ms * 1000.0);
	row_put(row, IntervalPGetDatum(interval));
}

void
row_put_counters(Row *row, const RunCounters *used)
{
	row_put(row, Int64GetDatum(used->blks_hit));
	row_put(row, Int64GetDatum(used->blks_read));
	row_put(row, Int64GetDatum(used->blks_dirtied));
	row_put(row, Int64GetDatum(used->wal_records));
	row_put(row, Int64GetDatum(used->wal_fpi));
	row_put_numeric(row, used->wal_bytes);
}

void
row_put_cost_settings(Row *row, const RunCosts *costs)
{
	if (costs->limit > 0 && costs->delay > 0)
	{
		row_put(row, Int32GetDatum(costs->limit));
		row_put(row, Float8GetDatum(costs->delay));
	}
	else
	{
		row_put_null(row);
		row_put_null(row);
	}
}

void
row_require(const Row *row, TupleDesc desc)
{
	if (row->n != desc->natts)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("SQL objects of extension \"pg_sweep\" do not fit the loaded library, which is version %s", SWEEP_VERSION),
				 errdetail("The library has %d columns, and the SQL function %d.", row->n, desc->natts),
				 errhint("Restart the server if a newer library is installed, and run ALTER EXTENSION pg_sweep UPDATE.")));
}

void
row_store(FunctionCallInfo fcinfo, Row *row)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;

	row_require(row, rsinfo->setDesc);
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, row->values, row->nulls);
	row->n = 0;
}
