/*
 * serve_requests.c
 *		A worker vacuums what somebody has asked for.
 *
 * A request says that a user knows better than the thresholds, the minimum
 * interval, a snooze or a back-off, sweep.scope, and autovacuum_enabled.  So
 * none of them is asked.  sweep.hold() is, because it is about the whole
 * server.  Nobody can overrule the horizon: the vacuum runs, and what
 * somebody may still see stays.
 */
#include "worker/serve_requests.h"

#include "access/transam.h"
#include "miscadmin.h"

#include "policy/backoff.h"
#include "server/clock.h"
#include "settings.h"
#include "state/hold.h"
#include "state/requests.h"
#include "state/worker_slot.h"
#include "worker/candidates.h"
#include "worker/clean_lane.h"
#include "worker/remember.h"
#include "worker/table_clean.h"
#include "worker/table_vacuum.h"
#include "worker/verdict.h"

#define LOCKED_WAIT_MS	(10 * 1000) /* doubled each time */
#define TAKEN_WAIT_MS	1000	/* when another worker was faster */

/* Takes what a run came to over into the request. */
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

/*
 * Is the table cleaned row by row, as was asked for?  Not if a vacuum is due,
 * or if the cleaner is off by now.
 */
static bool
is_by_row(const Request *request, const Candidate *c)
{
	return clean_lane_allows(c) && (request->by_row || c->weight.due == DUE_NOT);
}

static RunOutcome
clean(const Request *request, const Candidate *c, bool (*must_stop) (void))
{
	char		reason[RUN_REASON_LEN];
	CleanOutcome outcome;

	snprintf(reason, sizeof(reason), "requested by %s", request->requested_by);
	outcome = table_clean(c, NULL, reason, must_stop);
	/* whoever asks for it reads in the log why it could not be done */
	return outcome.outcome == RUN_SKIPPED ? RUN_SKIPPED : RUN_DONE;
}

/* Returns false if another worker has just taken the table. */
static bool
serve(const Request *request, bool (*must_stop) (void))
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
	if (c != NULL && request->clean && is_by_row(request, c))
		outcome = clean(request, c, must_stop);
	else if (c != NULL)
	{
		verdict = verdict_requested(c, request->requested_by);
		/* whoever wants the table cleaned wants its indexes clean */
		verdict.options.all_indexes = request->clean;
		outcome = table_vacuum(c, &verdict);
	}
	/* a table that is gone needs no vacuum any more */
	conclude(request, outcome);
	worker_slot_unclaim();
	return true;
}

bool
serve_requests(bool (*must_stop) (void))
{
	Request		request;
	bool		vacuumed = false;

	while (sweep_mode == SWEEP_ACT && !hold_is_on() && !must_stop() &&
		   requests_take(worker_slot_is_for_catalogs(), &request))
		vacuumed = serve(&request, must_stop) || vacuumed;
	return vacuumed;
}
