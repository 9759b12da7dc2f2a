/*
 * give_way.h
 *		Users who want a lock that an own worker holds.
 */
#ifndef SWEEP_GIVE_WAY_H
#define SWEEP_GIVE_WAY_H

#include "postgres.h"

#include "datatype/timestamp.h"

#define GIVE_WAY_LOOK_MS	50	/* between two looks */

/*
 * Cancels own vacuums that users have waited for, and ends workers that
 * ignore it.  Returns false if no worker has claimed a table.  Only the
 * governor calls it.
 */
extern bool give_way_look(TimestampTz now);

#endif							/* SWEEP_GIVE_WAY_H */
