/*
 * standbys.c
 *		Standbys whose queries vacuums can cancel, and what is then done.
 *
 * A hot standby replays what removes rows, freezes them or sets pages
 * all-visible.  It cancels its own queries that would miss those rows, once
 * it has waited max_standby_streaming_delay for them.  A standby that sends
 * feedback holds the primary's horizon instead, and its queries are safe.
 * Without feedback, each vacuum that comes at another time than autovacuum's
 * costs queries that would live on stock PostgreSQL, and keeps
 * replay waiting.
 *
 * A standby sends feedback if its walsender, or its slot, has an xmin.  The
 * launcher looks once a round and publishes how many standbys have none.  One
 * that goes away is counted for a while, because it comes back to the WAL
 * that was written meanwhile, and its queries may have gone on.  Standbys of
 * standbys and those fed by an archive cannot be seen.  For them there is a
 * setting.
 *
 * Locks, one at a time and none inside another: a walsender's spinlock;
 * ReplicationSlotControlLock, shared and only if it is free; ProcArrayLock,
 * shared; a partition lock of the statistics, shared.
 */
#include "server/standbys.h"

#include "access/xlog.h"
#include "lib/dshash.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/autovacuum.h"
#include "replication/slot.h"
#include "replication/walsender.h"
#include "replication/walsender_private.h"
#include "storage/proc.h"
#include "storage/procarray.h"
#include "utils/pgstat_internal.h"
#include "utils/timestamp.h"

#include "policy/spacing.h"
#include "server/clock.h"
#include "server/compat.h"
#include "shmem.h"

/* A standby that went away is reckoned with for this long. */
#define GONE_MS		(5 * 60 * 1000)

#define WATCHED_LIMIT	64

/* The walsenders of standbys that the launcher saw in one round, by pid. */
typedef struct Seen
{
	int			pids[WATCHED_LIMIT];
	bool		conflict[WATCHED_LIMIT];
	int			count;
	int			conflicts;		/* of all, also of those beyond the limit */
} Seen;

static Seen before;

/* For a worker during a visit: the answer when the visit began. */
static bool visiting = false;
static bool visit_lets_begin;

/* ----
 * Who can conflict?
 * ----
 */

/*
 * Does the walsender send to a standby that replays?  pg_receivewal and
 * pg_basebackup never do.
 */
static int
pid_of_standby(int i)
{
	WalSnd	   *walsnd = &WalSndCtl->walsnds[i];
	int			pid;
	bool		replays;

	SpinLockAcquire(&walsnd->mutex);
	pid = walsnd->pid;
	replays = pid != 0 && compat_walsnd_is_physical(walsnd) &&
		(walsnd->state == WALSNDSTATE_CATCHUP || walsnd->state == WALSNDSTATE_STREAMING) &&
		walsnd->apply != InvalidXLogRecPtr;
	SpinLockRelease(&walsnd->mutex);
	return replays && !compat_walsender_has_database(pid) ? pid : 0;
}

static bool
has_xmin(int pid)
{
	PGPROC	   *proc = BackendPidGetProc(pid);

	return proc != NULL && TransactionIdIsNormal(((volatile PGPROC *) proc)->xmin);
}

/*
 * Finds the standbys whose slot has an xmin.  Returns false if somebody makes
 * or drops a slot just now.
 */
static bool
slots_with_xmin(int *pids, int *count)
{
	*count = 0;
	if (!LWLockConditionalAcquire(ReplicationSlotControlLock, LW_SHARED))
		return false;
	for (int i = 0; i < compat_slot_count() && *count < WATCHED_LIMIT; i++)
	{
		ReplicationSlot *slot = &ReplicationSlotCtl->replication_slots[i];
		bool		feedback;
		int			pid;

		if (!slot->in_use || SlotIsLogical(slot))
			continue;
		SpinLockAcquire(&slot->mutex);
		feedback = TransactionIdIsNormal(slot->data.xmin);
		pid = compat_slot_active_pid(slot);
		SpinLockRelease(&slot->mutex);
		if (feedback && pid != 0)
			pids[(*count)++] = pid;
	}
	LWLockRelease(ReplicationSlotControlLock);
	return true;
}

static bool
is_among(const int *pids, int count, int pid)
{
	for (int i = 0; i < count; i++)
	{
		if (pids[i] == pid)
			return true;
	}
	return false;
}

