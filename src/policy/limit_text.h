/*
 * policy/limit_text.h
 *		Reads limits that are given as text: a number with its unit, or 'auto'.
 *		Pure.
 */
#ifndef SWEEP_POLICY_LIMIT_TEXT_H
#define SWEEP_POLICY_LIMIT_TEXT_H

#include <stdbool.h>

/* larger ones are typing errors, and a double keeps all of these exact */
#define LIMIT_MAX_NUMBER	1e12

/* Why a text cannot be read, and where. */
typedef struct LimitError
{
	int			position;		/* in bytes, from 0 */
	const char *what;			/* a constant */
} LimitError;

/*
 * sweep.max_replica_lag: '', '0', '100MB', '5s'.  One of the two results is
 * 0, or both are.
 */
extern bool limit_parse_lag(const char *text, double *bytes, double *ms, LimitError *error);

/* sweep.reclaim_rate: '', 'auto', '5000' (dead rows a second). */
extern bool limit_parse_reclaim(const char *text, bool *automatic, double *rows_s, LimitError *error);

/*
 * A number as people write it: digits, perhaps a point and more digits.
 * There is no sign and no exponent, whatever the locale.  Moves *p behind it.
 * Returns false if there is none.
 */
extern bool limit_number(const char **p, double *number);

/* Moves *p behind blanks. */
extern void limit_skip_blanks(const char **p);

/*
 * Moves *p behind `word` if that stands there, and not as the beginning of a
 * longer one.
 */
extern bool limit_word(const char **p, const char *word);

#endif							/* SWEEP_POLICY_LIMIT_TEXT_H */
