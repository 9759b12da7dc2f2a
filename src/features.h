/*
 * features.h
 *		What reads private structures of the server, and whether it may.
 */
#ifndef SWEEP_FEATURES_H
#define SWEEP_FEATURES_H

#include "shmem.h"

extern const char *feature_name(SweepFeature feature);
extern const char *feature_reason(SweepFeature feature);

static inline bool
feature_is_ok(SweepFeature feature)
{
	return pg_atomic_read_u32(&sweep_shared->features[feature]) == FEATURE_OK;
}

/* Validates all that was not yet; inside a transaction.  Says what failed. */
extern void features_check(void);

#endif							/* SWEEP_FEATURES_H */
