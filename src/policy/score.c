/*
 * policy/score.c
 *		How urgent is a table?  Pure.
 */
#include "score.h"

#include <math.h>

static double
larger(double a, double b)
{
	return a > b ? a : b;
}

static double
part_of_tuples(int64_t have, double allowed, double weight)
{
	if (allowed < 0 || have <= 0)
		return 0;

	/* as in core, a threshold below one tuple counts as one */
	return (double) have / larger(allowed, 1) * weight;
}

/*
 * Beyond the failsafe age nothing else may come first.  There core raises the
 * ratio to a power, if that makes it larger.  With a larger weight that
 * begins earlier.  In core the failsafe ages are whole numbers.
 */
static double
part_of_age(const ScoreAge *a, double weight)
{
	double		part = (double) a->age / larger(a->limit, 1);
	double		failsafe = trunc(larger(a->failsafe, a->server_limit * 1.05));

	if (a->age <= 0)
		return 0;
	if (weight > 1)
		failsafe = trunc(failsafe / weight);
	if (a->age >= failsafe && part > 1)
		part = pow(part, larger(1, a->age / 100000000.0));
	return part * weight;
}

Score
score_compute(const ScoreInput *in)
{
	Score		s;

	s.xid_score = part_of_age(&in->xid, in->weights.xid);
	s.mxid_score = part_of_age(&in->mxid, in->weights.mxid);
	s.vacuum_score = part_of_tuples(in->dead_tuples, in->thresholds.vacuum,
									in->weights.vacuum);
	s.vacuum_insert_score = part_of_tuples(in->ins_since_vacuum, in->thresholds.insert,
										   in->weights.vacuum_insert);
	s.analyze_score = part_of_tuples(in->mod_since_analyze, in->thresholds.analyze,
									 in->weights.analyze);

	s.score = larger(s.xid_score, s.mxid_score);
	s.score = larger(s.score, s.vacuum_score);
	s.score = larger(s.score, s.vacuum_insert_score);
	return s;
}
