/*
 * decision_text.c
 *		Decisions in words, as the views show them.
 */
#include "state/decision_text.h"

#include "miscadmin.h"

#include "settings.h"
#include "state/ledger.h"

static const char *const names[DECISION_KIND_COUNT] = {
	[DECISION_NONE] = "none",
	[DECISION_VACUUMED] = "vacuumed",
	[DECISION_BELOW_THRESHOLD] = "below threshold",
	[DECISION_DISABLED] = "disabled",
	[DECISION_OBSERVED] = "would vacuum",
	[DECISION_HELD_BACK] = "held back",
	[DECISION_LOCKED] = "locked",
	[DECISION_CANCELLED] = "cancelled",
	[DECISION_FAILED] = "failed",
	[DECISION_TEMPORARY] = "temporary",
	[DECISION_COPY] = "copy",
	[DECISION_OUT_OF_SCOPE] = "out of scope",
	[DECISION_SNOOZED] = "snoozed",
	[DECISION_CHECKPOINT_AHEAD] = "waits for checkpoint",
	[DECISION_ANALYZED] = "analyzed",
	[DECISION_WOULD_ANALYZE] = "would analyze",
	[DECISION_NOT_ANALYZED] = "not analyzed",
	[DECISION_ANALYZE_LATER] = "analyze later",
	[DECISION_HELD] = "held",
	[DECISION_SPACED_OUT] = "spaced out",
};

const char *
decision_name(int kind)
{
	Assert(kind >= 0 && kind < DECISION_KIND_COUNT);
	return names[kind];
}

/* Says the error as well, if the ledger still has that run. */
static void
describe_failure(const Decision *d, char *text, int size)
{
	RunRecord	run;

	snprintf(text, size, "ended in an error, %d %s in a row", TIMES(d->failures));
	if (ledger_last_tried(d->key.dboid ? d->key.dboid : MyDatabaseId, d->key.relid, RUN_VACUUM, &run) &&
		run.outcome == RUN_FAILED)
	{
		strlcat(text, ": ", size);
		strlcat(text, run.reason, size);
	}
	else
		strlcat(text, " (see the server log)", size);
}

void
decision_reason(const Decision *d, char *text)
{
	const int	size = DECISION_REASON_LEN;

	text[0] = '\0';
	switch (d->kind)
	{
		case DECISION_VACUUMED:
			if (d->failures > 0)
				snprintf(text, size, "vacuumed, %d %s in a row, but its statistics know nothing of it: waits longer each time",
						 TIMES(d->failures));
			else
				strlcpy(text, "vacuumed a short while ago, waits for the minimum interval", size);
			break;
		case DECISION_BELOW_THRESHOLD:
			if (d->ins_threshold < 0)
				snprintf(text, size, "dead tuples " INT64_FORMAT " of %.0f, inserts do not count", d->dead, d->dead_threshold);
			else
				snprintf(text, size, "dead tuples " INT64_FORMAT " of %.0f, inserted tuples " INT64_FORMAT " of %.0f",
						 d->dead, d->dead_threshold, d->ins, d->ins_threshold);
			break;
		case DECISION_DISABLED:
			strlcpy(text, "switched off for this table, by autovacuum_enabled or sweep.set()", size);
			break;
		case DECISION_OBSERVED:
		case DECISION_WOULD_ANALYZE:
			snprintf(text, size, "sweep.mode is %s", settings_mode_name(sweep_mode));
			break;
		case DECISION_HELD_BACK:
			snprintf(text, size, "dead rows are still needed: waits until enough can be removed, and all of them can once the horizon has passed transaction %u",
					 XidFromFullTransactionId(d->horizon));
			break;
		case DECISION_LOCKED:
			snprintf(text, size, "lock not available, %d %s in a row", TIMES(d->failures));
			break;
		case DECISION_CANCELLED:
			snprintf(text, size, "cancelled, most often because somebody needed a lock, %d %s in a row%s", TIMES(d->failures),
					 table_memory_is_patient(&d->memory) ? ": the next vacuum gives way as late as autovacuum's" : "");
			break;
		case DECISION_FAILED:
			describe_failure(d, text, size);
			break;
		case DECISION_TEMPORARY:
			strlcpy(text, "only the session of a temporary table can vacuum it", size);
			break;
		case DECISION_COPY:
			strlcpy(text, "pg_repack is making it, and a vacuum would be in its way: it is left alone until it has to be frozen", size);
			break;
		case DECISION_OUT_OF_SCOPE:
			strlcpy(text, "the table is not in sweep.scope", size);
			break;
		case DECISION_CHECKPOINT_AHEAD:
			strlcpy(text, "new rows only: vacuumed just before the next checkpoint, which comes within the minimum interval", size);
			break;
		case DECISION_ANALYZED:
			strlcpy(text, "analyzed a short while ago, waits for the minimum interval", size);
			break;
		case DECISION_NOT_ANALYZED:
			strlcpy(text, "a partition is a foreign table, or there are too many to lock at once: ANALYZE it yourself", size);
			break;
		case DECISION_ANALYZE_LATER:
			strlcpy(text, "its partitions grow, and while ANALYZE runs their new rows cannot be frozen: waits until they rest, at most 10 min", size);
			break;
		case DECISION_SNOOZED:
			strlcpy(text, "sweep.snooze() or sweep.cancel() said so", size);
			break;
		case DECISION_HELD:
			strlcpy(text, "sweep.hold() said so, for all tables", size);
			break;
		case DECISION_SPACED_OUT:
			strlcpy(text, "a standby's queries could be cancelled: vacuums begin together with autovacuum's, once in autovacuum_naptime", size);
			break;
		default:
			break;
	}
}
