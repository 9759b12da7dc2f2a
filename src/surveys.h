/*
 * surveys.h
 *		Databases in which a worker should look at all tables.
 */
#ifndef SWEEP_SURVEYS_H
#define SWEEP_SURVEYS_H

#include "shmem.h"

/* A backend: in its database, once this transaction has committed. */
extern void surveys_ask_at_commit(void);

typedef struct SurveyList
{
	int			count;			/* -1: all databases */
	Oid			dboids[SWEEP_SURVEYS_LIMIT];
} SurveyList;

/* The launcher: what was asked for since the last call; false: nothing. */
extern bool surveys_take(SurveyList *list);
extern bool surveys_are_asked(void);
extern bool surveys_has(const SurveyList *list, Oid dboid);

#endif							/* SWEEP_SURVEYS_H */
