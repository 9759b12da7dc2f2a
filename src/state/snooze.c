/*
 * snooze.c
 *		A table that a user wants left alone for a while: sweep.snooze(),
 *		sweep.cancel().
 *
 * A snooze is a decision like others, kept with them and under their lock.
 * decisions.c sees to it that no other decision takes its place.  The core
 * daemon does not know of it, so its vacuums come as ever, above all those
 * against wraparound.
 */
#include "state/snooze.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "utils/syscache.h"

#include "server/clock.h"
#include "state/decisions.h"

void
snooze_begin(DecisionKey key, const char *schemaname, const char *relname, TimestampTz until)
{
	Decision	d;

	memset(&d, 0, sizeof(d));
	d.key = key;
	d.kind = DECISION_SNOOZED;
	d.mentioned = true;
	d.last_at = clock_now();
	d.not_before = until;
	d.ins_early = -1;
	d.memory.counted_vacuums = -1;
	strlcpy(d.schemaname, schemaname, NAMEDATALEN);
	strlcpy(d.relname, relname, NAMEDATALEN);
	if (!decision_snooze(&d))
		ereport(ERROR,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg("no more tables can be remembered"),
				 errhint("Raise \"sweep.max_decisions\" and restart the server.")));
}

void
snooze_end(DecisionKey key)
{
	decision_unsnooze(key);
}

/*
 * A worker forgets the decisions about tables that it does not find any more,
 * and it finds only tables that have statistics.  A snoozed table may have
 * none yet.
 */
void
snooze_add_tables(HTAB *relids)
{
	MemoryContext context = CurrentMemoryContext;
	Oid		   *snoozed;
	int			count;

	snoozed = decision_snoozed_tables(MyDatabaseId, &count);
	if (count == 0)
		return;

	StartTransactionCommand();
	for (int i = 0; i < count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (hash_search(relids, &snoozed[i], HASH_FIND, NULL) == NULL &&
			SearchSysCacheExists1(RELOID, ObjectIdGetDatum(snoozed[i])))
			(void) hash_search(relids, &snoozed[i], HASH_ENTER, NULL);
	}
	CommitTransactionCommand();
	MemoryContextSwitchTo(context);
	pfree(snoozed);
}
