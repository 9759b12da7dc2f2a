/*
 * xid_rate.c
 *		How fast transaction ids and multixacts are used up, over the last hour.
 *
 * The launcher notes once a minute what the next ones are; who asks compares
 * the oldest note with the present.  Protection: LOCK_QUEUE.
 */
#include "xid_rate.h"

#include "access/htup_details.h"
#include "access/multixact.h"
#include "fmgr.h"
#include "funcapi.h"

#include "clock.h"
#include "row.h"

#define SAMPLE_INTERVAL_MS	60000
#define RATE_AFTER_S		2	/* no rate from less */

void
xid_rate_sample(TimestampTz now)
{
	static TimestampTz next_sample = 0;
	XidSample	sample;

	if (now < next_sample)
		return;
	next_sample = clock_after(now, SAMPLE_INTERVAL_MS);

	sample.at = now;
	sample.next_xid = U64FromFullTransactionId(ReadNextFullTransactionId());
	sample.next_mxid = ReadNextMultiXactId();
	LWLockAcquire(shmem_lock(LOCK_QUEUE), LW_EXCLUSIVE);
	sweep_shared->xid_samples[sweep_shared->xid_samples_next] = sample;
	sweep_shared->xid_samples_next = (sweep_shared->xid_samples_next + 1) % XID_SAMPLES;
	LWLockRelease(shmem_lock(LOCK_QUEUE));
}

static XidSample
oldest_sample(void)
{
	XidSample	oldest;

	LWLockAcquire(shmem_lock(LOCK_QUEUE), LW_SHARED);
	/* the one that is overwritten next, or the first while none was yet */
	oldest = sweep_shared->xid_samples[sweep_shared->xid_samples_next];
	if (oldest.at == 0)
		oldest = sweep_shared->xid_samples[0];
	LWLockRelease(shmem_lock(LOCK_QUEUE));
	return oldest;
}

PG_FUNCTION_INFO_V1(sweep_xid_rate_0_1);
Datum
sweep_xid_rate_0_1(PG_FUNCTION_ARGS)
{
	Row			row = {0};
	TupleDesc	desc;
	XidSample	oldest;
	double		seconds;

	shmem_require();
	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");

	oldest = oldest_sample();
	seconds = (double) (clock_now() - oldest.at) / USECS_PER_SEC;
	if (oldest.at != 0 && seconds >= RATE_AFTER_S)
	{
		uint64		xids = U64FromFullTransactionId(ReadNextFullTransactionId()) - oldest.next_xid;
		uint32		mxids = ReadNextMultiXactId() - oldest.next_mxid;

		row_put_time(&row, oldest.at);
		row_put_float(&row, (double) xids / seconds);
		row_put_float(&row, (double) mxids / seconds);
	}
	else
	{
		row_put_null(&row);
		row_put_null(&row);
		row_put_null(&row);
	}
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), row.values, row.nulls)));
}
