/*
 * policy/score.h
 *		How urgent is a table?  Pure.
 *
 * The parts have the names and the meaning of PostgreSQL 19's
 * pg_stat_autovacuum_scores, on every server.  Each is what there is, divided
 * by what is allowed, times the part's weight.  With weights of 1, a table is
 * due by what is more than 1.
 *
 * Source: relation_needs_vacanalyze() in PostgreSQL 19's autovacuum.c.
 */
#ifndef SWEEP_POLICY_SCORE_H
#define SWEEP_POLICY_SCORE_H

#include "threshold.h"

/* autovacuum_*_score_weight.  19 has them, and elsewhere all are 1. */
typedef struct ScoreWeights
{
	double		xid;			/* autovacuum_freeze_score_weight */
	double		mxid;			/* autovacuum_multixact_freeze_score_weight */
	double		vacuum;
	double		vacuum_insert;
	double		analyze;
} ScoreWeights;

/* The age of a table's oldest transaction id, or of its oldest multixact. */
typedef struct ScoreAge
{
	int32_t		age;
	int32_t		limit;			/* the table's freeze_max_age */
	int32_t		server_limit;	/* autovacuum_freeze_max_age */
	int32_t		failsafe;		/* vacuum_failsafe_age */
} ScoreAge;

typedef struct ScoreInput
{
	Thresholds	thresholds;
	int64_t		dead_tuples;
	int64_t		ins_since_vacuum;
	int64_t		mod_since_analyze;
	ScoreAge	xid;
	ScoreAge	mxid;
	ScoreWeights weights;
} ScoreInput;

typedef struct Score
{
	double		xid_score;
	double		mxid_score;
	double		vacuum_score;
	double		vacuum_insert_score;
	double		analyze_score;
	double		score;			/* the largest part that a vacuum answers: all
								 * but analyze_score */
} Score;

extern Score score_compute(const ScoreInput *in);

#endif							/* SWEEP_POLICY_SCORE_H */
