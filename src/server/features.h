/*
 * features.h
 *		What reads private structures of the server, and whether it may.
 */
#ifndef SWEEP_FEATURES_H
#define SWEEP_FEATURES_H

#include "postgres.h"

#include "exported.h"

typedef enum SweepFeature
{
	FEATURE_METER,				/* progress entry, buffer and WAL usage */
	FEATURE_LOCKS,				/* this process's lock list */
	FEATURE_SCOUT,				/* shared statistics of all databases */
	FEATURE_WORKER,				/* process flags, horizon */
	FEATURE_COUNT
} SweepFeature;

typedef enum FeatureState
{
	FEATURE_UNCHECKED = 0,
	FEATURE_OK,
	FEATURE_BAD
} FeatureState;

extern const char *feature_name(SweepFeature feature);
extern const char *feature_reason(SweepFeature feature);

extern PGDLLEXPORT bool feature_is_ok(SweepFeature feature);

/*
 * Checks all that was not checked yet, and says what failed.  The caller is
 * in a transaction.
 */
extern void features_check(void);

#endif							/* SWEEP_FEATURES_H */
