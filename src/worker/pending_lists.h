/*
 * pending_lists.h
 *		The new rows' entries that a table's GIN indexes keep aside.
 */
#ifndef SWEEP_PENDING_LISTS_H
#define SWEEP_PENDING_LISTS_H

#include "worker/candidate.h"

/*
 * Moves the entries that are there now to where they belong.  This is a run of
 * its own.  Returns false if it had to give way.
 */
extern bool pending_lists_empty(const Candidate *c);

#endif							/* SWEEP_PENDING_LISTS_H */
