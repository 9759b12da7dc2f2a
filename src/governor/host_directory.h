/*
 * host_directory.h
 *		The servers of one machine find each other in a directory.
 */
#ifndef SWEEP_HOST_DIRECTORY_H
#define SWEEP_HOST_DIRECTORY_H

#include "postgres.h"

#include "datatype/timestamp.h"

#include "policy/host_share.h"
#include "policy/rates.h"

/* What this server tells of itself. */
typedef struct HostOwn
{
	int			vacuums;		/* that are paced now */
	double		urgency;		/* of the most urgent table: 1 is just due */
	Rates		used;
	int64		cut_at_ms;		/* by the steady clock: when they last yielded
								 * to users, 0: never */
	double		cut_to;			/* bytes/s of the whole device */
	bool		acts;			/* it may vacuum, so others have to know that
								 * it is there */
	bool		watches;		/* it has users, and no vacuums */
	bool		users;			/* it has users, and vacuums */
} HostOwn;

/*
 * The governor, in each step: tells the others, and computes what is left to
 * this server.  Publishes both (HostState).
 */
extern HostShare host_directory_step(const HostOwn *own, TimestampTz now);

/* The same in the middle of a step, for what cannot wait for the next one. */
extern void host_directory_tell(const HostOwn *own);

/*
 * Has another server told, since the last step, that it yields to its users?  This reads
 * a few small files.
 */
extern bool host_directory_hears_cut(void);

/* Takes back what was told. */
extern void host_directory_leave(void);

#endif							/* SWEEP_HOST_DIRECTORY_H */
