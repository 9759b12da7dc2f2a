/*
 * policy/garbage.h
 *		How much garbage has a table whose counters are lost?  Pure.
 *
 * After a crash, a promotion or pg_stat_reset() the statistics say nothing of
 * what was there before.  Only the visibility map does.
 */
#ifndef SWEEP_POLICY_GARBAGE_H
#define SWEEP_POLICY_GARBAGE_H

#include <stdint.h>

/* At most so many rows: those of the pages that are not all-visible. */
extern double garbage_guess(double reltuples, double pages, double visible_pages);

/* Smaller tables do not need a turn of their own. */
#define GARBAGE_OWN_TURN_PAGES	128

/*
 * When is a table's turn, in milliseconds from the loss?  The tables spread
 * evenly over the whole time, each always at the same place in it.  The small
 * tables of a database have their turn together, which is also the
 * database's.
 */
extern int64_t garbage_turn_ms(uint32_t dboid, uint32_t relid, int64_t pages,
							   int64_t whole_ms);

#endif							/* SWEEP_POLICY_GARBAGE_H */
