/*
 * decision_expiry.h
 *		When a decision is over, and its table is looked at again.
 */
#ifndef SWEEP_DECISION_EXPIRY_H
#define SWEEP_DECISION_EXPIRY_H

#include "state/decisions.h"

/* The launcher has seen that many inserted rows in this round. */
extern void decision_see(const Decision *decision, int64 ins, TimestampTz now);

/* As far as time is concerned, when should the table be looked at again? */
extern TimestampTz decision_time(const Decision *decision, int64 ins);

/* The launcher has seen that many dead rows in a table that is held back. */
extern void decision_see_dead(const Decision *decision, int64 dead);

/*
 * Has the table taken no more rows for a while, as the launcher has seen it?
 */
extern bool decision_inserts_ended(const Decision *decision, int64 ins, TimestampTz now);

typedef struct DecisionMoment
{
	TimestampTz now;
	int64		checkpoint_ms;	/* until the next one */
	TimestampTz vacuumed_at;	/* the table, by whomever; 0: not known */
	int64		vacuums;		/* of the table so far (0: not known) */
	double		fit_pages;		/* see insert_fit_pages() */
} DecisionMoment;

/* How long before a checkpoint does the vacuum of a table begin? */
extern int64 decision_lead_ms(const TableMemory *memory);
extern bool decision_checkpoint_is_near(const TableMemory *memory, int64 checkpoint_ms);

/*
 * For a table that is held back: is another vacuum worth it?  It is if it can
 * remove enough of the dead rows.  dead is 0 if the table is not due by them.
 * If the table is due by inserted rows, it is also worth it when it can make
 * those visible to all.
 */
extern bool decision_horizon_allows(const Decision *decision, int64 dead, bool by_ins,
									FullTransactionId horizon);

/*
 * Should the table be looked at again, with these counters, at this moment?
 * horizon() is called only when the decision depends on it.
 */
extern bool decision_is_over(const Decision *decision, int64 dead, int64 ins,
							 const DecisionMoment *moment,
							 FullTransactionId (*horizon) (bool catalog, void *arg), void *arg);

#endif							/* SWEEP_DECISION_EXPIRY_H */
