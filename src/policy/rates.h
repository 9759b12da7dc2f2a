/*
 * rates.h
 *		Rates of a vacuum, and the limits that one can be given.
 *
 * Bytes per second as double; 0: not limited, where it is a limit.  A MB is
 * 1024 * 1024 bytes.
 */
#ifndef SWEEP_POLICY_RATES_H
#define SWEEP_POLICY_RATES_H

#define RATES_MB	1048576.0

typedef struct Rates
{
	double		read;			/* pages read */
	double		write;			/* pages dirtied */
	double		wal;			/* with full-page images */
	double		total;			/* the sum of the three */
} Rates;

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

#endif							/* SWEEP_POLICY_RATES_H */
