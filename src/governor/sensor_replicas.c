/*
 * sensor_replicas.c
 *		How far the physical standbys are behind.
 *
 * What a standby has not replayed is counted from the end of the primary's
 * WAL, not from what was sent.  Over a slow network hardly anything is sent,
 * and that is lag as well.  Logical subscribers do not count, because what
 * vacuum writes never reaches them.
 */
#include "postgres.h"

#include "access/xlog.h"
#include "miscadmin.h"
#include "replication/walsender.h"
#include "replication/walsender_private.h"
#include "utils/backend_status.h"
#include "utils/timestamp.h"

#include "governor/sensors.h"
#include "policy/lag.h"
#include "server/compat.h"

#define WATCHED_LIMIT		64
#define COPY_ATTEMPTS		10

typedef struct Watched
{
	int			pid;			/* of the walsender, or 0: free */
	bool		seen;			/* in this step */
	char		name[NAMEDATALEN];	/* empty: not known yet */
	DelayWatch	watch;
} Watched;

/* What a walsender knew at one moment. */
typedef struct Standby
{
	int			pid;
	WalSndState state;
	XLogRecPtr	flush;
	XLogRecPtr	apply;
	TimeOffset	apply_lag;		/* us, or -1: unknown */
	Watched    *watched;		/* NULL: there are too many */
	const char *name;
} Standby;

static Watched watched[WATCHED_LIMIT];
static LagTrail trail;
static TimestampTz before_at = 0;

/*
 * The application's name, when a walsender is seen first.  It is empty if the
 * walsender has not said it yet.  The governor has no entry of its own.  It
 * has to take core's copies, which allocates, so this is done once for each
 * standby that connects.
 */
static void
copy_name(int pid, char *name, size_t size)
{
	PgBackendStatus *entries = compat_backend_status();

	name[0] = '\0';
	if (entries == NULL)
		compat_copy_application_name(pid, name, size);
	for (int i = 0; entries != NULL && i < MaxBackends; i++)
	{
		volatile PgBackendStatus *entry = &entries[i];

		if (entry->st_procpid != pid)
			continue;
		for (int attempt = 0; attempt < COPY_ATTEMPTS; attempt++)
		{
			int			before;
			int			after;
			int			found;

			pgstat_begin_read_activity(entry, before);
			found = entry->st_procpid;
			strlcpy(name, (char *) entry->st_appname, size);
			pgstat_end_read_activity(entry, after);
			if (found == pid && pgstat_read_activity_complete(before, after))
				return;
			name[0] = '\0';
		}
		return;
	}
}

/* Is the name in a list separated by commas?  As in synchronous_standby_names. */
static bool
is_listed(const char *name, const char *list)
{
	size_t		length = strlen(name);

	while (list != NULL && *list != '\0')
	{
		size_t		item = strcspn(list, ",");
		const char *next = list[item] == ',' ? list + item + 1 : NULL;

		while (item > 0 && (*list == ' ' || *list == '"'))
			list++, item--;
		while (item > 0 && (list[item - 1] == ' ' || list[item - 1] == '"'))
			item--;
		if (item > 0 && item == length && pg_strncasecmp(list, name, length) == 0)
			return true;
		if (item == 1 && *list == '*')
			return true;
		list = next;
	}
	return false;
}

static Watched *
find_watched(int pid)
{
	Watched    *unused = NULL;

	for (int i = 0; i < WATCHED_LIMIT; i++)
	{
		if (watched[i].pid == pid)
			return &watched[i];
		if (watched[i].pid == 0 && unused == NULL)
			unused = &watched[i];
	}
	if (unused != NULL)
	{
		memset(unused, 0, sizeof(*unused));
		unused->pid = pid;
	}
	return unused;
}

