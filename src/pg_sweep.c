/*
 * pg_sweep.c
 *		The library's entry point: settings, shared memory, hooks, launcher.
 *
 * Runs in the postmaster.  The library may also be loaded later, by CREATE
 * EXTENSION or a function call without shared_preload_libraries.  Then it
 * does nothing but let the functions say so.  On either side of pg_upgrade it
 * does nothing either.
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"

#include "meter/log.h"
#include "meter/meter.h"
#include "server/bgworker.h"
#include "server/breaker.h"
#include "settings.h"
#include "shmem.h"

#ifndef __linux__
#error "pg_sweep reads /proc and /sys and builds on Linux only"
#endif

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
