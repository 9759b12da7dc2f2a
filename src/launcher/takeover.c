/*
 * takeover.c
 *		What was known before the server's start, or by the old primary.
 *
 * Runs in the launcher, once after the server's start, before any worker.  It
 * takes the last note from the WAL (handover.c).  What the note says of a
 * table becomes a decision about it, with what is to be added to the table's
 * counters because those were lost.  It counts until the next vacuum.
 */
#include "launcher/takeover.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "launcher/databases.h"
#include "launcher/handover.h"
#include "launcher/handover_tables.h"
#include "server/clock.h"
#include "server/compat.h"
#include "server/table_stats.h"
#include "server/wal_note.h"
#include "shmem.h"
#include "state/carried.h"
#include "state/duration.h"
#include "state/hold.h"

static Oid *due_databases = NULL;
static int	due_count = 0;

bool
takeover_brings(Oid dboid)
{
	for (int i = 0; i < due_count; i++)
	{
		if (due_databases[i] == dboid)
			return true;
	}
	return false;
}

static void
note_due(Oid dboid)
{
	if (!OidIsValid(dboid) || takeover_brings(dboid) || due_count == CARRIED_DATABASES_LIMIT)
		return;
	if (due_databases == NULL)
		due_databases = MemoryContextAlloc(TopMemoryContext, sizeof(Oid) * CARRIED_DATABASES_LIMIT);
	due_databases[due_count++] = dboid;
}

/* One of the two may have been reset by a user. */
static bool
is_same(const StatsMark *a, const StatsMark *b)
{
	for (int i = 0; i < lengthof(a->reset_at); i++)
	{
		if (a->reset_at[i] != 0 && a->reset_at[i] == b->reset_at[i])
			return true;
	}
	return false;
}

/*
 * If something may have happened that neither the note nor the counters know,
 * the visibility map has to be counted again.
 */
static void
take_table(const CarriedTable *t, bool same, bool all_known, TimestampTz now)
{
	Decision	d = t->decision;
	PgStat_StatTabEntry stats;
	CarryCounts own = {0};
	int64		inserted = 0;
	int64		changed = 0;

	if (table_stats_read(d.key.dboid, d.key.relid, &stats))
	{
		own.vacuums = compat_tab_vacuums(&stats);
		own.analyzes = compat_tab_analyzes(&stats);
		own.dead = compat_tab_dead(&stats);
		own.ins = compat_tab_ins(&stats);
		inserted = stats.tuples_inserted;
		changed = stats.tuples_updated + stats.tuples_deleted;
	}
	d.carried = carry_take(&t->decision.carried, &t->counts, &own, same);
	if (!same)
	{
		/* it is as if these counters had gone on */
		d.memory.inserted += inserted - t->inserted;
		d.memory.cleaned_at += inserted - t->inserted;
		d.memory.changed += changed - t->changed;
		d.memory.counted_changes += inserted - t->inserted + changed - t->changed;
		d.memory.counted_vacuums = all_known && d.memory.counted_vacuums == t->counts.vacuums ? own.vacuums : -1;
		d.dead = t->counts.dead;
		d.ins = t->counts.ins;
	}
	d.seen_ins = 0;
	d.seen_at = 0;
	d.last_at = Min(d.last_at, now);
	d.not_before = Min(d.not_before, now + DURATION_LIMIT_DAYS * USECS_PER_DAY);
	decision_put(&d);
	if (carry_share((double) t->counts.dead, d.dead_threshold, (double) t->counts.ins, d.ins_threshold) > 1)
		note_due(d.key.dboid);
}

/*
 * This server was a primary before, and its counters are of then.  What the
 * note does not mention has no garbage.
 */
static void
take_stale(const CarriedNote *note, TimestampTz now)
{
	HandoverLook look;

	handover_tables_begin(&look, now);
	look.only_stale = true;
	handover_tables_pick(&look);
	for (int i = 0; i < look.count; i++)
	{
		const Pick *p = &look.picks[i];
		Decision	d;

		if (!carried_is_known(p->key.dboid, 0))
			continue;
		handover_tables_decide(&d, p, now);
		d.carried.on = true;
		d.carried.vacuums = p->counts.vacuums;
		d.carried.analyzes = p->counts.analyzes;
		d.carried.dead = -p->counts.dead;
		d.carried.ins = -p->counts.ins;
		decision_put(&d);
	}
}

static bool
is_listed(const CarriedNote *note, Oid dboid)
{
	for (int i = 0; i < note->database_count; i++)
	{
		if (note->databases[i] == dboid)
			return true;
	}
	return false;
}

static void
take_note(const WalNote *found, const CarriedNote *note)
{
	MemoryContext context = CurrentMemoryContext;
	TimestampTz now = clock_now();
	StatsMark	mark = handover_tables_statistics();
	bool		same = found->timeline == GetWALInsertionTimeLine() && is_same(&note->statistics, &mark);
	bool		whole = carry_rest_is_clean(note->floor) &&
		(same || (!note->long_writer && found->behind <= HANDOVER_AGAIN_BYTES));

	handover_goes_on();
	if (!note->in_force)
		return;
	for (int i = 0; i < note->table_count; i++)
		take_table(&note->tables[i], same, whole && is_listed(note, note->tables[i].decision.key.dboid), now);
	hold_carried(note->held_until);
	if (!whole)
	{
		ereport(LOG,
				(errmsg("pg_sweep: took over what was known of %d tables", note->table_count),
				 errdetail("All other tables that were vacuumed before are looked at within ten minutes.")));
		return;
	}
	carried_know(note->databases, note->database_count, now);
	if (same)
		return;
	databases_read(now);
	MemoryContextSwitchTo(context); /* a transaction may have left another
									 * context */
	take_stale(note, now);
	ereport(LOG,
			(errmsg("pg_sweep: took over what was known of %d tables, and that all others of %d databases are in order",
					note->table_count, note->database_count)));
}

/*
 * Only after the server's start.  A launcher that was started again finds all
 * in shared memory.
 */
void
takeover_begin(void)
{
	MemoryContext context = CurrentMemoryContext;
	WalNote		found;
	CarriedNote note;

	if (sweep_shared->carried.looked)
		return;
	sweep_shared->carried.looked = true;
	if (shmem_is_off())
		return;
	PG_TRY();
	{
		if (wal_note_find(2 * HANDOVER_AGAIN_BYTES, &found) && carried_decode(found.data, found.size, &note))
			take_note(&found, &note);
	}
	PG_CATCH();
	{
		HOLD_INTERRUPTS();
		MemoryContextSwitchTo(context);
		EmitErrorReport();
		AbortOutOfAnyTransaction();
		LWLockReleaseAll();
		FlushErrorState();
		RESUME_INTERRUPTS();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
}
