/*
 * policy/budget_limit.h
 *		The limits on what vacuums may use, and what they are called.  Pure.
 *
 * This is the only place where their names stand.  The windows, the views and
 * the pacer take them from here.
 */
#ifndef SWEEP_POLICY_BUDGET_LIMIT_H
#define SWEEP_POLICY_BUDGET_LIMIT_H

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

/* NULL if there is no such limit. */
extern const char *budget_limit_name(int limit);

/* The setting that it comes from.  NULL: it is always looked at. */
extern const char *budget_limit_setting(BudgetLimit limit);

/* The unit in which people read it, and what a value is divided by for it. */
extern const char *budget_limit_unit(BudgetLimit limit);
extern double budget_limit_scale(BudgetLimit limit);

#endif							/* SWEEP_POLICY_BUDGET_LIMIT_H */
