/*
 * shmem.h
 *		Everything that pg_sweep keeps in shared memory.
 *
 * It is one allocation and one hash table.  Both are sized at server start
 * and never grow.  What does not fit is counted.  What each part is made of
 * is in its own header.  Each field names its writer and what protects it.
 */
#ifndef SWEEP_SHMEM_H
#define SWEEP_SHMEM_H

#include "postgres.h"

#include "port/atomics.h"
#include "storage/lwlock.h"
#include "storage/spin.h"

#include "launcher/databases.h"
#include "launcher/launcher.h"
#include "meter/meter_slot.h"
#include "server/bgworker.h"
#include "server/breaker.h"
#include "server/features.h"
#include "settings.h"
#include "state/audit.h"
#include "state/budget.h"
#include "state/carried.h"
#include "state/cleanings.h"
#include "state/decisions.h"
#include "state/frozen_ids.h"
#include "state/history.h"
#include "state/ledger.h"
#include "state/queue.h"
#include "state/requests.h"
#include "state/surveys.h"
#include "state/trial.h"
#include "state/worker_slot.h"
#include "state/worth_tables.h"
#include "state/xid_rate.h"

#define SWEEP_VERSION	"0.1.0"

typedef enum SweepLock
{
	LOCK_LEDGER,
	LOCK_DECISIONS,
	LOCK_DATABASES,
	LOCK_WORKERS,
	LOCK_QUEUE,
	LOCK_REQUESTS,
	LOCK_STEER,
	LOCK_CLEANINGS,
	LOCK_AUDIT,
	LOCK_TRIAL,
	LOCK_WORTH,
	LOCK_COUNT
} SweepLock;

/* wal_left_mb of a disk that is not nearly full */
#define WAL_LEFT_ENOUGH		PG_UINT32_MAX

