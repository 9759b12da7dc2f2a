/*
 * policy/rotation.h
 *		In which order is a part of the cache looked at?  Pure.
 */
#ifndef SWEEP_POLICY_ROTATION_H
#define SWEEP_POLICY_ROTATION_H

#include <stdbool.h>

/*
 * The first half of a pass begins at the clock hand, which takes the buffers
 * behind it next: what is there is about to leave the cache.  The hand may
 * stand still while the cache is larger than a pass, so the other half goes on
 * where the last pass has ended, and passes over what this one has seen.
 */
typedef struct Rotation
{
	int			buffers;		/* in the whole cache */
	int			left;			/* so many are to be looked at yet */
	int			first;			/* the first half: from here, */
	int			ahead;			/* so many are left of it, */
	int			seen;			/* and so many are seen */
	int			at;				/* the other half goes on here */
} Rotation;

/* hand and last_end may be any numbers that are not negative. */
extern Rotation rotation_begin(int buffers, int wanted, int hand, int last_end);

/* The next buffers, `most` of them at most.  Returns how many (0: it is over). */
extern int	rotation_next(Rotation *r, int most, int *first);

/* Nothing more is wanted of the first half. */
extern void rotation_leave_hand(Rotation *r);

#endif							/* SWEEP_POLICY_ROTATION_H */
