/*
 * cpu_room.h
 *		What users leave of a quota of processors.  Pure.
 */
#ifndef SWEEP_POLICY_CPU_ROOM_H
#define SWEEP_POLICY_CPU_ROOM_H

#include <stdbool.h>

typedef struct CpuRoom
{
	double		quota;			/* processors (infinite: there is none) */
	bool		binds;			/* the caller's: no lower limit is set */

	/* since the last step */
	double		at_ms;			/* 0: there was none */
	double		used_ms;		/* by the whole group, until then */
	double		others_pct;		/* of a processor, averaged */
} CpuRoom;

/*
 * used_ms is what all of the group has used so far (negative: unknown).
 * vacuums_pct is what vacuums use of a processor.  Returns how much they may use
 * together, in % of a processor.
 */
extern double cpu_room_step(CpuRoom *room, double used_ms, double vacuums_pct, double now_ms);

#endif							/* SWEEP_POLICY_CPU_ROOM_H */
