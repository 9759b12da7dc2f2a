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
 * and dirty anyway.  Rows that will soon be updated would be frozen in vain.
 *
 * inserted and changed (updated or deleted) count since the last vacuum.
 * before is what was decided then.  It takes less to stay than to begin.
 */
extern bool freeze_eagerly(bool before, int64_t inserted, int64_t changed);

/*
 * Pages that somebody else's vacuum has made all-visible and did not freeze
 * are skipped by an ordinary vacuum.  One that freezes all would read them
 * again.  So an aggressive vacuum goes over them while they are in memory.
 * cold is how many of them are not, and would be read.  More than half of the
 * buffers would leave the memory before it comes to them.
 */
extern bool freeze_catches_up(int64_t unfrozen, int64_t cold, int64_t buffers);

/*
 * Freezing ahead of autovacuum.  Ages are numbers of transaction ids, or of
 * multixacts.
 */
typedef struct FreezeAge
{
	int64_t		age;			/* of the table's oldest id */
	int64_t		limit;			/* at which autovacuum vacuums it in any case
								 * (0: multixact members are used up) */
	int64_t		least;			/* that a vacuum can bring it down to now: the
								 * horizon's */
} FreezeAge;

/*
 * The age at which a table is frozen, as a share of its limit.  It differs
 * from table to table, so that tables that became equally old, by a restore or
 * an upgrade, are not frozen all at once.  early: its rows do not change, and
 * were not frozen yet.  What is frozen then stays so and is not read again.
 */
extern double freeze_ahead_share(uint32_t relid, bool early);

/* No table is frozen ahead below this share. */
extern double freeze_ahead_least(void);

/* Is the table frozen now?  Not while a vacuum could hardly make it younger. */
extern bool freeze_ahead_is_due(const FreezeAge *age, double share);

/*
 * Rows of a table that changes are frozen when they are older than this: the
 * others may be changed again soon.
 */
extern int64_t freeze_ahead_min_age(int64_t limit);

#endif							/* SWEEP_POLICY_FREEZE_H */
