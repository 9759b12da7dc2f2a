/*
 * control_group.c
 *		What the kernel tells of the server's own control group.
 *
 * In a container its own group often looks like the root.
 */
#include "server/control_group.h"

#include <math.h>
#include <sched.h>
#include <unistd.h>

#include "policy/procfile.h"
#include "server/system_file.h"

#define GROUP_PATH		"/proc/self/cgroup"
#define GROUP_LEN		512
#define TEXT_LEN		1024

/* The version 1 of control groups, where a container's own one is the root. */
#define V1_QUOTA		"/sys/fs/cgroup/cpu/cpu.cfs_quota_us"
#define V1_PERIOD		"/sys/fs/cgroup/cpu/cpu.cfs_period_us"
#define V1_USED			"/sys/fs/cgroup/cpuacct/cpuacct.usage"

/* The second is where both versions are used. */
static const char *const mounts[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};

/* The name of the server's group below a mount: empty for the root. */
static bool
find_group(char *group, size_t size)
{
	char		text[TEXT_LEN];

	if (system_file_read(GROUP_PATH, text, sizeof(text)) <= 0 || !cgroup_unified_path(text, group, size))
		return false;
	if (strcmp(group, "/") == 0)
		group[0] = '\0';
	return true;
}

bool
control_group_file(const char *name, char *path, size_t size)
{
	char		group[GROUP_LEN];
	char		text[TEXT_LEN];

	if (!find_group(group, sizeof(group)))
		return false;
	for (int i = 0; i < lengthof(mounts); i++)
	{
		snprintf(path, size, "%s%s/%s", mounts[i], group, name);
		if (system_file_read(path, text, sizeof(text)) > 0)
			return true;
	}
	return false;
}

/* The group with the least quota: its files are named so.  Empty: version 1. */
static char limited_group[MAXPGPATH];

/* The least quota of a group and of those above it. */
static double
quota_below(const char *mount, char *group, double least)
{
	for (;;)
	{
		char		path[MAXPGPATH];
		char		text[TEXT_LEN];
		char	   *last = strrchr(group, '/');
		double		quota;

		snprintf(path, sizeof(path), "%s%s/cpu.max", mount, group);
		quota = system_file_read(path, text, sizeof(text)) > 0 ? cgroup_quota(text) : HUGE_VAL;
		if (quota < least)
		{
			least = quota;
			snprintf(limited_group, sizeof(limited_group), "%s%s", mount, group);
		}
		if (last == NULL)
			return least;
		*last = '\0';
	}
}

static double
quota_v1(void)
{
	char		quota[32];
	char		period[32];
	char		text[64];

	if (system_file_read(V1_QUOTA, quota, sizeof(quota)) <= 0 || system_file_read(V1_PERIOD, period, sizeof(period)) <= 0)
		return HUGE_VAL;
	snprintf(text, sizeof(text), "%s %s", quota, period);
	return cgroup_quota(text);
}

double
control_group_quota(void)
{
	double		least = quota_v1();
	char		group[GROUP_LEN];

	limited_group[0] = '\0';
	for (int i = 0; i < lengthof(mounts) && find_group(group, sizeof(group)); i++)
		least = quota_below(mounts[i], group, least);
	return least;
}

double
control_group_used_ms(void)
{
	char		path[MAXPGPATH + 16];
	char		text[TEXT_LEN];
	double		us;

	if (limited_group[0] == '\0')
		return system_file_read(V1_USED, text, sizeof(text)) > 0 ? strtod(text, NULL) / 1e6 : -1;
	snprintf(path, sizeof(path), "%s/cpu.stat", limited_group);
	us = system_file_read(path, text, sizeof(text)) > 0 ? cgroup_stat(text, "usage_usec") : -1;
	return us < 0 ? -1 : us / 1000;
}

double
control_group_processors(void)
{
	double		processors = (double) sysconf(_SC_NPROCESSORS_ONLN);
#ifdef CPU_COUNT
	cpu_set_t	mask;

	if (sched_getaffinity(0, sizeof(mask), &mask) == 0)
		processors = Min(processors, CPU_COUNT(&mask));
#endif
	return Min(processors, control_group_quota());
}
