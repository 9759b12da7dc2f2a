/*
 * worth_survey.h
 *		Which tables are followed, so that it is known what garbage costs.
 */
#ifndef SWEEP_WORTH_SURVEY_H
#define SWEEP_WORTH_SURVEY_H

#include "postgres.h"

#include "worker/candidate.h"

typedef struct WorthSurvey WorthSurvey;

/*
 * Called in a survey, with each table of this database.  The end comes outside
 * a transaction.
 */
extern WorthSurvey *worth_survey_begin(void);
extern void worth_survey_look(WorthSurvey *survey, const Candidate *c);
extern void worth_survey_end(WorthSurvey *survey);

#endif							/* SWEEP_WORTH_SURVEY_H */
