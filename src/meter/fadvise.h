/*
 * fadvise.h
 *		What the kernel reads ahead of this process's vacuum.
 */
#ifndef SWEEP_FADVISE_H
#define SWEEP_FADVISE_H

#include "postgres.h"

/*
 * A worker's vacuum of that table begins: its files are opened, so that the first
 * read of each is already as it should be.  Mainline code, outside a transaction.
 * Returns whether the kernel would read ahead more than is good for others.
 */
extern bool fadvise_begin(Oid relid);

extern void fadvise_end(void);

/*
 * For the tick.  What is allowed is in bytes/s of the total, and 0 is any.
 * What was used is the rate since the last tick.  A vacuum naps when it has
 * to sleep to keep what is allowed.
 */
extern void fadvise_tick(double dt_s, double allowed, double used, bool naps);

#endif							/* SWEEP_FADVISE_H */
