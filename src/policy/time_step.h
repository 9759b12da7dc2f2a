/*
 * policy/time_step.h
 *		Sums over the last hour and the last day, kept in steps of time.  Pure.
 *
 * Times are microseconds of any clock, and 0 is no time.
 */
#ifndef SWEEP_POLICY_TIME_STEP_H
#define SWEEP_POLICY_TIME_STEP_H

#include <stdbool.h>
#include <stdint.h>

/* The beginning of the step of that length in which a moment is. */
extern int64_t time_step_begin(int64_t at, int64_t length);

/*
 * Does the step belong to the last span, as far as whole steps can tell?  One
 * that has not begun is of a clock that has been set back, and does not.
 */
extern bool time_step_is_within(int64_t begin, int64_t length, int64_t now, int64_t span);

/* Since when the steps within the last span tell all, when all is known since then. */
extern int64_t time_step_since(int64_t known, int64_t length, int64_t now, int64_t span);

/*
 * Which of the steps is, or becomes, the one that begins then.  It is its
 * own, else a free one, else the oldest.  -1 if all are younger.
 */
extern int	time_step_for(const int64_t *begins, int count, int64_t begin);

/* What is kept at a place, of a table and an hour. */
typedef struct TimeStepPlace
{
	int64_t		begin;			/* 0: nothing */
	int64_t		cost;
} TimeStepPlace;

/*
 * Which place makes room.  It is a free one or one from before oldest, else
 * the one that costs least.
 */
extern int	time_step_makes_room(const TimeStepPlace *places, int count, int64_t oldest);

#endif							/* SWEEP_POLICY_TIME_STEP_H */
