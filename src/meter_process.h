/*
 * meter_process.h
 *		What the meter knows of its own process.  For meter*.c only.
 */
#ifndef SWEEP_METER_PROCESS_H
#define SWEEP_METER_PROCESS_H

#include "postgres.h"

#include <signal.h>

#include "shmem.h"

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
	int			ends;			/* transactions ended in it */
	int			tables;			/* runs recorded in it */
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
	int			shared_limit;	/* cost limit shared with other workers; 0:
								 * none */
	int64		partition_changes;	/* see RunRecord */
	char		schemaname[NAMEDATALEN];
	char		relname[NAMEDATALEN];
	char		reason[RUN_REASON_LEN];
} MeterOwnRun;

/* What VACUUM itself reported in this transaction; -1: it did not. */
typedef struct MeterReport
{
	int64		tuples_removed;
	int64		dead_not_removable;
	int64		index_scans;
	bool		aggressive;
} MeterReport;

typedef struct MeterProcess
{
	ProcessKind kind;
	MeterStatement statement;
	MeterOwnRun own;
	MeterReport report;

	/* where the present run began: the last transaction end, or a statement */
	RunCounters base;
	TimestampTz base_at;
} MeterProcess;

extern MeterProcess meter_this;

/* meter_slot.c: the slot and the tick */
extern MeterSlot *meter_slot;	/* of this process; NULL: not taken */
extern volatile sig_atomic_t meter_slot_busy;
extern void meter_slot_take(void);
extern void meter_base_take(void);
extern void meter_tick_start(double cost_delay);
extern void meter_tick_stop(void);
extern void meter_parallel_end(void);
extern void meter_title_save(void);
extern void meter_title_restore(void);
extern void meter_read_usage(RunCounters *used);
extern void meter_subtract_usage(RunCounters *used, const RunCounters *from);
extern void meter_read_costs(RunCosts *costs);
extern RunStarter meter_starter_now(void);
extern RunMode meter_mode_now(const MeterSlot *slot);

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
