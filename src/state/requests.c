/*
 * requests.c
 *		Tables that somebody wants vacuumed now: a queue of fixed size in
 *		shared memory.
 *
 * Backends put requests by sweep.vacuum(), and workers take them.  The
 * launcher sends workers, and drops requests that none can serve any more.
 * LOCK_REQUESTS is held for each pass over the array, together with none of
 * our other locks.
 *
 * The queue does not outlive the server.  Whoever asked is still there to ask
 * again, and a vacuum out of nowhere after a restart would surprise.
 */
#include "state/requests.h"

#include "miscadmin.h"
#include "storage/ipc.h"
#include "utils/acl.h"

#include "rules.h"
#include "server/clock.h"
#include "shmem.h"

/* The request that this worker has taken. */
static Request mine;
static bool have_one = false;

static void
lock(LWLockMode mode)
{
	LWLockAcquire(shmem_lock(LOCK_REQUESTS), mode);
}

static void
unlock(void)
{
	LWLockRelease(shmem_lock(LOCK_REQUESTS));
}

static inline Request *
place(int i)
{
	return &sweep_shared->requests.requests[i];
}

const char *
request_state_name(int state)
{
	static const char *const names[] = {"none", "waiting", "running"};

	return names[state];
}

void
request_log_end(const Request *request, const char *reason)
{
	ereport(LOG,
			(errmsg("pg_sweep: the vacuum of \"%s.%s\" that \"%s\" asked for is given up: %s",
					request->schemaname, request->relname, request->requested_by, reason)));
}

static bool
same_key(DecisionKey a, DecisionKey b)
{
	return a.dboid == b.dboid && a.relid == b.relid;
}

static void
set_free(Request *r)
{
	r->state = REQUEST_NONE;
	sweep_shared->requests.count--;
}

/* ----
 * A backend
 * ----
 */

/*
 * Finds a request for the same table that has not begun.  One that is running
 * does not count: its vacuum may have passed already what the asker wants to
 * have vacuumed.
 */
static const Request *
find_waiting(const Request *wanted)
{
	for (int i = 0; i < SWEEP_REQUESTS_LIMIT; i++)
	{
		if (place(i)->state == REQUEST_WAITING && place(i)->clean == wanted->clean &&
			place(i)->by_row == wanted->by_row &&
			same_key(place(i)->key, wanted->key))
			return place(i);
	}
	return NULL;
}

static Request *
find_free(void)
{
	for (int i = 0; i < SWEEP_REQUESTS_LIMIT; i++)
	{
		if (place(i)->state == REQUEST_NONE)
			return place(i);
	}
	return NULL;
}

/* Puts those that are not waiting yet.  The caller holds the lock. */
static int64
put_new(const Request *wanted, int count, const char *role, TimestampTz now)
{
	RequestQueue *queue = &sweep_shared->requests;
	int64		id = 0;
	int64		present = 0;

	for (int i = 0; i < count; i++)
	{
		const Request *waiting = find_waiting(&wanted[i]);
		Request    *r;

		if (waiting != NULL)
		{
			if (present == 0)
				present = waiting->id;
			continue;
		}
		r = find_free();
		Assert(r != NULL);
		*r = wanted[i];
		r->state = REQUEST_WAITING;
		r->turn = ++queue->last_turn;
		if (id == 0)
			id = r->turn;
		r->id = id;
		r->dboid = MyDatabaseId;
		r->attempts = 0;
		r->requested_at = now;
		r->not_before = 0;
		strlcpy(r->requested_by, role, NAMEDATALEN);
		queue->count++;
	}
	return id != 0 ? id : present;
}

int64
requests_put(const Request *wanted, int count)
{
	char	   *role = GetUserNameFromId(GetUserId(), false);
	TimestampTz now = clock_now();
	int			new = 0;
	int64		id = 0;

	/* a table may have more partitions than can be looked up under the lock */
	lock(LW_EXCLUSIVE);
	if (count > 2 * SWEEP_REQUESTS_LIMIT)
		new = count;
	else
		for (int i = 0; i < count; i++)
			new += find_waiting(&wanted[i]) == NULL;
	if (new <= SWEEP_REQUESTS_LIMIT - sweep_shared->requests.count)
		id = put_new(wanted, count, role, now);
	unlock();

	if (id == 0)
		ereport(ERROR,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg("too many vacuums are requested"),
				 errdetail("%d more tables do not fit.  There is room for %d in all.",
						   new, SWEEP_REQUESTS_LIMIT),
				 errhint("Wait until some of those in sweep.queue are done, or ask for fewer.")));
	shmem_wake_launcher();
	pfree(role);
	return id;
}

/* ----
 * Anybody
 * ----
 */

static int
by_turn(const void *a, const void *b)
{
	int64		x = ((const Request *) a)->turn;
	int64		y = ((const Request *) b)->turn;

	return x > y ? 1 : (x < y ? -1 : 0);
}

