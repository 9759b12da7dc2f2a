/*
 * bgworker.c
 *		The background workers of pg_sweep: how they are made.
 *
 * A worker is a superuser process in somebody's database.  Two things follow.
 *
 * It must not obey what the owner of that database has planted with ALTER
 * DATABASE SET.  The launcher, which is in no database, publishes the
 * server's own values, and the worker forces them.
 *
 * And users must not wait for it.  As for core's autovacuum workers,
 * PROC_IS_AUTOVACUUM makes the deadlock checker cancel it, and DROP DATABASE
 * and CREATE DATABASE TEMPLATE end it.  Whoever may drop the database may end
 * the process, because its entry says that the database's owner uses it.
 * DROP DATABASE ... WITH (FORCE) goes by that entry.  So do
 * pg_cancel_backend() and pg_terminate_backend(), so members of
 * pg_signal_backend may use them as on the owner's own sessions.  A worker
 * waits for no lock longer than lock_timeout, also while it connects, but for
 * what a vacuum needs to keep what it has done.
 *
 * The price of the flag is that CREATE INDEX CONCURRENTLY no longer waits for
 * this process.  So outside VACUUM it reads catalogs only.
 */
#include "server/bgworker.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/pg_database.h"
#include "libpq/pqsignal.h"
#include "miscadmin.h"
#include "postmaster/autovacuum.h"
#include "postmaster/interrupt.h"
#include "storage/bufmgr.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/proc.h"
#include "tcop/tcopprot.h"
#include "utils/guc.h"
#include "utils/syscache.h"

#include "server/compat.h"
#include "shmem.h"

#define LAUNCHER_RESTART_S	10
#define FLUSH_AFTER			"256kB"

/* What core's autovacuum worker forces, and a little more. */
static const struct
{
	const char *name;
	const char *value;
}			forced_settings[] = {
	{"role", "none"},
	{"search_path", ""},
	{"zero_damaged_pages", "off"},
	{"statement_timeout", "0"},
	{"lock_timeout", BGWORKER_LOCK_TIMEOUT},
	{"idle_in_transaction_session_timeout", "0"},
	{"idle_session_timeout", "0"},
#if COMPAT_HAS_TRANSACTION_TIMEOUT
	{"transaction_timeout", "0"},
#endif
	{"default_transaction_isolation", "read committed"},
	{"default_transaction_read_only", "off"},
	{"default_transaction_deferrable", "off"},
	{"stats_fetch_consistency", "none"},
	{"lc_messages", "C"},		/* log.c reads the report */
};

/*
 * Settings of extensions, forced where they are loaded.  What pg_sweep
 * vacuums is one table of this server, and another pg_sweep does it
 * elsewhere.  So Citus must not send the command to the nodes where the
 * table's shards are, nor hide shards from us.
 */
static const struct
{
	const char *name;
	const char *value;
}			forced_if_there[] = {
	{"citus.enable_ddl_propagation", "off"},
	{"citus.override_table_visibility", "off"},
};

static void
initialize(BackgroundWorker *worker, const char *name, const char *function)
{
	memset(worker, 0, sizeof(*worker));
	worker->bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
	worker->bgw_start_time = BgWorkerStart_RecoveryFinished;
	strlcpy(worker->bgw_library_name, "pg_sweep", sizeof(worker->bgw_library_name));
	strlcpy(worker->bgw_function_name, function, sizeof(worker->bgw_function_name));
	strlcpy(worker->bgw_name, name, sizeof(worker->bgw_name));
	strlcpy(worker->bgw_type, name, sizeof(worker->bgw_type));
}

void
bgworker_register_launcher(void)
{
	BackgroundWorker worker;

	initialize(&worker, "sweep launcher", "sweep_launcher_main");
	worker.bgw_restart_time = LAUNCHER_RESTART_S;
	RegisterBackgroundWorker(&worker);
}

/*
 * The governor needs no database.  For that reason pg_stat_activity does not
 * show it.
 */
void
bgworker_register_governor(void)
{
	BackgroundWorker worker;

	initialize(&worker, "sweep governor", "sweep_governor_main");
	worker.bgw_flags = BGWORKER_SHMEM_ACCESS;
	worker.bgw_restart_time = LAUNCHER_RESTART_S;
	RegisterBackgroundWorker(&worker);
}

/*
 * Packs a slot and its generation into one Datum, also where that has 32
 * bits.
 */
int
bgworker_arg_slot(Datum arg)
{
	return DatumGetUInt32(arg) % SWEEP_WORKERS_LIMIT;
}

uint32
bgworker_arg_generation(Datum arg)
{
	return DatumGetUInt32(arg) / SWEEP_WORKERS_LIMIT;
}

