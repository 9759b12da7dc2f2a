/*
 * simulate_functions.c
 *		sweep.simulate() and what belongs to it.
 *
 * The work is done by the library pg_sweep_simulate, which a backend loads
 * when it calls one of these for the first time.  No other process needs it.
 */
#include "sql/simulate_functions.h"

#include "shmem.h"

typedef SimulateFit (*FitFunction) (void);

static void
require_fit(void)
{
	SimulateFit ours = simulate_fit_of(SWEEP_VERSION);
	SimulateFit theirs = ((FitFunction) load_external_function(SIMULATE_LIBRARY, "sweep_simulate_fit", true, NULL)) ();

	if (strcmp(ours.version, theirs.version) != 0 || ours.sizes != theirs.sizes)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("library \"pg_sweep_simulate\" does not fit the \"pg_sweep\" that the server has loaded"),
				 errhint("Restart the server, which then loads the installed version.")));
}

static Datum
call(const char *name, FunctionCallInfo fcinfo)
{
	shmem_require();
	require_fit();
	return ((PGFunction) load_external_function(SIMULATE_LIBRARY, name, true, NULL)) (fcinfo);
}

PG_FUNCTION_INFO_V1(sweep_simulate_0_1);
Datum
sweep_simulate_0_1(PG_FUNCTION_ARGS)
{
	return call("sweep_simulate_hours", fcinfo);
}

PG_FUNCTION_INFO_V1(sweep_simulate_tables_0_1);
Datum
sweep_simulate_tables_0_1(PG_FUNCTION_ARGS)
{
	return call("sweep_simulate_tables", fcinfo);
}

PG_FUNCTION_INFO_V1(sweep_simulate_summary_0_1);
Datum
sweep_simulate_summary_0_1(PG_FUNCTION_ARGS)
{
	return call("sweep_simulate_summary", fcinfo);
}
