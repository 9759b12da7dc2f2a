/*
 * requested.c
 *		A worker vacuums what somebody has asked for.
 *
 * A request says that a user knows better than the thresholds, the minimum
 * interval, a snooze or a back-off, sweep.scope, and autovacuum_enabled: none
 * of them is asked.  sweep.hold() is: it is about the whole server.  The
 * horizon cannot be overruled by anybody: the vacuum runs, and what somebody
 * may still see stays.
 */
#include "requested.h"

#include "access/transam.h"
#include "miscadmin.h"

#include "candidates.h"
#include "clock.h"
#include "decide.h"
#include "hold.h"
#include "policy/backoff.h"
#include "requests.h"
#include "table_vacuum.h"
#include "worker_slot.h"

#define LOCKED_WAIT_MS	(10 * 1000) /* doubled each time */
#define TAKEN_WAIT_MS	1000	/* another worker was faster: look again */

/* What a run came to, for the request. */
static void
conclude(const Request *request, RunOutcome outcome)
{
	TimestampTz now = clock_now();

	if (worker_slot_is_stopped())
		(void) requests_give_back(request, 0, false);
	else if (outcome != RUN_SKIPPED)
		requests_finish(request);
	else if (!requests_give_back(request,
								 clock_after(now, backoff_ms(LOCKED_WAIT_MS, LOCKED_BACKOFF_MAX_MS,
															 request->attempts + 1)),
								 true))
		request_log_end(request, psprintf("lock not available, %d times", REQUEST_ATTEMPTS_LIMIT));
}

/* false: another worker has just taken the table. */
static bool
serve(const Request *request)
{
	Candidate  *c;
	Verdict		verdict;
	RunOutcome	outcome = RUN_DONE;

	if (!worker_slot_claim(request->key))
	{
		(void) requests_give_back(request, clock_after(clock_now(), TAKEN_WAIT_MS), false);
		return false;
	}
	c = candidate_find(request->key.relid);
	if (c != NULL)
	{
		verdict = decide_requested(c, request->requested_by);
		outcome = table_vacuum(c, &verdict);
	}
	/* a table that is gone needs none any more */
	conclude(request, outcome);
	worker_slot_unclaim();
	return true;
}

bool
requested_vacuum_all(bool (*must_stop) (void))
{
	Request		request;
	bool		vacuumed = false;

	while (sweep_mode == SWEEP_ACT && !hold_is_on() && !must_stop() &&
		   requests_take(worker_slot_is_for_catalogs(), &request))
		vacuumed = serve(&request) || vacuumed;
	return vacuumed;
}
