/*
 * decisions.h
 *		What was decided last about each table that looked due.
 */
#ifndef SWEEP_DECISIONS_H
#define SWEEP_DECISIONS_H

#include "shmem.h"

#define DECISION_REASON_LEN		160

extern const char *decision_name(int kind);

/* In words; text has room for DECISION_REASON_LEN bytes. */
extern void decision_reason(const Decision *d, char *text);

/* A copy of what is remembered; false if nothing is. */
extern bool decision_get(DecisionKey key, Decision *decision);

/*
 * Remembers a decision; first_at and times are kept up here.  When there is no
 * room it is dropped and counted.
 */
extern void decision_put(const Decision *decision);

/*
 * Leaves the table alone until decision->not_before, whatever is decided about
 * it meanwhile; false: there is no room.  What was known of it is kept.
 */
extern bool decision_snooze(const Decision *decision);
extern void decision_unsnooze(DecisionKey key);

/* The tables of a database that are snoozed now, palloc'd. */
extern Oid *decision_snoozed_tables(Oid dboid, int *count);

/* Forgets the tables for which keep() is false. */
extern void decision_forget(bool (*keep) (const Decision *decision, void *arg), void *arg);

/* Copies all, palloc'd, in no order. */
extern Decision *decision_copy(int *count);

/* For the scout: many look-ups under one lock. */
extern void decisions_lock(void);
extern const Decision *decision_find(DecisionKey key);
extern void decisions_unlock(void);

/* The launcher has seen so many inserted rows at this round. */
extern void decision_see(const Decision *decision, int64 ins, TimestampTz now);

/* Has the table taken no more rows for a while?  As the launcher has seen it. */
extern bool decision_inserts_ended(const Decision *decision, int64 ins, TimestampTz now);

typedef struct DecisionMoment
{
	TimestampTz now;
	int64		checkpoint_ms;	/* until the next one */
} DecisionMoment;

/* So long before a checkpoint a table's vacuum begins. */
extern int64 decision_lead_ms(const TableMemory *memory);
extern bool decision_checkpoint_is_near(const TableMemory *memory, int64 checkpoint_ms);

/*
 * Should the table be looked at again, with these counters, at this moment?
 * horizon is asked only when the decision depends on it.
 */
extern bool decision_is_over(const Decision *decision, int64 dead, int64 ins,
							 const DecisionMoment *moment,
							 FullTransactionId (*horizon) (bool catalog, void *arg), void *arg);

#endif							/* SWEEP_DECISIONS_H */
