/*
 * sensor_users.c
 *		How many users are at work, and what they wait for.
 *
 * It samples the processes' own entries, without a lock.  Each field is one
 * aligned word that its process stores at once.  An entry that is being taken
 * or given back at that moment spoils one sample of many.  What a process
 * waits for also tells whether it is at work at all, because between two
 * statements a backend waits for its client.  So this does not need
 * track_activities.
 *
 * A user is a client backend, or a parallel worker of one, that does not
 * vacuum.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "replication/walsender.h"
#include "replication/walsender_private.h"
#include "storage/lwlock.h"
#include "storage/proc.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "governor/sensors.h"
#include "policy/procfile.h"
#include "server/compat.h"
#include "server/control_group.h"
#include "server/system_file.h"
#include "shmem.h"

#define WAIT_CLASS_MASK		0xFF000000U
#define WAIT_EVENT_MASK		0x0000FFFFU

/*
 * Entries that one sample looks at.  On larger servers the next sample goes
 * on from there.
 */
#define SAMPLE_LIMIT		2000

#define WALSENDERS_LIMIT	256

#define PSI_PATH			"/proc/pressure"
#define PRESSURE_LEN		256

/* PSI over less than that is mostly rounding. */
#define PSI_SHORTEST_US		100000.0

/* sums of the samples since the last step */
static int	samples = 0;
static double active;
static double waiting_io;
static double waiting_wal;
static double waiting_lwlock;
static int	next_entry = 0;

static int	walsender_pids[WALSENDERS_LIMIT];
static int	walsenders = 0;
static int	base_backups = 0;

/* In how much of the time somebody waited for a device, or for a processor. */
typedef struct PressureSensor
{
	const char *what;			/* as the kernel names it */
	char		path[MAXPGPATH];	/* empty: not looked for yet */
	Pressure	before;
	TimestampTz before_at;		/* 0: nothing to compare with */
	double		pct;
} PressureSensor;

static PressureSensor io_pressure = {"io"};
static PressureSensor cpu_pressure = {"cpu"};

static bool
is_walsender(int pid)
{
	for (int i = 0; i < walsenders; i++)
	{
		if (walsender_pids[i] == pid)
			return true;
	}
	return false;
}

/* The meter knows all of them, but for a lazy vacuum that it does not measure. */
static bool
is_vacuuming(volatile PGPROC *proc, int pid)
{
	int			i = compat_proc_backend_index(proc);

	if ((proc->statusFlags & (PROC_IS_AUTOVACUUM | PROC_IN_VACUUM)) != 0)
		return true;
	return sweep_meters != NULL && i >= 0 && i < shmem_meter_count() &&
		((volatile MeterSlot *) &sweep_meters[i])->pid == pid;
}

/*
 * The pid of an entry's process, or 0 if there is none.  Before 17 an entry
 * keeps the pid of the process that left.  There only the latch says that it
 * is gone (InitProcess(), ProcKill()).
 */
static int
pid_of(volatile PGPROC *proc)
{
	return proc->procLatch.owner_pid;
}

static bool
is_user(volatile PGPROC *proc, int pid)
{
	volatile PGPROC *leader = proc->lockGroupLeader;

	if (pid == MyProcPid || proc->databaseId == InvalidOid || is_vacuuming(proc, pid))
		return false;
	if (compat_proc_is_client(proc))
		return !is_walsender(pid);

	/* a background worker counts as part of the query that it works for */
	return leader != NULL && leader != proc && compat_proc_is_client(leader) &&
		!is_vacuuming(leader, pid_of(leader));
}

/* Locks that are held while WAL is written, or copied into its buffers. */
static bool
is_wal_lock(uint32 tranche)
{
	return tranche == WALWriteLock->tranche || tranche == WALBufMappingLock->tranche ||
		tranche == LWTRANCHE_WAL_INSERT;
}

static void
count_user(uint32 wait, double weight)
{
	uint32		class = wait & WAIT_CLASS_MASK;

	/* between statements, or the client is slow to take the result */
	if (class == PG_WAIT_CLIENT || class == PG_WAIT_ACTIVITY)
		return;
	active += weight;
	if (class == PG_WAIT_IO || wait == WAIT_EVENT_BUFFER_IO)
		waiting_io += weight;
	else if (class == PG_WAIT_LWLOCK && is_wal_lock(wait & WAIT_EVENT_MASK))
		waiting_wal += weight;
	else if (class == PG_WAIT_LWLOCK)
		waiting_lwlock += weight;
}

