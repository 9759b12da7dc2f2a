/*
 * policy/readahead.h
 *		May the kernel read ahead of a vacuum?  Pure.
 */
#ifndef SWEEP_POLICY_READAHEAD_H
#define SWEEP_POLICY_READAHEAD_H

#include <stdbool.h>

/* What a device's readahead may be without anybody waiting long for it. */
#define READAHEAD_HARMLESS	(256 * 1024.0)

/* All zero at a vacuum's beginning. */
typedef struct ReadaheadState
{
	bool		off;
	double		any_s;			/* nothing has limited it for so long */
	double		wants_s;		/* how long it has not kept up without */
	double		reached;		/* bytes/s without, or 0: it has kept up */
	double		reached_s;		/* since then */
} ReadaheadState;

typedef struct ReadaheadStep
{
	double		dt_s;
	double		window;			/* bytes that the kernel reads ahead at most */
	double		allowed;		/* bytes/s of the total, or 0: any */
	double		used;			/* bytes/s of the total, since the last step */
	bool		naps;			/* it has to sleep, so as to keep what is
								 * allowed */
} ReadaheadStep;

/* Should it be off now? */
extern bool readahead_step(ReadaheadState *state, const ReadaheadStep *step);

#endif							/* SWEEP_POLICY_READAHEAD_H */
