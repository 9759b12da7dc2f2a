/*
 * overdue.c
 *		Tables that have waited for longer than QUEUE_MAX_WAIT_S go first.
 */
#include "postgres.h"

#include "worker/overdue.h"

#include "state/queue.h"
#include "worker/candidate.h"

void
overdue_mark(List *candidates)
{
	QueueEntry *entries;
	int			count;
	HTAB	   *overdue;
	ListCell   *lc;

	if (candidates == NIL)
		return;
	entries = queue_overdue(&count);
	overdue = queue_index(entries, count);
	foreach(lc, candidates)
	{
		Candidate  *c = lfirst(lc);
		const QueueEntry *entry = hash_search(overdue, &c->key, HASH_FIND, NULL);

		c->overdue_since = entry ? entry->since : 0;
	}
	hash_destroy(overdue);
	pfree(entries);
}
