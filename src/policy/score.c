/*
 * policy/score.c
 *		How urgent is a table?  Pure.
 */
#include "score.h"

static double
score_part(int64_t have, double allowed)
{
	if (allowed < 0 || have <= 0)
		return 0;

	/* as core: a threshold below one tuple counts as one */
	return (double) have / (allowed < 1 ? 1 : allowed);
}

Score
score_compute(const Thresholds *t, int64_t dead_tuples, int64_t ins_since_vacuum)
{
	Score		s;

	s.vacuum_score = score_part(dead_tuples, t->vacuum);
	s.vacuum_insert_score = score_part(ins_since_vacuum, t->insert);
	s.score = s.vacuum_score > s.vacuum_insert_score ?
		s.vacuum_score : s.vacuum_insert_score;
	return s;
}
