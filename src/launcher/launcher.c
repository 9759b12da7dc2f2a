/*
 * launcher.c
 *		The process that keeps pg_sweep going: make rounds, reap workers, save
 *		the ledger, close hours, follow the clock.
 *
 * It is one static background worker and is connected to no database, so it
 * sees the shared catalogs and shared memory.  Every sweep.naptime it makes a
 * round (round.c).  It waits for its latch, and for a lock on pg_database no
 * longer than a second.
 *
 * Locks: LOCK_DATABASES and LOCK_WORKERS, one at a time and briefly.  Also
 * those that a round takes.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/procarray.h"
#include "storage/procsignal.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "launcher/databases.h"
#include "launcher/dispatch.h"
#include "launcher/handover.h"
#include "launcher/hours.h"
#include "launcher/round.h"
#include "launcher/takeover.h"
#include "policy/backoff.h"
#include "server/bgworker.h"
#include "server/breaker.h"
#include "server/clock.h"
#include "server/compat.h"
#include "server/features.h"
#include "server/next_checkpoint.h"
#include "shmem.h"
#include "state/cleanings.h"
#include "state/decisions.h"
#include "state/history.h"
#include "state/hold.h"
#include "state/ledger.h"
#include "state/queue.h"
#include "state/requests.h"
#include "state/surveys.h"
#include "state/trial.h"
#include "state/worker_pool.h"
#include "state/worth_tables.h"
#include "state/xid_rate.h"

#define SAVE_INTERVAL_MS		5000
#define SAVE_WARNING_MS			600000
#define ROUND_BACKOFF_MS		1000	/* after a round that failed */
#define ROUND_BACKOFF_MAX_MS	60000
#define LAUNCHER_LOCK_TIMEOUT	"1s"
#define HURRY_MS				100 /* between rounds while a place is wanted,
									 * or something was asked for */

static int	failed_rounds = 0;	/* how many in a row */
static TimestampTz save_next = 0;
static TimestampTz save_warned_at = 0;

/* Has somebody asked for something since the last time? */
static bool
is_asked(void)
{
	return requests_are_new() || surveys_are_asked();
}

static void
save_runs(bool now_or_never)
{
	TimestampTz now = clock_now();
	bool		ok;
	int			save_errno;

	if (!now_or_never && now < save_next)
		return;
	save_next = clock_after(now, SAVE_INTERVAL_MS);

	ok = ledger_save();
	save_errno = ok ? 0 : errno;

	SpinLockAcquire(&sweep_shared->mutex);
	sweep_shared->launcher.runs_save_errno = save_errno;
	if (ok)
		sweep_shared->launcher.runs_saved_at = now;
	SpinLockRelease(&sweep_shared->mutex);

	if (ok)
		save_warned_at = 0;
	else if (save_warned_at == 0 || now > clock_after(save_warned_at, SAVE_WARNING_MS))
	{
		errno = save_errno;
		ereport(WARNING,
				(errcode_for_file_access(),
				 errmsg("pg_sweep: could not save the finished runs: %m"),
				 errdetail("Saving is tried again every %d s.  Until it succeeds these runs would be lost in a crash.",
						   SAVE_INTERVAL_MS / 1000)));
		save_warned_at = now;
	}
}

/* ----
 * A clock that is set back
 * ----
 */

/*
 * The server's clock may be set back by seconds or by years.  Then all that
 * is remembered of time is moved by as much, so that what was to be done in a
 * minute is done in a minute.  A clock that is set forward ends what waits.
 */
static void
follow_clock(TimestampTz *next_round, TimestampTz *last_round)
{
	int64		us = clock_set_back(&sweep_shared->clock_lead);

	if (us == 0)
		return;
	clock_move(next_round, us);
	clock_move(last_round, us);
	round_set_back(us);
	clock_move(&save_next, us);
	clock_move(&save_warned_at, us);
	SpinLockAcquire(&sweep_shared->mutex);
	clock_move(&sweep_shared->launcher.started_at, us);
	SpinLockRelease(&sweep_shared->mutex);
	databases_set_back(us);
	decisions_set_back(us);
	worker_pool_set_back(us);
	requests_set_back(us);
	cleanings_set_back(us);
	queue_set_back(us);
	xid_rate_set_back(us);
	hold_set_back(us);
	history_set_back(us);
	hours_set_back(us);
	handover_set_back(us);
	trial_set_back(us);
	worth_tables_set_back(us);
	ereport(LOG,
			(errmsg("pg_sweep: the server's clock was set back by %.0f s", us / 1000000.0),
			 errdetail("Whatever waits for a time does not wait longer because of that.")));
}

/*
 * Waits no longer than from one round to the next, because the clock may have
 * been set back since `then` was computed.
 */
static void
wait_for_round(TimestampTz then)
{
	TimestampTz latest = clock_after(clock_now(), Max((int64) sweep_shared->launcher.naptime_ms, sweep_naptime_ms));

	clock_wait_until(then == 0 ? 0 : Min(then, latest));
}

/* ----
 * The process
 * ----
 */

static void
launcher_end(int code, Datum arg)
{
	SpinLockAcquire(&sweep_shared->mutex);
	sweep_shared->launcher.pid = 0;
	sweep_shared->launcher.latch = NULL;
	SpinLockRelease(&sweep_shared->mutex);
	save_runs(true);
}

