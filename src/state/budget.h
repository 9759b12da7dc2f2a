/*
 * budget.h
 *		What vacuums may use, as the governor has found it, and what each of
 *		them makes of that: published in shared memory.
 *
 * Every struct has a change count, which is odd while the struct is being
 * written.  A reader copies the struct.  It tries again if the count was odd
 * or has moved meanwhile.  A reader in a signal handler tries a few times
 * only.
 */
#ifndef SWEEP_BUDGET_H
#define SWEEP_BUDGET_H

#include "postgres.h"

#include "datatype/timestamp.h"
#include "port/atomics.h"

#include "policy/budget_limit.h"
#include "policy/host_record.h"
#include "policy/rates.h"
#include "policy/sensor_state.h"
#include "policy/throttle_decision.h"

#define BUDGET_STALE_US		(INT64CONST(2) * 1000 * 1000)
#define BUDGET_DETAIL_LEN	160
#define GOVERNOR_STEPS		256 /* kept, a minute */
#define GOVERNOR_REASON_LEN 96

/* One limit.  Each value but `allowed` is in the limit's own unit. */
typedef struct BudgetLimitState
{
	double		configured;		/* 0: not set */
	double		measured;		/* negative: unknown */
	double		allowed;		/* bytes/s of total that it leaves, or of what
								 * it limits (0: not limited) */
	uint8		sensor;			/* SensorState */
	char		detail[BUDGET_DETAIL_LEN];
} BudgetLimitState;

/* Writer: governor. */
typedef struct Budget
{
	pg_atomic_uint32 change;
	TimestampTz at;				/* 0: never */
	bool		binds;			/* mode is act */
	bool		adaptive;		/* the value of sweep.adaptive that the
								 * governor goes by */
	Rates		allowed;		/* of all paced vacuums together */
	BudgetLimit binding;
	double		floor;			/* bytes/s of total */
	double		bloat_bytes_h;	/* bytes/h by which bloat grows where floor
								 * and ceiling contradict each other (0: they
								 * do not) */
	BudgetLimitState limits[LIMIT_COUNT];
} Budget;

/* Writer: governor. */
typedef struct GovernorStep
{
	pg_atomic_uint32 change;
	uint64		number;			/* of the step, from 1 (0: none yet) */
	TimestampTz at;
	int			vacuums;		/* running, that could be paced */
	Rates		measured;		/* theirs */
	double		cpu_pct;		/* negative: unknown */
	double		users_waiting;	/* negative: unknown */
	Rates		allowed;
	double		floor;
	uint8		binding;		/* BudgetLimit */
	uint8		decision;		/* ThrottleDecision */
	char		reason[GOVERNOR_REASON_LEN];
} GovernorStep;

/* Another server of this machine, as it tells. */
typedef struct HostSiblingState
{
	HostRecord	record;
	uint32		owner;			/* user id of its file */
	bool		on_device;
	bool		counts;			/* it takes a part of the budget now */
	int64		silent_ms;
} HostSiblingState;

#define HOST_SIBLINGS_LIMIT	32
#define HOST_WHY_LEN		160

/* Writer: governor. */
typedef struct HostState
{
	pg_atomic_uint32 change;
	TimestampTz at;				/* 0: never */
	SensorState state;
	char		why[HOST_WHY_LEN];
	double		device_share;	/* of the limits that is left to this server */
	double		processors_share;
	int			on_device;		/* others that vacuum now */
	int			on_machine;
	int			left_out;		/* others for which there is no place here,
								 * and that count as well */
	int			count;
	HostSiblingState siblings[HOST_SIBLINGS_LIMIT];
} HostState;

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
	uint32		run;			/* the PacerSlot.run that it is for: it is
								 * over for any other */
	Rates		limit;			/* SLOW */
	TimestampTz until;			/* when a near-pause ends (0: it does not) */
	int			by_pid;			/* the session that asked: the steer ends with
								 * it */
} Steer;

/* May a run be paced or steered? */
typedef enum PacerCan
{
	PACER_CAN,
	PACER_CANNOT_CORE,			/* an autovacuum worker of this version */
	PACER_CANNOT_REWRITE,		/* VACUUM FULL takes no naps */
	PACER_WRAPAROUND,			/* never slowed */
	PACER_FAILSAFE				/* never slowed, either */
} PacerCan;

/*
 * Does a run give way to users who wait for I/O?  It keeps to limits that
 * somebody has set in any case.
 */
