/*
 * policy/held_back.h
 *		When to come again to a table whose dead rows were still needed.
 *		Pure.
 *
 * A dead row can be removed once the horizon has passed the transaction that
 * deleted it.  Nobody knows of which transactions the dead rows of a table
 * are.  They are taken to be spread evenly.
 */
#ifndef SWEEP_POLICY_HELD_BACK_H
#define SWEEP_POLICY_HELD_BACK_H

#include <stdbool.h>
#include <stdint.h>

typedef struct HeldBack
{
	/* transaction ids, with their epoch */
	uint64_t	from;			/* the horizon when the last vacuum began */
	uint64_t	start;			/* the next transaction then */
	uint64_t	horizon;		/* now */
	uint64_t	next;			/* the next transaction now */
	uint64_t	enough_at;		/* the next transaction when enough rows had
								 * died since that vacuum to be worth another
								 * one (0: not yet) */
	/* rows */
	double		not_removable;	/* rows that this vacuum had to leave */
	double		since;			/* rows that died since */
} HeldBack;

/* How many rows must be removable for another vacuum to be worth it? */
extern double held_back_enough(double threshold, double dead);

/* How many rows could be removed now, as far as can be told? */
extern double held_back_removable(const HeldBack *h);

/* Is it worth another vacuum? */
extern bool held_back_is_worth(const HeldBack *h, double threshold);

#endif							/* SWEEP_POLICY_HELD_BACK_H */
