/*
 * policy/free_slots.h
 *		How many background workers are left to others.  Pure.
 */
#ifndef SWEEP_POLICY_FREE_SLOTS_H
#define SWEEP_POLICY_FREE_SLOTS_H

#include <stdbool.h>

typedef struct FreeSlots
{
	int			free;			/* of max_worker_processes */
	int			ours;			/* workers of ours that run or are starting */
	int			subscriptions;	/* that are enabled */
	int			logical;		/* workers of logical replication that run */
	int			max_logical;	/* max_logical_replication_workers */
	bool		in_parallel;	/* queries have run in parallel lately */
	int			parallel;		/* workers of theirs that run */
	int			max_parallel;	/* max_parallel_workers */
} FreeSlots;

/* How many more do replication and users' queries want? */
extern int	free_slots_wanted(const FreeSlots *s);

/*
 * How many would be left if they had all, and as many workers of ours ran as
 * may?
 */
extern int	free_slots_spare(const FreeSlots *s, int most_ours);

/*
 * May one more worker of ours begin?  The first may as long as there is any
 * slot, or nothing would be vacuumed.
 */
extern bool free_slots_let_begin(const FreeSlots *s);

/* Must workers that wait for more work leave? */
extern bool free_slots_are_short(const FreeSlots *s);

#endif							/* SWEEP_POLICY_FREE_SLOTS_H */