typedef enum PacerYields
{
	PACER_YIELDS,
	/* not while it is cheap, as it would not be later: see pacer_is_cheap() */
	PACER_YIELDS_COLD,			/* while it neither reads nor logs pages in
								 * full */
	PACER_YIELDS_READING,		/* while it does not read */
	PACER_YIELDS_NOT			/* catalogs are small, and wanted by all */
} PacerYields;

/*
 * A run may begin as fast as twice what users write, so as to get ahead of a
 * table whose own growth is not known.
 */
#define PACE_OF_USERS	(-1.0)
#define PACE_OF_USERS_KB	PG_UINT32_MAX

/* What the governor grants one process. */
typedef struct PacerGrant
{
	uint32		run;			/* the PacerSlot.run that it is for: it is
								 * void for any other */
	bool		paced;			/* by the budget, not only by steering */
	Rates		share;
} PacerGrant;

/* What the process has made of it. */
typedef struct PacerApplied
{
	bool		limited;		/* it naps so as not to be faster */
	BudgetLimit limited_by;
	bool		by_steer;		/* the limit is one of sweep.slow() */
} PacerApplied;

/* Which bytes of runs that have ended. */
enum
{
	PACER_ENDED_READ,
	PACER_ENDED_WRITE,
	PACER_ENDED_WAL,
	PACER_ENDED_YIELDING,		/* all three, of those that gave way to users */
	PACER_ENDED
};

/* One per backend, indexed as the MeterSlots. */
typedef struct PacerSlot
{
	/* writer: governor */
	pg_atomic_uint32 grant_change;
	PacerGrant	grant;

	/*
	 * writers: sweep.slow() and its like, and the governor, under LOCK_STEER.
	 * That of a leader is for its parallel workers, too, all together.
	 */
	pg_atomic_uint32 steer_change;
	Steer		steer;

	/* writer: that process */
	pg_atomic_uint32 run;		/* moves when a vacuum that a pacer could pace
								 * begins, and when it ends: odd while it runs */
	pg_atomic_uint32 can;		/* PacerCan */
	pg_atomic_uint32 yields;	/* PacerYields */
	pg_atomic_uint32 pace_kb;	/* see pacer_begin(), in kB/s, or
								 * PACE_OF_USERS_KB */
	pg_atomic_uint64 ended[PACER_ENDED];	/* bytes that own runs moved which
											 * have ended, all there ever were */
	pg_atomic_uint32 original_limit;	/* the cost settings that its pacer
										 * has replaced (0: none), and the
										 * delay in us */
	pg_atomic_uint32 original_delay;

	/* writers: its parallel workers, each adds itself and takes itself off */
	pg_atomic_uint32 parallel_workers;

	/* writer: that process */
	pg_atomic_uint32 applied_change;
	PacerApplied applied;
} PacerSlot;

extern PacerSlot *sweep_pacers; /* shmem_meter_count() of them */

/* Postmaster, when shared memory was made. */
extern void budget_initialize(void);

/* Governor only.  The argument's `change` does not matter. */
extern void budget_publish(const Budget *budget);
extern void budget_publish_step(const GovernorStep *step);
extern void budget_publish_host(const HostState *host);
extern void budget_grant(int index, const PacerGrant *grant);

/*
 * These are for anybody, signal handlers included.  They return false when
 * they could not get a consistent copy.
 */
extern bool budget_read(Budget *copy);
extern bool budget_read_step(int i, GovernorStep *copy);
extern bool budget_read_host(HostState *copy);
extern bool budget_read_grant(int index, PacerGrant *copy);
extern bool budget_read_steer(int index, Steer *copy);
extern bool budget_read_applied(int index, PacerApplied *copy);

/* The part of the budget that a pacer needs.  It is cheaper to copy. */
typedef struct BudgetHead
{
	TimestampTz at;
	bool		binds;
	bool		adaptive;
	bool		limited;		/* some rate is, by a setting or a window */
	BudgetLimit binding;
} BudgetHead;

extern bool budget_read_head(BudgetHead *copy);

/*
 * So many vacuums may run at a time: sweep.max_workers, or less while other
 * servers of this machine vacuum as well.
 */
extern int	budget_workers(void);

/* Sets the steering of a slot.  The caller holds LOCK_STEER. */
extern void budget_set_steer(int index, const Steer *steer);

/* Called by that process only, while its tick cannot run. */
extern void budget_set_applied(int index, const PacerApplied *applied);

extern const char *budget_decision_name(int decision);

#endif							/* SWEEP_BUDGET_H */
