/*
 * xid_rate.h
 *		How fast transaction ids are used up.
 */
#ifndef SWEEP_XID_RATE_H
#define SWEEP_XID_RATE_H

#include "shmem.h"

/* launcher, at each round: takes a sample a minute */
extern void xid_rate_sample(TimestampTz now);

#endif							/* SWEEP_XID_RATE_H */
