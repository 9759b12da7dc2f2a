/*
 * policy/clean_plan.h
 *		Are a table's dead rows removed one by one, or are they left to a
 *		vacuum?  Pure.
 */
#ifndef SWEEP_POLICY_CLEAN_PLAN_H
#define SWEEP_POLICY_CLEAN_PLAN_H

#include <stdbool.h>

/* Smaller tables are vacuumed in no time.  64 MB. */
#define CLEAN_LEAST_PAGES	8192

/* What nobody would call garbage, however small the scale factor.  As core's. */
#define CLEAN_LEAST_ROWS	50

/*
 * So many new dead rows, as a fraction of the table's, are worth a look at the
 * pages that are in memory.
 */
#define CLEAN_LOOK_SCALE	0.0001

/*
 * A table that reaches its vacuum threshold sooner than this is left to that
 * vacuum.  For each row, a vacuum of a table full of garbage is much cheaper
 * than cleaning.  Cleaning is for tables that would keep their garbage long.
 */
#define CLEAN_SLOW_S		3600.0

/* Dead rows that must be exceeded, of so many rows. */
extern double clean_threshold(double rows);

/*
 * Will the table keep its garbage for long?  dead_then are the dead rows of
 * `seconds` ago, vacuum_at is the number that a vacuum waits for.
 */
extern bool clean_is_slow(double dead_then, double dead, double seconds, double vacuum_at);

#endif							/* SWEEP_POLICY_CLEAN_PLAN_H */
