/*
 * policy/backoff.h
 *		How long to leave something alone after it failed.  Pure.
 */
#ifndef SWEEP_POLICY_BACKOFF_H
#define SWEEP_POLICY_BACKOFF_H

#include <stdint.h>

/*
 * The first failure (failures = 1) waits base_ms.  Each further one doubles
 * that, up to max_ms.  With failures <= 0 there is no wait.
 */
extern int64_t backoff_ms(int64_t base_ms, int64_t max_ms, int failures);

/*
 * The base for a run that was cancelled because somebody waited for its lock,
 * after took_ms.  A short run may come again soon, and a long one after five
 * minutes.  Up to 15 s, what is lost is at most a twentieth of the time.
 */
extern int64_t backoff_gave_way_ms(int64_t took_ms);

#endif							/* SWEEP_POLICY_BACKOFF_H */
