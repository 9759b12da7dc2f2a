/*
 * progress.h
 *		What the running vacuums do together.
 */
#ifndef SWEEP_PROGRESS_H
#define SWEEP_PROGRESS_H

typedef struct ProgressSum
{
	int			vacuums;		/* rows of sweep.progress, but for those of
								 * parallel workers */
	double		read_mb_per_s;
	double		dirty_mb_per_s;
	double		wal_mb_per_s;
} ProgressSum;

/* Adds up sweep.progress without making its rows. */
extern ProgressSum progress_sum(void);

#endif							/* SWEEP_PROGRESS_H */
