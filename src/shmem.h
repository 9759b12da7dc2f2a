/*
 * shmem.h
 *		Everything that pg_sweep keeps in shared memory.
 *
 * One allocation and one hash table, both sized at server start and never
 * grown; what does not fit is counted.  Each field names its writer and what
 * protects it.
 */
#ifndef SWEEP_SHMEM_H
#define SWEEP_SHMEM_H

#include "postgres.h"

#include "access/transam.h"
#include "port/atomics.h"
#include "storage/lwlock.h"
#include "storage/spin.h"
#include "utils/backend_progress.h"

#include "budget.h"
#include "run.h"
#include "settings.h"

#define SWEEP_VERSION	"0.1.0"

/* ---- meter ---- */

#define METER_WINDOW	16		/* samples over which rates are taken */

typedef enum MeterWait
{
	METER_WAIT_NONE,			/* on the processor, or ready for it */
	METER_WAIT_DELAY,
	METER_WAIT_IO,
	METER_WAIT_LOCK,
	METER_WAIT_OTHER
} MeterWait;

typedef struct MeterSample
{
	TimestampTz at;
	RunCounters used;
	uint8		wait;			/* MeterWait at that moment */
} MeterSample;

/*
 * One per backend, by backend index.  Writer: that process, from mainline
 * code or from its tick, never both (slot_busy in meter.c).  Readers copy the
 * slot and retry while `change` is odd or has moved.
 */
typedef struct MeterSlot
{
	pg_atomic_uint32 change;

	int			pid;			/* 0: not in use */
	int			leader_pid;		/* of a parallel vacuum worker, else 0 */
	Oid			dboid;
	Oid			relid;			/* invalid: none yet */
	uint8		command;		/* RunCommand */
	uint8		starter;		/* RunStarter */
	uint8		mode;			/* RunMode */
	int			tables;			/* done by this statement before this run */
	TimestampTz started_at;
	RunCounters used;
	RunCosts	costs;
	uint32		ticks;			/* samples of this run */
	uint32		delay_ticks;	/* of them, in the cost delay */
	int64		delay_us;		/* timed by the server (18+), or -1 */
	TimestampTz phase_at;		/* when this phase was first seen */
	int			phase;
	int64		params[PGSTAT_NUM_PROGRESS_PARAM];
	int64		dead_peak;		/* highest COMPAT_PROGRESS_DEAD of this run */
	int			nsamples;		/* in all; the ring holds the last ones */
	MeterSample samples[METER_WINDOW];
	char		schemaname[NAMEDATALEN];
	char		relname[NAMEDATALEN];

	/*
	 * What parallel workers of this leader had done when they ended, until it
	 * counts as the leader's own.  Added to by them, cleared by the leader.
	 */
	pg_atomic_uint64 ended_workers[RUN_COUNTERS];
} MeterSlot;

/* ---- ledger ---- */

#define LEDGER_LONGEST	64
#define LEDGER_WAYS		8		/* records per bucket of `last` */

/* Writers: every process at the end of a run; protection: LOCK_LEDGER. */
typedef struct LedgerState
{
	int64		next_run_id;
	int64		changes;		/* what the launcher compares when it saves */
	uint64		added;			/* runs ever added to the ring */
	bool		loaded;			/* the file was read */
	bool		hold_said;		/* since the server's start: not the file's */
} LedgerState;

/* ---- decisions ---- */

typedef enum DecisionKind
{
	DECISION_NONE,
	DECISION_VACUUMED,
	DECISION_BELOW_THRESHOLD,
	DECISION_DISABLED,
	DECISION_OBSERVED,			/* would have been vacuumed */
	DECISION_HELD_BACK,			/* by the horizon */
	DECISION_LOCKED,
	DECISION_CANCELLED,
	DECISION_FAILED,
	DECISION_LEFT_TO_CORE,		/* wraparound is near */
	DECISION_TEMPORARY,			/* only its session can vacuum it */
	DECISION_OUT_OF_SCOPE,		/* of sweep.scope */
	DECISION_SNOOZED,			/* until not_before, because a user said so */
	DECISION_CHECKPOINT_AHEAD,	/* vacuumed just before it, or twice */
	DECISION_ANALYZED,			/* a partitioned table */
	DECISION_WOULD_ANALYZE,
	DECISION_NOT_ANALYZED,		/* its partitions are foreign, or too many */
	DECISION_HELD,				/* by sweep.hold(); a verdict, never stored */
	DECISION_KIND_COUNT
} DecisionKind;

