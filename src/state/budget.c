/*
 * budget.c
 *		What vacuums may use, and what each of them makes of that: published
 *		in shared memory, under change counts.
 *
 * Runs in the governor, in every process that vacuums, and in backends.  A
 * tick may call only the reading functions and budget_set_applied().
 */
#include "state/budget.h"

#include "policy/host_share.h"
#include "settings.h"
#include "shmem.h"

#define READ_TRIES	100
#define HOST_SHARE_WHOLE	1000000

static void
write_begin(pg_atomic_uint32 *change)
{
	pg_atomic_write_u32(change, pg_atomic_read_u32(change) + 1);
	pg_write_barrier();
}

static void
write_end(pg_atomic_uint32 *change)
{
	pg_write_barrier();
	pg_atomic_write_u32(change, pg_atomic_read_u32(change) + 1);
}

static bool
read_consistent(pg_atomic_uint32 *change, void *to, const void *from, size_t size)
{
	for (int tries = 0; tries < READ_TRIES; tries++)
	{
		uint32		before = pg_atomic_read_u32(change);

		pg_read_barrier();
		memcpy(to, from, size);
		pg_read_barrier();
		if ((before & 1) == 0 && pg_atomic_read_u32(change) == before)
			return true;
	}
	return false;
}

void
budget_initialize(void)
{
	pg_atomic_init_u32(&sweep_shared->budget.change, 0);
	pg_atomic_init_u32(&sweep_shared->host.change, 0);
	pg_atomic_init_u32(&sweep_shared->host_workers_share, HOST_SHARE_WHOLE);
	for (int i = 0; i < GOVERNOR_STEPS; i++)
		pg_atomic_init_u32(&sweep_shared->governor_steps[i].change, 0);
	for (int i = 0; i < shmem_meter_count(); i++)
	{
		PacerSlot  *slot = &sweep_pacers[i];

		pg_atomic_init_u32(&slot->grant_change, 0);
		pg_atomic_init_u32(&slot->steer_change, 0);
		pg_atomic_init_u32(&slot->run, 0);
		pg_atomic_init_u32(&slot->can, PACER_CAN);
		pg_atomic_init_u32(&slot->yields, PACER_YIELDS);
		pg_atomic_init_u32(&slot->pace_kb, 0);
		pg_atomic_init_u32(&slot->original_limit, 0);
		pg_atomic_init_u32(&slot->original_delay, 0);
		pg_atomic_init_u32(&slot->parallel_workers, 0);
		for (int j = 0; j < PACER_ENDED; j++)
			pg_atomic_init_u64(&slot->ended[j], 0);
		pg_atomic_init_u32(&slot->applied_change, 0);
	}
}

/* The change count stands first in both. */
#define BODY(p)			((char *) (p) + sizeof(pg_atomic_uint32))
#define BODY_SIZE(type)	(sizeof(type) - sizeof(pg_atomic_uint32))

void
budget_publish(const Budget *budget)
{
	Budget	   *to = &sweep_shared->budget;

	write_begin(&to->change);
	memcpy(BODY(to), BODY(budget), BODY_SIZE(Budget));
	write_end(&to->change);
}

void
budget_publish_step(const GovernorStep *step)
{
	GovernorStep *to = &sweep_shared->governor_steps[step->number % GOVERNOR_STEPS];

	write_begin(&to->change);
	memcpy(BODY(to), BODY(step), BODY_SIZE(GovernorStep));
	write_end(&to->change);
}

void
budget_publish_host(const HostState *host)
{
	HostState  *to = &sweep_shared->host;

	write_begin(&to->change);
	memcpy(BODY(to), BODY(host), BODY_SIZE(HostState));
	write_end(&to->change);
	pg_atomic_write_u32(&sweep_shared->host_workers_share,
						(uint32) (host->processors_share * HOST_SHARE_WHOLE));
}

bool
budget_read_host(HostState *copy)
{
	HostState  *from = &sweep_shared->host;

	return read_consistent(&from->change, BODY(copy), BODY(from), BODY_SIZE(HostState)) && copy->at != 0;
}

int
budget_workers(void)
{
	double		share = (double) pg_atomic_read_u32(&sweep_shared->host_workers_share) / HOST_SHARE_WHOLE;

	return host_share_workers(sweep_max_workers, share);
}

void
budget_grant(int index, const PacerGrant *grant)
{
	PacerSlot  *slot = &sweep_pacers[index];

	write_begin(&slot->grant_change);
	slot->grant = *grant;
	write_end(&slot->grant_change);
}

bool
budget_read(Budget *copy)
{
	Budget	   *from = &sweep_shared->budget;

	return read_consistent(&from->change, BODY(copy), BODY(from), BODY_SIZE(Budget));
}

bool
budget_read_step(int i, GovernorStep *copy)
{
	GovernorStep *from = &sweep_shared->governor_steps[i];

	return read_consistent(&from->change, BODY(copy), BODY(from), BODY_SIZE(GovernorStep)) &&
		copy->number != 0;
}

bool
budget_read_head(BudgetHead *copy)
{
	Budget	   *from = &sweep_shared->budget;

	for (int tries = 0; tries < READ_TRIES; tries++)
	{
		uint32		before = pg_atomic_read_u32(&from->change);

		pg_read_barrier();
		copy->at = from->at;
		copy->binds = from->binds;
		copy->adaptive = from->adaptive;
		copy->limited = from->allowed.read > 0 || from->allowed.write > 0 || from->allowed.wal > 0;
		copy->binding = from->binding;
		pg_read_barrier();
		if ((before & 1) == 0 && pg_atomic_read_u32(&from->change) == before)
			return true;
	}
	return false;
}

bool
budget_read_grant(int index, PacerGrant *copy)
{
	PacerSlot  *slot = &sweep_pacers[index];

	return read_consistent(&slot->grant_change, copy, &slot->grant, sizeof(*copy));
}

bool
budget_read_steer(int index, Steer *copy)
{
	PacerSlot  *slot = &sweep_pacers[index];

	return read_consistent(&slot->steer_change, copy, &slot->steer, sizeof(*copy));
}

bool
budget_read_applied(int index, PacerApplied *copy)
{
	PacerSlot  *slot = &sweep_pacers[index];

	return read_consistent(&slot->applied_change, copy, &slot->applied, sizeof(*copy));
}

void
budget_set_steer(int index, const Steer *steer)
{
	PacerSlot  *slot = &sweep_pacers[index];

	Assert(LWLockHeldByMeInMode(shmem_lock(LOCK_STEER), LW_EXCLUSIVE));
	write_begin(&slot->steer_change);
	slot->steer = *steer;
	write_end(&slot->steer_change);
}

void
budget_set_applied(int index, const PacerApplied *applied)
{
	PacerSlot  *slot = &sweep_pacers[index];

	write_begin(&slot->applied_change);
	slot->applied = *applied;
	write_end(&slot->applied_change);
}

const char *
budget_decision_name(int decision)
{
	static const char *const names[THROTTLE_DECISION_COUNT] = {
		"steady", "back off", "recover", "floor", "no vacuum", "sensor lost"
	};

	return decision >= 0 && decision < THROTTLE_DECISION_COUNT ? names[decision] : NULL;
}
