/*
 * rates.h
 *		Rates of a vacuum.
 *
 * They are bytes per second as double, but for the processor's.  As a limit, 0
 * means not limited.  A MB is 1024 * 1024 bytes.
 */
#ifndef SWEEP_POLICY_RATES_H
#define SWEEP_POLICY_RATES_H

#define RATES_MB	1048576.0
#define RATES_CPU_PCT	10.0	/* of a processor */

typedef struct Rates
{
	double		read;			/* pages read */
	double		write;			/* pages dirtied */
	double		wal;			/* with full-page images */
	double		total;			/* the sum of the three */
	double		cpu;			/* ms of a processor, a second */
} Rates;

#endif							/* SWEEP_POLICY_RATES_H */
