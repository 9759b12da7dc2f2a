/*
 * simulate_functions.h
 *		What the library pg_sweep_simulate offers, and how pg_sweep and it
 *		find out whether they fit.
 */
#ifndef SWEEP_SIMULATE_FUNCTIONS_H
#define SWEEP_SIMULATE_FUNCTIONS_H

#include "postgres.h"

#include "fmgr.h"

#include "rules.h"
#include "state/run.h"
#include "worker/candidate.h"

#define SIMULATE_LIBRARY	"$libdir/pg_sweep_simulate"

/*
 * What both must have been built with alike.  A package may have replaced the
 * library since the server was started.
 */
typedef struct SimulateFit
{
	char		version[16];
	Size		sizes;
} SimulateFit;

static inline SimulateFit
simulate_fit_of(const char *version)
{
	SimulateFit fit;

	strlcpy(fit.version, version, sizeof(fit.version));
	fit.sizes = sizeof(RuleSettings) + 1009 * sizeof(Candidate) + 1000003 * sizeof(RunRecord);
	return fit;
}

extern PGDLLEXPORT SimulateFit sweep_simulate_fit(void);
extern PGDLLEXPORT Datum sweep_simulate_hours(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum sweep_simulate_tables(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum sweep_simulate_summary(PG_FUNCTION_ARGS);

#endif							/* SWEEP_SIMULATE_FUNCTIONS_H */
