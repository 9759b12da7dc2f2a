/*
 * procfile.h
 *		Text of the kernel about pressure and processes, read.
 *
 * Sources: Documentation/accounting/psi.rst, proc_pid_stat(5), cgroups(7).
 */
#ifndef SWEEP_POLICY_PROCFILE_H
#define SWEEP_POLICY_PROCFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "some": at least one process waited for it. */
typedef struct Pressure
{
	double		avg10;			/* % of the last 10 s */
	uint64_t	total_us;		/* since the start */
} Pressure;

/* False when it is not such a text. */
extern bool pressure_parse(const char *text, Pressure *out);

/* % of the time between two readings; negative: the counter went back. */
extern double pressure_pct(const Pressure *before, const Pressure *after, double elapsed_us);

/*
 * Of /proc/PID/cgroup the group in the unified hierarchy, "/" for the root.
 * False when there is none, or it does not fit.
 */
extern bool cgroup_unified_path(const char *text, char *path, size_t size);

typedef struct ProcessTimes
{
	uint64_t	cpu_ticks;		/* user and system */
	uint64_t	start_ticks;	/* when it began: tells it from another that
								 * had its pid */
} ProcessTimes;

/* Of /proc/PID/stat.  The name of the program may hold anything. */
extern bool process_times_parse(const char *text, ProcessTimes *out);

#endif							/* SWEEP_POLICY_PROCFILE_H */
