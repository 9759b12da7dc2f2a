/*
 * surveys.h
 *		Databases in which a worker should look at all tables.
 */
#ifndef SWEEP_SURVEYS_H
#define SWEEP_SURVEYS_H

#include "postgres.h"

#include "storage/spin.h"

#define SWEEP_SURVEYS_LIMIT		16

/*
 * Databases in which tables' own settings have changed, so that a worker
 * should look there.  Backends put them at commit and the launcher takes
 * them.  The lock is a spinlock, because nothing may fail at commit.
 */
typedef struct SurveyQueue
{
	slock_t		mutex;
	int			count;			/* beyond the limit: all databases */
	Oid			dboids[SWEEP_SURVEYS_LIMIT];
} SurveyQueue;

/* For a backend: asks for its database once this transaction has committed. */
extern void surveys_ask_at_commit(void);

typedef struct SurveyList
{
	int			count;			/* -1: all databases */
	Oid			dboids[SWEEP_SURVEYS_LIMIT];
} SurveyList;

/*
 * For the launcher: what was asked for since the last call.  Returns false if
 * nothing was.
 */
extern bool surveys_take(SurveyList *list);
extern bool surveys_are_asked(void);
extern bool surveys_has(const SurveyList *list, Oid dboid);

#endif							/* SWEEP_SURVEYS_H */
