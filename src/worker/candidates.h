/*
 * candidates.h
 *		Reads the tables of one database.
 */
#ifndef SWEEP_CANDIDATES_H
#define SWEEP_CANDIDATES_H

#include "postgres.h"

#include "catalog/pg_class.h"
#include "nodes/pg_list.h"

#include "exported.h"
#include "worker/candidate.h"

/*
 * Looks at one table while all are read.  Only those for which it returns true
 * are kept.  What it allocates is gone after it.  The table's row of pg_class
 * is in its buffer.
 */
typedef bool (*CandidateVisitor) (Candidate *c, Form_pg_class form, void *arg);

/*
 * Reads all tables of this database that have statistics, in a transaction of
 * its own.  The list and its contents are in the current memory context.
 * Without a visitor all are kept, which takes about 800 bytes each.
 */
extern List *candidates_read(bool catalogs_only, CandidateVisitor visit, void *arg);

/*
 * Reads only these tables, without a pass over pg_class.  Those that are gone
 * or have no statistics are left out.
 */
extern List *candidates_named(const DecisionKey *keys, int n);

/* The same within the caller's transaction. */
extern PGDLLEXPORT List *candidates_collect(bool catalogs_only, CandidateVisitor visit, void *arg);
extern List *candidates_collect_named(const DecisionKey *keys, int n);

/*
 * Reads one table, whether it has statistics or not, in a transaction of its
 * own.  NULL if the table is gone.
 */
extern Candidate *candidate_find(Oid relid);

/*
 * These read one table again, in a transaction of their own, and return false
 * when it is gone.  candidate_refresh() also returns false when it has no
 * statistics.
 */
extern bool candidate_refresh(Candidate *c);
extern bool candidate_is_there(Candidate *c);

/* The thresholds of a table, where those of all others would be these. */
extern PGDLLEXPORT ThresholdSettings candidate_thresholds(const CandidateRules *rules, ThresholdSettings s);

#endif							/* SWEEP_CANDIDATES_H */
