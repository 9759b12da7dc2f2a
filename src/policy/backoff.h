/*
 * policy/backoff.h
 *		How long to leave something alone after it failed.  Pure.
 */
#ifndef SWEEP_POLICY_BACKOFF_H
#define SWEEP_POLICY_BACKOFF_H

#include <stdint.h>

/*
 * First failure (failures = 1): base_ms; doubled at each further one, at most
 * max_ms.  failures <= 0: no wait.
 */
extern int64_t backoff_ms(int64_t base_ms, int64_t max_ms, int failures);

#endif							/* SWEEP_POLICY_BACKOFF_H */