typedef struct DecisionKey
{
	Oid			dboid;			/* invalid: shared catalog */
	Oid			relid;
} DecisionKey;

/*
 * What is remembered of a table from vacuum to vacuum, whatever was decided
 * between them.
 */
typedef struct TableMemory
{
	/* the visibility map, counted when the statistics were these */
	int64		counted_vacuums;	/* of the table so far; -1: not counted */
	int64		counted_changes;	/* rows changed so far */
	int64		pages;
	int64		frozen_pages;
	int64		visible_pages;
	bool		whole_cleanup;	/* has indexes whose cleanup reads them whole */
	bool		needs_cleanup;	/* and some to which it adds new rows */

	/* at the last vacuum by pg_sweep */
	bool		vacuumed;		/* there was one */
	int64		inserted;		/* rows so far */
	int64		changed;		/* updated and deleted rows so far */
	int64		cleaned_at;		/* inserted when the indexes were cleaned */
	bool		eager;			/* it froze all that it could */
	uint8		costly;			/* insert vacuums in a row not worth their
								 * cost */
	int			took_ms;		/* the last insert vacuum; at most 10 s */
} TableMemory;

/*
 * What was decided last about one table, and when to look at it again.
 * Writer: workers; reader: launcher, workers, views; protection:
 * LOCK_DECISIONS.
 */
typedef struct Decision
{
	DecisionKey key;
	uint8		kind;			/* DecisionKind */
	uint8		failures;		/* cancels, lock failures or errors in a row */
	bool		mentioned;		/* worth showing (looked due once) */
	TimestampTz first_at;		/* of this kind */
	TimestampTz last_at;
	int64		times;			/* of this kind, in a row */
	TimestampTz not_before;
	FullTransactionId horizon;	/* held back until it has passed this */
	bool		catalog_horizon;	/* logical slots hold it, too */
	double		dead_threshold; /* exact; must be exceeded; negative: none */
	TimestampTz would_vacuum_at;	/* in the mode observe; 0: never */
	double		ins_threshold;	/* exact; negative: disabled */
	double		ins_early;		/* before a checkpoint, or when inserts end */
	bool		own_checkpoint_aware;	/* the table has its own setting, it
										 * is: */
	bool		checkpoint_aware;
	int64		dead;			/* counters when decided */
	int64		ins;
	int64		dead_growth;	/* ask again beyond this; 0: at once */
	int64		ins_growth;
	TableMemory memory;

	/* writer: launcher, with the lock shared; only it and workers look */
	int64		seen_ins;		/* inserted rows at the last round */
	TimestampTz seen_at;		/* since when it is so many */
	char		schemaname[NAMEDATALEN];
	char		relname[NAMEDATALEN];
} Decision;

/* ---- queue ---- */

#define SWEEP_QUEUE_LIMIT	1000

/*
 * A table that is over a threshold, as the scout found it in its last round.
 * Writer: launcher; protection: LOCK_QUEUE.
 */
typedef struct QueueEntry
{
	DecisionKey key;
	double		score;
	bool		by_inserts;		/* that part of the score is the largest */
	int64		tuples;			/* of that part */
	double		threshold;
	TimestampTz since;			/* over it in every round since */
} QueueEntry;

/* ---- the rate of transaction ids ---- */

#define XID_SAMPLES	61			/* one a minute: an hour */

/* Writer: launcher; protection: LOCK_QUEUE. */
typedef struct XidSample
{
	TimestampTz at;				/* 0: none yet */
	uint64		next_xid;
	uint32		next_mxid;
} XidSample;

/* ---- databases ---- */

#define SWEEP_DATABASES_LIMIT	2048

/* What the scout knows of a database.  Writer: launcher; LOCK_DATABASES. */
typedef struct DatabaseState
{
	Oid			dboid;
	uint8		scope;			/* DatabaseScope */
	bool		connectable;
	int64		relations;
	int64		due;
	int64		dead_tuples;
	TimestampTz last_visit;
	TimestampTz looked_at;		/* when the last visit to all tables began */
	TimestampTz next_visit;		/* backing off until then; 0: no */
} DatabaseState;

/* ---- workers ---- */

