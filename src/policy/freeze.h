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
 * and dirty anyway; rows that will soon be updated would be frozen in vain.
 * inserted, changed (updated or deleted): since the last vacuum.  before: what
 * was decided then; it takes less to stay than to begin.
 */
extern bool freeze_eagerly(bool before, int64_t inserted, int64_t changed);

#endif							/* SWEEP_POLICY_FREEZE_H */
