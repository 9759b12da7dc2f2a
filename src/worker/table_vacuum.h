/*
 * table_vacuum.h
 *		One vacuum of one table by a worker.
 */
#ifndef SWEEP_TABLE_VACUUM_H
#define SWEEP_TABLE_VACUUM_H

#include "state/run.h"
#include "worker/candidate.h"
#include "worker/verdict.h"

/*
 * Vacuums the table, records the run, decides what follows from it, and
 * returns what it came to.  That is RUN_DONE as well when the table was
 * dropped meanwhile.
 */
extern RunOutcome table_vacuum(Candidate *c, const Verdict *verdict);

/*
 * Since the last call, has one of them moved the oldest ids of the whole
 * database on?
 */
extern bool table_vacuum_moved_oldest(void);

#endif							/* SWEEP_TABLE_VACUUM_H */
