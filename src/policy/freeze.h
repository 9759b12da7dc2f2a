/*
 * policy/freeze.h
 *		Should a vacuum freeze all that it can?  Pure.
 */
#ifndef SWEEP_POLICY_FREEZE_H
#define SWEEP_POLICY_FREEZE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Rows that will not change any more are frozen while their page is in memory
 * and dirty anyway.  Rows that will soon be updated would be frozen in vain.
 *
 * inserted and changed (updated or deleted) count since the last vacuum.
 * before is what was decided then.  It takes less to stay than to begin.
 */
extern bool freeze_eagerly(bool before, int64_t inserted, int64_t changed);

/*
 * Pages that somebody else's vacuum has made all-visible and did not freeze
 * are skipped by an ordinary vacuum.  One that freezes all would read them
 * again.  So an aggressive vacuum goes over them while they are in memory.
 * cold is how many of them are not, and would be read.  More than half of the
 * buffers would leave the memory before it comes to them.
 */
extern bool freeze_catches_up(int64_t unfrozen, int64_t cold, int64_t buffers);

#endif							/* SWEEP_POLICY_FREEZE_H */
