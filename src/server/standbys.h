/*
 * standbys.h
 *		Standbys whose queries vacuums can cancel, and what is then done.
 */
#ifndef SWEEP_STANDBYS_H
#define SWEEP_STANDBYS_H

#include "postgres.h"
#include "datatype/timestamp.h"

#include "exported.h"

/*
 * Is there such a standby?  Then vacuums are as rare as autovacuum's.
 * Core's thresholds count for catalogs and new rows, and nothing is frozen
 * early.  See also standbys_let_begin().
 */
extern PGDLLEXPORT bool standbys_can_conflict(void);

/* Says in words why there is one.  NULL if there is none. */
extern const char *standbys_why(char *text, size_t size);

/*
 * May a vacuum begin now in that database?  InvalidOid asks about a shared
 * catalog, vacuumed from this one.  It always may where no standby can
 * conflict.
 */
extern bool standbys_let_begin(Oid dboid);

/*
 * For a worker: what may begin now may begin until its visit ends, as with a
 * core worker.
 */
extern void standbys_visit_begins(void);

/*
 * For the launcher, once a round.  Returns true if the answer has changed.
 * Then what was decided about the tables has to be decided again.
 */
extern bool standbys_watch(TimestampTz now);

#endif							/* SWEEP_STANDBYS_H */