BackgroundWorkerHandle *
bgworker_start_worker(int slot, uint32 generation)
{
	BackgroundWorker worker;
	BackgroundWorkerHandle *handle;

	initialize(&worker, "sweep worker", "sweep_worker_main");
	worker.bgw_restart_time = BGW_NEVER_RESTART;
	worker.bgw_notify_pid = MyProcPid;
	worker.bgw_main_arg = UInt32GetDatum(generation * SWEEP_WORKERS_LIMIT + slot);
	return RegisterDynamicBackgroundWorker(&worker, &handle) ? handle : NULL;
}

void
bgworker_prologue(void)
{
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	pqsignal(SIGTERM, die);

	/*
	 * Until here the postmaster's child ignored SIGHUP.  If one came after it
	 * had been forked, it has the settings from before.
	 */
	ConfigReloadPending = true;
	BackgroundWorkerUnblockSignals();
}

/*
 * Called where nothing is being done.  A process that was told to end does so
 * here, without the FATAL line that interrupted work would deserve.
 */
void
bgworker_end_if_told(int code)
{
	if (ProcDiePending)
		proc_exit(code);
}

static void
force(const char *name, const char *value)
{
	SetConfigOption(name, value, PGC_SUSET, PGC_S_OVERRIDE);
}

void
bgworker_before_connecting(Oid owner)
{
	/* what a database says of it comes later, and weighs less */
	force("lock_timeout", BGWORKER_LOCK_TIMEOUT);
	/* as in InitProcess(), because others do not know the process yet */
	MyProc->statusFlags |= PROC_IS_AUTOVACUUM;
	MyProc->roleId = owner;
}

void
bgworker_follow_owner(void)
{
	HeapTuple	tuple;

	StartTransactionCommand();
	tuple = SearchSysCache1(DATABASEOID, ObjectIdGetDatum(MyDatabaseId));
	if (HeapTupleIsValid(tuple))
	{
		MyProc->roleId = ((Form_pg_database) GETSTRUCT(tuple))->datdba;
		ReleaseSysCache(tuple);
	}
	CommitTransactionCommand();
}

/*
 * Sets both copies of the flags under the lock, as core's vacuum_rel() does.
 * They are never taken back, because deadlock.c reads the flag without a
 * lock.
 */
static void
mark_as_autovacuum(void)
{
	if ((MyProc->statusFlags & PROC_IS_AUTOVACUUM) != 0)
		return;
	LWLockAcquire(ProcArrayLock, LW_EXCLUSIVE);
	MyProc->statusFlags |= PROC_IS_AUTOVACUUM;
	ProcGlobal->statusFlags[MyProc->pgxactoff] = MyProc->statusFlags;
	LWLockRelease(ProcArrayLock);
}

void
bgworker_become_vacuum(void)
{
	char		inherited[SWEEP_INHERITED_LIMIT][SWEEP_INHERITED_LEN];

	for (int i = 0; i < lengthof(forced_settings); i++)
		force(forced_settings[i].name, forced_settings[i].value);
	for (int i = 0; i < lengthof(forced_if_there); i++)
	{
		if (GetConfigOption(forced_if_there[i].name, true, false) != NULL)
			force(forced_if_there[i].name, forced_if_there[i].value);
	}
	if (synchronous_commit > SYNCHRONOUS_COMMIT_LOCAL_FLUSH)
		force("synchronous_commit", "local");

#ifdef HAVE_SYNC_FILE_RANGE

	/*
	 * A vacuum writes the pages of a large table itself.  Without this the
	 * kernel gathers them for half a minute and writes them at once, for
	 * which users wait whatever the vacuum's pace was.
	 */
	if (backend_flush_after == 0)
		force("backend_flush_after", FLUSH_AFTER);
#endif

	LWLockAcquire(shmem_lock(LOCK_WORKERS), LW_SHARED);
	memcpy(inherited, sweep_shared->inherited, sizeof(inherited));
	LWLockRelease(shmem_lock(LOCK_WORKERS));
	for (int i = 0; compat_vacuum_settings[i] != NULL; i++)
	{
		if (inherited[i][0] != '\0')
			force(compat_vacuum_settings[i], inherited[i]);
	}

	mark_as_autovacuum();
}

void
bgworker_publish_settings(void)
{
	int			work_mem_kb = sweep_work_mem_kb != -1 ? sweep_work_mem_kb : autovacuum_work_mem;

	LWLockAcquire(shmem_lock(LOCK_WORKERS), LW_EXCLUSIVE);
	for (int i = 0; compat_vacuum_settings[i] != NULL; i++)
	{
		const char *name = compat_vacuum_settings[i];
		const char *value = GetConfigOption(name, true, false);

		Assert(i < SWEEP_INHERITED_LIMIT);
		if (strcmp(name, "maintenance_work_mem") == 0 && work_mem_kb != -1)
			snprintf(sweep_shared->inherited[i], SWEEP_INHERITED_LEN, "%d", work_mem_kb);
		else
			strlcpy(sweep_shared->inherited[i], value ? value : "", SWEEP_INHERITED_LEN);
	}
	LWLockRelease(shmem_lock(LOCK_WORKERS));
}
