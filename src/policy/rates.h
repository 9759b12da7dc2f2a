/*
 * rates.h
 *		Rates of a vacuum.
 *
 * They are bytes per second as double.  As a limit, 0 means not limited.  A
 * MB is 1024 * 1024 bytes.
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

#endif							/* SWEEP_POLICY_RATES_H */
