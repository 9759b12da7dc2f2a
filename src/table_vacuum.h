/*
 * table_vacuum.h
 *		One vacuum of one table by a worker.
 */
#ifndef SWEEP_TABLE_VACUUM_H
#define SWEEP_TABLE_VACUUM_H

#include "candidates.h"
#include "decide.h"

/* Once per worker, connected: what its vacuums need. */
extern void table_vacuum_prepare(const char *database);

/* Vacuums it, records the run and decides what follows from it. */
extern void table_vacuum(Candidate *c, const Verdict *verdict);

#endif							/* SWEEP_TABLE_VACUUM_H */
