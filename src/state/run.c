/*
 * run.c
 *		Names of what a run can be, as the views show them, and sums of what runs
 *		have done.
 *
 * Any process uses this.  It has no state and takes no locks.
 */
#include "state/run.h"

#include "mb/pg_wchar.h"

static const char *const command_names[RUN_COMMAND_COUNT] = {
	[RUN_NONE] = "",
	[RUN_VACUUM] = "VACUUM",
	[RUN_ANALYZE] = "ANALYZE",
	[RUN_VACUUM_FULL] = "VACUUM FULL",
	[RUN_CLEAN] = "CLEAN",
};

static const char *const starter_names[RUN_STARTER_COUNT] = {
	[RUN_BY_AUTOVACUUM] = "autovacuum",
	[RUN_BY_AUTOVACUUM_WRAPAROUND] = "autovacuum_wraparound",
	[RUN_BY_MANUAL] = "manual",
	[RUN_BY_SWEEP] = "sweep",
};

static const char *const mode_names[RUN_MODE_COUNT] = {
	[RUN_MODE_UNKNOWN] = NULL,
	[RUN_MODE_NORMAL] = "normal",
	[RUN_MODE_AGGRESSIVE] = "aggressive",
	[RUN_MODE_FAILSAFE] = "failsafe",
};

static const char *const outcome_names[RUN_OUTCOME_COUNT] = {
	[RUN_DONE] = "done",
	[RUN_CANCELLED] = "cancelled",
	[RUN_FAILED] = "failed",
	[RUN_SKIPPED] = "skipped",
};

/* Half a pid would be another process's pid, so what comes last is not cut. */
void
run_add_reason(char *reason, const char *more)
{
	int			room = RUN_REASON_LEN - 3 - (int) strlen(more);

	if (room > 0)
	{
		reason[pg_mbcliplen(reason, (int) strlen(reason), room)] = '\0';
		if (reason[0] != '\0')
			strlcat(reason, "; ", RUN_REASON_LEN);
	}
	else
		reason[0] = '\0';
	strlcat(reason, more, RUN_REASON_LEN);
}

const char *
run_command_name(int command)
{
	Assert(command >= 0 && command < RUN_COMMAND_COUNT);
	return command_names[command];
}

const char *
run_starter_name(int starter)
{
	Assert(starter >= 0 && starter < RUN_STARTER_COUNT);
	return starter_names[starter];
}

const char *
run_mode_name(int mode)
{
	Assert(mode >= 0 && mode < RUN_MODE_COUNT);
	return mode_names[mode];
}

const char *
run_outcome_name(int outcome)
{
	Assert(outcome >= 0 && outcome < RUN_OUTCOME_COUNT);
	return outcome_names[outcome];
}

void
run_counters_add(RunCounters *to, const RunCounters *more)
{
	to->blks_hit += more->blks_hit;
	to->blks_read += more->blks_read;
	to->blks_dirtied += more->blks_dirtied;
	to->wal_records += more->wal_records;
	to->wal_fpi += more->wal_fpi;
	to->wal_bytes += more->wal_bytes;
}

void
run_counters_subtract(RunCounters *from, const RunCounters *less)
{
	from->blks_hit -= less->blks_hit;
	from->blks_read -= less->blks_read;
	from->blks_dirtied -= less->blks_dirtied;
	from->wal_records -= less->wal_records;
	from->wal_fpi -= less->wal_fpi;
	from->wal_bytes -= less->wal_bytes;
}
