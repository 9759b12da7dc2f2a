/*
 * budget.h
 *		What vacuums may use, as the governor has found it, and what each of
 *		them makes of that: published in shared memory.
 *
 * Every struct has a change count, odd while it is being written; a reader
 * copies and tries again while it is odd or has moved.  A reader in a signal
 * handler tries a few times only.
 */
#ifndef SWEEP_BUDGET_H
#define SWEEP_BUDGET_H

#include "postgres.h"

#include "datatype/timestamp.h"
#include "port/atomics.h"

#include "policy/rates.h"

#define BUDGET_STALE_US		(INT64CONST(2) * 1000 * 1000)
#define BUDGET_DETAIL_LEN	160
#define GOVERNOR_STEPS		256 /* kept; a minute */
#define GOVERNOR_REASON_LEN 96

/* One limit, in its own unit but for `allowed`. */
typedef struct BudgetLimitState
{
	double		configured;		/* 0: not set */
	double		measured;		/* negative: unknown */
	double		allowed;		/* bytes/s of total that it leaves, or of what
								 * it limits; 0: not limited */
	uint8		sensor;			/* SensorState */
	char		detail[BUDGET_DETAIL_LEN];
} BudgetLimitState;

/* Writer: governor. */
typedef struct Budget
{
	pg_atomic_uint32 change;
	TimestampTz at;				/* 0: never */
	bool		binds;			/* mode is act */
	bool		adaptive;		/* as the governor obeys it */
	Rates		allowed;		/* of all paced vacuums together */
	BudgetLimit binding;
	double		floor;			/* bytes/s of total */
	double		bloat_bytes_h;	/* by how much bloat grows where floor and
								 * ceiling contradict each other; 0: do not */
	BudgetLimitState limits[LIMIT_COUNT];
} Budget;

typedef enum GovernorDecision
{
	GOVERNOR_STEADY,
	GOVERNOR_BACK_OFF,
	GOVERNOR_RECOVER,
	GOVERNOR_FLOOR,
	GOVERNOR_NO_VACUUM,
	GOVERNOR_SENSOR_LOST,
	GOVERNOR_DECISION_COUNT
} GovernorDecision;

/* Writer: governor. */
typedef struct GovernorStep
{
	pg_atomic_uint32 change;
	uint64		number;			/* of the step, from 1; 0: none yet */
	TimestampTz at;
	int			vacuums;		/* running, that could be paced */
	Rates		measured;		/* theirs */
	double		cpu_pct;		/* negative: unknown */
	double		users_waiting;	/* negative: unknown */
	Rates		allowed;
	double		floor;
	uint8		binding;		/* BudgetLimit */
	uint8		decision;		/* GovernorDecision */
	char		reason[GOVERNOR_REASON_LEN];
} GovernorStep;

typedef enum SteerMode
{
	STEER_NONE,
	STEER_SLOW,
	STEER_HURRY
} SteerMode;

/* What sweep.slow() or sweep.hurry() asked of one run. */
typedef struct Steer
{
	SteerMode	mode;
	uint32		run;			/* of PacerSlot.run; another one: it is over */
	Rates		limit;			/* SLOW */
	TimestampTz until;			/* a near-pause ends then; 0: does not */
	int			by_pid;			/* whose end ends it */
} Steer;

/* May a run be paced or steered? */
typedef enum PacerCan
{
	PACER_CAN,
	PACER_CANNOT_CORE,			/* an autovacuum worker of this version */
	PACER_CANNOT_REWRITE,		/* VACUUM FULL takes no naps */
	PACER_WRAPAROUND,			/* never slowed */
	PACER_FAILSAFE				/* likewise */
} PacerCan;

/* What the governor grants one process. */
typedef struct PacerGrant
{
	uint32		run;			/* of PacerSlot.run; another one: void */
	bool		paced;			/* by the budget, not only by steering */
	Rates		share;
} PacerGrant;

/* What the process has made of it. */
typedef struct PacerApplied
{
	bool		steers;			/* limit and delay are the pacer's */
	bool		limited;		/* it naps so as not to be faster */
	BudgetLimit limited_by;
	bool		by_steer;		/* the limit is one of sweep.slow() */
	int			limit;			/* cost credits */
	double		delay;			/* ms */
	double		target;			/* bytes/s of what limits; 0: none */
	int			original_limit;
	double		original_delay;
} PacerApplied;

/* One per backend, indexed as the MeterSlots. */
typedef struct PacerSlot
{
	/* writer: governor */
	pg_atomic_uint32 grant_change;
	PacerGrant	grant;

	/* writers: sweep.slow() and its like, governor; under LOCK_STEER */
	pg_atomic_uint32 steer_change;
	Steer		steer;

	/* writer: that process */
	pg_atomic_uint32 run;		/* odd while a vacuum runs that a pacer could
								 * pace; moves at its begin and end */
	pg_atomic_uint32 can;		/* PacerCan */
	pg_atomic_uint32 applied_change;
	PacerApplied applied;
} PacerSlot;

extern PacerSlot *sweep_pacers; /* shmem_meter_count() of them */

/* Postmaster, when shared memory was made. */
extern void budget_initialize(void);

/* Governor only; `change` of the argument does not matter. */
extern void budget_publish(const Budget *budget);
extern void budget_publish_step(const GovernorStep *step);
extern void budget_grant(int index, const PacerGrant *grant);

/* Anybody, signal handlers included; false when no consistent copy was got. */
extern bool budget_read(Budget *copy);
extern bool budget_read_step(int i, GovernorStep *copy);
extern bool budget_read_grant(int index, PacerGrant *copy);
extern bool budget_read_steer(int index, Steer *copy);
extern bool budget_read_applied(int index, PacerApplied *copy);

/* The part of the budget that a pacer needs: cheaper. */
typedef struct BudgetHead
{
	TimestampTz at;
	bool		binds;
	bool		adaptive;
	BudgetLimit binding;
} BudgetHead;

extern bool budget_read_head(BudgetHead *copy);

/* Sets the steering of a slot; the caller holds LOCK_STEER. */
extern void budget_set_steer(int index, const Steer *steer);

/* That process only; its tick must not run meanwhile. */
extern void budget_set_applied(int index, const PacerApplied *applied);

extern const char *budget_limit_name(int limit);
extern const char *budget_decision_name(int decision);

#endif							/* SWEEP_BUDGET_H */
