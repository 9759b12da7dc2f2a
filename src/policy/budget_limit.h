/*
 * policy/budget_limit.h
 *		The limits on what vacuums may use: a table of them.  Pure.
 *
 * The settings, the windows, the governor, the views and the pacer go by it.
 */
#ifndef SWEEP_POLICY_BUDGET_LIMIT_H
#define SWEEP_POLICY_BUDGET_LIMIT_H

#include <stdbool.h>

typedef enum BudgetLimit
{
	LIMIT_NONE,
	LIMIT_READ,
	LIMIT_WRITE,
	LIMIT_WAL,
	LIMIT_IO_LATENCY,
	LIMIT_DEVICE,
	LIMIT_CPU,
	LIMIT_REPLICA_LAG,
	LIMIT_USERS,				/* adaptive */
	LIMIT_ARCHIVER,
	LIMIT_SLOTS,
	LIMIT_WAL_DISK,
	LIMIT_COUNT
} BudgetLimit;

/* Not a limit: what the limits leave at least. */
#define FLOOR_NAME		"floor"
#define LIMIT_RATE_MAX	1e6		/* MB/s, of a setting */

/* What does its measured value come from? */
typedef enum LimitSensor
{
	LIMIT_BY_VACUUMS,			/* what they count themselves */
	LIMIT_BY_DISK,
	LIMIT_BY_CPU,
	LIMIT_BY_REPLICAS,
	LIMIT_BY_USERS,
	LIMIT_BY_WAL
} LimitSensor;

/* What do other servers of the machine take their part of? */
typedef enum LimitShare
{
	LIMIT_NOT_SHARED,
	LIMIT_OF_DEVICE,
	LIMIT_OF_PROCESSORS
} LimitShare;

typedef struct LimitRow
{
	const char *name;
	const char *setting;		/* NULL: it is always looked at */
	const char *unit;			/* in which people set and read it */
	double		scale;			/* what a measured value is divided by for it */
	LimitSensor sensor;
	LimitShare	share;

	/* of a setting that is a number */
	const char *description;	/* NULL: it is none */
	double		initial;		/* 0, here and below the limits: not limited */
	double		max;
	bool		in_windows;		/* sweep.windows can set it, too */
} LimitRow;

extern const LimitRow budget_limits[LIMIT_COUNT];

/* NULL if there is no such limit. */
extern const char *budget_limit_name(int limit);

#endif							/* SWEEP_POLICY_BUDGET_LIMIT_H */
