/*
 * handover.c
 *		What this server knows, for the next start or the next primary.
 *
 * PostgreSQL's statistics do not travel to standbys, and a crash loses them.
 * So in mode act the launcher notes in the WAL (server/wal_note) what it knows
 * of the tables that matter: how many dead and inserted rows each has, and
 * what was decided about it.  It looks once a second and writes a note when
 * one of them has changed by a quarter of its threshold.  The launcher of the
 * server that starts from that WAL takes the last note (takeover.c).
 *
 * A note is whole, so only the last one is read.  It is written again when a
 * checkpoint has begun, because older WAL may then be removed, and after so
 * much WAL.
 *
 * Locks: those of handover_tables.c, and ProcArrayLock, shared, for a look at
 * the oldest transaction.
 */
#include "launcher/handover.h"

#include "access/transam.h"
#include "access/xlog.h"
#include "access/xlog_internal.h"
#include "miscadmin.h"
#include "storage/procarray.h"
#include "utils/memutils.h"

#include "launcher/databases.h"
#include "launcher/handover_tables.h"
#include "server/clock.h"
#include "server/compat.h"
#include "server/wal_note.h"
#include "shmem.h"
#include "state/carried.h"
#include "state/hold.h"

#define LOOK_MS				1000	/* between two looks */
#define LOOK_SHARE			0.002	/* of a processor, at most */
#define REFRESH_MS			300000	/* a note as long as little has changed */
#define LONG_WRITER_MS		10000

/* What the last note said, by key, and what it cost. */
static Pick *noted = NULL;
static int	noted_count = 0;
static bool note_is_there = false;
static XLogRecPtr noted_end = InvalidXLogRecPtr;
static TimestampTz noted_at = 0;
static double note_bytes = 0;
static CarriedNote noted_head;	/* without its tables and databases */
static CarryBudget budget = {0};

static TimestampTz next_look = 0;

/* ----
 * What is new?
 * ----
 */

typedef enum Change
{
	CHANGE_NONE,
	CHANGE_SMALL,				/* worth a note when there is time */
	CHANGE_MATERIAL,			/* as soon as the budget allows */
	CHANGE_URGENT				/* a user's word, or a loss */
} Change;

/* Either may be missing. */
static Change
change_of(const Pick *then, const Pick *now)
{
	static const Pick none = {0};
	double		before = then ? then->share : 0;
	double		after = now ? now->share : 0;

	if (then == NULL)
		then = &none;
	if (now == NULL)
		now = &none;
	if (then->snoozed_until != now->snoozed_until)
		return CHANGE_URGENT;
	if (carry_is_material(before, after) || (now->class > then->class) ||
		(now != &none && then != &none && now->counts.vacuums != then->counts.vacuums))
		return CHANGE_MATERIAL;
	return now->counts.dead != then->counts.dead || now->counts.ins != then->counts.ins ? CHANGE_SMALL : CHANGE_NONE;
}

/* Compares what is known now with the last note. */
static Change
change_since(const HandoverLook *look, const CarriedNote *head)
{
	Change		change = CHANGE_NONE;
	int			i = 0;
	int			j = 0;

	if (head->held_until != noted_head.held_until ||
		memcmp(&head->statistics, &noted_head.statistics, sizeof(StatsMark)) != 0)
		return CHANGE_URGENT;
	if (head->long_writer != noted_head.long_writer || head->database_count != noted_head.database_count ||
		carry_rest_is_clean(head->floor) != carry_rest_is_clean(noted_head.floor))
		change = CHANGE_MATERIAL;
	while (i < noted_count || j < look->count)
	{
		int			order = i == noted_count ? 1 : (j == look->count ? -1 : handover_tables_compare(&noted[i], &look->picks[j]));
		Change		one = change_of(order <= 0 ? &noted[i] : NULL, order >= 0 ? &look->picks[j] : NULL);

		change = Max(change, one);
		i += order <= 0;
		j += order >= 0;
	}
	return change;
}

/* Would the note be gone, or too far back, for somebody who starts from here? */
static bool
is_too_far_back(void)
{
	XLogSegNo	at;
	XLogSegNo	redo;

	XLByteToPrevSeg(noted_end, at, wal_segment_size);
	XLByteToSeg(GetRedoRecPtr(), redo, wal_segment_size);
	return redo > at || GetXLogInsertRecPtr() - noted_end > HANDOVER_AGAIN_BYTES;
}

/* ----
 * The note
 * ----
 */

/*
 * A transaction reports its changes when it ends.  If the server crashes
 * before, it leaves garbage that no counter knows.
 */
static bool
is_long_writer(TimestampTz now)
{
	static TransactionId older = InvalidTransactionId;
	static TransactionId newer = InvalidTransactionId;
	static TimestampTz newer_at = 0;

	if (newer_at == 0 || now < newer_at || now >= clock_after(newer_at, LONG_WRITER_MS))
	{
		older = newer;
		newer = XidFromFullTransactionId(ReadNextFullTransactionId());
		newer_at = now;
	}
	return TransactionIdIsValid(older) && TransactionIdPrecedes(compat_oldest_active_xid(), older);
}

