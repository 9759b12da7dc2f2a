/*
 * xid_rate.c
 *		How fast transaction ids, multixacts and their members are used up,
 *		over the last hour.
 *
 * Once a minute the launcher notes what the next ones are.  Whoever asks
 * compares the oldest note with the present.  Protection: LOCK_QUEUE.
 */
#include "state/xid_rate.h"

#include "access/multixact.h"

#include "server/clock.h"
#include "server/members.h"
#include "shmem.h"

#define SAMPLE_INTERVAL_MS	60000
#define RATE_AFTER_MS		2000	/* less gives no rate */

static TimestampTz next_sample = 0; /* launcher */

void
xid_rate_set_back(int64 us)
{
	clock_move(&next_sample, us);
	LWLockAcquire(shmem_lock(LOCK_QUEUE), LW_EXCLUSIVE);
	for (int i = 0; i < XID_SAMPLES; i++)
		clock_move(&sweep_shared->xid_samples[i].at, us);
	LWLockRelease(shmem_lock(LOCK_QUEUE));
}

void
xid_rate_sample(TimestampTz now)
{
	XidSample	sample;

	if (now < next_sample)
		return;
	next_sample = clock_after(now, SAMPLE_INTERVAL_MS);

	sample.at = now;
	sample.next_xid = U64FromFullTransactionId(ReadNextFullTransactionId());
	sample.next_mxid = ReadNextMultiXactId();
	sample.next_member = members_read().next;
	LWLockAcquire(shmem_lock(LOCK_QUEUE), LW_EXCLUSIVE);
	sweep_shared->xid_samples[sweep_shared->xid_samples_next] = sample;
	sweep_shared->xid_samples_next = (sweep_shared->xid_samples_next + 1) % XID_SAMPLES;
	LWLockRelease(shmem_lock(LOCK_QUEUE));
}

bool
xid_rate_measure(XidRate *rate, uint64 next_member)
{
	XidSample	oldest;

	LWLockAcquire(shmem_lock(LOCK_QUEUE), LW_SHARED);

	/*
	 * the oldest is the one that is overwritten next, or the first as long as
	 * the array is not full
	 */
	oldest = sweep_shared->xid_samples[sweep_shared->xid_samples_next];
	if (oldest.at == 0)
		oldest = sweep_shared->xid_samples[0];
	LWLockRelease(shmem_lock(LOCK_QUEUE));

	rate->since = oldest.at;
	rate->seconds = (double) (clock_now() - oldest.at) / USECS_PER_SEC;
	if (oldest.at == 0 || clock_now() < clock_after(oldest.at, RATE_AFTER_MS))
		return false;
	rate->xids = U64FromFullTransactionId(ReadNextFullTransactionId()) - oldest.next_xid;
	rate->mxids = ReadNextMultiXactId() - oldest.next_mxid;
	/* they begin anew before 19 */
	rate->members = (double) (MultiXactOffset) (next_member - oldest.next_member);
	return true;
}