static bool
look(Seen *seen)
{
	int			slot_pids[WATCHED_LIMIT];
	int			slot_count;

	memset(seen, 0, sizeof(*seen));
	if (!slots_with_xmin(slot_pids, &slot_count))
		return false;
	for (int i = 0; i < max_wal_senders; i++)
	{
		int			pid = pid_of_standby(i);
		bool		conflict;

		if (pid == 0)
			continue;
		conflict = !is_among(slot_pids, slot_count, pid) && !has_xmin(pid);
		seen->conflicts += conflict;
		if (seen->count < WATCHED_LIMIT)
		{
			seen->pids[seen->count] = pid;
			seen->conflict[seen->count++] = conflict;
		}
	}
	return true;
}

/* Is a standby gone that could conflict when it was seen last? */
static bool
one_is_gone(const Seen *now)
{
	for (int i = 0; i < before.count; i++)
	{
		if (before.conflict[i] && !is_among(now->pids, now->count, before.pids[i]))
			return true;
	}
	return false;
}

bool
standbys_watch(TimestampTz now)
{
	static bool could = false;
	bool		can;
	Seen		seen;

	if (look(&seen))
	{
		if (one_is_gone(&seen))
			pg_atomic_write_u64(&sweep_shared->standby_gone_until, (uint64) clock_after(now, GONE_MS));
		pg_atomic_write_u32(&sweep_shared->standbys_without_feedback, (uint32) seen.conflicts);
		before = seen;
	}
	can = standbys_can_conflict();
	if (can == could)
		return false;
	could = can;
	return true;
}

/*
 * Is a standby gone that may still come back?  A clock that was set back does
 * not prolong that.
 */
static bool
is_gone_lately(void)
{
	TimestampTz now = clock_now();
	TimestampTz until = (TimestampTz) pg_atomic_read_u64(&sweep_shared->standby_gone_until);

	return now < until && until <= clock_after(now, GONE_MS);
}

bool
standbys_can_conflict(void)
{
	if (sweep_standby_conflicts != STANDBY_AUTO)
		return sweep_standby_conflicts == STANDBY_ON;
	return pg_atomic_read_u32(&sweep_shared->standbys_without_feedback) != 0 || is_gone_lately();
}

const char *
standbys_why(char *text, size_t size)
{
	uint32		count = pg_atomic_read_u32(&sweep_shared->standbys_without_feedback);

	if (!standbys_can_conflict())
		return NULL;
	if (sweep_standby_conflicts == STANDBY_ON)
		strlcpy(text, "sweep.standby_conflicts is on", size);
	else if (count == 1)
		strlcpy(text, "a standby sends no feedback", size);
	else if (count > 1)
		snprintf(text, size, "%u standbys send no feedback", count);
	else
		strlcpy(text, "a standby that sent no feedback went away a short while ago", size);
	return text;
}

/* ----
 * When may a vacuum begin?
 * ----
 */

/* When did autovacuum's worker last come to the database?  0 if never. */
static TimestampTz
core_came(Oid dboid)
{
	PgStat_HashKey key;
	PgStatShared_HashEntry *entry;
	TimestampTz at = 0;

	compat_stat_key(&key, dboid, InvalidOid);
	key.kind = PGSTAT_KIND_DATABASE;
	entry = dshash_find(pgStatLocal.shared_hash, &key, false);
	if (entry == NULL)
		return 0;
	if (!entry->dropped)
	{
		PgStatShared_Database *shared = dsa_get_address(pgStatLocal.dsa, entry->body);

		/* this is one aligned word, as it is before or after a change */
		at = shared->stats.last_autovac_time;
	}
	dshash_release_lock(pgStatLocal.shared_hash, entry);
	return at;
}

static bool
let_begin(Oid dboid)
{
	SpacingMoment m;

	m.now_ms = clock_now() / 1000;
	m.core_came_ms = core_came(OidIsValid(dboid) ? dboid : MyDatabaseId) / 1000;
	m.core_naptime_ms = (int64) autovacuum_naptime * 1000;
	m.look_ms = sweep_naptime_ms;
	return spacing_lets_begin(&m);
}

void
standbys_visit_begins(void)
{
	visiting = true;
	visit_lets_begin = let_begin(MyDatabaseId);
}

bool
standbys_let_begin(Oid dboid)
{
	if (!standbys_can_conflict())
		return true;
	return visiting ? visit_lets_begin : let_begin(dboid);
}
