/*
 * weigh.h
 *		What follows from a table's numbers: thresholds, score, is it due?
 */
#ifndef SWEEP_WEIGH_H
#define SWEEP_WEIGH_H

#include "candidates.h"
#include "policy/insert.h"

/* What holds for all tables that are weighed together. */
typedef struct Weighing
{
	TimestampTz now;
	TimestampTz history_begins; /* of the statistics */
	int64		checkpoint_ms;	/* until the next one */
	TimestampTz looked_at;		/* when all tables were last looked at */
} Weighing;

/* The rules for tables with such thresholds. */
extern InsertSettings weigh_insert_settings(const ThresholdSettings *settings);

extern void weighing_begin(Weighing *w);

/* The insert thresholds, when only the candidate's memory has changed since. */
extern void weigh_again(Candidate *c);

/* Does a table whose counters were lost still have its turn to come, and when? */
extern bool weigh_turn_comes(const Candidate *c, TimestampTz *at);

/*
 * Inside a transaction, in the memory context that the candidate lives in.
 * May take a table's AccessShareLock for a moment, if it is free.
 */
extern void candidate_weigh(Candidate *c, const Weighing *w);

/* Of one that is due, in words. */
extern void candidate_why_due(const Candidate *c, char *text, size_t size);

#endif							/* SWEEP_WEIGH_H */
