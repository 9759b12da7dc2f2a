/*
 * ledger_file.h
 *		The ledger's file, pg_stat/pg_sweep.runs.
 */
#ifndef SWEEP_LEDGER_FILE_H
#define SWEEP_LEDGER_FILE_H

#include "state/history.h"
#include "state/run.h"

/* What the file keeps beside the runs. */
typedef struct LedgerFileRest
{
	int64		next_run_id;	/* also after everything was forgotten */
	TimestampTz held_until;		/* by sweep.hold(), or 0: not held */
	TimestampTz complete_since; /* see LedgerState */
	TimestampTz time_step_since;	/* see HistoryState */
	int64		counted_run_id; /* runs below are in the sums */
} LedgerFileRest;

/* So many runs at most are written at a time. */
#define LEDGER_FILE_BLOCK	256

/* The same of the history's sums. */
#define LEDGER_FILE_SUMS	256

typedef struct LedgerFileContents
{
	RunRecord  *runs;			/* newest first, each once */
	HistoryRecord *sums;
	int			run_count;
	int			sum_count;
	LedgerFileRest rest;
} LedgerFileContents;

/*
 * What the file holds, palloc'd.  If that is nothing, runs is NULL.  A
 * damaged or foreign file is set aside with a WARNING.  One that only
 * ends too early, or in what was not written whole, is cut off there, with a
 * WARNING.  Nothing can be appended to it.  If there is nothing else, a file of
 * ours that a library of another version had set aside is taken again, as one
 * that was cut off.  Never an ERROR.
 */
extern void ledger_file_read(LedgerFileContents *contents);

/*
 * Begins to write, at the file's end or anew.  Anew it writes to another
 * file, which takes the place of the first when all is written.  At the end
 * is possible only where the file ends as it was left.  false: errno tells.
 */
extern bool ledger_file_can_append(void);
extern bool ledger_file_begin(bool anew);

/* At most LEDGER_FILE_BLOCK runs, or none. */
extern bool ledger_file_write(const RunRecord *runs, int count, const LedgerFileRest *rest);

/* At most LEDGER_FILE_SUMS sums, before all runs. */
extern bool ledger_file_write_sums(const HistoryRecord *sums, int count, const LedgerFileRest *rest);

/*
 * Ends it, durably.  With ok all has gone well as far as the caller knows.
 * After a failure the file is what it was before.  false: errno tells.
 */
extern bool ledger_file_end(bool ok);

/*
 * How large the file is, in bytes.  The second tells how large it would be
 * with so many runs and sums, if it were written anew.
 */
extern int64 ledger_file_size(void);
extern int64 ledger_file_size_of(int64 runs, int64 sums);

#endif							/* SWEEP_LEDGER_FILE_H */
