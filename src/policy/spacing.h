/*
 * policy/spacing.h
 *		When may vacuums begin where a standby's queries can be cancelled by
 *		them?  Pure.
 */
#ifndef SWEEP_POLICY_SPACING_H
#define SWEEP_POLICY_SPACING_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Vacuums begin at the launcher's first look after autovacuum's worker came.
 * So much longer may a worker of ours take to start.  Tables that become due
 * later wait for the next time: each record that comes by itself cancels
 * queries of its own.
 */
#define SPACING_START_MS	500

/* By the clock they may begin for so long, and for two looks at least. */
#define SPACING_WINDOW_MS	3000

/* So late may autovacuum come, beyond half of its naptime. */
#define SPACING_LATE_MS		5000

typedef struct SpacingMoment
{
	int64_t		now_ms;
	int64_t		core_came_ms;	/* last to this database (0: never) */
	int64_t		core_naptime_ms;
	int64_t		look_ms;		/* between two looks of ours */
} SpacingMoment;

/*
 * A query is cancelled by the first record that it cannot outlast.  Any
 * number of records that come together with that one cost nothing more.  So
 * vacuums begin together with autovacuum's, once in its naptime.  Where
 * autovacuum does not come, they begin as often by the clock.
 */
extern bool spacing_lets_begin(const SpacingMoment *m);

#endif							/* SWEEP_POLICY_SPACING_H */
