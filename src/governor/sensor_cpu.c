/*
 * sensor_cpu.c
 *		How much processor time the vacuums take.
 *
 * The kernel counts it in ticks of 10 ms, of which a step of a quarter of a
 * second has 25: so the share is taken over the last second.
 */
#include "postgres.h"

#include <unistd.h>

#include "miscadmin.h"
#include "utils/timestamp.h"

#include "governor/sensors.h"
#include "policy/procfile.h"
#include "server/system_file.h"
#include "shmem.h"

#define PROCESSES_LIMIT		256
#define PROCESS_STAT_LEN	1024

#define POINTS				16
#define WINDOW_US			(1000 * 1000)

typedef struct Process
{
	int			pid;			/* 0: free */
	bool		seen;			/* in this step */
	ProcessTimes times;
} Process;

typedef struct Point
{
	TimestampTz at;				/* 0: none */
	double		ticks;			/* of all vacuums until then */
} Point;

static Process processes[PROCESSES_LIMIT];
static double ticks_in_all = 0;
static Point points[POINTS];
static int	last_point = 0;

static Process *
find_process(int pid)
{
	Process    *unused = NULL;

	for (int i = 0; i < PROCESSES_LIMIT; i++)
	{
		if (processes[i].pid == pid)
			return &processes[i];
		if (processes[i].pid == 0 && unused == NULL)
			unused = &processes[i];
	}
	return unused;
}

/*
 * Adds what a process has used since the last step.  In its first it has
 * nothing to be compared with: what it did before may be no vacuum.  One that
 * has just ended is not there any more.  False, with the reason, when /proc
 * cannot be read.
 */
static bool
add_process(int pid, char *why)
{
	char		path[64];
	char		text[PROCESS_STAT_LEN];
	ProcessTimes now;
	Process    *known = find_process(pid);

	if (known == NULL)
		return true;			/* more than there is room for */
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (system_file_read(path, text, sizeof(text)) < 0)
	{
		if (errno == ENOENT || errno == ESRCH)
			return true;
		snprintf(why, SENSOR_WHY_LEN, "%s: %s", path, strerror(errno));
		return false;
	}
	if (!process_times_parse(text, &now))
	{
		snprintf(why, SENSOR_WHY_LEN, "%s is not to be understood", path);
		return false;
	}
	if (known->pid == pid && known->times.start_ticks == now.start_ticks &&
		now.cpu_ticks >= known->times.cpu_ticks)
		ticks_in_all += (double) (now.cpu_ticks - known->times.cpu_ticks);
	known->pid = pid;
	known->seen = true;
	known->times = now;
	return true;
}

static bool
add_processes(char *why)
{
	bool		ok = true;

	for (int i = 0; i < PROCESSES_LIMIT; i++)
		processes[i].seen = false;
	for (int i = 0; sweep_meters != NULL && i < shmem_meter_count(); i++)
	{
		int			pid = ((volatile MeterSlot *) &sweep_meters[i])->pid;

		if (pid != 0 && !add_process(pid, why))
			ok = false;
	}
	for (int i = 0; i < PROCESSES_LIMIT; i++)
	{
		if (!processes[i].seen)
			processes[i].pid = 0;
	}
	return ok;
}

/* The point that is about a second ago, or the oldest since. */
static const Point *
point_before(TimestampTz now)
{
	const Point *found = NULL;

	for (int i = 0; i < POINTS; i++)
	{
		const Point *p = &points[i];

		if (p->at == 0 || p->at >= now || now - p->at > SENSOR_STALE_MS * 1000)
			continue;
		if (found == NULL)
			found = p;
		/* of those a second ago the youngest, else the oldest */
		else if (now - p->at >= WINDOW_US ? now - found->at < WINDOW_US || p->at > found->at :
				 now - found->at < WINDOW_US && p->at < found->at)
			found = p;
	}
	return found;
}

void
sensor_cpu_read(CpuReading *out, TimestampTz now)
{
	static long ticks_per_s = 0;
	const Point *from;

	if (ticks_per_s <= 0)
		ticks_per_s = sysconf(_SC_CLK_TCK);
	if (access("/proc/self/stat", F_OK) != 0)
	{
		out->state = SENSOR_ABSENT;
		strlcpy(out->why, "there is no /proc/PID/stat", sizeof(out->why));
		return;
	}
	out->state = ticks_per_s > 0 && add_processes(out->why) ? SENSOR_OK : SENSOR_BROKEN;
	from = point_before(now);
	if (from != NULL && ticks_per_s > 0)
		out->vacuums_pct = (ticks_in_all - from->ticks) * 100 / ticks_per_s /
			((double) (now - from->at) / 1000000);

	last_point = (last_point + 1) % POINTS;
	points[last_point].at = now;
	points[last_point].ticks = ticks_in_all;
}
