/*
 * meter.h
 *		What counts a running vacuum's work.
 */
#ifndef SWEEP_METER_H
#define SWEEP_METER_H

#include "postgres.h"

#include "meter/meter_slot.h"
#include "state/budget.h"
#include "state/run.h"

extern void meter_install_hooks(void);

/*
 * A worker of ours says what its next VACUUM is: the table and why.  Strings
 * are copied.  shared_limit is the cost limit that it shares with the other
 * workers, or 0 if the table has its own.  partition_changes is as in
 * RunRecord.
 */
extern void meter_own_begin(const char *schemaname, const char *relname,
							const char *reason, int shared_limit, PacerYields yields, double pace,
							int64 partition_changes);

/* Adds to the reason what came of it, before the run is recorded. */
extern void meter_own_add_reason(const char *more);

/* Its part of that limit now. */
extern int	meter_own_limit(int shared_limit);

/*
 * Ends what meter_own_begin() began.  Returns false if there was no run, for
 * want of a lock.  Otherwise it returns the run's record.
 */
extern bool meter_own_end(RunRecord *run);

/*
 * Cleaning a table takes several transactions and no command.  Between these
 * two all of them are one run.  What it came to is recorded at the end, which
 * is outside any transaction.
 */
extern void meter_clean_begin(void);
extern void meter_clean_forget(void);	/* there was no run after all */
extern void meter_clean_end(Oid relid, int sqlstate, int64 pages, int64 tuples_removed);

/* Takes what VACUUM itself reported about the table of this transaction. */
extern void meter_report(int64 tuples_removed, int64 dead_not_removable,
						 int64 index_scans, bool aggressive);

/* Makes a consistent copy of a slot.  Returns false if it is not in use. */
extern bool meter_read(int index, MeterSlot *copy);

/* Did it wait for somebody's lock or pin when it was sampled last? */
extern bool meter_waits_for_lock(const MeterSlot *slot);

#endif							/* SWEEP_METER_H */
