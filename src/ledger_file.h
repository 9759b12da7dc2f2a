/*
 * ledger_file.h
 *		The ledger's file, pg_stat/pg_sweep.runs.
 */
#ifndef SWEEP_LEDGER_FILE_H
#define SWEEP_LEDGER_FILE_H

#include "run.h"

/* What the file keeps beside the runs. */
typedef struct LedgerFileRest
{
	int64		next_run_id;	/* also after everything was forgotten */
	TimestampTz held_until;		/* by sweep.hold(); 0: not held */
} LedgerFileRest;

/*
 * The runs of the file, newest first, palloc'd, or NULL and 0.  A damaged or
 * foreign file is set aside with a WARNING.  Never an ERROR.
 */
extern RunRecord *ledger_file_read(int *count, LedgerFileRest *rest);

/* Replaces the file, durably; runs are newest first.  false: errno tells. */
extern bool ledger_file_write(const RunRecord *runs, int count, const LedgerFileRest *rest);

#endif							/* SWEEP_LEDGER_FILE_H */
