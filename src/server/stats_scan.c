/*
 * stats_scan.c
 *		Walks the shared statistics of all databases, and holds none of their
 *		locks for long.
 *
 * Runs in the launcher.  The statistics are one hash of 128 partitions.
 * dshash's scan keeps a partition locked as long as it reads it.  With a
 * million relations that is most of a millisecond.  It is several if the
 * processor is taken away meanwhile, and a process that has used up its time
 * slice is the first to lose it.  So after SLICE_MS the scan lets go, sleeps
 * for an instant, and goes on at the bucket where it was.
 *
 * dshash has no function for that, but its scan's state is public.  A scan
 * that begins anew locks the first partition.  From there it is told to go to
 * the bucket before ours.  It then locks our partition itself before it lets
 * go of the first, in the order of all scans.  While nothing was locked the
 * table may have been doubled, and every bucket with it, because a bucket is
 * the first bits of a hash.
 */
#include "server/stats_scan.h"

#include "server/clock.h"
#include "settings.h"

#define SLICE_MS		0.25
#define CHECK_BUCKETS	64		/* between two looks at the clock */

/*
 * From this sweep.debug_clock_rate on slices are shorter, by a tenth of the
 * rate.  That is for a test.
 */
#define FINE_RATE		100

/* Milliseconds since then. */
static double
ms_since(const instr_time *then)
{
	instr_time	now;

	INSTR_TIME_SET_CURRENT(now);
	INSTR_TIME_SUBTRACT(now, *then);
	return INSTR_TIME_GET_MILLISEC(now);
}

/* One partition is let go, or all are. */
static void
note_lock_time(StatsScan *scan)
{
	scan->max_lock_ms = Max(scan->max_lock_ms, ms_since(&scan->locked_at));
	INSTR_TIME_SET_CURRENT(scan->locked_at);
}

static void
begin(StatsScan *scan)
{
	INSTR_TIME_SET_CURRENT(scan->begun);
	scan->locked_at = scan->begun;
	scan->buckets = 0;
	dshash_seq_init(&scan->status, pgStatLocal.shared_hash, false);
}

void
stats_scan_begin(StatsScan *scan)
{
	scan->partition = scan->bucket = -1;
	scan->max_lock_ms = 0;
	begin(scan);
}

/* The next entry, wherever it is. */
static PgStatShared_HashEntry *
next_entry(StatsScan *scan)
{
	PgStatShared_HashEntry *entry = dshash_seq_next(&scan->status);

	/* the scan goes from one partition's lock to the next */
	if (scan->status.curpartition != scan->partition)
	{
		if (scan->partition >= 0)
			note_lock_time(scan);
		scan->partition = scan->status.curpartition;
	}
	return entry;
}

/* Lets go, and comes back to the bucket whose first entry was to be next. */
static PgStatShared_HashEntry *
pause_scan(StatsScan *scan)
{
	PgStatShared_HashEntry *entry;
	int			bucket = scan->status.curbucket;
	int			buckets = scan->status.nbuckets;

	dshash_seq_term(&scan->status);
	note_lock_time(scan);
	clock_pause();

	scan->partition = -1;
	begin(scan);
	entry = next_entry(scan);
	bucket *= scan->status.nbuckets / buckets;
	if (entry != NULL && scan->status.curbucket < bucket)
	{
		scan->status.curbucket = bucket - 1;
		scan->status.pnextitem = InvalidDsaPointer;
		entry = next_entry(scan);
	}
	return entry;
}

PgStatShared_HashEntry *
stats_scan_next(StatsScan *scan)
{
	PgStatShared_HashEntry *entry = next_entry(scan);

	/*
	 * only between two buckets, because within one there is no place to come
	 * back to
	 */
	if (entry != NULL && scan->status.curbucket != scan->bucket)
	{
		if (++scan->buckets % CHECK_BUCKETS == 0 &&
			ms_since(&scan->begun) * (sweep_debug_clock_rate >= FINE_RATE ? sweep_debug_clock_rate / 10.0 : 1.0) >= SLICE_MS)
			entry = pause_scan(scan);
		scan->bucket = scan->status.curbucket;
	}
	return entry;
}

void
stats_scan_end(StatsScan *scan)
{
	dshash_seq_term(&scan->status);
	note_lock_time(scan);
}
