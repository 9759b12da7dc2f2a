/*
 * clean_lane.h
 *		A worker cleans large tables whose garbage is sparse, without being
 *		asked.
 */
#ifndef SWEEP_CLEAN_LANE_H
#define SWEEP_CLEAN_LANE_H

#include "worker/candidate.h"

/* Looks at what the scout has found, and cleans what is worth it. */
extern void clean_lane(bool (*must_stop) (void));

/* Notes whether somebody wants this table cleaned, by sweep.set(). */
extern void clean_lane_survey(const Candidate *c);

/* May this table be cleaned at all, by sweep.cleaner or a setting of its own? */
extern bool clean_lane_allows(const Candidate *c);

#endif							/* SWEEP_CLEAN_LANE_H */