/* False: not a walsender for a physical standby. */
static bool
copy_standby(int i, Standby *out)
{
	WalSnd	   *walsnd = &WalSndCtl->walsnds[i];
	bool		physical;

	SpinLockAcquire(&walsnd->mutex);
	out->pid = walsnd->pid;
	out->state = walsnd->state;
	out->flush = walsnd->flush;
	out->apply = walsnd->apply;
	out->apply_lag = walsnd->applyLag;
	physical = out->pid != 0 && compat_walsnd_is_physical(walsnd);
	SpinLockRelease(&walsnd->mutex);

	if (!physical || out->state == WALSNDSTATE_BACKUP || out->state == WALSNDSTATE_STOPPING)
		return false;
	/* before 16 the entry does not tell, but decoding needs a database */
	if (compat_walsender_has_database(out->pid))
		return false;
	out->watched = find_watched(out->pid);
	out->name = "";
	if (out->watched == NULL)
		return true;
	out->watched->seen = true;
	if (out->watched->name[0] == '\0')
		copy_name(out->pid, out->watched->name, sizeof(out->watched->name));
	out->name = out->watched->name;
	return true;
}

static double
bytes_behind(XLogRecPtr end, XLogRecPtr position)
{
	return end > position ? (double) (end - position) : 0;
}

static double
ms_behind(TimestampTz now, XLogRecPtr position, TimeOffset measured_us)
{
	double		ms = lag_ms(&trail, now, position);

	/* older than what we have seen: the server may have measured it */
	if (!lag_is_known(&trail, position) && measured_us > 0)
		ms = Max(ms, (double) measured_us / 1000);
	return ms;
}

/* Takes the standby into account. */
static void
count_standby(ReplicaReading *out, const Standby *s, XLogRecPtr end, const SensorsWanted *wanted,
			  TimestampTz now)
{
	double		bytes = bytes_behind(end, s->apply);
	double		ms = ms_behind(now, s->apply, s->apply_lag);
	double		flush_bytes = bytes_behind(end, s->flush);
	double		flush_ms = ms_behind(now, s->flush, -1);
	bool		over = bytes > wanted->max_lag_bytes && ms > wanted->max_lag_ms;
	bool		further;

	if (s->watched != NULL && delay_watch(&s->watched->watch, now, ms, flush_ms, over))
	{
		snprintf(out->why, sizeof(out->why), "\"%s\" replays with a constant delay: what it has received counts",
				 s->name);
		bytes = flush_bytes;
		ms = flush_ms;
	}
	further = wanted->max_lag_ms > 0 ? ms > out->lag_ms : bytes > out->lag_bytes;
	if (out->standbys == 0 || further)
		strlcpy(out->standby, s->name, sizeof(out->standby));
	out->lag_bytes = Max(out->lag_bytes, bytes);
	out->lag_ms = Max(out->lag_ms, ms);
	out->standbys++;
}

/*
 * Notes where the primary's WAL ends.  What was noted long ago says nothing.
 */
static void
note_end(XLogRecPtr end, TimestampTz now)
{
	if (before_at == 0 || now < before_at || now - before_at > SENSOR_STALE_MS * 1000)
		trail.n = 0;
	before_at = now;
	lag_note(&trail, now, end);
}

void
sensor_replicas_read(ReplicaReading *out, const SensorsWanted *wanted, TimestampTz now)
{
	XLogRecPtr	end;

	if (RecoveryInProgress())
	{
		out->state = SENSOR_ABSENT;
		strlcpy(out->why, "the server is a standby", sizeof(out->why));
		before_at = 0;
		return;
	}
	end = GetFlushRecPtr(NULL);
	note_end(end, now);
	for (int i = 0; i < WATCHED_LIMIT; i++)
		watched[i].seen = false;
	for (int i = 0; i < max_wal_senders; i++)
	{
		Standby		s;

		if (!copy_standby(i, &s))
			continue;
		/* one that never replays is no standby: pg_receivewal */
		if (s.state != WALSNDSTATE_STREAMING || s.apply == InvalidXLogRecPtr ||
			is_listed(s.name, wanted->ignore_standbys))
			out->ignored++;
		else
			count_standby(out, &s, end, wanted, now);
	}
	for (int i = 0; i < WATCHED_LIMIT; i++)
	{
		if (!watched[i].seen)
			watched[i].pid = 0;
	}
	out->state = SENSOR_OK;
}
