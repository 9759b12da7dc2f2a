/*
 * meter.h
 *		What counts a running vacuum's work.
 */
#ifndef SWEEP_METER_H
#define SWEEP_METER_H

#include "shmem.h"

extern void meter_install_hooks(void);

/*
 * A worker of ours says what its next VACUUM is: the table and why.  Strings
 * are copied.  shared_limit is the cost limit that it shares with the other
 * workers, or 0 when the table has its own;
 * partition_changes as in RunRecord.
 */
extern void meter_own_begin(const char *schemaname, const char *relname,
							const char *reason, int shared_limit,
							int64 partition_changes);

/* What came of it, before it is recorded. */
extern void meter_own_add_reason(const char *more);

/* Its part of that limit now. */
extern int	meter_own_limit(int shared_limit);

/* Ends that; false when there was no run (no lock), else its record. */
extern bool meter_own_end(RunRecord *run);

/* What VACUUM itself reported about the table of this transaction. */
extern void meter_report(int64 tuples_removed, int64 dead_not_removable,
						 int64 index_scans, bool aggressive);

/* A consistent copy of a slot; false when it is not in use. */
extern bool meter_read(int index, MeterSlot *copy);

#endif							/* SWEEP_METER_H */
