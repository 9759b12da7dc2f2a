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

/* The least quota of a group and of those above it. */
static double
quota_below(const char *mount, char *group)
{
	double		least = HUGE_VAL;

	for (;;)
	{
		char		path[MAXPGPATH];
		char		text[TEXT_LEN];
		char	   *last = strrchr(group, '/');

		snprintf(path, sizeof(path), "%s%s/cpu.max", mount, group);
		if (system_file_read(path, text, sizeof(text)) > 0)
			least = Min(least, cgroup_quota(text));
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
control_group_processors(void)
{
	double		processors = (double) sysconf(_SC_NPROCESSORS_ONLN);
	char		group[GROUP_LEN];
#ifdef CPU_COUNT
	cpu_set_t	mask;

	if (sched_getaffinity(0, sizeof(mask), &mask) == 0)
		processors = Min(processors, CPU_COUNT(&mask));
#endif
	for (int i = 0; i < lengthof(mounts) && find_group(group, sizeof(group)); i++)
		processors = Min(processors, quota_below(mounts[i], group));
	return Min(processors, quota_v1());
}
