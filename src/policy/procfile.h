/*
 * procfile.h
 *		Reads the kernel's texts about pressure and processes.
 *
 * Sources: Documentation/accounting/psi.rst, proc_pid_stat(5), cgroups(7).
 */
#ifndef SWEEP_POLICY_PROCFILE_H
#define SWEEP_POLICY_PROCFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "some" means that at least one process waited for it. */
typedef struct Pressure
{
	double		avg10;			/* % of the last 10 s */
	uint64_t	total_us;		/* since the start */
} Pressure;

/* Returns false if it is not such a text. */
extern bool pressure_parse(const char *text, Pressure *out);

/*
 * The share of the time between two readings, in %.  Negative if the counter
 * went back.
 */
extern double pressure_pct(const Pressure *before, const Pressure *after, double elapsed_us);

/*
 * From /proc/PID/cgroup, the group in the unified hierarchy, "/" for the
 * root.  Returns false if there is none, or it does not fit.
 */
extern bool cgroup_unified_path(const char *text, char *path, size_t size);

/*
 * Processors that a control group may use, from its file cpu.max.  Infinite
 * if it says no number.
 */
extern double cgroup_quota(const char *text);

/* A number of its file cpu.stat, or negative if that is not there. */
extern double cgroup_stat(const char *text, const char *name);

typedef struct ProcessTimes
{
	uint64_t	cpu_ticks;		/* user and system */
	uint64_t	start_ticks;	/* when it began, which tells it from another
								 * process that had its pid */
} ProcessTimes;

/* From /proc/PID/stat.  The name of the program may hold anything. */
extern bool process_times_parse(const char *text, ProcessTimes *out);

#endif							/* SWEEP_POLICY_PROCFILE_H */
