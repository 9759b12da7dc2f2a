/*
 * meter_process.h
 *		What the meter knows of its own process.  For meter*.c only.
 */
#ifndef SWEEP_METER_PROCESS_H
#define SWEEP_METER_PROCESS_H

#include "postgres.h"

#include <signal.h>

#include "meter/meter_slot.h"
#include "state/budget.h"
#include "state/run.h"

typedef enum ProcessKind
{
	PROCESS_UNKNOWN,			/* before its first transaction end */
	PROCESS_PLAIN,				/* vacuums only by a statement */
	PROCESS_AUTOVACUUM,			/* core autovacuum worker */
	PROCESS_PARALLEL			/* parallel worker of a vacuum */
} ProcessKind;

/* The VACUUM or ANALYZE command that this process is running. */
typedef struct MeterStatement
{
	bool		active;
	bool		vacuum;			/* VACUUM, with or without ANALYZE */
	bool		full;
	bool		clean;			/* no command: a worker cleans a table */
	int			ends;			/* transactions that ended in it */
	int			tables;			/* runs that were recorded in it */
	Oid			only_relid;		/* of an ANALYZE of one table */
	int			sqlstate;		/* of the error that ended it, or 0 */
	Oid			failed_relid;	/* what was in progress then */
} MeterStatement;

/* What a worker of ours said about its next run. */
typedef struct MeterOwnRun
{
	bool		active;
	bool		recorded;		/* run holds what came of it */
	RunRecord	run;
	int			shared_limit;	/* cost limit shared with other workers (0:
								 * none) */
	int64		partition_changes;	/* see RunRecord */
	PacerYields yields;
	double		pace;
	char		schemaname[NAMEDATALEN];
	char		relname[NAMEDATALEN];
	char		reason[RUN_REASON_LEN];
} MeterOwnRun;

/* What VACUUM itself reported in this transaction, or -1 if it did not. */
typedef struct MeterReport
{
	int64		tuples_removed;
	int64		dead_not_removable;
	int64		index_scans;
	bool		aggressive;
} MeterReport;

/*
 * The naps that the cost limit has asked for since the last time.  Up to 17,
 * and later without track_cost_delay_timing, nothing times them.  They follow
 * from the cost, because VACUUM naps for each limit that it has used up.
 */
typedef struct MeterNaps
{
	double		ms;
	int64		hit;			/* pages, when that was counted */
	int64		read;
	int64		dirtied;		/* without local ones, which cost nothing */
	int			balance;		/* VacuumCostBalance at the run's beginning */
	bool		unknown;		/* shared with parallel workers, or cut short */
} MeterNaps;

typedef struct MeterProcess
{
	ProcessKind kind;
	MeterStatement statement;
	MeterOwnRun own;
	MeterReport report;

	/* where the present run began: the last transaction end, or a statement */
	RunCounters base;
	TimestampTz base_at;
	MeterNaps	naps;
} MeterProcess;

extern MeterProcess meter_this;

/* meter_slot.c: the slot */
extern MeterSlot *meter_slot;	/* of this process (NULL: not taken) */
extern volatile sig_atomic_t meter_slot_busy;
extern void meter_slot_take(void);
extern void meter_base_take(void);
extern void meter_parallel_end(void);
extern void meter_read_usage(RunCounters *used);
extern RunStarter meter_starter_now(void);
extern RunMode meter_mode_now(const MeterSlot *slot);
extern bool meter_is_working(void);
extern void meter_sample(TimestampTz now);

/* meter_cost.c: the cost limit, and the naps that it asks for */
extern void meter_read_costs(RunCosts *costs);
extern void meter_count_naps(const RunCosts *costs);
extern void meter_forget_naps(void);

/* meter_tick.c: the timer */
extern void meter_tick_register(void);
extern void meter_tick_start(double cost_delay);
extern void meter_tick_stop(void);
extern void meter_title_save(void);
extern void meter_title_restore(void);

/* meter_record.c: the exact record */
extern Oid	meter_relation_of_transaction(void);
extern bool meter_identify_run(RunRecord *run, bool committing);
extern void meter_describe_run(RunRecord *run);
extern void meter_count_remains(RunRecord *run);
extern void meter_measure_memory(RunRecord *run);
extern void meter_record_run(RunRecord *run, RunOutcome outcome);
extern RunOutcome meter_outcome_of_error(int sqlstate);
extern void meter_forget_recorded(void);

#endif							/* SWEEP_METER_PROCESS_H */