/* Is it known of all tables of a database what they have? */
static bool
is_known(const LauncherDatabase *db)
{
	TimestampTz begins = Max(sweep_shared->launcher.started_at, db->reset_at);

	return carried_is_known(db->dboid, db->reset_at) ||
		(db->looked_at > begins && !db->turns_left);
}

static void
fill_head(CarriedNote *head, const HandoverLook *look)
{
	HASH_SEQ_STATUS status;
	LauncherDatabase *db;

	memset(head, 0, sizeof(*head));
	head->in_force = true;
	head->held_until = hold_until();
	head->statistics = handover_tables_statistics();
	head->long_writer = is_long_writer(look->now);
	head->floor = look->floor;
	head->databases = palloc(sizeof(Oid) * CARRIED_DATABASES_LIMIT);
	hash_seq_init(&status, databases);
	while ((db = hash_seq_search(&status)) != NULL)
	{
		if (databases_is_ours(db->dboid) && head->database_count < CARRIED_DATABASES_LIMIT && is_known(db))
			head->databases[head->database_count++] = db->dboid;
	}
}

static void
fill_table(CarriedTable *t, const Pick *p, TimestampTz now)
{
	t->counts = p->counts;
	t->inserted = p->inserted;
	t->changed = p->changed;
	if (!decision_get(p->key, &t->decision))
		handover_tables_decide(&t->decision, p, now);
	memset(&t->decision.trial, 0, sizeof(t->decision.trial));
}

static void
write_note(CarriedNote *head, const HandoverLook *look)
{
	char	   *data;
	Size		size;

	head->table_count = look->count;
	head->tables = palloc_extended(sizeof(CarriedTable) * Max(look->count, 1), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	for (int i = 0; i < look->count; i++)
		fill_table(&head->tables[i], &look->picks[i], look->now);
	data = carried_encode(head, &size);
	noted_end = wal_note_write(data, size);
	note_is_there = true;
	noted_at = look->now;
	note_bytes = (double) size;

	if (noted == NULL)
		noted = MemoryContextAlloc(TopMemoryContext, sizeof(Pick) * CARRIED_TABLES_LIMIT);
	if (look->count > 0)
		memcpy(noted, look->picks, sizeof(Pick) * look->count);
	noted_count = look->count;
	noted_head = *head;
	noted_head.databases = NULL;
	noted_head.tables = NULL;
}

static void
look_and_write(TimestampTz now, bool last)
{
	HandoverLook look;
	CarriedNote head;
	Change		change;
	bool		may;

	handover_tables_begin(&look, now);
	handover_tables_pick(&look);
	fill_head(&head, &look);
	change = XLogRecPtrIsInvalid(noted_end) ? CHANGE_URGENT : change_since(&look, &head);
	may = carry_may_write(&budget, clock_steady(), note_bytes);
	if (change == CHANGE_URGENT || (may && change == CHANGE_MATERIAL) ||
		(may && change == CHANGE_SMALL && now >= clock_after(noted_at, REFRESH_MS)))
	{
		write_note(&head, &look);
		carry_wrote(&budget, note_bytes);
	}
	else if ((last && change != CHANGE_NONE) || is_too_far_back())
		write_note(&head, &look);	/* what is rare is not counted */
}

void
handover_look(TimestampTz now)
{
	double		cpu_ms = clock_cpu_ms();

	if (sweep_mode != SWEEP_ACT)
	{
		handover_stop();
		return;
	}
	if (now < next_look)
		return;
	look_and_write(now, false);
	next_look = clock_after(now, Max(Min(LOOK_MS, sweep_naptime_ms), (int64) ((clock_cpu_ms() - cpu_ms) / LOOK_SHARE)));
}

void
handover_last(void)
{
	MemoryContext context = CurrentMemoryContext;

	if (sweep_mode != SWEEP_ACT || shmem_is_off() || !note_is_there)
		return;
	HOLD_INTERRUPTS();
	PG_TRY();
	{
		look_and_write(clock_now(), true);
	}
	PG_CATCH();
	{
		HOLD_INTERRUPTS();		/* the error has let go of them */
		MemoryContextSwitchTo(context);
		EmitErrorReport();
		FlushErrorState();
		LWLockReleaseAll();
	}
	PG_END_TRY();
	RESUME_INTERRUPTS();
}

void
handover_goes_on(void)
{
	note_is_there = true;
}

/* What was noted is not followed any more, so it must not be taken. */
void
handover_stop(void)
{
	HandoverLook look;
	CarriedNote head = {0};

	if (!note_is_there)
		return;
	memset(&look, 0, sizeof(look));
	look.now = clock_now();
	write_note(&head, &look);
	note_is_there = false;
	noted_end = InvalidXLogRecPtr;
}

void
handover_set_back(int64 us)
{
	clock_move(&next_look, us);
	clock_move(&noted_at, us);
}
