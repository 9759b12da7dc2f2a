/*
 * snooze.c
 *		A table that a user wants left alone for a while: sweep.snooze(),
 *		sweep.cancel().
 *
 * A snooze is a decision like others, kept with them and under their lock.
 * decisions.c sees to it that no other decision takes its place.  Autovacuum
 * does not know of it, so its vacuums come as ever, above all those
 * against wraparound.
 */
#include "state/snooze.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "utils/syscache.h"

#include "server/clock.h"
#include "state/decisions.h"

void
snooze_begin(const SnoozeTable *tables, int n, TimestampTz until)
{
	Decision   *decisions = palloc0(sizeof(Decision) * Max(n, 1));
	TimestampTz now = clock_now();

	for (int i = 0; i < n; i++)
	{
		Decision   *d = &decisions[i];

		d->key = tables[i].key;
		d->kind = DECISION_SNOOZED;
		d->mentioned = true;
		d->last_at = now;
		d->not_before = until;
		d->ins_early = -1;
		d->memory.counted_vacuums = -1;
		strlcpy(d->schemaname, tables[i].schemaname, NAMEDATALEN);
		strlcpy(d->relname, tables[i].relname, NAMEDATALEN);
	}
	if (!decision_snooze(decisions, n))
		ereport(ERROR,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg_plural("cannot snooze %d table", "cannot snooze %d tables", n, n),
				 errdetail("No more than %d tables can be snoozed at a time, in all databases together.",
						   decisions_snooze_limit()),
				 errhint("Raise \"sweep.max_decisions\" and restart the server. That limit is half of it.")));
	pfree(decisions);
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
