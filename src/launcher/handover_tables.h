/*
 * handover_tables.h
 *		The tables of which a note tells.  Launcher only.
 */
#ifndef SWEEP_HANDOVER_TABLES_H
#define SWEEP_HANDOVER_TABLES_H

#include "postgres.h"

#include "datatype/timestamp.h"

#include "policy/carry.h"
#include "policy/threshold.h"
#include "state/carried.h"
#include "state/decisions.h"

/* What is lost with a table that is left out.  The greatest come first. */
typedef enum PickClass
{
	PICK_SHARE,					/* as much as its share says */
	PICK_WAITS,					/* it would be vacuumed too early */
	PICK_SNOOZED				/* a user's word */
} PickClass;

typedef struct Pick
{
	DecisionKey key;
	PickClass	class;
	double		share;			/* see carry_share() */
	CarryCounts counts;			/* with what was carried over */
	int64		inserted;
	int64		changed;
	TimestampTz snoozed_until;	/* 0: it is not */
	double		dead_threshold;
	double		ins_threshold;
} Pick;

/* In one look.  There are twice as many places as a note has. */
typedef struct HandoverLook
{
	Pick	   *picks;
	int			count;
	double		floor;			/* tables with a lower share are left out */
	TimestampTz now;
	ThresholdSettings settings[2];	/* of tables, of catalogs */
	bool		only_stale;		/* those without a decision */
} HandoverLook;

/* Both are in the current memory context. */
extern void handover_tables_begin(HandoverLook *look, TimestampTz now);

/* Picks the tables that matter, in the order of their keys. */
extern void handover_tables_pick(HandoverLook *look);

/* Are their keys in that order? */
extern int	handover_tables_compare(const Pick *x, const Pick *y);

/* A decision for a table about which nothing was decided. */
extern void handover_tables_decide(Decision *d, const Pick *p, TimestampTz now);

/* By which are the present statistics known? */
extern StatsMark handover_tables_statistics(void);

#endif							/* SWEEP_HANDOVER_TABLES_H */
