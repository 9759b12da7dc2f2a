/*
 * xid_rate.h
 *		How fast transaction ids, multixacts and their members are used up.
 */
#ifndef SWEEP_XID_RATE_H
#define SWEEP_XID_RATE_H

#include "postgres.h"

#include "datatype/timestamp.h"

#define XID_SAMPLES	61			/* one a minute, which makes an hour */

/* Writer: launcher.  Protection: LOCK_QUEUE. */
typedef struct XidSample
{
	TimestampTz at;				/* 0: none yet */
	uint64		next_xid;
	uint32		next_mxid;
	uint64		next_member;
} XidSample;

/* For the launcher, at each round: takes a sample once a minute. */
extern void xid_rate_sample(TimestampTz now);

/* For the launcher: moves the times after the clock was set back. */
extern void xid_rate_set_back(int64 us);

/*
 * What was used up since a sample that is an hour old, or since the oldest
 * one.
 */
typedef struct XidRate
{
	TimestampTz since;
	double		seconds;
	uint64		xids;
	uint32		mxids;
	double		members;
} XidRate;

/* Returns false if nothing is known for long enough.  The caller has read the members (members.h). */
extern bool xid_rate_measure(XidRate *rate, uint64 next_member);

#endif							/* SWEEP_XID_RATE_H */
