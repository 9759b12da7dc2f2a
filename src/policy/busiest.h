/*
 * policy/busiest.h
 *		Which tables of an hour are kept by name, where not all are.  Pure.
 */
#ifndef SWEEP_POLICY_BUSIEST_H
#define SWEEP_POLICY_BUSIEST_H

#include <stdint.h>

typedef struct BusiestTable
{
	int64_t		cost;			/* of its vacuums */
	int64_t		changes;		/* by users */
	int			id;				/* the caller's */
} BusiestTable;

/*
 * Brings those that are kept to the front, and returns how many they are: limit
 * at most.  Half the places are for the vacuums that cost most.  The other half
 * is for the tables that changed most among those that are left.
 */
extern int	busiest_choose(BusiestTable *tables, int count, int limit);

#endif							/* SWEEP_POLICY_BUSIEST_H */
