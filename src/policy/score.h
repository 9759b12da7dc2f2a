/*
 * policy/score.h
 *		How urgent is a table?  Pure.
 *
 * The parts have the names and the meaning of PostgreSQL 19's
 * pg_stat_autovacuum_scores: each is what there is, divided by what is
 * allowed, so 1 is due.
 */
#ifndef SWEEP_POLICY_SCORE_H
#define SWEEP_POLICY_SCORE_H

#include "threshold.h"

typedef struct Score
{
	double		vacuum_score;
	double		vacuum_insert_score;
	double		score;			/* the largest part */
} Score;

extern Score score_compute(const Thresholds *t, int64_t dead_tuples,
						   int64_t ins_since_vacuum);

#endif							/* SWEEP_POLICY_SCORE_H */