static void
launcher_begin(void)
{
	SpinLockAcquire(&sweep_shared->mutex);
	sweep_shared->launcher.pid = MyProcPid;
	sweep_shared->launcher.latch = MyLatch;
	sweep_shared->launcher.started_at = clock_now();
	SpinLockRelease(&sweep_shared->mutex);
	before_shmem_exit(launcher_end, (Datum) 0);

	SetConfigOption("stats_fetch_consistency", "none", PGC_SUSET, PGC_S_OVERRIDE);
	SetConfigOption("search_path", "", PGC_SUSET, PGC_S_OVERRIDE);

	/*
	 * somebody may lock pg_database, and sweep.mode must be obeyed all the
	 * same
	 */
	SetConfigOption("lock_timeout", LAUNCHER_LOCK_TIMEOUT, PGC_SUSET, PGC_S_OVERRIDE);

	StartTransactionCommand();
	features_check();
	CommitTransactionCommand();
}

static bool
is_in_scope(const Decision *decision, void *arg)
{
	return decision->kind != DECISION_OUT_OF_SCOPE;
}

static bool
is_not_off(const Cleaning *cleaning, void *arg)
{
	return cleaning->kind != CLEANING_OFF;
}

/*
 * Does everything that follows from the settings, at start and at each
 * reload.
 */
static void
apply_settings(void)
{
	bgworker_publish_settings();
	databases_forget_when_read();	/* sweep.databases may have changed */
	decision_forget(is_in_scope, NULL); /* so may sweep.scope */
	cleaning_forget(is_not_off, NULL);	/* and sweep.cleaner */
	trial_follow();				/* and sweep.mode */
}

/*
 * A failed round must not end the process.  It is logged and tried again,
 * less and less often.
 */
static void
round_try(MemoryContext context)
{
	PG_TRY();
	{
		/*
		 * taken first, or, asked again and again, it would hurry from failure
		 * to failure
		 */
		databases_take_surveys();
		if (feature_is_ok(FEATURE_SCOUT) && feature_is_ok(FEATURE_WORKER))
		{
			round_run();
			handover_look(clock_now());
		}
		save_runs(false);
		failed_rounds = 0;
	}
	PG_CATCH();
	{
		HOLD_INTERRUPTS();
		failed_rounds = Min(failed_rounds + 1, 100);
		MemoryContextSwitchTo(context);
		EmitErrorReport();
		AbortOutOfAnyTransaction();
		LWLockReleaseAll();
		FlushErrorState();
		RESUME_INTERRUPTS();
	}
	PG_END_TRY();
}

/* The earlier of two times, of which 0 means never. */
static TimestampTz
earlier(TimestampTz a, TimestampTz b)
{
	return a == 0 || b == 0 ? Max(a, b) : Min(a, b);
}

void
sweep_launcher_main(Datum arg)
{
	MemoryContext context;
	TimestampTz next_round = 0;
	TimestampTz last_round = 0;

	bgworker_prologue();
	breaker_own_process();
	BackgroundWorkerInitializeConnection(NULL, NULL, 0);

	databases_begin();
	context = AllocSetContextCreate(TopMemoryContext, "sweep launcher", ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(context);

	launcher_begin();
	ledger_load();
	takeover_begin();
	hours_begin();
	apply_settings();
	pgstat_report_activity(STATE_IDLE, NULL);

	for (;;)
	{
		TimestampTz now;

		if (ProcDiePending)
			handover_last();
		bgworker_end_if_told(1);	/* not 0, because then it would not be
									 * started again */
		QueryCancelPending = false; /* there is nothing to cancel */
		CHECK_FOR_INTERRUPTS();
		if (ConfigReloadPending)
		{
			ConfigReloadPending = false;
			ProcessConfigFile(PGC_SIGHUP);
			next_checkpoint_woken(clock_now());
			apply_settings();
			/* the naptime may be a shorter one */
			next_round = Min(next_round, round_earliest(clock_now(), last_round));
		}

		follow_clock(&next_round, &last_round);
		now = clock_now();
		/* nobody has seen what ended meanwhile */
		if (!shmem_is_off() && pg_atomic_exchange_u32(&sweep_shared->metering, 1) == 0)
		{
			ledger_begin_again();
			worth_tables_begin_again();
		}
		else if (shmem_is_off())
			pg_atomic_write_u32(&sweep_shared->metering, 0);
		/* a worker's end sets the latch, too */
		if (dispatch_may_go_on(worker_pool_reap(databases_hear_of_worker, now)) || is_asked())
			next_round = Min(next_round,
							 round_earliest(clock_after(last_round, HURRY_MS), last_round));
		if (shmem_is_off())
		{
			worker_pool_stop_all();
			round_drop_requests();
			queue_clear();
			hours_stop();
			handover_stop();
			save_runs(true);

			/*
			 * what still runs is looked after, and then only the latch counts
			 */
			next_round = worker_pool_count(false) + worker_pool_count(true) > 0 ?
				clock_after(now, 100) : 0;
		}
		else if (now >= next_round)
		{
			last_round = now;
			round_forget_wake();
			round_try(context);
			next_round = failed_rounds == 0 ? round_next(now) :
				clock_after(now, Max(sweep_naptime_ms,
									 backoff_ms(ROUND_BACKOFF_MS, ROUND_BACKOFF_MAX_MS, failed_rounds)));
		}
		MemoryContextSwitchTo(context);
		MemoryContextReset(context);
		wait_for_round(earlier(next_round, worker_pool_end_overdue()));
	}
}
