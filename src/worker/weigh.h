/*
 * weigh.h
 *		What follows from a table's numbers: thresholds, score, is it due?
 */
#ifndef SWEEP_WEIGH_H
#define SWEEP_WEIGH_H

#include "state/worth_tables.h"
#include "worker/candidate.h"

/* What holds for all tables that are weighed together. */
typedef struct Weighing
{
	TimestampTz now;
	TimestampTz history_begins; /* of the statistics */
	int64		checkpoint_ms;	/* until the next one */
	TimestampTz looked_at;		/* when all tables were last looked at */
	bool		trial;			/* vacuums are only noted */
	bool		carried;		/* nothing is lost: it was carried over */
	int64		horizon_age[2]; /* of tables, of catalogs: no vacuum makes
								 * anything younger */
	int64		mxid_horizon_age;	/* the same of multixacts */
	double		ids_us;			/* transaction ids used in a microsecond (0:
								 * not known yet) */
	int			lossy_count;	/* tables whose index scans have lost much */
	WorthDue	lossy[WORTH_TABLES_LIMIT];
} Weighing;

extern void weighing_begin(Weighing *w);

/* This process is a worker, which notes vacuums in mode observe. */
extern void weighing_is_by_worker(void);

/*
 * Called inside a transaction, in the memory context that the candidate lives
 * in.  May take the table's AccessShareLock for a moment, if it is free.
 */
extern void candidate_weigh(Candidate *c, const Weighing *w);

#endif							/* SWEEP_WEIGH_H */
