/*
 * members.h
 *		How many multixact members there are.
 */
#ifndef SWEEP_MEMBERS_H
#define SWEEP_MEMBERS_H

#include "postgres.h"

typedef struct Members
{
	uint64		next;			/* offset that the next member gets */
	int64		used;			/* members that are kept (-1: not known) */
} Members;

/* Reads a page of pg_multixact before 19.  It takes core's MultiXactGenLock. */
extern Members members_read(void);

#endif							/* SWEEP_MEMBERS_H */
