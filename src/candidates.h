/*
 * candidates.h
 *		The tables of one database, with all that is needed to decide.
 */
#ifndef SWEEP_CANDIDATES_H
#define SWEEP_CANDIDATES_H

#include "postgres.h"

#include "nodes/pg_list.h"
#include "utils/rel.h"

#include "policy/score.h"
#include "policy/threshold.h"
#include "shmem.h"

/* Whose a table is: catalogs come first, see sweep.scope. */
typedef enum Lane
{
	LANE_CATALOG,				/* pg_catalog and its TOAST tables */
	LANE_AUX,					/* other TOAST tables, sweep.aux_schemas */
	LANE_USER
} Lane;

typedef struct Candidate
{
	DecisionKey key;			/* dboid invalid: shared catalog */
	Lane		lane;
	char		relkind;
	char		schemaname[NAMEDATALEN];
	char		relname[NAMEDATALEN];
	bool		catalog;
	bool		catalog_horizon;	/* logical slots hold its rows back */
	bool		temporary;
	AutoVacOpts *opts;			/* NULL: none */
	bool		enabled;		/* autovacuum_enabled */
	double		reltuples;
	int64		pages;
	int64		frozen_pages;
	int64		live;
	int64		dead;
	int64		ins;
	int64		mod;			/* since the last ANALYZE */
	Thresholds	thresholds;
	Score		score;
	bool		wraparound_near;	/* core's own vacuum is close */
} Candidate;

/*
 * Reads all tables of this database that have statistics; in a transaction of
 * its own; the list and its contents are in the current memory context.
 */
extern List *candidates_read(void);

/* The same within the caller's transaction. */
extern List *candidates_collect(void);

extern const char *lane_name(Lane lane);

/* Reads one again; false when it is gone.  Its own transaction. */
extern bool candidate_refresh(Candidate *c);

/* Counters and what follows from them, without a transaction. */
extern bool candidate_count(Candidate *c);

extern bool candidate_is_due(const Candidate *c);

#endif							/* SWEEP_CANDIDATES_H */