typedef enum WorkerState
{
	WORKER_FREE,				/* -> STARTING */
	WORKER_STARTING,			/* -> RUNNING, FREE (never came up) */
	WORKER_RUNNING,				/* -> LINGERING, DONE */
	WORKER_LINGERING,			/* -> RUNNING (more work), DONE */
	WORKER_DONE					/* -> FREE (reaped) */
} WorkerState;

/*
 * One per possible worker.  The launcher writes STARTING, FREE and the
 * assignment; the worker writes the rest; protection: LOCK_WORKERS.
 */
typedef struct WorkerSlot
{
	WorkerState state;
	uint32		generation;		/* which start of this slot; launcher */
	Oid			dboid;
	bool		catalogs_only;	/* the place that other tables never take;
								 * launcher */
	int			pid;			/* worker */
	bool		look_again;		/* set by the launcher, cleared by the worker */
	Oid			relid;			/* claimed by the worker now */
	bool		relid_shared;	/* it is a shared catalog */
	bool		visited;		/* looked at all tables, without an error */
	TimestampTz visited_at;		/* when it last did; 0: not yet */
	TimestampTz looked_at;		/* when that visit began */
	TimestampTz revisit_at;		/* tables have their turn then; 0: none */
	bool		stop;			/* set by the launcher: leave */
	struct Latch *latch;		/* worker; NULL: not there (yet) */
	TimestampTz started_at;
} WorkerSlot;

/* ---- requests ---- */

#define SWEEP_REQUESTS_LIMIT	1024
#define REQUEST_ATTEMPTS_LIMIT	6	/* times that a lock is not available */
#define SWEEP_SURVEYS_LIMIT		16

typedef enum RequestState
{
	REQUEST_NONE,				/* -> WAITING */
	REQUEST_WAITING,			/* -> RUNNING, NONE (nobody can serve it) */
	REQUEST_RUNNING				/* -> NONE (over), WAITING (lock; stopped) */
} RequestState;

/*
 * One table that somebody wants vacuumed now.  Backends put, workers take and
 * give back or finish, the launcher drops; protection: LOCK_REQUESTS.
 */
typedef struct Request
{
	RequestState state;
	int64		id;				/* the same for all leaves of one table */
	int64		turn;			/* grows; the lowest is next */
	Oid			dboid;			/* where it was asked for */
	DecisionKey key;
	bool		aux;			/* as somebody's auxiliary table */
	int			attempts;
	TimestampTz requested_at;
	TimestampTz not_before;		/* after a lock was not available; 0: now */
	char		requested_by[NAMEDATALEN];
	char		schemaname[NAMEDATALEN];
	char		relname[NAMEDATALEN];
} Request;

/* Writer and protection: see Request. */
typedef struct RequestQueue
{
	int64		last_turn;
	int			count;			/* not NONE */
	Request		requests[SWEEP_REQUESTS_LIMIT];
} RequestQueue;

/*
 * Databases whose tables' own settings have changed, so that a worker should
 * look there.  Backends put at commit, the launcher takes; a spinlock, because
 * nothing may fail then.
 */
typedef struct SurveyQueue
{
	slock_t		mutex;
	int			count;			/* beyond the limit: all databases */
	Oid			dboids[SWEEP_SURVEYS_LIMIT];
} SurveyQueue;

/* ---- server settings for the workers ---- */

#define SWEEP_INHERITED_LIMIT	24
#define SWEEP_INHERITED_LEN		64

/* ---- processes ---- */

/*
 * A pg_sweep process announces itself here and takes its name off when it
 * leaves in order or is told to quit; what is still there when shared memory
 * goes is the process that crashed.  Writer: that process; no lock.
 */
typedef struct ProcessMark
{
	int			pid;			/* 0: not there */
	bool		quit;			/* postmaster told it to quit at once */
} ProcessMark;

typedef enum SweepFeature
{
	FEATURE_METER,				/* progress entry, buffer and WAL usage */
	FEATURE_LOCKS,				/* this process's lock list */
	FEATURE_SCOUT,				/* shared statistics of all databases */
	FEATURE_WORKER,				/* process flags, horizon */
	FEATURE_COUNT
} SweepFeature;

typedef enum FeatureState
{
	FEATURE_UNCHECKED = 0,
	FEATURE_OK,
	FEATURE_BAD
} FeatureState;

typedef enum SweepLock
{
	LOCK_LEDGER,
	LOCK_DECISIONS,
	LOCK_DATABASES,
	LOCK_WORKERS,
	LOCK_QUEUE,
	LOCK_REQUESTS,
	LOCK_STEER,
	LOCK_COUNT
} SweepLock;

