/*
 * worth_watch.c
 *		Counts what index scans take, table by table, from the statistics.
 *
 * Runs in the launcher, in each round.  It looks up the entries of the tables
 * that are followed and of their indexes, and locks none of ours meanwhile.
 * What a vacuum fetches is in the same statistics, some time after it has
 * ended.  So a table is not counted while somebody vacuums it, and until the
 * process that did has reported.
 */
#include "postgres.h"

#include "launcher/worth_watch.h"

#include "storage/procarray.h"

#include "launcher/databases.h"
#include "meter/meter.h"
#include "settings.h"
#include "shmem.h"
#include "state/worker_claims.h"
#include "state/worth_tables.h"

#define BUSY_LIMIT		256		/* processes that vacuum or analyze */

/* Who is at work, and at which table. */
typedef struct Busy
{
	int			count;
	bool		many;			/* more than there is room for */
	int			pids[BUSY_LIMIT];
	DecisionKey keys[BUSY_LIMIT];
	WorkerClaims claims;
} Busy;

static void
find_busy(Busy *busy)
{
	static MeterSlot slot;		/* it is large */

	busy->count = 0;
	busy->many = false;
	worker_claims_get(&busy->claims);
	for (int i = 0; i < shmem_meter_count(); i++)
	{
		if (!meter_read(i, &slot))
			continue;
		if (busy->count == BUSY_LIMIT)
		{
			busy->many = true;
			return;
		}
		busy->pids[busy->count] = slot.pid;
		busy->keys[busy->count].dboid = slot.dboid;
		busy->keys[busy->count++].relid = slot.relid;
	}
}

static bool
same_table(DecisionKey a, DecisionKey b)
{
	return a.dboid == b.dboid && a.relid == b.relid;
}

static bool
is_at_work(const Busy *busy, DecisionKey key)
{
	for (int i = 0; i < busy->count; i++)
	{
		if (same_table(busy->keys[i], key))
			return true;
	}
	for (int i = 0; i < busy->claims.count; i++)
	{
		if (same_table(busy->claims.keys[i], key))
			return true;
	}
	return busy->many;
}

/* Has the process that vacuumed the table reported what that has fetched? */
static bool
has_settled(const WorthTable *t, const Busy *busy, TimestampTz now)
{
	if (BackendPidGetProc(t->settling_pid) == NULL)
		return true;
	if (t->settles_at_exit || now < t->settled_at)
		return false;
	for (int i = 0; i < busy->count; i++)
	{
		if (busy->pids[i] == t->settling_pid)
			return false;
	}
	return true;
}

static void
count_table(WorthTable *t, const Busy *busy, TimestampTz now)
{
	WorthCounters counters;
	double		dead_share;
	bool		is_due;

	if (is_at_work(busy, t->key))
		return;
	if (t->settling_pid != 0)
	{
		if (!has_settled(t, busy, now))
			return;
		t->settling_pid = 0;
	}
	if (!worth_tables_read(t, &counters, &dead_share))
		return;
	worth_tables_count(t, &counters, dead_share, now);
	is_due = worth_is_due(&t->worth);
	/* what a worker then finds in its way is looked at by later surveys */
	if (is_due && t->due_in != (SweepMode) sweep_mode)
		databases_survey_soon(t->key.dboid);
	t->due_in = is_due ? (SweepMode) sweep_mode : SWEEP_OFF;
	worth_tables_write(t);
}

/*
 * Who is at work is asked first.  A vacuum that ends after that was at work, is
 * among the runs, or began since: worth_tables_count() waits for that one's run.
 */
void
worth_watch(TimestampTz now)
{
	static Busy busy;
	static WorthTable table;
	int			place = 0;

	find_busy(&busy);
	worth_tables_follow_runs();
	while (worth_tables_next(&place, now, &table))
		count_table(&table, &busy, now);
}
