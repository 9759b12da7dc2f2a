/*
 * shmem.c
 *		Allocates and initializes what pg_sweep keeps in shared memory.
 *
 * The hooks run in the postmaster at server start, and again after a crash of
 * any process.  They set the pointers, which every child inherits.
 */
#include "shmem.h"

#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/shmem.h"
#include "utils/hsearch.h"
#include "utils/timestamp.h"

#include "server/clock.h"
#include "server/compat.h"

SweepShared *sweep_shared = NULL;
MeterSlot  *sweep_meters = NULL;
PacerSlot  *sweep_pacers = NULL;
RunRecord  *sweep_recent_runs = NULL;
RunRecord  *sweep_last_runs = NULL;
HistoryRecord *sweep_table_hours = NULL;
struct HTAB *sweep_decisions = NULL;

static LWLockPadded *locks = NULL;
static void (*made_callback) (void) = NULL;
static shmem_request_hook_type prev_request_hook = NULL;
static shmem_startup_hook_type prev_startup_hook = NULL;

/* MaxBackends counts autovacuum and background workers, too. */
int
shmem_meter_count(void)
{
	return MaxBackends;
}

int
shmem_last_run_buckets(void)
{
	return Max(1, sweep_max_runs / LEDGER_WAYS);
}

static Size
size_of_fixed_part(void)
{
	Size		size = MAXALIGN(sizeof(SweepShared));

	size = add_size(size, MAXALIGN(mul_size(shmem_meter_count(), sizeof(MeterSlot))));
	size = add_size(size, MAXALIGN(mul_size(shmem_meter_count(), sizeof(PacerSlot))));
	size = add_size(size, MAXALIGN(mul_size(sweep_max_runs, sizeof(RunRecord))));
	size = add_size(size, MAXALIGN(mul_size(shmem_last_run_buckets() * LEDGER_WAYS,
											sizeof(RunRecord))));
	size = add_size(size, MAXALIGN(mul_size(history_table_places(), sizeof(HistoryRecord))));
	return size;
}

static void
request(void)
{
	if (prev_request_hook)
		prev_request_hook();

	RequestAddinShmemSpace(add_size(size_of_fixed_part(),
									hash_estimate_size(sweep_max_decisions, sizeof(Decision))));
	RequestNamedLWLockTranche("pg_sweep", LOCK_COUNT);
}

static void
initialize(void)
{
	memset(sweep_shared, 0, size_of_fixed_part());
	sweep_shared->clock_lead = clock_lead();
	for (int i = 0; i < FEATURE_COUNT; i++)
		pg_atomic_init_u32(&sweep_shared->features[i], FEATURE_UNCHECKED);
	pg_atomic_init_u32(&sweep_shared->breaker_tripped, 0);
	pg_atomic_init_u32(&sweep_shared->recent_crashes, 0);
	pg_atomic_init_u32(&sweep_shared->metering, sweep_mode != SWEEP_OFF);
	pg_atomic_init_u32(&sweep_shared->vacuuming, 0);
	pg_atomic_init_u32(&sweep_shared->core_vacuuming, 0);
	pg_atomic_init_u64(&sweep_shared->core_spent, 0);
	pg_atomic_init_u64(&sweep_shared->next_checkpoint_at, 0);
	pg_atomic_init_u64(&sweep_shared->decisions_dropped, 0);
	pg_atomic_init_u64(&sweep_shared->visits, 0);
	pg_atomic_init_u64(&sweep_shared->surveys_made, 0);
	pg_atomic_init_u64(&sweep_shared->visits_cpu_us, 0);
	pg_atomic_init_u64(&sweep_shared->surveys_cpu_us, 0);
	pg_atomic_init_u64(&sweep_shared->held_until, 0);
	pg_atomic_init_u32(&sweep_shared->carried.count, 0);
	pg_atomic_init_u32(&sweep_shared->standbys_without_feedback, 0);
	pg_atomic_init_u32(&sweep_shared->cleanings.known, 0);
	pg_atomic_init_u32(&sweep_shared->cleanings.running, 0);
	pg_atomic_init_u32(&sweep_shared->cleanings.next_buffer, 0);
	pg_atomic_init_u64(&sweep_shared->standby_gone_until, 0);
	SpinLockInit(&sweep_shared->mutex);
	SpinLockInit(&sweep_shared->surveys.mutex);
	sweep_shared->ledger.next_run_id = 1;
	history_begin();
	worth_tables_begin();
	sweep_shared->lowest_dead_threshold = PG_INT64_MAX;
	sweep_shared->lowest_ins_threshold = PG_INT64_MAX;
	pg_atomic_init_u32(&sweep_shared->spare_workers, 0);
	pg_atomic_init_u32(&sweep_shared->parallel_failed, 0);
	pg_atomic_init_u32(&sweep_shared->fit_pages, 0);
	pg_atomic_init_u32(&sweep_shared->wal_left_mb, WAL_LEFT_ENOUGH);
	pg_atomic_init_u32(&sweep_shared->late_tables, 0);
	pg_atomic_init_u64(&sweep_shared->late_pages, 0);
	pg_atomic_init_u64(&sweep_shared->short_vacuums_until, 0);
	for (int i = 0; i < shmem_meter_count(); i++)
	{
		pg_atomic_init_u32(&sweep_meters[i].change, 0);
		for (int j = 0; j < RUN_COUNTERS; j++)
			pg_atomic_init_u64(&sweep_meters[i].ended_workers[j], 0);
	}
	budget_initialize();
}