typedef struct SweepShared
{
	/*
	 * writers: the launcher at its start, the first VACUUM (plain bytes, set
	 * once)
	 */
	pg_atomic_uint32 features[FEATURE_COUNT];

	/* writer: postmaster at start, sweep.rearm() */
	pg_atomic_uint32 breaker_tripped;
	pg_atomic_uint32 recent_crashes;

	/* writer: launcher at each reload (read by ticks) */
	pg_atomic_uint32 metering;	/* 1 unless mode is off or the breaker is */

	int64		clock_lead;		/* writer: launcher, see clock_set_back() */

	/* writer: launcher (0: unknown) */
	pg_atomic_uint64 next_checkpoint_at;

	/*
	 * Background workers that nobody else wants, and more workers of ours do
	 * not need (writer: launcher in each round).  Has a vacuum with parallel
	 * workers failed (writers: workers, set once)?
	 */
	pg_atomic_uint32 spare_workers;
	pg_atomic_uint32 parallel_failed;

	/* writer: launcher in each round, see insert_fit_pages() (0: all fit) */
	pg_atomic_uint32 fit_pages;

	/*
	 * Growing tables whose vacuums come too late now (writer: launcher in
	 * each round), and new pages that had left the cache when they were
	 * vacuumed (writers: workers).
	 */
	pg_atomic_uint32 wal_left_mb;	/* on the file system of WAL, where so
									 * little is left that own vacuums stop
									 * (writer: launcher) */
	pg_atomic_uint32 late_tables;	/* decisions with late_since (writer: who
									 * holds LOCK_DECISIONS exclusively) */
	pg_atomic_uint64 late_pages;

	/* writers: workers, see min_interval_short_us() */
	pg_atomic_uint64 short_vacuums_until;

	/* writer: launcher in each round, see standbys.c */
	pg_atomic_uint32 standbys_without_feedback;
	pg_atomic_uint64 standby_gone_until;

	/*
	 * Who shares the cost limit: own vacuums take what core's autovacuum
	 * workers leave of it, because those divide it among themselves only.
	 * core_spent is what core's have spent, in credits.  Writers: those
	 * processes.
	 */
	pg_atomic_uint32 vacuuming;
	pg_atomic_uint32 core_vacuuming;
	pg_atomic_uint64 core_spent;

	/* writer: governor, in millionths */
	pg_atomic_uint32 host_workers_share;

	/*
	 * Until then own workers begin no vacuum (0: no hold).  Writers, under
	 * LOCK_LEDGER: sweep.hold(), and the launcher when it loads the ledger.
	 */
	pg_atomic_uint64 held_until;

	slock_t		mutex;			/* protects the next two */
	LauncherState launcher;
	struct Latch *governor_latch;	/* writer: governor (NULL: not there) */

	/* writer: decision_put() */
	pg_atomic_uint64 decisions_dropped;

	/*
	 * Visits of workers, how many of them were surveys, and the processor
	 * time in microseconds that all visits and the surveys took without the
	 * vacuums.  Writers: workers.
	 */
	pg_atomic_uint64 visits;
	pg_atomic_uint64 surveys_made;
	pg_atomic_uint64 visits_cpu_us;
	pg_atomic_uint64 surveys_cpu_us;

	/* writer: launcher at each reload (protection: LOCK_WORKERS) */
	char		inherited[SWEEP_INHERITED_LIMIT][SWEEP_INHERITED_LEN];

	volatile bool crashed;		/* our code did (writer: the process, dying;
								 * reader: the postmaster) */

	/*
	 * of all decisions, or lower: those put since some were forgotten last
	 * (writers: decision_put(), decision_forget(); LOCK_DECISIONS)
	 */
	int64		lowest_dead_threshold;
	int64		lowest_ins_threshold;

	/* writer: governor (each has its change count) */
	Budget		budget;
	HostState	host;
	GovernorStep governor_steps[GOVERNOR_STEPS];

	LedgerState ledger;
	SurveyQueue surveys;
	RequestQueue requests;
	CleaningState cleanings;
	AuditState	audit;
	TrialState	trial;
	CarriedState carried;
	WorthState	worth;
	WorkerSlot	workers[SWEEP_WORKERS_LIMIT];
	FrozenIdsTurn frozen_ids[FROZEN_IDS_PLACES];
	int			databases_count;	/* LOCK_DATABASES */
	DatabaseState databases[SWEEP_DATABASES_LIMIT];

	int			queue_count;	/* LOCK_QUEUE, down to xid_samples_next */
	bool		queue_is_partial;	/* some that are due are not in it */
	QueueEntry	queue[SWEEP_QUEUE_LIMIT];
	XidSample	xid_samples[XID_SAMPLES];
	int			xid_samples_next;

	RunRecord	longest[LEDGER_LONGEST];	/* LOCK_LEDGER */
	HistoryState history;
} SweepShared;

extern SweepShared *sweep_shared;	/* NULL: the library was not preloaded */
extern MeterSlot *sweep_meters; /* shmem_meter_count() of them */
extern RunRecord *sweep_recent_runs;	/* ring of sweep_max_runs */
extern RunRecord *sweep_last_runs;	/* buckets of LEDGER_WAYS */
extern HistoryRecord *sweep_table_hours;	/* buckets of HISTORY_WAYS;
											 * LOCK_LEDGER */
extern struct HTAB *sweep_decisions;

/* made is called in the postmaster whenever shared memory was made anew. */
extern void shmem_install_hooks(void (*made) (void));
extern int	shmem_meter_count(void);
extern int	shmem_last_run_buckets(void);
extern LWLock *shmem_lock(SweepLock lock);

/* ERROR that names the setting to change, if the library is not preloaded. */
extern void shmem_require(void);

/* Is pg_sweep off for now, by setting or by the circuit breaker? */
extern bool shmem_is_off(void);

/* Has the launcher look at once for what was asked of it. */
extern void shmem_wake_launcher(void);

/* Has the governor look at once, because a vacuum begins or is steered. */
extern void shmem_wake_governor(void);

#endif							/* SWEEP_SHMEM_H */
