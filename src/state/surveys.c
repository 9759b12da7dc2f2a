/*
 * surveys.c
 *		Databases in which a worker should look at all tables, because the
 *		scout cannot see what has changed: a table's own settings.
 *
 * A backend asks for a survey at commit, because only then does the worker
 * see the change.  Nothing may fail there.  Hence the fixed array under a
 * spinlock.  When the array is full, all databases are surveyed.
 */
#include "state/surveys.h"

#include "access/xact.h"
#include "miscadmin.h"

#include "shmem.h"

static bool asked = false;		/* in this transaction */

static void
ask(void)
{
	SurveyQueue *queue = &sweep_shared->surveys;
	bool		there = false;

	SpinLockAcquire(&queue->mutex);
	for (int i = 0; i < Min(queue->count, SWEEP_SURVEYS_LIMIT); i++)
		there = there || queue->dboids[i] == MyDatabaseId;
	if (!there)
	{
		if (queue->count < SWEEP_SURVEYS_LIMIT)
			queue->dboids[queue->count] = MyDatabaseId;
		queue->count = Min(queue->count + 1, SWEEP_SURVEYS_LIMIT + 1);
	}
	SpinLockRelease(&queue->mutex);
	shmem_wake_launcher();
}

/*
 * A prepared transaction commits in another process.  There the next regular
 * survey will do.
 */
static void
at_transaction_end(XactEvent event, void *arg)
{
	if (event == XACT_EVENT_COMMIT && asked)
		ask();
	if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT || event == XACT_EVENT_PREPARE)
		asked = false;
}

void
surveys_ask_at_commit(void)
{
	static bool registered = false;

	if (!registered)
		RegisterXactCallback(at_transaction_end, NULL);
	registered = true;
	asked = true;
}

bool
surveys_are_asked(void)
{
	return sweep_shared->surveys.count != 0;
}

bool
surveys_take(SurveyList *list)
{
	SurveyQueue *queue = &sweep_shared->surveys;

	SpinLockAcquire(&queue->mutex);
	list->count = queue->count > SWEEP_SURVEYS_LIMIT ? -1 : queue->count;
	memcpy(list->dboids, queue->dboids, sizeof(queue->dboids));
	queue->count = 0;
	SpinLockRelease(&queue->mutex);
	return list->count != 0;
}

bool
surveys_has(const SurveyList *list, Oid dboid)
{
	for (int i = 0; i < list->count; i++)
	{
		if (list->dboids[i] == dboid)
			return true;
	}
	return list->count < 0;
}
