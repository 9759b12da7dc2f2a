/*
 * ledger.h
 *		The finished runs.
 */
#ifndef SWEEP_LEDGER_H
#define SWEEP_LEDGER_H

#include "run.h"

/* Records a run.  Safe in a transaction callback: one LWLock, no ERROR. */
extern void ledger_add(const RunRecord *run);

/* The last successful run of that kind; false if none is kept. */
extern bool ledger_last(Oid dboid, Oid relid, RunCommand command, RunRecord *run);

/* Copies all kept runs, newest first, each once; palloc'd. */
extern RunRecord *ledger_copy(int *count);

extern void ledger_reset(void);

/* Reads the file, once; launcher only.  Never an ERROR. */
extern void ledger_load(void);

/* Writes the file if something changed; false (and errno) if it failed. */
extern bool ledger_save(void);

#endif							/* SWEEP_LEDGER_H */