static void
startup(void)
{
	HASHCTL		info = {0};
	bool		found;
	char	   *p;

	if (prev_startup_hook)
		prev_startup_hook();

	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);

	p = ShmemInitStruct("pg_sweep", size_of_fixed_part(), &found);
	sweep_shared = (SweepShared *) p;
	p += MAXALIGN(sizeof(SweepShared));
	sweep_meters = (MeterSlot *) p;
	p += MAXALIGN(mul_size(shmem_meter_count(), sizeof(MeterSlot)));
	sweep_pacers = (PacerSlot *) p;
	p += MAXALIGN(mul_size(shmem_meter_count(), sizeof(PacerSlot)));
	sweep_recent_runs = (RunRecord *) p;
	p += MAXALIGN(mul_size(sweep_max_runs, sizeof(RunRecord)));
	sweep_last_runs = (RunRecord *) p;
	p += MAXALIGN(mul_size(shmem_last_run_buckets() * LEDGER_WAYS, sizeof(RunRecord)));
	sweep_table_hours = (HistoryRecord *) p;
	locks = GetNamedLWLockTranche("pg_sweep");
	if (!found)
		initialize();

	info.keysize = sizeof(DecisionKey);
	info.entrysize = sizeof(Decision);
	sweep_decisions = compat_shmem_hash("pg_sweep decisions", sweep_max_decisions,
										&info, HASH_ELEM | HASH_BLOBS);

	LWLockRelease(AddinShmemInitLock);

	if (!IsUnderPostmaster && !found)
		made_callback();
}

void
shmem_install_hooks(void (*made) (void))
{
	made_callback = made;
	prev_request_hook = shmem_request_hook;
	shmem_request_hook = request;
	prev_startup_hook = shmem_startup_hook;
	shmem_startup_hook = startup;
}

LWLock *
shmem_lock(SweepLock lock)
{
	return &locks[lock].lock;
}

void
shmem_require(void)
{
	if (sweep_shared == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("pg_sweep must be loaded via \"shared_preload_libraries\""),
				 errhint("Add \"pg_sweep\" to \"shared_preload_libraries\" in postgresql.conf and restart the server.")));
}

bool
shmem_is_off(void)
{
	return sweep_mode == SWEEP_OFF ||
		pg_atomic_read_u32(&sweep_shared->breaker_tripped) != 0;
}

static void
wake(struct Latch **published)
{
	struct Latch *latch;

	SpinLockAcquire(&sweep_shared->mutex);
	latch = *published;
	SpinLockRelease(&sweep_shared->mutex);
	if (latch)
		SetLatch(latch);
}

void
shmem_wake_launcher(void)
{
	wake(&sweep_shared->launcher.latch);
}

void
shmem_wake_governor(void)
{
	wake(&sweep_shared->governor_latch);
}