void
sensor_users_sample(void)
{
	int			entries = Min((int) ProcGlobal->allProcCount, MaxBackends);
	int			looked = Min(entries, SAMPLE_LIMIT);
	double		weight = (double) entries / looked;

	for (int i = 0; i < looked; i++)
	{
		volatile PGPROC *proc;
		int			pid;

		if (next_entry >= entries)
			next_entry = 0;
		proc = &ProcGlobal->allProcs[next_entry++];
		pid = pid_of(proc);
		if (pid != 0 && is_user(proc, pid))
			count_user(proc->wait_event_info, weight);
	}
	samples++;
}

double
sensor_users_waiting(void)
{
	return samples > 0 ? (waiting_io + waiting_wal) / samples : 0;
}

/* Who is a walsender, and which of them send a base backup. */
static void
look_at_walsenders(void)
{
	int			n = 0;
	int			backups = 0;

	for (int i = 0; i < max_wal_senders && n < WALSENDERS_LIMIT; i++)
	{
		WalSnd	   *walsnd = &WalSndCtl->walsnds[i];
		int			pid;
		WalSndState state;

		SpinLockAcquire(&walsnd->mutex);
		pid = walsnd->pid;
		state = walsnd->state;
		SpinLockRelease(&walsnd->mutex);
		if (pid == 0)
			continue;
		walsender_pids[n++] = pid;
		if (state == WALSNDSTATE_BACKUP)
			backups++;
	}
	walsenders = n;
	base_backups = backups;
}

/*
 * The server's own control group where it tells: others on the machine are none
 * of our business.  Else the machine's.
 */
static void
find_pressure(PressureSensor *sensor)
{
	char		name[16];

	snprintf(name, sizeof(name), "%s.pressure", sensor->what);
	if (!control_group_file(name, sensor->path, sizeof(sensor->path)))
		snprintf(sensor->path, sizeof(sensor->path), "%s/%s", PSI_PATH, sensor->what);
}

/* -1 and the reason when there is none. */
static double
read_pressure(PressureSensor *sensor, TimestampTz now, char *why)
{
	char		text[PRESSURE_LEN];
	Pressure	p;
	double		elapsed_us = (double) (now - sensor->before_at);

	if (sensor->path[0] == '\0')
		find_pressure(sensor);
	if (system_file_read(sensor->path, text, sizeof(text)) < 0)
	{
		snprintf(why, SENSOR_WHY_LEN, "no pressure information: %s: %s",
				 sensor->path, strerror(errno));
		sensor->before_at = 0;
		return -1;
	}
	if (!pressure_parse(text, &p))
	{
		snprintf(why, SENSOR_WHY_LEN, "no pressure information: %s is not to be understood",
				 sensor->path);
		sensor->before_at = 0;
		return -1;
	}
	if (sensor->before_at != 0 && elapsed_us >= 0 && elapsed_us < PSI_SHORTEST_US)
		return sensor->pct;
	/* without a step before, the kernel's own average is what there is */
	if (sensor->before_at == 0 || elapsed_us < 0 || elapsed_us > SENSOR_STALE_MS * 1000)
		sensor->pct = p.avg10;
	else
		sensor->pct = pressure_pct(&sensor->before, &p, elapsed_us);
	if (sensor->pct < 0)
		snprintf(why, SENSOR_WHY_LEN, "no pressure information: the counter in %s went back",
				 sensor->path);
	sensor->before = p;
	sensor->before_at = now;
	return sensor->pct;
}

void
sensor_users_read(UsersReading *out, TimestampTz now)
{
	look_at_walsenders();
	if (samples == 0)
		sensor_users_sample();

	out->state = SENSOR_OK;
	out->active = active / samples;
	out->waiting_io = waiting_io / samples;
	out->waiting_wal = waiting_wal / samples;
	out->waiting_lwlock = waiting_lwlock / samples;
	out->base_backups = base_backups;
	out->io_pressure_pct = read_pressure(&io_pressure, now, out->io_why);
	out->cpu_pressure_pct = read_pressure(&cpu_pressure, now, out->cpu_why);

	samples = 0;
	active = waiting_io = waiting_wal = waiting_lwlock = 0;
}
