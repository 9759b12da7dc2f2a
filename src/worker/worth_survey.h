/*
 * worth_survey.h
 *		Which tables are followed, so that it is known what garbage costs.
 */
#ifndef SWEEP_WORTH_SURVEY_H
#define SWEEP_WORTH_SURVEY_H

#include "postgres.h"

#include "nodes/pg_list.h"

/* Called in a survey, with all tables of this database. */
extern void worth_survey(List *candidates);

#endif							/* SWEEP_WORTH_SURVEY_H */