typedef struct SweepShared
{
	TimestampTz server_started_at;	/* postmaster, once */

	/* writer: launcher at start, first VACUUM; plain bytes, set once */
	pg_atomic_uint32 features[FEATURE_COUNT];

	/* writer: postmaster at start, sweep.rearm() */
	pg_atomic_uint32 breaker_tripped;
	pg_atomic_uint32 recent_crashes;

	/* writer: launcher at each reload; read by ticks */
	pg_atomic_uint32 metering;	/* 1 unless mode is off or the breaker is */

	/* writer: launcher; 0: unknown */
	pg_atomic_uint64 next_checkpoint_at;

	/*
	 * Who shares the cost limit: own vacuums, and core's autovacuum workers,
	 * which divide it among themselves only.  Writers: those processes.
	 */
	pg_atomic_uint32 vacuuming;

	/*
	 * Own workers begin no vacuum before that time; 0: no hold.  Writers:
	 * sweep.hold(), sweep.unhold(), launcher when it loads the ledger, under
	 * LOCK_LEDGER.
	 */
	pg_atomic_uint64 held_until;

	slock_t		mutex;			/* the fields down to `inherited` */
	/* writer: launcher */
	int			launcher_pid;
	TimestampTz launcher_started_at;
	struct Latch *launcher_latch;
	int64		rounds;
	TimestampTz last_round_at;
	double		last_round_ms;
	double		max_round_ms;
	double		last_lock_ms;	/* one partition of the statistics, at most */
	double		max_lock_ms;
	double		naptime_ms;		/* between two rounds, as it is now */
	int64		relations;
	int64		due;
	int64		worker_starts;
	int64		worker_start_failures;
	int64		databases_dropped;
	TimestampTz runs_saved_at;
	int			runs_save_errno;

	/* writer: decision_put() */
	pg_atomic_uint64 decisions_dropped;

	/* writer: launcher at each reload; protection: LOCK_WORKERS */
	char		inherited[SWEEP_INHERITED_LIMIT][SWEEP_INHERITED_LEN];

	ProcessMark launcher_mark;
	ProcessMark governor_mark;
	ProcessMark worker_marks[SWEEP_WORKERS_LIMIT];

	/* of all decisions ever put; writer: decision_put(), LOCK_DECISIONS */
	int64		lowest_dead_threshold;
	int64		lowest_ins_threshold;

	/* writer: governor; each has its change count */
	Budget		budget;
	GovernorStep governor_steps[GOVERNOR_STEPS];

	/* writer: governor, mutex; NULL: not there */
	struct Latch *governor_latch;

	LedgerState ledger;
	SurveyQueue surveys;
	RequestQueue requests;
	WorkerSlot	workers[SWEEP_WORKERS_LIMIT];
	int			databases_count;	/* LOCK_DATABASES */
	DatabaseState databases[SWEEP_DATABASES_LIMIT];

	int			queue_count;	/* LOCK_QUEUE, down to xid_samples_next */
	int64		queue_dropped;	/* in the last round */
	QueueEntry	queue[SWEEP_QUEUE_LIMIT];
	XidSample	xid_samples[XID_SAMPLES];
	int			xid_samples_next;

	RunRecord	longest[LEDGER_LONGEST];	/* LOCK_LEDGER */
} SweepShared;

extern SweepShared *sweep_shared;	/* NULL: library not preloaded */
extern MeterSlot *sweep_meters; /* sweep_meter_count of them */
extern RunRecord *sweep_recent_runs;	/* ring of sweep_max_runs */
extern RunRecord *sweep_last_runs;	/* buckets of LEDGER_WAYS */
extern struct HTAB *sweep_decisions;

/* made is called in the postmaster whenever shared memory was made anew. */
extern void shmem_install_hooks(void (*made) (void));
extern int	shmem_meter_count(void);
extern int	shmem_last_run_buckets(void);
extern LWLock *shmem_lock(SweepLock lock);

/* ERROR with the setting to change when the library is not preloaded. */
extern void shmem_require(void);

/* Is pg_sweep off for now, by setting or by the circuit breaker? */
extern bool shmem_is_off(void);

/* Has the launcher look at once for what was asked of it. */
extern void shmem_wake_launcher(void);

/* Has the governor look at once: a vacuum begins, or is steered. */
extern void shmem_wake_governor(void);

#endif							/* SWEEP_SHMEM_H */
