/*
 * rules.h
 *		The thresholds that hold for tables without any of their own.  They
 *		come from the settings, core's and pg_sweep's.
 */
#ifndef SWEEP_RULES_H
#define SWEEP_RULES_H

#include "postgres.h"

#include "exported.h"
#include "policy/insert.h"
#include "policy/threshold.h"

/*
 * The settings that they come from.  Names are those of the settings, and
 * core's have the prefix autovacuum.
 */
typedef struct RuleSettings
{
	int			vacuum_threshold;	/* -1, here and below: core's */
	double		vacuum_scale_factor;
	int			catalog_threshold;
	double		catalog_scale_factor;
	double		insert_cache_fraction;
	int			min_interval_s; /* -1: less after short vacuums */

	bool		autovacuum;		/* core's daemon comes */
	int			autovacuum_naptime_s;
	int			autovacuum_threshold;
	double		autovacuum_scale_factor;
	double		autovacuum_max_threshold;	/* negative: none */
	int			autovacuum_insert_threshold;
	double		autovacuum_insert_scale_factor;
	int			autovacuum_analyze_threshold;
	double		autovacuum_analyze_scale_factor;
} RuleSettings;

/*
 * Is it one of the server's own tables, or the TOAST table of one?
 * pg_largeobject is none of them: what is in it is users' data.
 */
extern bool rules_is_catalog(Oid relid);

/* Those in force. */
extern PGDLLEXPORT RuleSettings rules_settings(void);

/* For catalogs, or for other tables. */
extern ThresholdSettings rules_thresholds(bool catalog);
extern PGDLLEXPORT ThresholdSettings rules_thresholds_by(const RuleSettings *s, bool catalog);

/* The rules for inserted rows, for tables with such thresholds. */
extern InsertSettings rules_inserts(const ThresholdSettings *settings);
extern PGDLLEXPORT InsertSettings rules_inserts_by(const RuleSettings *s, const ThresholdSettings *settings);

/* The shortest time between two vacuums of a table, in seconds. */
extern PGDLLEXPORT double rules_min_interval_by(const RuleSettings *s, bool catalog);

/*
 * May it be a large table that takes rows, and of which nobody knows how much
 * is frozen?  It is no catalog, and nothing is remembered of it.  Then a
 * worker looks, and remembers what it finds.
 */
extern bool rules_worth_a_look(const ThresholdSettings *settings, int64 live, int64 ins);

#endif							/* SWEEP_RULES_H */
