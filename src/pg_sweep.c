/*
 * pg_sweep.c
 *		The library's entry point: settings, shared memory, hooks, launcher.
 *
 * Runs in the postmaster.  Loaded later, by CREATE EXTENSION or a function
 * call without shared_preload_libraries, it does nothing but let the functions
 * say so; nor does it do anything on either side of pg_upgrade.
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"

#include "bgworker.h"
#include "breaker.h"
#include "log.h"
#include "meter.h"
#include "settings.h"
#include "shmem.h"

PG_MODULE_MAGIC;

PGDLLEXPORT void _PG_init(void);

void
_PG_init(void)
{
	if (!process_shared_preload_libraries_in_progress || IsBinaryUpgrade)
		return;

	settings_define();
	shmem_install_hooks(breaker_server_start);
	meter_install_hooks();
	log_install_hook();
	bgworker_register_launcher();
	bgworker_register_governor();
}
