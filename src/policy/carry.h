/*
 * policy/carry.h
 *		What a server leaves for the next start, or for the standby that takes
 *		over, and what that makes of it.  Pure.
 *
 * Statistics do not travel to a standby, and a crash loses them.  So what is
 * known of the tables is noted in the WAL now and then.
 */
#ifndef SWEEP_POLICY_CARRY_H
#define SWEEP_POLICY_CARRY_H

#include <stdbool.h>
#include <stdint.h>

/*
 * What is known of a table, so much of its counters.  Either the server's own,
 * or what they would be if nothing had been lost.
 */
typedef struct CarryCounts
{
	int64_t		vacuums;
	int64_t		analyzes;
	int64_t		dead;			/* rows */
	int64_t		ins;			/* rows since the last vacuum */
} CarryCounts;

/*
 * What is to be added to the server's own counters of a table, because of what
 * was there before they began.  It may be negative, where the counters are of
 * an earlier time at which this server was the primary.
 */
typedef struct CarryOver
{
	bool		on;
	int64_t		vacuums;		/* it counts until the next vacuum ... */
	int64_t		analyzes;		/* ... and dead until the next ANALYZE, which
								 * counts dead rows itself */
	int64_t		dead;
	int64_t		ins;
} CarryOver;

extern void carry_add(const CarryOver *over, int64_t vacuums, int64_t analyzes,
					  int64_t *dead, int64_t *ins);

/*
 * What follows for a table of which that was noted.  `then` is what was known,
 * with `noted` in it.  `own` are the counters of now.  same: these are the
 * statistics of then, and nothing was lost.
 */
extern CarryOver carry_take(const CarryOver *noted, const CarryCounts *then,
							const CarryCounts *own, bool same);

/* How near is the table to its thresholds?  1: just due.  Negative: none. */
extern double carry_share(double dead, double dead_threshold, double ins, double ins_threshold);

/* Tables below this share are left out of a note. */
#define CARRY_LEAST		(1.0 / 32)

/* With this share a table that is not in the last note is worth a new one. */
#define CARRY_STEP		0.25

/* Has a table's share changed so much that it is worth a new note? */
extern bool carry_is_material(double then, double now);

/*
 * May a table that is not in the note be taken for one without garbage?
 * floor: those below were left out.
 */
extern bool carry_rest_is_clean(double floor);

/*
 * What notes may take, in bytes of WAL.  What is not used adds up to a
 * certain amount.
 */
#define CARRY_BYTES_PER_HOUR	(1024 * 1024)
#define CARRY_BYTES_BURST		(128 * 1024)

typedef struct CarryBudget
{
	int64_t		at_us;			/* by a steady clock (0: not begun) */
	double		bytes;
} CarryBudget;

/* A note may be larger than all that adds up.  Then it waits longer. */
extern bool carry_may_write(CarryBudget *budget, int64_t now_us, double bytes);
extern void carry_wrote(CarryBudget *budget, double bytes);

#endif							/* SWEEP_POLICY_CARRY_H */
