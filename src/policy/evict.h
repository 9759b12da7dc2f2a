/*
 * policy/evict.h
 *		Which decisions make room for another one.  Pure.
 */
#ifndef SWEEP_POLICY_EVICT_H
#define SWEEP_POLICY_EVICT_H

#include <stdint.h>

/* What is lost with a decision?  The least comes first. */
typedef enum EvictClass
{
	EVICT_IDLE,					/* nothing before the table's next survey */
	EVICT_KNOWN,				/* what its last vacuum came to */
	EVICT_LOOK,					/* a worker would look in vain, again and
								 * again */
	EVICT_WAIT,					/* it would be vacuumed too early */
	EVICT_NEVER,				/* a user's word */
	EVICT_CLASSES
} EvictClass;

#define EVICT_AGES	32
#define EVICT_RANKS	(EVICT_CLASSES * EVICT_AGES)

/*
 * Decisions of the lowest rank go first.  seconds is the time since it was
 * decided or, for what waits, until the wait is over.
 */
extern int	evict_rank(EvictClass class, int64_t seconds);

/*
 * counts has the number of decisions of each rank.  Those below the rank that
 * is returned make room for one of the newcomer's class.  They are at least
 * `wanted`, if there are so many that may go.  A decision gives way to its
 * like only where nothing is in force.
 */
extern int	evict_below(const int *counts, EvictClass newcomer, int wanted);

#endif							/* SWEEP_POLICY_EVICT_H */
