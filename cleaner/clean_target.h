/*
 * clean_target.h
 *		A table that can be cleaned, open and locked with its indexes.
 */
#ifndef CLEAN_TARGET_H
#define CLEAN_TARGET_H

#include "postgres.h"

#include "nodes/bitmapset.h"
#include "nodes/execnodes.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#define CLEAN_INDEXES_MAX	32

typedef struct CleanIndex
{
	Relation	rel;
	IndexInfo  *info;
	ExprState  *predicate;		/* NULL: it is not partial */
} CleanIndex;

typedef struct CleanTarget
{
	Relation	heap;
	int			btrees;			/* the others, of BRIN, hold no row pointers */
	CleanIndex	indexes[CLEAN_INDEXES_MAX]; /* the btrees */
	Bitmapset  *columns;		/* that they use */
	GlobalVisState *vistest;

	/* while keys are computed */
	EState	   *estate;
	TupleTableSlot *slot;
	Oid			saved_user;
	int			saved_security;
	int			guc_level;
} CleanTarget;

/* Why not, where somebody else has the table or an index of it. */
extern const char clean_not_available[];

/*
 * Locks and opens a table as far as that needs no waiting, and becomes its
 * owner.  Returns false with a reason if it cannot be cleaned, or not now.
 * To be called in a transaction with an active snapshot.
 */
extern bool clean_target_open(Oid relid, CleanTarget *target, const char **why_not);

/* The locks stay until the transaction's end.  After an error it is not called. */
extern void clean_target_close(CleanTarget *target);

#endif							/* CLEAN_TARGET_H */
