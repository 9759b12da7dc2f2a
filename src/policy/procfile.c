/*
 * procfile.c
 *		Text of the kernel about pressure and processes, read.
 */
#include "procfile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Fields of /proc/PID/stat, numbered as in the manual page from 1 on. */
#define STAT_STATE		3
#define STAT_UTIME		14
#define STAT_STIME		15
#define STAT_STARTTIME	22

/* The number behind a key.  Returns false if there is none. */
static bool
number_after(const char *line, const char *key, char **end, double *value)
{
	const char *at = strstr(line, key);

	if (at == NULL)
		return false;
	at += strlen(key);
	if (*at < '0' || *at > '9')
		return false;
	*value = strtod(at, end);
	return true;
}

bool
pressure_parse(const char *text, Pressure *out)
{
	const char *line = strncmp(text, "some ", 5) == 0 ? text : strstr(text, "\nsome ");
	const char *total;
	char	   *end;
	double		avg10;

	if (line == NULL || !number_after(line, "avg10=", &end, &avg10) || *end != ' ')
		return false;
	total = strstr(end, "total=");
	if (total == NULL)
		return false;
	/* it must be in that line, not in one about "full" */
	if (memchr(line + 1, '\n', (size_t) (total - line - 1)) != NULL)
		return false;
	total += strlen("total=");
	if (*total < '0' || *total > '9')
		return false;
	out->avg10 = avg10;
	out->total_us = strtoull(total, &end, 10);
	return *end == '\n' || *end == '\0';
}

double
pressure_pct(const Pressure *before, const Pressure *after, double elapsed_us)
{
	double		pct;

	if (after->total_us < before->total_us || elapsed_us <= 0)
		return -1;
	pct = (double) (after->total_us - before->total_us) * 100 / elapsed_us;
	/* the kernel brings it up to date a little before or after we look */
	return pct > 100 ? 100 : pct;
}

bool
cgroup_unified_path(const char *text, char *path, size_t size)
{
	for (const char *line = text; line != NULL && *line != '\0';)
	{
		const char *end = strchr(line, '\n');
		size_t		length = end ? (size_t) (end - line) : strlen(line);

		if (strncmp(line, "0::/", 4) == 0)
		{
			length -= 3;
			/* a group that is gone, or is above our root, has no files here */
			if (length >= size || memchr(line + 3, ' ', length) != NULL ||
				strncmp(line + 3, "/..", 3) == 0)
				return false;
			memcpy(path, line + 3, length);
			path[length] = '\0';
			return true;
		}
		line = end ? end + 1 : NULL;
	}
	return false;
}

/* Version 1 has -1 where there is no quota. */
double
cgroup_quota(const char *text)
{
	char	   *end;
	double		quota_us = strtod(text, &end);
	double		period_us = strtod(end, NULL);

	return quota_us > 0 && isfinite(quota_us) && period_us > 0 ? quota_us / period_us : HUGE_VAL;
}

double
cgroup_stat(const char *text, const char *name)
{
	size_t		length = strlen(name);

	for (const char *line = text; line != NULL && *line != '\0';)
	{
		const char *end = strchr(line, '\n');

		if (strncmp(line, name, length) == 0 && line[length] == ' ' &&
			line[length + 1] >= '0' && line[length + 1] <= '9')
			return strtod(line + length + 1, NULL);
		line = end ? end + 1 : NULL;
	}
	return -1;
}

bool
process_times_parse(const char *text, ProcessTimes *out)
{
	const char *at = strrchr(text, ')');
	uint64_t	values[STAT_STARTTIME + 1] = {0};

	if (at == NULL || at[1] != ' ' || at[2] == '\0' || at[3] != ' ')
		return false;
	at += 4;
	for (int field = STAT_STATE + 1; field <= STAT_STARTTIME; field++)
	{
		char	   *end;

		if (*at != '-' && (*at < '0' || *at > '9'))
			return false;
		/* none of those that can be negative is asked for */
		values[field] = strtoull(at, &end, 10);
		if (end == at || (*end != ' ' && *end != '\n' && *end != '\0'))
			return false;
		if (field < STAT_STARTTIME && *end != ' ')
			return false;
		at = end + 1;
	}
	out->cpu_ticks = values[STAT_UTIME] + values[STAT_STIME];
	out->start_ticks = values[STAT_STARTTIME];
	return true;
}
