/*
 * decision_text.h
 *		Decisions in words.
 */
#ifndef SWEEP_DECISION_TEXT_H
#define SWEEP_DECISION_TEXT_H

#include "state/decisions.h"

#define DECISION_REASON_LEN		160

/* "1 time", "2 times" */
#define TIMES(n)	(n), (n) == 1 ? "time" : "times"

extern const char *decision_name(int kind);

/* Says a decision in words.  text has room for DECISION_REASON_LEN bytes. */
extern void decision_reason(const Decision *d, char *text);

#endif							/* SWEEP_DECISION_TEXT_H */
