/*
 * run.h
 *		One vacuum (or analyze) of one table, running or finished.
 *
 * These types are shared by the meter, which fills them, the ledger, which
 * keeps them, and the views, which show them.  RunRecord is also what the
 * ledger's file holds: bump LEDGER_FILE_VERSION in ledger_file.c when it changes.
 */
#ifndef SWEEP_RUN_H
#define SWEEP_RUN_H

#include "postgres.h"
#include "datatype/timestamp.h"

typedef enum RunCommand
{
	RUN_NONE = 0,
	RUN_VACUUM,
	RUN_ANALYZE,
	RUN_VACUUM_FULL,
	RUN_CLEAN,					/* by pg_sweep_cleaner, or of pending lists */
	RUN_COMMAND_COUNT
} RunCommand;

typedef enum RunStarter
{
	RUN_BY_AUTOVACUUM = 0,
	RUN_BY_AUTOVACUUM_WRAPAROUND,
	RUN_BY_MANUAL,
	RUN_BY_SWEEP,
	RUN_STARTER_COUNT
} RunStarter;

/* MODE_UNKNOWN is shown as NULL: before 19 the server does not tell. */
typedef enum RunMode
{
	RUN_MODE_UNKNOWN = 0,
	RUN_MODE_NORMAL,
	RUN_MODE_AGGRESSIVE,
	RUN_MODE_FAILSAFE,
	RUN_MODE_COUNT
} RunMode;

typedef enum RunOutcome
{
	RUN_DONE = 0,
	RUN_CANCELLED,
	RUN_FAILED,
	RUN_SKIPPED,
	RUN_OUTCOME_COUNT
} RunOutcome;

/* What a run has done.  Blocks include those of temporary tables. */
typedef struct RunCounters
{
	int64		blks_hit;
	int64		blks_read;
	int64		blks_dirtied;
	int64		wal_records;
	int64		wal_fpi;
	uint64		wal_bytes;
} RunCounters;

#define RUN_COUNTERS	(sizeof(RunCounters) / sizeof(int64))

/* Both are called in ticks, too. */
extern void run_counters_add(RunCounters *to, const RunCounters *more);
extern void run_counters_subtract(RunCounters *from, const RunCounters *less);

/* The cost settings in force for a run. */
typedef struct RunCosts
{
	int			page_hit;
	int			page_miss;
	int			page_dirty;
	int			limit;			/* 0: not throttled */
	double		delay;			/* ms, or 0: not throttled */
} RunCosts;

#define RUN_REASON_LEN	96

typedef struct RunRecord
{
	int64		run_id;			/* set by the ledger */
	int			pid;
	Oid			dboid;
	Oid			relid;
	uint8		command;		/* RunCommand */
	uint8		starter;		/* RunStarter */
	uint8		mode;			/* RunMode */
	uint8		outcome;		/* RunOutcome */
	TimestampTz started_at;
	TimestampTz ended_at;
	RunCounters used;
	RunCosts	costs;
	int64		delay_us;		/* slept for the cost limit, microseconds, or
								 * -1 unknown */
	int64		pages;			/* of the table at its end, or -1 unknown */
	int64		index_pass;		/* index vacuuming passes, or -1 unknown */
	int64		tuples_removed; /* -1 unknown */
	int64		dead_not_removable; /* -1 unknown */
	int64		memory_bytes;	/* of a VACUUM, or -1 unknown */
	int64		partition_changes;	/* ANALYZE of a partitioned table by a
									 * worker: those of its partitions that it
									 * has seen, else -1 */
	char		schemaname[NAMEDATALEN];	/* empty: unknown */
	char		relname[NAMEDATALEN];
	char		reason[RUN_REASON_LEN]; /* empty: unknown */
} RunRecord;

static inline int64
run_cost(const RunCounters *used, const RunCosts *costs)
{
	return used->blks_hit * costs->page_hit +
		used->blks_read * costs->page_miss +
		used->blks_dirtied * costs->page_dirty;
}

/*
 * So many samples are needed to tell how much of a run is spent in naps.
 * Fewer than that tell nothing.
 */
#define RUN_DELAY_SAMPLES	4

static inline int64
run_delay_sampled(uint32 in_delay, uint32 samples, int64 elapsed_us)
{
	return samples < RUN_DELAY_SAMPLES ? -1 : (int64) ((double) elapsed_us * in_delay / samples);
}

/* Adds to a reason.  Where there is no room for both, the old text is cut. */
extern void run_add_reason(char *reason, const char *more);

extern const char *run_command_name(int command);
extern const char *run_starter_name(int starter);
extern const char *run_mode_name(int mode); /* NULL if unknown */
extern const char *run_outcome_name(int outcome);

#endif							/* SWEEP_RUN_H */