Request *
requests_copy(int *count)
{
	Request    *copy = palloc(sizeof(Request) * SWEEP_REQUESTS_LIMIT);
	int			n = 0;

	lock(LW_SHARED);
	for (int i = 0; i < SWEEP_REQUESTS_LIMIT; i++)
	{
		if (place(i)->state != REQUEST_NONE)
			copy[n++] = *place(i);
	}
	unlock();
	qsort(copy, n, sizeof(Request), by_turn);
	*count = n;
	return copy;
}

/* ----
 * A worker
 * ----
 */

/*
 * A worker that is told to end, or that fails, leaves its request to another.
 */
static void
give_back_at_exit(int code, Datum arg)
{
	if (have_one && !requests_give_back(&mine, 0, true))
		request_log_end(&mine, "its worker has ended too often");
}

bool
requests_is_ready(const Request *r, const WorkerClaims *claims, Oid dboid, bool catalogs_only,
				  TimestampTz now)
{
	if (r->state != REQUEST_WAITING || r->dboid != dboid || now < r->not_before ||
		(catalogs_only && !rules_is_catalog(r->key.relid)))
		return false;
	for (int i = 0; i < claims->count; i++)
	{
		if (same_key(claims->keys[i], r->key))
			return false;
	}
	return true;
}

bool
requests_take(bool catalogs_only, Request *taken)
{
	static bool registered = false;
	WorkerClaims claims;
	Request    *next = NULL;
	TimestampTz now = clock_now();

	if (!registered)
		before_shmem_exit(give_back_at_exit, (Datum) 0);
	registered = true;

	worker_claims_get(&claims);
	lock(LW_EXCLUSIVE);
	if (sweep_shared->requests.count > 0)
	{
		for (int i = 0; i < SWEEP_REQUESTS_LIMIT; i++)
		{
			if (requests_is_ready(place(i), &claims, MyDatabaseId, catalogs_only, now) &&
				(next == NULL || place(i)->turn < next->turn))
				next = place(i);
		}
	}
	if (next != NULL)
	{
		next->state = REQUEST_RUNNING;
		mine = *next;
		have_one = true;
	}
	unlock();
	if (next != NULL)
		*taken = mine;
	return next != NULL;
}

/* The place of a running request.  The caller holds the lock. */
static Request *
find_running(int64 turn)
{
	for (int i = 0; i < SWEEP_REQUESTS_LIMIT; i++)
	{
		if (place(i)->state == REQUEST_RUNNING && place(i)->turn == turn)
			return place(i);
	}
	return NULL;
}

void
requests_finish(const Request *request)
{
	Request    *r;

	lock(LW_EXCLUSIVE);
	r = find_running(request->turn);
	if (r != NULL)
		set_free(r);
	have_one = false;
	unlock();
}

bool
requests_give_back(const Request *request, TimestampTz not_before, bool attempted)
{
	Request    *r;
	bool		waits = false;

	lock(LW_EXCLUSIVE);
	r = find_running(request->turn);
	if (r != NULL)
	{
		r->attempts += attempted;
		if (r->attempts >= REQUEST_ATTEMPTS_LIMIT)
			set_free(r);
		else
		{
			r->state = REQUEST_WAITING;
			r->not_before = not_before;
			waits = true;
		}
	}
	have_one = false;
	unlock();
	return waits;
}

/* ----
 * The launcher
 * ----
 */

bool
requests_are_new(void)
{
	static int64 seen = 0;
	int64		last;
	bool		new;

	lock(LW_SHARED);
	last = sweep_shared->requests.last_turn;
	unlock();
	new = last != seen;
	seen = last;
	return new;
}

void
requests_set_back(int64 us)
{
	lock(LW_EXCLUSIVE);
	for (int i = 0; i < SWEEP_REQUESTS_LIMIT; i++)
	{
		clock_move(&place(i)->requested_at, us);
		clock_move(&place(i)->not_before, us);
	}
	unlock();
}

void
requests_drop(const char *(*why_not) (const Request *request))
{
	Request    *requests;
	int			count;

	lock(LW_SHARED);
	count = sweep_shared->requests.count;
	unlock();
	if (count == 0)
		return;

	requests = requests_copy(&count);
	for (int i = 0; i < count; i++)
	{
		const Request *dropped = &requests[i];
		const char *reason = dropped->state == REQUEST_WAITING ? why_not(dropped) : NULL;
		bool		found = false;

		if (reason == NULL)
			continue;
		lock(LW_EXCLUSIVE);
		for (int j = 0; j < SWEEP_REQUESTS_LIMIT && !found; j++)
		{
			found = place(j)->state == REQUEST_WAITING && place(j)->turn == dropped->turn;
			if (found)
				set_free(place(j));
		}
		unlock();
		if (found)
			request_log_end(dropped, reason);
	}
	pfree(requests);
}
